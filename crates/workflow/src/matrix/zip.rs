//! Axes that move together: `zip: {look: [noir, pastel], seed: [7, 8]}` is two cells, not four.

use super::{Folders, Given, Values, axis};
use crate::diagnostic::{Diagnostic, Problems};
use crate::yaml::{Key, Yaml, YamlValue};

/// Axes of equally many values, which move together.
pub(super) type Group = Vec<(Key, Values)>;

/// The groups of `zip`: one map of axes, or a list of such maps.
pub(super) fn groups(
    word: &Key,
    value: &Yaml,
    given: &[Given],
    folders: Folders<'_>,
    problems: &mut Problems,
) -> Option<Vec<Group>> {
    let items = match &value.value {
        YamlValue::List(items) => items.as_slice(),
        _ => std::slice::from_ref(value),
    };
    let mut sound = true;
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        let YamlValue::Map(entries) = &item.value else {
            let place = item.span.or(word.span);
            problems.push(
                Diagnostic::error("bad-matrix", place, "`zip` is a map of axes, or a list of such maps")
                    .label(format!("this is {}", item.kind()))
                    .help("write `zip: {look: [noir, pastel], seed: [7, 8]}`"),
            );
            sound = false;
            continue;
        };
        let group: Option<Group> = entries
            .iter()
            .map(|(key, value)| Some((key.clone(), one(key, value, given, folders, problems)?)))
            .collect();
        match group {
            Some(group) if group.is_empty() => {}
            Some(group) if alike(&group, problems) => found.push(group),
            _ => sound = false,
        }
    }
    sound.then_some(found)
}

/// The values of an axis: the caller's, else the file's.
pub(super) fn one(
    key: &Key,
    value: &Yaml,
    given: &[Given],
    folders: Folders<'_>,
    problems: &mut Problems,
) -> Option<Values> {
    match given.iter().find(|given| given.axis == key.value) {
        Some(given) => Some(given.values.clone()),
        None => axis::values(key, value, folders, problems),
    }
}

fn alike(group: &Group, problems: &mut Problems) -> bool {
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
