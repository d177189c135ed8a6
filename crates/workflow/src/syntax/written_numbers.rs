//! Numbers that are names.

use super::keys::{is_name_or_text, matrix, shot};
use crate::source::Source;
use crate::yaml::{Yaml, YamlValue, keep_written};

/// A field of requests whose members are sent as they are, under names of the author's.
const METADATA: &str = "metadata";

/// Keeps numbers as they are written where the number would be another text (`1_1`, `0x10`, `1.10`): in names, and in the values of axes,
/// which name cells.
pub(crate) fn keep_written_names(tree: &mut Yaml, source: &Source) {
    keep_names(tree, false, source);
}

fn keep_names(tree: &mut Yaml, is_name: bool, source: &Source) {
    match &mut tree.value {
        YamlValue::List(items) => items.iter_mut().for_each(|item| keep_names(item, is_name, source)),
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                let is_map = matches!(value.value, YamlValue::Map(_));
                if key.value == shot::MATRIX.name || (key.value == shot::PICK.name && is_map) {
                    keep_written_values(value, source);
                } else if key.value != METADATA {
                    keep_names(value, is_name_or_text(&key.value), source);
                }
            }
        }
        YamlValue::Number(_) if is_name => keep_written(tree, source),
        YamlValue::Number(_) | YamlValue::Null | YamlValue::Bool(_) | YamlValue::Text(_) => {}
    }
}

/// The same for all values of axes; the bounds of a range and the number of a take are numbers.
fn keep_written_values(tree: &mut Yaml, source: &Source) {
    match &mut tree.value {
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                if !matrix::RANGE.has(&key.value) && key.value != shot::PICK_TAKE_MEMBER.name {
                    keep_written_values(value, source);
                }
            }
        }
        YamlValue::List(items) => items.iter_mut().for_each(|item| keep_written_values(item, source)),
        _ => keep_written(tree, source),
    }
}
