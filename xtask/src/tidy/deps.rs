//! Allowed dependencies between the workspace's crates (ARCHITECTURE.md, "Arrows"), checked against `cargo metadata`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

/// Each crate and the workspace crates that it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("client", &["contract"]),
    ("contract", &[]),
    ("engine", &["client", "media", "scheduler", "workflow"]),
    ("media", &[]),
    ("renderer", &["media"]),
    ("scheduler", &["workflow"]),
    ("service", &["contract", "media", "renderer"]),
    ("workflow", &["contract"]),
];
/// Crates that may depend on every other.
const UNRESTRICTED: &[&str] = &["runner", "tests", "xtask"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    path: Option<String>,
    /// Absent for what the product is built from; `dev` or `build` otherwise.
    kind: Option<String>,
}

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo metadata cannot be run: {error}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).map_err(|error| format!("cargo metadata: {error}"))?;
    Ok(check(&metadata))
}

fn check(metadata: &Metadata) -> Vec<String> {
    let mut problems = Vec::new();
    for package in &metadata.packages {
        if UNRESTRICTED.contains(&package.name.as_str()) {
            continue;
        }
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == package.name) else {
            problems.push(format!(
                "crate {} has no entry in xtask/src/tidy/deps.rs and ARCHITECTURE.md",
                package.name
            ));
            continue;
        };
        let dependencies: BTreeSet<&str> = package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_some() && dependency.name != package.name)
            // Tests may drive a crate from outside.
            .filter(|dependency| dependency.kind.as_deref() != Some("dev"))
            .map(|dependency| dependency.name.as_str())
            .collect();
        for extra in dependencies.into_iter().filter(|name| !allowed.contains(name)) {
            problems
                .push(format!("crate {} must not depend on {extra} (ARCHITECTURE.md, Arrows)", package.name));
        }
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, on: &str, kind: Option<&str>) -> Package {
        let on = Dependency { name: on.to_owned(), path: Some(String::new()), kind: kind.map(str::to_owned) };
        Package { name: name.to_owned(), dependencies: vec![on] }
    }

    #[test]
    fn dev_dependency_is_ignored() {
        let packages = vec![package("service", "client", Some("dev"))];
        assert_eq!(check(&Metadata { packages }), Vec::<String>::new());
    }

    #[test]
    fn forbidden_dependency_is_reported() {
        let metadata = Metadata {
            packages: vec![
                package("engine", "service", None),
                package("engine", "client", None),
                package("new", "media", None),
            ],
        };
        let problems = check(&metadata);
        assert_eq!(problems.len(), 2);
        assert!(
            problems[0].contains("engine must not depend on service")
                && problems[1].contains("crate new has no entry")
        );
    }
}
