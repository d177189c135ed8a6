//! openapi.yaml as other tools see it: linters and generators of clients, of which each has to accept it.

use std::path::Path;
use std::process::Command;

use crate::installed;

/// The packages of a tool with their versions, of npm (`@`) or Python (`==`), and its command: `DOCUMENT` is openapi.yaml, `FOLDER` its own.
const TOOLS: [(&[&str], &str); 6] = [
    (&["@stoplight/spectral-cli@6.16.3"], "spectral lint --ruleset FOLDER/rules.yaml DOCUMENT"),
    (&["@redocly/cli@2.77.0"], "redocly lint DOCUMENT"),
    (
        &["openapi-typescript@7.13.0", "typescript@5.9.3"],
        "openapi-typescript DOCUMENT --output FOLDER/api.ts",
    ),
    (&["@hey-api/openapi-ts@0.95.0", "typescript@5.9.3"], "openapi-ts --input DOCUMENT --output FOLDER/api"),
    (
        &["datamodel-code-generator==0.89.0"],
        "datamodel-codegen --input DOCUMENT --input-file-type openapi --output FOLDER/api.py",
    ),
    (
        &["openapi-python-client==0.29.1"],
        "openapi-python-client generate --path DOCUMENT --meta none --config FOLDER/hooks.yaml --fail-on-warning --output-path FOLDER/api",
    ),
];

/// Files of their folders.
const FILES: [(&str, &str); 2] =
    [("rules.yaml", "extends: [\"spectral:oas\"]\n"), ("hooks.yaml", "post_hooks: []\n")];

/// Runs each tool. Without its language or registry it says that the document was not checked with it.
pub(super) fn run(root: &Path) -> Result<String, String> {
    let reports: Vec<_> = TOOLS.iter().map(|(packages, command)| accepts(root, packages, command)).collect();
    let texts: Vec<&str> =
        reports.iter().map(|report| report.as_ref().unwrap_or_else(|text| text).as_str()).collect();
    if reports.iter().all(Result::is_ok) { Ok(texts.join("\n")) } else { Err(texts.join("\n")) }
}

fn accepts(root: &Path, packages: &[&str], command: &str) -> Result<String, String> {
    let text = |error: std::io::Error| error.to_string();
    let (name, folder) = (packages.join(", "), tempfile::tempdir().map_err(text)?);
    let programs = if name.contains("==") {
        installed::python(&folder.path().join("venv"), packages)
    } else {
        installed::node(folder.path(), packages).map(|()| folder.path().join("node_modules").join(".bin"))
    };
    let programs = match programs {
        Ok(programs) => programs,
        Err(reason) => return Ok(format!("openapi.yaml is NOT checked with {name}: {reason}")),
    };
    for (file, text_of_file) in FILES {
        fs_err::write(folder.path().join(file), text_of_file).map_err(text)?;
    }
    let places = [("DOCUMENT", root.join("openapi.yaml")), ("FOLDER", folder.path().to_owned())];
    let mut words = command.split(' ').map(|word| {
        places
            .iter()
            .fold(word.to_owned(), |word, (name, place)| word.replace(name, &place.to_string_lossy()))
    });
    let mut command = Command::new(programs.join(words.next().unwrap_or_default()));
    let output = command.args(words).current_dir(folder.path()).output();
    let output = output.map_err(|error| format!("{name}: {error}"))?;
    if output.status.success() {
        return Ok(format!("{name}: accepts openapi.yaml"));
    }
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    Err(format!("{}{name} refuses openapi.yaml", said.concat()))
}
