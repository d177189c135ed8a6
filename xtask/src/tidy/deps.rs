//! Dependencies: the arrows between the workspace's crates, checked against `cargo metadata` and ARCHITECTURE.md ("Arrows"), and the crates of
//! others, each of which Cargo.toml explains.

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
/// The heading of the dependencies of which each has its reason in a comment above it.
const EXPLAINED: &str = "# Each with its reason.";
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
    let manifest = read("Cargo.toml")?;
    Ok([check(&metadata), check_page(&read(PAGE)?), unused(&metadata, &manifest), unexplained(&manifest)]
        .concat())
}

/// The lines of the workspace's dependencies.
fn dependency_lines(manifest: &str) -> impl Iterator<Item = &str> {
    let table = manifest.lines().skip_while(|line| *line != "[workspace.dependencies]").skip(1);
    table.take_while(|line| !line.starts_with('['))
}

/// The name in a line, unless it is a comment or empty.
fn dependency_name(line: &str) -> Option<&str> {
    Some(line.split_once('=')?.0.trim()).filter(|name| !name.starts_with('#'))
}

/// Dependencies of the workspace that no crate names.
fn unused(metadata: &Metadata, manifest: &str) -> Vec<String> {
    let used: BTreeSet<&str> = metadata
        .packages
        .iter()
        .flat_map(|package| &package.dependencies)
        .map(|dependency| dependency.name.as_str())
        .collect();
    dependency_lines(manifest)
        .filter_map(dependency_name)
        .filter(|name| !used.contains(name))
        .map(|name| format!("Cargo.toml: no crate names the dependency `{name}`"))
        .collect()
}

/// Dependencies below the heading without a reason. What is pinned belongs there.
fn unexplained(manifest: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let (mut is_below, mut has_reason) = (false, false);
    for line in dependency_lines(manifest) {
        is_below |= line == EXPLAINED;
        if let Some(name) = dependency_name(line) {
            if is_below && !has_reason {
                problems.push(format!("Cargo.toml: no comment above `{name}` says what it is for"));
            } else if !is_below && line.contains("\"=") {
                problems.push(format!("Cargo.toml: `{name}` is pinned, and not below \"{EXPLAINED}\""));
            }
        }
        has_reason = line.starts_with('#') && line != EXPLAINED;
    }
    if !is_below {
        problems.push(format!("Cargo.toml: has no heading \"{EXPLAINED}\""));
    }
    problems
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
    fn dependency_without_a_reason_is_reported() {
        let manifest = |small: &str, weighty: &str| {
            format!("[workspace.dependencies]\n{small}\n\n{EXPLAINED}\n{weighty}\n\n[workspace.lints]\n")
        };
        let explained = "# Tables.\na = \"1\"\n# Sounds,\n# of all kinds.\nb = \"=2\"";
        assert_eq!(unexplained(&manifest("c = \"1\"", explained)), Vec::<String>::new());
        assert_eq!(unexplained(&manifest("c = \"=1\"", explained)).len(), 1);
        assert_eq!(unexplained(&manifest("", &explained.replace("# Tables.\n", ""))).len(), 1);
        assert_eq!(unexplained(&manifest("", "# Both.\na = \"1\"\nb = \"2\"")).len(), 1);
        assert_eq!(unexplained("[workspace.dependencies]\n").len(), 1);
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
