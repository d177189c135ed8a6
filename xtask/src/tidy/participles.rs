//! Refuses past participles as the whole name of a type (`Drawn`, `Unpriced`) or of a crate's module: such a name says what happened to a thing, not
//! what the thing is.

use std::collections::BTreeSet;

use super::names::{Name, NameKind};

/// Participles that do not end in `ed`.
const IRREGULAR: [&str; 48] = [
    "Begun",
    "Bought",
    "Broken",
    "Brought",
    "Built",
    "Caught",
    "Chosen",
    "Done",
    "Drawn",
    "Driven",
    "Fallen",
    "Forgotten",
    "Found",
    "Frozen",
    "Given",
    "Gone",
    "Grown",
    "Heard",
    "Held",
    "Hidden",
    "Kept",
    "Known",
    "Laid",
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Paid",
    "Put",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Sold",
    "Spent",
    "Spoken",
    "Stolen",
    "Taken",
    "Taught",
    "Thought",
    "Thrown",
    "Told",
    "Torn",
    "Understood",
    "Woken",
    "Won",
    "Worn",
    "Written",
];

/// Names that end in `ed` and are no participles.
const NOUNS: [&str; 5] = ["Embed", "Feed", "Need", "Seed", "Speed"];

/// Participles that stay, and why.
const ALLOWED: &[(&str, &str)] = &[
    ("Shared", "the state behind the `Arc` that the handles of one thing share, as in tokio"),
    ("generated", "the module of what a build script generates"),
    ("Spanned", "the usual name of a value with its span, as in turborepo and syn"),
];

pub(super) fn problems(names: &[Name]) -> Vec<String> {
    let (mut problems, mut used) = (BTreeSet::new(), BTreeSet::new());
    for name in names.iter().filter(|name| is_refused(name)) {
        if let Some((allowed, _)) = ALLOWED.iter().find(|(allowed, _)| *allowed == name.text) {
            used.insert(*allowed);
        } else {
            problems.insert(format!(
                "{}: {} `{}` is a participle; name the thing (`DrawnText`, `FetchResult`)",
                name.file, name.kind, name.text
            ));
        }
    }
    let unused = ALLOWED.iter().filter(|(allowed, _)| !used.contains(allowed));
    problems.extend(
        unused.map(|(name, _)| format!("xtask/src/tidy/participles.rs: `{name}` is allowed and not used")),
    );
    problems.into_iter().collect()
}

fn is_refused(name: &Name) -> bool {
    match name.kind {
        NameKind::Type => is_participle(&name.text),
        // Modules of transitions have the names of their events.
        NameKind::Module => {
            name.file.starts_with("crates/")
                && name.file.contains("/src/")
                && !name.file.contains("/transitions/")
                && is_participle(&capitalized(&name.text))
        }
        _ => false,
    }
}

fn capitalized(name: &str) -> String {
    let mut rest = name.chars();
    rest.next().map(|first| first.to_uppercase().chain(rest).collect()).unwrap_or_default()
}

fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().skip(1).all(char::is_lowercase);
    let base = name.strip_prefix("Un").map(capitalized);
    let is_irregular = |name: &str| IRREGULAR.contains(&name);
    is_one_word
        && !NOUNS.contains(&name)
        && (name.ends_with("ed") || is_irregular(name) || base.is_some_and(|base| is_irregular(&base)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused_in(file: &str, kind: NameKind, text: &str) -> bool {
        let name = Name { file: file.to_owned(), kind, text: text.to_owned() };
        problems(&[name]).iter().any(|problem| problem.starts_with(file))
    }

    fn refused(kind: NameKind, text: &str) -> bool {
        refused_in("a.rs", kind, text)
    }

    #[test]
    fn participles_are_refused_as_types_of_one_word() {
        for text in ["Woken", "Listed", "Unpriced", "Unknown", "Unseen"] {
            assert!(refused(NameKind::Type, text), "{text}");
        }
        for text in ["DrawnText", "Speed", "Need", "Spanned", "Read", "Shot", "Cut", "Media"] {
            assert!(!refused(NameKind::Type, text), "{text}");
        }
        assert!(!refused(NameKind::Variant, "Listed") && !refused(NameKind::Function, "read"));
    }

    #[test]
    fn participles_are_refused_as_modules_of_crates() {
        let module = |file, text| refused_in(file, NameKind::Module, text);
        assert!(module("crates/a/src/listed.rs", "listed") && module("crates/a/src/shown/mod.rs", "shown"));
        assert!(!module("crates/a/src/listing.rs", "listing") && !module("crates/a/src/speed.rs", "speed"));
        assert!(
            !module("crates/a/src/generated.rs", "generated")
                && !module("crates/a/tests/listed.rs", "listed")
        );
        assert!(!module("crates/a/src/state/transitions/polled.rs", "polled"));
    }

    #[test]
    fn allowed_names_that_no_type_has_are_reported() {
        let problems = problems(&[]);
        assert!(problems.iter().all(|problem| problem.contains("is allowed and not used")), "{problems:?}");
        assert_eq!(problems.len(), ALLOWED.len());
    }
}
