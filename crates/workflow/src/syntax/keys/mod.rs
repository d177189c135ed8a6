//! The keys of the file format, stated once: name, value, bounds and meaning.
//!
//! The parser ([`Mapping`](super::Mapping)), its suggestions, the JSON Schema ([`crate::workflow_schema`]) and the tables of
//! docs/workflow.md ([`key_tables`]) are driven by these tables. Request fields are not among them: the contract has those.

mod advice;
pub(crate) mod cast;
pub(crate) mod dialogue;
pub(crate) mod film;
pub(crate) mod group;
pub(crate) mod matrix;
pub(crate) mod medium;
pub(crate) mod params;
pub(crate) mod prices;
pub(crate) mod retry;
mod shape;
pub(crate) mod shot;
pub(crate) mod soundtrack;
pub(crate) mod workflow;

pub(crate) use self::advice::{advice, has_key, key_of_film, nothing};
pub(crate) use self::shape::Shape;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use contract::Contract;

use crate::diagnostic::{Diagnostic, did_you_mean, quoted_list};
use crate::yaml;

/// What the names of keys begin with that are ignored at the top level of a file: a home for YAML anchors, and for what other
/// programs keep in the file.
pub(crate) const EXTENSION_PREFIX: &str = "x-";
/// The help for such a key elsewhere. There it is refused: a misspelled field must not be dropped without a word.
pub(crate) const EXTENSION_HELP: &str =
    "keys that begin with `x-` may be at the top level of a file only: move it there";

/// Whether a key is ignored at the top level of a file.
pub(crate) fn is_extension(name: &str) -> bool {
    name.starts_with(EXTENSION_PREFIX)
}

/// Maximum number of keys that help lists: no closed mapping has more.
const MAX_LISTED_KEYS: usize = 16;

/// One key of a mapping of the file format.
#[derive(Debug)]
pub(crate) struct KeySpec {
    pub(crate) name: &'static str,
    /// The shape of its value, with its bounds.
    pub(crate) shape: Shape,
    /// Its meaning: a fragment in Markdown, for editors and for the guide.
    pub(crate) doc: &'static str,
    /// A line of YAML that is right, for messages about a wrong or missing value.
    pub(crate) example: &'static str,
    /// Whether the mapping is wrong without it.
    pub(crate) is_required: bool,
    /// Whether its value may be a template.
    pub(crate) is_template: bool,
}

impl KeySpec {
    const fn new(name: &'static str, shape: Shape, doc: &'static str, example: &'static str) -> Self {
        Self { name, shape, doc, example, is_required: false, is_template: false }
    }

    const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    const fn templated(self) -> Self {
        Self { is_template: true, ..self }
    }
}

/// A mapping of the file format and its keys.
#[derive(Debug)]
pub(crate) struct ObjectSpec {
    /// Its name in messages: `shot`.
    pub(crate) noun: &'static str,
    pub(crate) keys: &'static [&'static KeySpec],
    /// The help for a value that is not a mapping.
    pub(crate) help: &'static str,
    /// Whether it has other keys too, which are read by other rules: request fields, names of axes.
    pub(crate) is_open: bool,
}

impl ObjectSpec {
    /// The key of a name.
    pub(crate) fn key(&self, name: &str) -> Option<&'static KeySpec> {
        self.keys.iter().copied().find(|key| key.name == name)
    }

    /// Whether it has a key of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.key(name).is_some()
    }

    /// The names of its keys.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys.iter().map(|key| key.name)
    }

    /// Its noun with an article: `a shot`.
    pub(crate) fn described(&self) -> String {
        if self.noun.starts_with('`') {
            return self.noun.to_owned();
        }
        let article = if self.noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {}", self.noun)
    }

    /// The report of a key that it does not have.
    pub(crate) fn unknown_key(&self, key: &yaml::Key) -> Diagnostic {
        let message = format!("`{}` is not a key of {}", key.value, self.described());
        if is_extension(&key.value) {
            return Diagnostic::error("unknown-key", key.span, message).help(EXTENSION_HELP);
        }
        let help = did_you_mean(&key.value, self.names())
            .unwrap_or_else(|| format!("the keys here are {}", quoted_list(self.names(), MAX_LISTED_KEYS)));
        Diagnostic::error("unknown-key", key.span, message).help(help)
    }
}

/// The texts that a key takes.
fn names_of<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}

