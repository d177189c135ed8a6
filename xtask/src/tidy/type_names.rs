//! Refuses one name for two types of a crate, outside of tests: a reader cannot tell them apart without their paths.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use quote::ToTokens;
use syn::{Attribute, Item};

use crate::repository;

/// Names that several types of a crate may have, and why.
const ALLOWED: &[(&str, &str)] =
    &[("Shared", "the state behind the `Arc` that the handles of one thing share, as in tokio")];

pub(super) fn problems(root: &Path) -> Result<Vec<String>, String> {
    let mut types = Vec::new();
    for file in repository::files(root)? {
        if is_source(&file) {
            let text = fs_err::read_to_string(root.join(&file)).map_err(|error| error.to_string())?;
            types.extend(types_of(&file, &text)?);
        }
    }
    Ok(check(&types))
}

/// Whether a file is a part of a crate besides its tests.
fn is_source(file: &str) -> bool {
    let Some(path) = file.strip_prefix("crates/").and_then(|rest| rest.strip_suffix(".rs")) else {
        return false;
    };
    let mut parts = path.split('/').skip(1);
    parts.next() == Some("src") && !path.ends_with("_tests") && parts.all(|part| part != "tests")
}

/// The structs, enums, unions and traits of a file, each with the file.
fn types_of(file: &str, text: &str) -> Result<Vec<(String, String)>, String> {
    let source = syn::parse_file(text).map_err(|error| format!("{file}: cannot be parsed: {error}"))?;
    let mut names = BTreeSet::new();
    collect(&source.items, &mut names);
    Ok(names.into_iter().map(|name| (file.to_owned(), name)).collect())
}

fn collect(items: &[Item], names: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Struct(item) => drop(names.insert(item.ident.to_string())),
            Item::Enum(item) => drop(names.insert(item.ident.to_string())),
            Item::Union(item) => drop(names.insert(item.ident.to_string())),
            Item::Trait(item) => drop(names.insert(item.ident.to_string())),
            Item::Mod(item) if !item.attrs.iter().any(is_test) => {
                collect(item.content.as_ref().map_or(&[], |(_, items)| items), names);
            }
            _ => {}
        }
    }
}

fn is_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg") && attribute.to_token_stream().to_string().contains("test")
}

/// `types` are pairs of a file and a name that it declares.
fn check(types: &[(String, String)]) -> Vec<String> {
    let mut files: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (file, name) in types {
        let crate_name = file.split('/').nth(1).unwrap_or_default();
        files.entry((crate_name, name)).or_default().push(file);
    }
    let (mut problems, mut used) = (Vec::new(), BTreeSet::new());
    for ((crate_name, name), files) in files.iter().filter(|(_, files)| files.len() > 1) {
        if ALLOWED.iter().any(|(allowed, _)| allowed == name) {
            used.insert(*name);
        } else {
            problems.push(format!("{crate_name}: several types are called `{name}`: {}", files.join(", ")));
        }
    }
    let unused = ALLOWED.iter().filter(|(name, _)| !used.contains(name));
    problems.extend(
        unused.map(|(name, _)| format!("xtask/src/tidy/type_names.rs: `{name}` is allowed and not used")),
    );
    problems
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(files: &[(&str, &str)]) -> bool {
        let types: Vec<_> = files.iter().flat_map(|(file, text)| types_of(file, text).unwrap()).collect();
        check(&types).iter().any(|problem| problem.contains("several types"))
    }

    #[test]
    fn types_of_one_name_in_two_files_of_a_crate_are_refused() {
        let (one, two) = ("crates/a/src/one.rs", "crates/a/src/two.rs");
        assert!(refused(&[(one, "struct Cell;"), (two, "mod inner { enum Cell {} }")]));
        assert!(!refused(&[(one, "struct Cell;"), ("crates/b/src/two.rs", "struct Cell;")]));
        assert!(!refused(&[(one, "struct Cell;"), (two, "#[cfg(test)] mod tests { struct Cell; }")]));
        assert!(!refused(&[(one, "struct Shared;"), (two, "struct Shared;")]));
        // Of two platforms.
        assert!(!refused(&[(one, "#[cfg(unix)] struct Signals; #[cfg(not(unix))] struct Signals;")]));
    }

    #[test]
    fn sources_of_crates_are_read_without_their_tests() {
        assert!(is_source("crates/a/src/one.rs") && is_source("crates/a/src/bin/two.rs"));
        for file in
            ["crates/a/tests/one.rs", "crates/a/src/tests.rs", "crates/a/src/one_tests.rs", "xtask/src/a.rs"]
        {
            assert!(!is_source(file), "{file}");
        }
    }
}
