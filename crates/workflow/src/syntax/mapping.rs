//! A mapping of the file, read by the table of its keys.

use super::keys::{
    KeySpec, ObjectSpec, Shape, advice, has_key, is_extension, is_field, key_of_film, opposite_of, shot,
    workflow,
};
use super::{Entry, plain_name, value};
use crate::diagnostic::{Diagnostic, Problems, nearest};
use crate::source::{Span, Spanned};
use crate::yaml::{Key, Yaml, YamlValue};

/// A mapping whose keys are those of an object of the file format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapping<'y> {
    object: &'static ObjectSpec,
    entries: &'y [(Key, Yaml)],
    /// The first key, which stands for the mapping in messages.
    span: Span,
}

impl<'y> Mapping<'y> {
    /// Reads a value as an object; `None` if it is not a mapping, which is reported. Unknown and missing keys are reported too, and the
    /// rest is read.
    pub(crate) fn read(
        value: &'y Yaml,
        object: &'static ObjectSpec,
        fallback: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mapping = Self::open(value, object, fallback, problems)?;
        mapping.check_keys(false, problems);
        Some(mapping)
    }

    /// Like [`Self::read`], for the top level of a file, where keys that begin with `x-` are ignored.
    pub(crate) fn read_file(
        value: &'y Yaml,
        object: &'static ObjectSpec,
        problems: &mut Problems,
    ) -> Option<Self> {
        let mapping = Self::open(value, object, value.span, problems)?;
        mapping.check_keys(true, problems);
        Some(mapping)
    }

    /// Like [`Self::read`], without a look at which keys there are.
    pub(crate) fn open(
        value: &'y Yaml,
        object: &'static ObjectSpec,
        fallback: Span,
        problems: &mut Problems,
    ) -> Option<Self> {
        let YamlValue::Map(entries) = &value.value else {
            let message = format!("{} must be a mapping", object.described());
            problems.push(
                Diagnostic::error("wrong-type", value.span.or(fallback), message)
                    .label(format!("this is {}", value.kind()))
                    .help(object.help),
            );
            return None;
        };
        let span = entries.first().map_or(value.span.or(fallback), |(key, _)| key.span);
        Some(Self { object, entries, span })
    }

    /// Reports unknown and missing keys. A missing key that an unknown one was probably meant to be is reported once.
    fn check_keys(&self, extensions: bool, problems: &mut Problems) {
        let mut suggested_keys = Vec::new();
        // The help for a key that holds what others are to hold says all of them.
        let mut is_advised = false;
        if !self.object.is_open {
            for (key, value) in self.others().filter(|(key, _)| !(extensions && is_extension(&key.value))) {
                let unknown =
                    if extensions { self.unknown_in_file(key) } else { self.object.unknown_key(key) };
                let advised = advice(self.object, &key.value, value, |name| has_key(self.entries, name));
                is_advised |= advised.is_some();
                let meant = advised.or_else(|| opposite_of(&key.value, value, self.object.names()));
                problems.push(match meant {
                    Some(help) => unknown.help(help),
                    None => unknown,
                });
                suggested_keys.extend(nearest(&key.value, self.object.names()));
            }
        }
        for key in self.object.keys.iter().filter(|key| key.is_required && self.get(key).is_none()) {
            if is_advised || suggested_keys.contains(&key.name) {
                continue;
            }
            // In an object of further keys, one of these may be what was meant.
            let misspelled = self.others().find(|(other, _)| nearest(&other.value, [key.name]).is_some());
            let diagnostic = Diagnostic::error(
                "missing-key",
                misspelled.map_or(self.span, |(other, _)| other.span),
                format!("`{}` is missing: every {} has one", key.name, self.object.noun),
            );
            problems.push(diagnostic.help(match misspelled {
                None if let Some(help) = self.keyed_by_name(key) => help,
                Some((other, value)) if let Some(text) = value.text().filter(|text| is_fit(key, text)) => {
                    format!("write `{}: {text}` instead of `{}`", key.name, other.value)
                }
                Some((other, _)) => format!("write `{}` instead of `{}`", key.name, other.value),
                None => format!("add `{}`", key.example),
            }));
        }
    }

