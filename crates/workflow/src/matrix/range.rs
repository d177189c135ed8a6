//! Axes given as ranges: `{from: 1, to: 9, step: 2}`.

use serde_json::{Number, Value};

use super::value::{Values, value as axis_value};
use crate::diagnostic::{Diagnostic, Problems, grouped, nearest};
use crate::limits;
use crate::source::Span;
use crate::syntax::keys::{KeySpec, matrix as keys};
use crate::syntax::{Mapping, report_wrong_type};
use crate::yaml::{Key, Yaml, YamlValue};

/// The forms of an axis, for help.
pub(super) const FORMS: &str = "an axis is a list, a range `{from: 1, to: 5}`, a table `{csv: cast.csv}` or files `{files: \"stills/*.png\"}`";

/// The values from `from` to `to`, both included, `step` apart (1 where it is left out). Whole where both `from` and
/// `step` are whole.
pub(super) fn values(axis: &Key, range: &Yaml, problems: &mut Problems) -> Option<Values> {
    let map = Mapping::open(range, &keys::RANGE, axis.span, problems)?;
    if let Some((key, _)) = map.others().next() {
        let is_range = map.get(&keys::FROM).or(map.get(&keys::TO)).is_some();
        problems.push(if is_range || nearest(&key.value, keys::RANGE.names()).is_some() {
            keys::RANGE.unknown_key(key)
        } else {
            let message = format!("the axis `{}` is a mapping, and none of the forms of an axis", axis.value);
            Diagnostic::error("bad-matrix", key.span, message).help(FORMS)
        });
        return None;
    }
    let from = number(axis, &keys::FROM, &map, problems)?;
    let to = number(axis, &keys::TO, &map, problems)?;
    let step = match map.get(&keys::STEP) {
        Some(_) => number(axis, &keys::STEP, &map, problems)?,
        None => Number::from(1),
    };
    let span = map.get(&keys::STEP).map_or(axis.span, |(_, value)| value.span);
    list(&from, &to, &step, span, axis, problems)
}

fn number(axis: &Key, key: &KeySpec, range: &Mapping<'_>, problems: &mut Problems) -> Option<Number> {
    match range.get(key) {
        Some((_, Yaml { value: YamlValue::Number(number), .. })) => Some(number.clone()),
        Some((written, value)) => {
            report_wrong_type(key, value, written.span, problems);
            None
        }
        None => {
            problems.push(
                Diagnostic::error(
                    "bad-matrix",
                    axis.span,
                    format!("the axis `{}` has no `{}`", axis.value, key.name),
                )
                .help("an axis is a list, or a range such as `{from: 1, to: 5}`"),
            );
            None
        }
    }
}

fn list(
    from: &Number,
    to: &Number,
    step: &Number,
    span: Span,
    axis: &Key,
    problems: &mut Problems,
) -> Option<Values> {
    let (start, end, width) = (from.as_f64()?, to.as_f64()?, step.as_f64()?);
    if width == 0.0 || (end - start) * width < 0.0 {
        problems.push(
            Diagnostic::error("bad-matrix", span, format!("this step never leads from {from} to {to}"))
                .help("give a positive step to count up, a negative one to count down"),
        );
        return None;
    }
    // A little tolerance, so that 0 to 0.3 by 0.1 has its last value.
    let steps = ((end - start) / width + 1e-9).floor();
    if steps + 1.0 > limits::MAX_INSTANCES as f64 {
        problems.push(
            Diagnostic::error(
                "matrix-too-large",
                axis.span,
                format!("this axis has {} values", grouped((steps + 1.0) as u128)),
            )
            .help(format!("a plan has at most {} instances", grouped(limits::MAX_INSTANCES as u128))),
        );
        return None;
    }
    let count = steps as i64;
    let value = |index: i64| match (from.as_i64(), step.as_i64()) {
        (Some(from), Some(step)) => {
            step.checked_mul(index).and_then(|offset| from.checked_add(offset)).map(Number::from)
        }
        // Rounded so that 0.1 + 0.2 reads 0.3.
        _ => Number::from_f64((((start + width * index as f64) * 1e9).round()) / 1e9),
    };
    (0..=count).map(|index| value(index).map(|number| axis_value(Value::Number(number), axis.span))).collect()
}
