//! A key, and a mapping of keys.

use contract::Contract;

use super::Shape;
use super::texts::Texts;
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
    /// Its mapping and its name, by which keys.txt has its texts.
    pub(super) path: &'static str,
    /// The shape of its value, with its bounds.
    pub(crate) shape: Shape,
}

impl KeySpec {
    /// Its meaning: a fragment in Markdown, for editors and for the guide.
    pub(crate) fn doc(&self) -> &'static str {
        Texts::of(self.path).meaning
    }

    /// A line of YAML that is right, for messages about a wrong or missing value.
    pub(crate) fn example(&self) -> &'static str {
        Texts::of(self.path).example
    }

    /// Whether the mapping is wrong without it.
    pub(crate) fn is_required(&self) -> bool {
        Texts::of(self.path).has("required")
    }

    /// Whether its value may be a template.
    pub(crate) fn is_template(&self) -> bool {
        Texts::of(self.path).has("templated")
    }
}

/// A mapping of the file format and its keys.
#[derive(Debug)]
pub(crate) struct ObjectSpec {
    /// The name of its block in keys.txt.
    pub(super) path: &'static str,
    pub(crate) keys: &'static [&'static KeySpec],
}

/// A mapping and its keys in the order of the guide. A key without a name and a shape is one of another mapping.
macro_rules! object {
    ($object:ident = $path:literal: $($key:ident $(= $name:literal: $shape:expr)?),* $(,)?) => {
        $($(
            pub(crate) const $key: super::KeySpec =
                super::KeySpec { name: $name, path: concat!($path, ".", $name), shape: $shape };
        )?)*
        pub(crate) const $object: super::ObjectSpec = super::ObjectSpec { path: $path, keys: &[$(&$key),*] };
    };
}
pub(super) use object;

impl ObjectSpec {
    /// Its name in messages: `shot`.
    pub(crate) fn noun(&self) -> &'static str {
        Texts::of(self.path).meaning
    }

    /// The help for a value that is not a mapping.
    pub(crate) fn help(&self) -> &'static str {
        Texts::of(self.path).example
    }

    /// Whether it has other keys too, which are read by other rules: request fields, names of axes.
    pub(crate) fn is_open(&self) -> bool {
        Texts::of(self.path).has("open")
    }

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
        let noun = self.noun();
        if noun.starts_with('`') {
            return noun.to_owned();
        }
        let article = if noun.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {noun}")
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
pub(super) fn names_of<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}

/// The text by which a key takes a value, if it is one of its choices.
pub(crate) fn name_of<T: PartialEq>(value: &T, choices: &[(&'static str, T)]) -> Option<&'static str> {
    choices.iter().find(|(_, choice)| choice == value).map(|(name, _)| *name)
}

/// Whether a name is a field of a request.
pub(crate) fn is_field(name: &str) -> bool {
    let contract = Contract::embedded();
    contract.families().any(|family| contract.field(family, name).is_some())
}
