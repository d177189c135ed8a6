//! Reads what workflows, groups and included files have in common.

use super::keys::{KeySpec, shot as shot_keys, workflow as keys};
use super::mapping::Mapping;
use super::value::{self, one_or_many, report_wrong_type};
use super::{Entry, Param, params};
use crate::diagnostic::{Diagnostic, Problems, allowable};
use crate::source::Spanned;
use crate::yaml::{Key, Yaml, YamlValue};

/// Reports a version other than 1.
pub(super) fn version(key: &Key, value: &Yaml, problems: &mut Problems) {
    let version = match &value.value {
        YamlValue::Number(number) => number.as_u64(),
        _ => None,
    };
    if version == Some(1) {
        return;
    }
    let message = match &value.value {
        YamlValue::Number(number) => format!("version {number} of the file format is not supported"),
        _ => "`version` must be the number 1".to_owned(),
    };
    problems.push(
        Diagnostic::error("unsupported-version", value.span.or(key.span), message).help("write `version: 1`"),
    );
}

/// The entries of a key whose value is a mapping; none where it is empty.
fn entries<'y>(file: &Mapping<'y>, key: &KeySpec, problems: &mut Problems) -> &'y [(Key, Yaml)] {
    match file.get(key) {
        None => &[],
        Some((_, Yaml { value: YamlValue::Map(entries), .. })) => entries,
        Some((_, value)) if value.is_null() => &[],
        Some((written, value)) => {
            report_wrong_type(key, value, written.span, problems);
            &[]
        }
    }
}

/// The names of files to include: one, or a list.
pub(super) fn include(file: &Mapping<'_>, problems: &mut Problems) -> Vec<Spanned<String>> {
    texts(file, &keys::INCLUDE, problems)
}

/// Allows the warnings that the file names.
pub(super) fn allow(file: &Mapping<'_>, problems: &mut Problems) {
    for code in texts(file, &keys::ALLOW, problems) {
        match allowable(&code.value) {
            Ok(code) => problems.allow(code),
            Err((message, help)) => {
                problems.push(Diagnostic::error("unknown-code", code.span, message).help(help));
            }
        }
    }
}

/// One text, or a list.
fn texts(file: &Mapping<'_>, key: &KeySpec, problems: &mut Problems) -> Vec<Spanned<String>> {
    let Some((written, value)) = file.get(key).filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    let items = one_or_many(value).iter();
    items.filter_map(|item| value::expect_text(item, key, written.span, problems)).collect()
}

/// The parameters. `is_included` says that they come from an included file.
pub(super) fn params_of(
    map: &Mapping<'_>,
    key: &KeySpec,
    is_included: bool,
    problems: &mut Problems,
) -> Vec<Param> {
    let entries = entries(map, key, problems).iter();
    entries.filter_map(|(key, value)| params::read(key, value, is_included, problems)).collect()
}

/// The request fields, and the keys of shots, that are written once for several.
pub(super) fn defaults(map: &Mapping<'_>, key: &KeySpec, problems: &mut Problems) -> Vec<Entry> {
    let mut fields = Vec::new();
    for (key, value) in entries(map, key, problems) {
        if shot_keys::SHOT.has(&key.value) && !shot_keys::DEFAULTS.has(&key.value) {
            let message = format!("`{}` has no default", key.value);
            problems.push(
                Diagnostic::error("unknown-field", key.span, message).help(shot_keys::no_default(&key.value)),
            );
        } else {
            fields.push(Entry { key: key.clone(), value: value.clone() });
        }
    }
    fields
}
