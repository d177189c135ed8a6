//! Reads and checks openapi.yaml and the descriptions of other services, and embeds them as JSON.

use std::{env, fs, path::Path, process::ExitCode};

use serde_json::{Map, Value};

#[path = "src/spec/mod.rs"]
#[allow(dead_code, unreachable_pub, unused_imports, reason = "shared with the library; the build only loads")]
mod spec;

const SOURCE: &str = "../../openapi.yaml";
/// The folder of the others: each is called by the name of its file.
const SERVICES: &str = "../../services";

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed={SOURCE}");
    println!("cargo::rerun-if-changed={SERVICES}");
    println!("cargo::rerun-if-changed=src/spec");
    match embed() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            println!("cargo::error={message}");
            ExitCode::FAILURE
        }
    }
}

fn embed() -> Result<(), String> {
    let unreadable = |error| format!("services/ cannot be read: {error}");
    let files = fs::read_dir(SERVICES).map_err(unreadable)?;
    let paths: Result<Vec<_>, _> = files.map(|file| file.map(|file| file.path())).collect();
    let mut paths = paths.map_err(unreadable)?;
    paths.sort_unstable();
    let mut services = Map::new();
    for path in paths {
        if let Some(name) = path.file_stem().and_then(|name| name.to_str()).filter(|_| has_extension(&path)) {
            services.insert(name.to_owned(), document(&path, &format!("services/{name}.yaml"))?);
        }
    }
    write("services.json", &Value::Object(services))?;
    write("openapi.json", &document(Path::new(SOURCE), "openapi.yaml")?)
}

fn has_extension(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml")
}

/// A description, checked.
fn document(path: &Path, name: &str) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{name} cannot be read: {error}"))?;
    // Through serde_yaml's own value, because that refuses a key that is given twice.
    let mut yaml: serde_yaml::Value =
        serde_yaml::from_str(&text).map_err(|error| format!("{name} is not valid YAML: {error}"))?;
    yaml.apply_merge().map_err(|error| format!("{name}: {error}"))?;
    let document = serde_json::to_value(&yaml)
        .map_err(|error| format!("{name} holds what JSON cannot: {error}; use strings as keys"))?;
    spec::Spec::read(&document).map_err(|error| format!("{name}, {error}"))?;
    Ok(document)
}

fn write(file: &str, document: &Value) -> Result<(), String> {
    let out_dir = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts, and it is missing")?;
    fs::write(Path::new(&out_dir).join(file), document.to_string())
        .map_err(|error| format!("the contract cannot be written to the build folder: {error}"))
}
