//! Reads names of shots and of groups.

use super::ShotRef;
use super::keys::KeySpec;
use super::value::{self, one_or_many, report_wrong_type};
use crate::diagnostic::{Diagnostic, Problems};
use crate::letters::normalized;
use crate::source::{Span, Spanned};
use crate::yaml::{Key, Yaml, YamlValue};

/// A list of shot references, or one.
pub(super) fn shot_refs(
    key: &KeySpec,
    fallback: Span,
    value: &Yaml,
    problems: &mut Problems,
) -> Vec<Spanned<ShotRef>> {
    one_or_many(value).iter().filter_map(|item| shot_ref(key, fallback, item, problems)).collect()
}

pub(super) fn shot_ref(
    key: &KeySpec,
    fallback: Span,
    value: &Yaml,
    problems: &mut Problems,
) -> Option<Spanned<ShotRef>> {
    let text = match &value.value {
        YamlValue::Text(text) => text.clone(),
        // An id such as `1` is a number in YAML.
        YamlValue::Number(number) if number.is_u64() => number.to_string(),
        _ => {
            report_wrong_type(key, value, fallback, problems);
            return None;
        }
    };
    match ShotRef::parse(&text) {
        Ok(reference) => Some(Spanned::new(reference, value.span)),
        Err(message) => {
            let help = format!(
                "`{}` takes a shot's id, one cell of it as `id@axis=value`, or one take as `id#2`",
                key.name
            );
            problems.push(Diagnostic::error("bad-name", value.span.or(fallback), message).help(help));
            None
        }
    }
}

/// The name of a group; one such as `1` is a number in YAML.
pub(crate) fn group_name(
    value: &Yaml,
    spec: &KeySpec,
    key: &Key,
    problems: &mut Problems,
) -> Option<Spanned<String>> {
    let name = name(value, spec, key, problems)?;
    Some(Spanned::new(normalized(&name.value).into_owned(), name.span.or(key.span)))
}

/// A name, or a number that is read as text.
pub(super) fn name(
    value: &Yaml,
    spec: &KeySpec,
    key: &Key,
    problems: &mut Problems,
) -> Option<Spanned<String>> {
    match &value.value {
        YamlValue::Number(number) if number.is_u64() => Some(Spanned::new(number.to_string(), value.span)),
        _ => value::expect_text(value, spec, key.span, problems),
    }
}
