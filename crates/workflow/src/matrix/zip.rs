//! Zipped axes: `zip: {look: [noir, pastel], seed: [7, 8]}` gives two cells, not four.

use super::value::Values;
use super::{AxisOverride, FileAccess, axis};
use crate::diagnostic::{Diagnostic, Problems};
use crate::yaml::{Key, Yaml, YamlValue};

/// Axes with equally many values, which advance together.
pub(super) type ZipGroup = Vec<(Key, Values)>;

/// The groups of `zip`: one map of axes, or a list of such maps.
pub(super) fn groups(
    zip_key: &Key,
    value: &Yaml,
    overrides: &[AxisOverride],
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Vec<ZipGroup>> {
    let items = match &value.value {
        YamlValue::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let mut sound = true;
    let mut parsed = Vec::with_capacity(items.len());
    for item in items {
        let YamlValue::Map(entries) = &item.value else {
            let span = item.span.or(zip_key.span);
            problems.push(
                Diagnostic::error("bad-matrix", span, "`zip` is a map of axes, or a list of such maps")
                    .label(format!("this is {}", item.kind()))
                    .help("write `zip: {look: [noir, pastel], seed: [7, 8]}`"),
            );
            sound = false;
            continue;
        };
        let group: Option<ZipGroup> = entries
            .iter()
            .map(|(key, value)| {
                Some((key.clone(), axis_values(key, value, overrides, file_access, problems)?))
            })
            .collect();
        match group {
            Some(group) if group.is_empty() => {}
            Some(group) if have_equal_lengths(&group, problems) => parsed.push(group),
            _ => sound = false,
        }
    }
    sound.then_some(parsed)
}

/// The values of an axis: the override's, else the file's.
pub(super) fn axis_values(
    key: &Key,
    value: &Yaml,
    overrides: &[AxisOverride],
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Values> {
    match overrides.iter().find(|replaced| replaced.axis == key.value) {
        Some(replaced) => Some(replaced.values.clone()),
        None => axis::values(key, value, file_access, problems),
    }
}

fn have_equal_lengths(group: &ZipGroup, problems: &mut Problems) -> bool {
    let Some((first, values)) = group.first() else { return true };
    let Some((other, others)) = group.iter().find(|(_, others)| others.len() != values.len()) else {
        return true;
    };
    problems.push(
        Diagnostic::error("bad-matrix", other.span, "axes that are zipped have equally many values")
            .label(format!("`{}` has {}", other.value, others.len()))
            .other(first.span, format!("`{}` has {}", first.value, values.len())),
    );
    false
}
