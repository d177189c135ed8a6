//! The keys of the file format, stated once: name, value, bounds and meaning.
//!
//! The parser ([`Mapping`](super::Mapping)), its suggestions, the JSON Schema ([`crate::workflow_schema`]) and the tables of
//! docs/workflow.md ([`key_tables`]) are driven by these tables. Request fields are not among them: the contract has those.

pub(crate) mod cast;
pub(crate) mod dialogue;
pub(crate) mod film;
pub(crate) mod group;
pub(crate) mod matrix;
pub(crate) mod medium;
mod misplaced;
pub(crate) mod params;
pub(crate) mod prices;
pub(crate) mod retry;
pub(crate) mod services;
mod shape;
pub(crate) mod shot;
pub(crate) mod soundtrack;
mod spec;
mod texts;
pub(crate) mod workflow;

pub(crate) use self::misplaced::misplaced;
pub(crate) use self::shape::Shape;
pub(crate) use self::spec::{
    EXTENSION_HELP, EXTENSION_PREFIX, KeySpec, ObjectSpec, is_extension, is_field, name_of,
};
use self::spec::{names_of, object};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

/// All mappings of the file format.
const ALL: [&ObjectSpec; 27] = [
    &group::GROUP,
    &cast::CHARACTER,
    &soundtrack::MUSIC,
    &soundtrack::VOICE,
    &workflow::WORKFLOW,
    &workflow::FRAGMENT,
    &film::FILM,
    &film::CLIP,
    &film::TRANSITION_KINDS,
    &film::SUBTITLE_KEYS,
    &shot::SHOT,
    &shot::DEFAULTS,
    &dialogue::LINE,
    &retry::RETRY,
    &medium::MEDIUM,
    &params::PARAM,
    &matrix::MATRIX,
    &matrix::RANGE,
    &matrix::CSV_AXIS,
    &matrix::FILES_AXIS,
    &services::SERVICES_FILE,
    &services::SERVICE,
    &services::MODEL,
    &services::LIMIT,
    &prices::PRICE_TABLE,
    &prices::PRICE,
    &prices::EXCHANGE_RATE,
];

/// Whether the value of a key is a text or a name, or a list of them, in whatever mapping it is: a number there is a name of digits.
pub(crate) fn is_name_or_text(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        names_of_shapes(|shape| {
            matches!(
                shape,
                Shape::Id
                    | Shape::Name
                    | Shape::Text
                    | Shape::Prose
                    | Shape::Scalar
                    | Shape::Dialogue
                    | Shape::OutputName
                    | Shape::ShotRef
                    | Shape::ShotRefs
                    | Shape::Shots
                    | Shape::Clips
                    | Shape::Characters
            )
        })
    });
    NAMES.contains(name)
}

fn names_of_shapes(is_wanted: fn(&Shape) -> bool) -> HashSet<&'static str> {
    ALL.iter()
        .flat_map(|object| object.keys)
        .filter(|key| is_wanted(&key.shape))
        .map(|key| key.name)
        .collect()
}

/// The tables of keys in the guide, each under its name, in Markdown.
pub fn key_tables() -> Vec<(&'static str, String)> {
    let in_guide = ALL.iter().filter(|object| texts::Texts::of(object.path).has("in-guide"));
    in_guide.map(|object| (object.path, table(object))).collect()
}

fn table(object: &ObjectSpec) -> String {
    let mut out = String::from("| key | value | meaning |\n|---|---|---|\n");
    for key in object.keys {
        let required = if key.is_required() { "; required" } else { "" };
        let _ = writeln!(out, "| `{}` | {} | {}{required} |", key.name, key.shape, key.doc());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_names_are_unique_and_documented() {
        for object in ALL {
            for (index, key) in object.keys.iter().enumerate() {
                assert!(object.keys[..index].iter().all(|other| other.name != key.name), "{}", key.name);
                assert!(!key.doc().contains(['|', '\n']), "{}", key.name);
                assert!(key.example().contains(&format!("{}:", key.name)), "{}", key.name);
            }
        }
    }

    #[test]
    fn unknown_key_names_the_nearest_key() {
        let key = |name: &str| crate::yaml::Key::new(name.to_owned(), crate::source::Span::default());
        assert_eq!(film::FILM.unknown_key(&key("outptu")).help.as_deref(), Some("did you mean `output`?"));
        assert_eq!(
            soundtrack::VOICE.unknown_key(&key("x")).help.as_deref(),
            Some("the keys here are `file`, `at`, `delay` and `gain`")
        );
        assert_eq!(workflow::FRAGMENT.unknown_key(&key("x")).message, "`x` is not a key of an included file");
    }
}
