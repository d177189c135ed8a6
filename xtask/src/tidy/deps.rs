//! Allowed dependencies between the workspace's crates, checked against `cargo metadata` and ARCHITECTURE.md ("Arrows").

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

const PAGE: &str = "ARCHITECTURE.md";
/// Each crate and the workspace crates that it may depend on.
const ALLOWED: &[(&str, &[&str])] = &[
    ("client", &["contract"]),
    ("cluster", &["client", "engine", "media", "scheduler", "workflow"]),
    ("contract", &[]),
    ("engine", &["client", "media", "scheduler", "text", "timeline", "workflow"]),
    ("media", &[]),
    ("renderer", &["media", "text"]),
    ("scheduler", &["workflow"]),
    ("service", &["contract", "media", "renderer"]),
    ("text", &[]),
    ("timeline", &["workflow"]),
    ("viewer", &["scheduler", "workflow"]),
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
    /// Absent for normal dependencies; `dev` or `build` otherwise.
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
    let read = |file: &str| fs_err::read_to_string(root.join(file)).map_err(|error| error.to_string());
    Ok([check(&metadata), check_page(&read(PAGE)?), unused(&metadata, &read("Cargo.toml")?)].concat())
}

/// Dependencies of the workspace that no crate names.
fn unused(metadata: &Metadata, manifest: &str) -> Vec<String> {
    let used: BTreeSet<&str> = metadata
        .packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| dependency.name.as_str())
        .collect();
    let table = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    let names = table
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| Some(line.split_once('=')?.0.trim()).filter(|name| !name.starts_with('#')));
    names
        .filter(|name| !used.contains(name))
        .map(|name| format!("Cargo.toml: no crate names the dependency `{name}`"))
        .collect()
}

/// Whether the page states the same arrows as `ALLOWED`, as `a → b` or `a → {b, c}` between backticks.
fn check_page(page: &str) -> Vec<String> {
    let mut stated: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for arrow in page.split('`').skip(1).step_by(2) {
        if let Some((from, to)) = arrow.split_once(" → ") {
            let to = to.trim_matches(['{', '}']).split(", ");
            stated.entry(from).or_default().extend(to);
        }
    }
    let mut problems = Vec::new();
    for (from, allowed) in ALLOWED {
        let stated = stated.remove(from).unwrap_or_default();
        let allowed: BTreeSet<&str> = allowed.iter().copied().collect();
        if stated != allowed {
            problems.push(format!(
                "{PAGE}: states {from} → {stated:?}, but xtask/src/tidy/deps.rs allows {allowed:?}"
            ));
        }
    }
    problems.extend(
        stated
            .keys()
            .map(|from| format!("{PAGE}: states arrows of {from}, which xtask/src/tidy/deps.rs lacks")),
    );
    problems
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

    fn package(name: &str, dependency: &str, kind: Option<&str>) -> Package {
        let dependency = Dependency {
            name: dependency.to_owned(),
            path: Some(String::new()),
            kind: kind.map(str::to_owned),
        };
        Package { name: name.to_owned(), dependencies: vec![dependency] }
    }

    #[test]
    fn page_with_other_arrows_is_reported() {
        let arrows: Vec<String> = ALLOWED
            .iter()
            .filter(|(_, to)| !to.is_empty())
            .map(|(from, to)| format!("`{from} → {{{}}}`", to.join(", ")))
            .collect();
        let page = arrows.join(", ");
        assert_eq!(check_page(&page), Vec::<String>::new());
        assert_eq!(check_page(&page.replacen("{contract}", "{contract, media}", 1)).len(), 1);
        assert_eq!(check_page(&format!("{page}, `engine → service`")).len(), 1);
        assert_eq!(check_page(&format!("{page}, `new → media`")).len(), 1);
        assert_eq!(check_page("").len(), arrows.len());
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
