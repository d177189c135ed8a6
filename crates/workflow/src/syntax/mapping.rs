//! A mapping of the file, read by the table of its keys.

use super::keys::{KeySpec, ObjectSpec, film, is_extension, is_field, misplaced, shot, workflow};
use super::{Entry, value};
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
                    .help(object.help()),
            );
            return None;
        };
        let span = entries.first().map_or(value.span.or(fallback), |(key, _)| key.span);
        Some(Self { object, entries, span })
    }

    /// Reports unknown and missing keys. A missing key that an unknown one was probably meant to be is reported once.
    fn check_keys(&self, extensions: bool, problems: &mut Problems) {
        let mut suggested_keys = Vec::new();
        if !self.object.is_open() {
            for (key, _) in self.others().filter(|(key, _)| !(extensions && is_extension(&key.value))) {
                let unknown = self.object.unknown_key(key);
                let help = misplaced(self.object, &key.value)
                    .or_else(|| if extensions { self.misplaced_in_file(&key.value) } else { None });
                let is_named =
                    |name: &&str| help.as_ref().is_some_and(|help| help.contains(&format!("`{name}`?")));
                suggested_keys.extend(self.object.names().find(is_named));
                problems.push(match help {
                    Some(help) => unknown.help(help),
                    None => unknown,
                });
                suggested_keys.extend(nearest(&key.value, self.object.names()));
            }
        }
        // Included files may bring all shots.
        let is_elsewhere = |key: &KeySpec| {
            key.name == workflow::SHOTS.name
                && self.object.has(workflow::INCLUDE.name)
                && self.get(&workflow::INCLUDE).is_some()
        };
        let is_missing = |key: &KeySpec| key.is_required() && self.get(key).is_none() && !is_elsewhere(key);
        for key in self.object.keys.iter().filter(|key| is_missing(key)) {
            if suggested_keys.contains(&key.name) {
                continue;
            }
            // In an object of further keys, one of these may be what was meant.
            let misspelled = self.others().find(|(other, _)| nearest(&other.value, [key.name]).is_some());
            let diagnostic = Diagnostic::error(
                "missing-key",
                misspelled.map_or(self.span, |(other, _)| other.span),
                format!("`{}` is missing: every {} has one", key.name, self.object.noun()),
            );
            problems.push(diagnostic.help(match misspelled {
                Some((other, _)) => format!("write `{}` instead of `{}`", key.name, other.value),
                None => format!("add `{}`", key.example()),
            }));
        }
    }

    /// The help for an unknown key at the top level of a file: one of a shot is not indented.
    fn misplaced_in_file(&self, name: &str) -> Option<String> {
        if let Some(flag) = workflow::flag_for(name) {
            return Some(format!("a run takes it as a flag: `runner run --{flag}`"));
        }
        if nearest(name, self.object.names()).is_some() {
            return None;
        }
        let is_of_shot = shot::SHOT.has(name) || is_field(name);
        if is_of_shot && self.object.has(workflow::SHOTS.name) {
            let in_defaults = if !shot::SHOT.has(name) || shot::DEFAULTS.has(name) {
                "; for all shots, put it into `defaults`"
            } else {
                ""
            };
            return Some(format!(
                "`{name}` belongs to a shot: indent it deeper than the dash of its shot{in_defaults}"
            ));
        }
        (film::FILM.has(name) && self.object.has(workflow::FILM.name))
            .then(|| format!("`{name}` belongs to the film: write it below `film:`"))
    }

    /// The first key, which stands for the mapping in messages.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// A key as it is written, and its value.
    pub(crate) fn get(&self, key: &KeySpec) -> Option<(&'y Key, &'y Yaml)> {
        debug_assert!(self.object.has(key.name), "`{}` has no key `{}`", self.object.noun(), key.name);
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
