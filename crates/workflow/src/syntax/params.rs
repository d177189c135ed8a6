//! Reads `params`: a value, or a declaration with a default and constraints.

use serde_json::{Number, Value};

use super::bad_identifier;
use super::keys::{KeySpec, params as keys};
use super::mapping::Mapping;
use super::param_kind::ParamKind;
use super::value::report_wrong_type;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, nearest, quoted_list};
use crate::source::Spanned;
use crate::yaml::{Key, Yaml, YamlValue};

/// A parameter: its default, and its allowed values.
#[derive(Clone, Debug)]
pub struct Param {
    pub key: Key,
    /// Its value without an override, which may contain templates; without it an override is required.
    pub default: Option<Yaml>,
    /// The kind of its values; any without one.
    pub kind: Option<ParamKind>,
    /// The allowed values; any where it is empty.
    pub one_of: Vec<Spanned<Value>>,
    /// The smallest number allowed.
    pub min: Option<Spanned<Number>>,
    /// The largest number allowed.
    pub max: Option<Spanned<Number>>,
    /// Whether it was declared in an included file.
    pub is_included: bool,
    /// Whether its declaration has neither a default nor `required`, which is reported.
    pub(crate) lacks_value: bool,
}

/// One parameter; `None` if it has no usable name.
pub(super) fn read(key: &Key, value: &Yaml, is_included: bool, problems: &mut Problems) -> Option<Param> {
    if let Some(wrong) = bad_identifier(key) {
        problems.push(wrong);
        return None;
    }
    let plain = Param {
        key: key.clone(),
        default: Some(value.clone()),
        kind: None,
        one_of: Vec::new(),
        min: None,
        max: None,
        is_included,
        lacks_value: false,
    };
    match &value.value {
        YamlValue::Map(_) if keys::DECLARATION_KEYS.iter().any(|key| value.get(key.name).is_some()) => {
            Some(declaration(value, Param { default: None, ..plain }, problems))
        }
        _ => Some(plain),
    }
}

fn declaration(value: &Yaml, mut param: Param, problems: &mut Problems) -> Param {
    let name = param.key.value.clone();
    let Some(map) = Mapping::open(value, &keys::PARAM, param.key.span, problems) else { return param };
    let as_value =
        format!("a mapping that is the value itself goes under `default`: `{name}: {{default: {{…}}}}`");
    for (key, _) in map.others() {
        let diagnostic = keys::PARAM.unknown_key(key);
        let is_near = did_you_mean(&key.value, keys::PARAM.names()).is_some();
        problems.push(if is_near { diagnostic } else { diagnostic.help(&as_value) });
    }
    param.kind = map.text(&keys::TYPE, problems).and_then(|text| kind(&text, &as_value, problems));
    param.default = map.get(&keys::DEFAULT).map(|(_, value)| value.clone());
    param.one_of = map.get(&keys::ONE_OF).map_or_else(Vec::new, |(key, value)| match &value.value {
        YamlValue::List(items) if !items.is_empty() => {
            items.iter().map(|item| Spanned::new(item.to_json(), item.span.or(key.span))).collect()
        }
        _ => {
            report_wrong_type(&keys::ONE_OF, value, key.span, problems);
            Vec::new()
        }
    });
    param.min = number(&keys::MIN, &map, problems);
    param.max = number(&keys::MAX, &map, problems);
    if let (Some(min), Some(max)) = (&param.min, &param.max)
        && min.value.as_f64() > max.value.as_f64()
    {
        let message = format!("no number is at least {} and at most {}", min.value, max.value);
        let help = format!("write `min: {}, max: {}`", max.value, min.value);
        problems.push(
            Diagnostic::error("bad-param", max.span.or(param.key.span), message)
                .other(min.span.or(param.key.span), "the minimum")
                .help(help),
        );
        // No value is tested against bounds that none can satisfy.
        (param.min, param.max) = (None, None);
    }
    map.text(&keys::NOTE, problems);
    let required = map.flag(&keys::REQUIRED, problems).filter(|required| *required);
    let required = required.and_then(|_| map.get(&keys::REQUIRED)).map(|(key, _)| key.span);
    match (&param.default, required) {
        (Some(default), Some(required)) => problems.push(
            Diagnostic::error("bad-param", required, format!("`{name}` is required and has a default"))
                .other(default.span.or(param.key.span), "the default")
                .help("keep one of the two"),
        ),
        (None, None) => {
            param.lacks_value = true;
            // A misspelled key of these is reported as such.
            let is_value = |near: &str| [keys::DEFAULT.name, keys::REQUIRED.name].contains(&near);
            let is_misspelled =
                map.others().any(|(key, _)| nearest(&key.value, keys::PARAM.names()).is_some_and(is_value));
            if !is_misspelled {
                problems.push(
                    Diagnostic::error("bad-param", param.key.span, format!("`{name}` has no value"))
                        .help("add a `default`, or `required: true`: then the caller must give a value"),
                );
            }
        }
        _ => {}
    }
    param
}

fn kind(text: &Spanned<String>, as_value: &str, problems: &mut Problems) -> Option<ParamKind> {
    let parsed = ParamKind::ALL.into_iter().find(|kind| kind.as_str() == text.value);
    if parsed.is_none() {
        let names = || ParamKind::ALL.into_iter().map(ParamKind::as_str);
        let help = did_you_mean(&text.value, names())
            .unwrap_or_else(|| format!("the types are {}; {as_value}", quoted_list(names(), 6)));
        let message = format!("`{}` is not a type of a parameter", text.value);
        problems.push(Diagnostic::error("bad-param", text.span, message).help(help));
    }
    parsed
}

fn number(key: &KeySpec, map: &Mapping<'_>, problems: &mut Problems) -> Option<Spanned<Number>> {
    let (written, value) = map.get(key)?;
    if let YamlValue::Number(number) = &value.value {
        return Some(Spanned::new(number.clone(), value.span));
    }
    report_wrong_type(key, value, written.span, problems);
    None
}