/// The text by which a key takes a value, if it is one of its choices.
pub(crate) fn name_of<T: PartialEq>(value: &T, choices: &[(&'static str, T)]) -> Option<&'static str> {
    choices.iter().find(|(_, choice)| choice == value).map(|(name, _)| *name)
}

/// All mappings of the file format.
const ALL: [&ObjectSpec; 21] = [
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
    &dialogue::LINE,
    &retry::RETRY,
    &medium::MEDIUM,
    &params::PARAM,
    &matrix::MATRIX,
    &matrix::RANGE,
    &matrix::CSV_AXIS,
    &matrix::FILES_AXIS,
    &prices::PRICE_TABLE,
    &prices::PRICE,
];

/// Whether a name is a key of a workflow: of one of its mappings, or a field of a request.
pub(crate) fn is_key_of_format(name: &str) -> bool {
    ALL.iter().any(|object| object.has(name)) || is_field(name)
}

/// Whether the value of a key is text of several words, in whatever mapping it is.
pub(crate) fn is_prose(name: &str) -> bool {
    static NAMES: LazyLock<HashSet<&str>> =
        LazyLock::new(|| names_of_shapes(|shape| matches!(shape, Shape::Prose | Shape::Dialogue)));
    name == PROMPT || NAMES.contains(name)
}

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

/// The field whose text is the most of a shot.
const PROMPT: &str = "prompt";

fn names_of_shapes(is_wanted: fn(&Shape) -> bool) -> HashSet<&'static str> {
    ALL.iter()
        .flat_map(|object| object.keys)
        .filter(|key| is_wanted(&key.shape))
        .map(|key| key.name)
        .collect()
}

/// Whether a name is a key of a workflow or of one of its shots, or a field of a request.
pub(crate) fn is_key_of_shot(name: &str) -> bool {
    workflow::WORKFLOW.has(name) || shot::SHOT.has(name) || is_field(name)
}

/// Whether a name is a field of a request.
pub(crate) fn is_field(name: &str) -> bool {
    let contract = Contract::embedded();
    contract.families().any(|family| contract.field(family, name).is_some())
}

/// Words of other tools that say the opposite of a key, and the key.
const OPPOSITES: [(&str, &str); 6] = [
    ("skip", "when"),
    ("disabled", "when"),
    ("audio", "mute"),
    ("sound", "mute"),
    ("with_audio", "mute"),
    ("no_audio", "generate_audio"),
];

/// The help for a key that says the opposite of one of these names.
pub(crate) fn opposite_of<'a>(
    key: &str,
    value: &yaml::Yaml,
    mut names: impl Iterator<Item = &'a str>,
) -> Option<String> {
    let folded = key.to_lowercase().replace('-', "_");
    let name = names.find(|name| OPPOSITES.contains(&(folded.as_str(), name)))?;
    let meant = match &value.value {
        yaml::YamlValue::Bool(truth) => (!truth).to_string(),
        yaml::YamlValue::Text(text) if name == shot::WHEN.name && !text.contains(['{', '`', '\n']) => {
            format!("not ({text})")
        }
        _ => return None,
    };
    Some(format!("write `{name}: {meant}`, which is the opposite of `{key}`"))
}

/// The tables of keys in the guide, each under its name, in Markdown.
#[must_use]
pub fn key_tables() -> Vec<(&'static str, String)> {
    [
        ("workflow", &workflow::WORKFLOW),
        ("shot", &shot::SHOT),
        ("group", &group::GROUP),
        ("character", &cast::CHARACTER),
        ("dialogue", &dialogue::LINE),
        ("retry", &retry::RETRY),
        ("parameter", &params::PARAM),
        ("medium", &medium::MEDIUM),
        ("matrix", &matrix::MATRIX),
        ("film", &film::FILM),
        ("clip", &film::CLIP),
        ("transition", &film::TRANSITION_KINDS),
        ("subtitles", &film::SUBTITLE_KEYS),
        ("music", &soundtrack::MUSIC),
        ("voice", &soundtrack::VOICE),
        ("price", &prices::PRICE),
    ]
    .map(|(name, object)| (name, table(object)))
    .into()
}

fn table(object: &ObjectSpec) -> String {
    let mut out = String::from("| key | value | meaning |\n|---|---|---|\n");
    for key in object.keys {
        let required = if key.is_required { "; required" } else { "" };
        let _ = writeln!(out, "| `{}` | {} | {}{required} |", key.name, key.shape, key.doc);
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
                assert!(!key.doc.is_empty() && !key.doc.contains(['|', '\n']), "{}", key.name);
                assert!(key.example.contains(&format!("{}:", key.name)), "{}", key.name);
            }
        }
    }

    #[test]
    fn unknown_key_names_the_nearest_key() {
        let key = |name: &str| yaml::Key::new(name.to_owned(), crate::source::Span::default());
        assert_eq!(film::FILM.unknown_key(&key("outptu")).help.as_deref(), Some("did you mean `output`?"));
        assert_eq!(
            soundtrack::VOICE.unknown_key(&key("x")).help.as_deref(),
            Some("the keys here are `file`, `at`, `delay` and `gain`")
        );
        assert_eq!(workflow::FRAGMENT.unknown_key(&key("x")).message, "`x` is not a key of an included file");
    }
}
