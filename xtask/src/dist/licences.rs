//! The licences of the crates that are linked into the program, which their authors require to be passed on.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::build;

/// Beginnings of the names of files with licences and notices, in upper case.
const NAMES: &[&str] = &["LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE", "OFL"];

/// A text with the licence of each crate; equal texts are printed once.
pub(super) fn third_party(root: &Path, triple: &str) -> Result<String, String> {
    let metadata = build::output(
        "cargo",
        &["metadata", "--format-version", "1", "--locked", "--filter-platform", triple],
        root,
    )?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
    let linked = linked(&metadata);
    let mut list = String::new();
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let mut packages: Vec<&Value> = packages
        .filter(|package| !package["source"].is_null() && linked.contains(text(package, "id")))
        .collect();
    packages.sort_by_key(|package| (text(package, "name"), text(package, "version")));
    for package in packages {
        let name = format!("{} {}", text(package, "name"), text(package, "version"));
        let _ = writeln!(list, "{name}: {} <{}>", text(package, "license"), text(package, "repository"));
        let folder = Path::new(text(package, "manifest_path")).parent().unwrap_or(root);
        for licence in licence_texts(folder) {
            texts.entry(licence).or_default().push(name.clone());
        }
    }
    let mut out = format!("Crates that are linked into runner, with their licences.\n\n{list}");
    // The fonts are embedded.
    for licence in licence_texts(&root.join("crates/text/fonts")) {
        texts.entry(licence).or_default().push("embedded fonts".to_owned());
    }
    for (text, names) in &texts {
        let _ = write!(out, "\n{}\n{}\n\n{}\n", "-".repeat(80), names.join(", "), text.trim_end());
    }
    Ok(out)
}

/// The ids of the packages that the program depends on, without those that only builds and tests need.
fn linked(metadata: &Value) -> BTreeSet<&str> {
    let nodes = metadata["resolve"]["nodes"].as_array();
    let nodes: BTreeMap<&str, &Value> =
        nodes.into_iter().flatten().map(|node| (text(node, "id"), node)).collect();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let runner = packages.filter(|package| text(package, "name") == "runner" && package["source"].is_null());
    let mut queue: Vec<&str> = runner.map(|package| text(package, "id")).collect();
    let mut linked = BTreeSet::new();
    while let Some(id) = queue.pop() {
        if !linked.insert(id) {
            continue;
        }
        let dependencies = nodes.get(id).and_then(|node| node["deps"].as_array()).into_iter().flatten();
        queue.extend(
            dependencies.filter(|dependency| is_normal(dependency)).map(|dependency| text(dependency, "pkg")),
        );
    }
    linked
}

fn is_normal(dependency: &Value) -> bool {
    dependency["dep_kinds"].as_array().into_iter().flatten().any(|kind| kind["kind"].is_null())
}

fn text<'v>(value: &'v Value, member: &str) -> &'v str {
    value[member].as_str().unwrap_or_default()
}

fn licence_texts(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let is_licence = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && NAMES.iter().any(|start| name.starts_with(start))
    };
    let paths = entries.map(|entry| entry.path()).filter(|path| is_licence(path));
    paths
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .map(|text| text.replace("\r\n", "\n"))
        .collect()
}