    /// The report of an unknown key at the top level of a file: one of a shot is not indented.
    fn unknown_in_file(&self, key: &Key) -> Diagnostic {
        let name = &key.value;
        let unknown = self.object.unknown_key(key);
        if let Some(flag) = workflow::flag_for(name) {
            return unknown.help(format!("a run takes it as a flag: `runner run --{flag}`"));
        }
        if nearest(name, self.object.names()).is_some() {
            return unknown;
        }
        if let Some(help) = key_of_film(name).filter(|_| self.object.has(workflow::FILM.name)) {
            return unknown.help(help);
        }
        let is_of_shot = shot::SHOT.has(name) || is_field(name);
        if !is_of_shot
            && self.object.has(workflow::DEFAULTS.name)
            && let Some(field) = other_spelling(name)
        {
            return unknown.help(format!("put it into `defaults` as `{field}`, or into a shot"));
        }
        if !self.object.has(workflow::SHOTS.name) || !is_of_shot {
            let is_name = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
            let Some(help) = unknown.help.clone().filter(|_| is_name && !is_extension(name)) else {
                return unknown;
            };
            return unknown.help(format!("{help}; keys that begin with `x-` are ignored: `x-{name}`"));
        }
        let in_defaults = if !shot::SHOT.has(name) || shot::DEFAULTS.has(name) {
            "; for all shots, put it into `defaults`"
        } else {
            ""
        };
        unknown.help(format!(
            "`{name}` belongs to a shot: indent it deeper than the dash of its shot{in_defaults}"
        ))
    }

    /// The help for a name that is written as a key: `- pier:` for `- id: pier`.
    fn keyed_by_name(&self, key: &KeySpec) -> Option<String> {
        let (name, value) = self.entries.first().filter(|(name, _)| !self.object.has(&name.value))?;
        if !matches!(key.shape, Shape::Id) || plain_name(&name.value).is_err() {
            return None;
        }
        let (name, key_name) = (&name.value, key.name);
        match &value.value {
            YamlValue::Null if !is_field(name) => {
                Some(format!("write `- {key_name}: {name}` instead of `- {name}:`"))
            }
            YamlValue::Map(fields)
                if fields
                    .iter()
                    .any(|(field, _)| self.object.has(&field.value) || is_field(&field.value)) =>
            {
                Some(format!(
                    "write `- {key_name}: {name}`, and its fields below, indented like `{key_name}`"
                ))
            }
            _ => None,
        }
    }

    /// The first key, which stands for the mapping in messages.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// A key as it is written, and its value.
    pub(crate) fn get(&self, key: &KeySpec) -> Option<(&'y Key, &'y Yaml)> {
        debug_assert!(self.object.has(key.name), "`{}` has no key `{}`", self.object.noun, key.name);
        self.entries.iter().find(|(written, _)| written.value == key.name).map(|(key, value)| (key, value))
    }

    /// A key with its value, to be read when its templates are rendered.
    pub(crate) fn entry(&self, key: &KeySpec) -> Option<Entry> {
        self.get(key).map(|(key, value)| Entry { key: key.clone(), value: value.clone() })
    }

    /// The text of a key.
    pub(crate) fn text(&self, key: &KeySpec, problems: &mut Problems) -> Option<Spanned<String>> {
        let (written, value) = self.get(key)?;
        value::expect_text(value, key, written.span, problems)
    }

    /// The whole number of a key.
    pub(crate) fn count(&self, key: &KeySpec, problems: &mut Problems) -> Option<Spanned<u32>> {
        let (written, value) = self.get(key)?;
        let count = value::expect_count(value, key, written.span, problems)?;
        Some(Spanned::new(count, value.span))
    }

    /// The truth of a key.
    pub(crate) fn flag(&self, key: &KeySpec, problems: &mut Problems) -> Option<bool> {
        let (written, value) = self.get(key)?;
        value::expect_flag(value, key, written.span, problems)
    }

    /// The choice of a key; `None` where it has no value, or another one, which is reported.
    pub(crate) fn choice<T: Copy>(
        &self,
        key: &KeySpec,
        choices: &[(&'static str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        let (written, value) = self.get(key).filter(|(_, value)| !value.is_null())?;
        value::expect_choice(value, key, choices, written.span, problems)
    }

    /// The entries whose keys are not those of the object: request fields of a shot, axes of a matrix.
    pub(crate) fn others(&self) -> impl Iterator<Item = &'y (Key, Yaml)> {
        self.entries.iter().filter(|(key, _)| !self.object.has(&key.value))
    }
}

/// The field of a request that a word of another tool means.
fn other_spelling(name: &str) -> Option<&'static str> {
    let fields =
        ["ratio", "seconds", "model", "prompt", "generate_audio", "timeout", "takes", "retry", "references"];
    nearest(name, fields).filter(|_| name.len() > 2)
}

/// Whether a text can be the value of a key as help writes it.
fn is_fit(key: &KeySpec, text: &str) -> bool {
    match key.shape {
        Shape::Id | Shape::Name => plain_name(text).is_ok(),
        _ => !text.contains('\n'),
    }
}
