//! Rules for the files of GitHub and for the Dockerfile: they are YAML, jobs have bounds on their rights and time, actions are named by a commit
//! (GitHub's own by a major version), and the toolchain is that of rust-toolchain.toml.

use std::path::Path;

use serde_yaml::Value;

use crate::repository;

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let read = |name: &str| fs_err::read_to_string(root.join(name)).map_err(|error| error.to_string());
    let mut problems = Vec::new();
    for name in repository::files(root)? {
        let is_yaml = Path::new(&name).extension().is_some_and(|extension| extension == "yml");
        if name.starts_with(".github/") && is_yaml {
            problems.extend(check(&name, &read(&name)?));
        }
    }
    let toolchain = read("rust-toolchain.toml")?;
    let pinned = toolchain.lines().find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'));
    let pinned = pinned.ok_or("rust-toolchain.toml names no channel")?;
    let image = format!("docker.io/library/rust:{pinned}-");
    let dockerfile = read("Dockerfile")?;
    if !dockerfile.contains(&image) || !dockerfile.contains(&format!("RUSTUP_TOOLCHAIN={pinned}\n")) {
        problems.push(format!("Dockerfile: does not build with Rust {pinned}, as rust-toolchain.toml says"));
    }
    Ok(problems)
}

fn check(name: &str, text: &str) -> Vec<String> {
    let document: Value = match serde_yaml::from_str(text) {
        Ok(document) => document,
        Err(error) => return vec![format!("{name}: not YAML: {error}")],
    };
    let mut problems = Vec::new();
    if name.starts_with(".github/workflows/") {
        if document.get("permissions").is_none() {
            problems.push(format!("{name}: has no `permissions` for all jobs"));
        }
        for (job, definition) in document.get("jobs").and_then(Value::as_mapping).into_iter().flatten() {
            if definition.get("timeout-minutes").is_none() {
                problems.push(format!("{name}: job {job:?} has no `timeout-minutes`"));
            }
        }
    }
    visit(&document, &mut |action| {
        let Some((action, version)) = action.split_once('@') else {
            problems.push(format!("{name}: {action} has no version"));
            return;
        };
        let is_major =
            version.strip_prefix('v').is_some_and(|major| major.bytes().all(|byte| byte.is_ascii_digit()));
        let is_commit = version.len() == 40 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_githubs = action.starts_with("actions/");
        if !(is_commit || (is_githubs && is_major)) {
            problems.push(format!(
                "{name}: {action}@{version}: name a commit; GitHub's own actions may have a major version"
            ));
        }
    });
    problems
}

/// Calls `report` with the value of each `uses` in a document.
fn visit(value: &Value, report: &mut impl FnMut(&str)) {
    match value {
        Value::Mapping(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value.as_str()) {
                    (Some("uses"), Some(action)) if !action.starts_with("./") => report(action),
                    _ => visit(value, report),
                }
            }
        }
        Value::Sequence(items) => items.iter().for_each(|item| visit(item, report)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "on: push
permissions: { contents: read }
jobs:
  a:
    timeout-minutes: 5
    steps:
      - uses: actions/checkout@v4
      - uses: other/action@0123456789012345678901234567890123456789
      - uses: ./.github/actions/runner
";

    #[test]
    fn workflow_problems_are_reported() {
        let name = ".github/workflows/ci.yml";
        assert_eq!(check(name, SOUND), Vec::<String>::new());
        for (from, to) in [
            ("checkout@v4", "checkout"),
            ("checkout@v4", "checkout@main"),
            ("other/action@0123456789012345678901234567890123456789", "other/action@v1"),
            ("permissions: { contents: read }\n", ""),
            ("    timeout-minutes: 5\n", "    name: a\n"),
            ("jobs:", "jobs: ["),
        ] {
            assert_eq!(check(name, &SOUND.replace(from, to)).len(), 1, "{from} to {to}");
        }
    }
}
