//! Refuses past participles as the whole name of a type (`Drawn`, `Unpriced`): such a name says what happened to a thing, not what the thing is.

use std::collections::BTreeSet;

use super::names::{Kind, Name};

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
    ("Spanned", "the usual name of a value with its span, as in turborepo and syn"),
];

pub(super) fn problems(names: &[Name]) -> Vec<String> {
    let (mut problems, mut used) = (BTreeSet::new(), BTreeSet::new());
    for name in names.iter().filter(|name| name.kind == Kind::Type && is_participle(&name.text)) {
        if let Some((allowed, _)) = ALLOWED.iter().find(|(allowed, _)| *allowed == name.text) {
            used.insert(*allowed);
        } else {
            problems.insert(format!(
                "{}: type `{}` is a participle; name the thing (`DrawnText`, `FetchResult`)",
                name.file, name.text
            ));
        }
    }
    let unused = ALLOWED.iter().filter(|(allowed, _)| !used.contains(allowed));
    problems.extend(
        unused.map(|(name, _)| format!("xtask/src/tidy/participles.rs: `{name}` is allowed and not used")),
    );
    problems.into_iter().collect()
}

fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().skip(1).all(char::is_lowercase);
    let base = name.strip_prefix("Un").map(|rest| {
        let mut rest = rest.chars();
        rest.next().map(|first| first.to_uppercase().chain(rest).collect::<String>()).unwrap_or_default()
    });
    let is_irregular = |name: &str| IRREGULAR.contains(&name);
    is_one_word
        && !NOUNS.contains(&name)
        && (name.ends_with("ed") || is_irregular(name) || base.is_some_and(|base| is_irregular(&base)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(kind: Kind, text: &str) -> bool {
        let name = Name { file: "a.rs".to_owned(), kind, text: text.to_owned() };
        problems(&[name]).iter().any(|problem| problem.starts_with("a.rs"))
    }

    #[test]
    fn participles_are_refused_as_types_of_one_word() {
        for text in ["Woken", "Listed", "Unpriced", "Unknown", "Unseen"] {
            assert!(refused(Kind::Type, text), "{text}");
        }
        for text in ["DrawnText", "Speed", "Need", "Spanned", "Read", "Shot", "Cut", "Media"] {
            assert!(!refused(Kind::Type, text), "{text}");
        }
        assert!(!refused(Kind::Variant, "Listed") && !refused(Kind::Function, "read"));
    }

    #[test]
    fn allowed_names_that_no_type_has_are_reported() {
        let problems = problems(&[]);
        assert!(problems.iter().all(|problem| problem.contains("is allowed and not used")), "{problems:?}");
        assert_eq!(problems.len(), ALLOWED.len());
    }
}
