//! One cell of a matrix.

use indexmap::IndexMap;
use serde_json::Value;

use super::name;
use crate::source::Spanned;

/// One combination of values. The empty cell belongs to a shot without a matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Cell {
    /// Axis to value, each value with its place in the file.
    pub(crate) values: IndexMap<String, Spanned<Value>>,
    /// How the cell is named, part by part: `lens=24mm`. Values that `include` adds to a cell do not show.
    pub(crate) label: Vec<(String, String)>,
}

impl Cell {
    /// A cell that shows all its values in its name.
    pub(super) fn named(values: IndexMap<String, Spanned<Value>>) -> Self {
        let label = values.iter().map(|(axis, value)| (axis.clone(), name::of_value(&value.value))).collect();
        Self { values, label }
    }

    /// Whether no axis has one value here and another there.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.values
            .iter()
            .all(|(axis, value)| other.values.get(axis).is_none_or(|theirs| theirs.value == value.value))
    }

    /// This cell with the axes of another one after its own.
    pub(crate) fn joined_with(&self, other: &Self) -> Self {
        let mut joined = self.clone();
        for (axis, value) in &other.values {
            joined.values.entry(axis.clone()).or_insert_with(|| value.clone());
        }
        for (axis, text) in &other.label {
            if !joined.label.iter().any(|(known, _)| known == axis) {
                joined.label.push((axis.clone(), text.clone()));
            }
        }
        joined
    }

    /// The cell's part of an instance's name; empty for the empty cell.
    pub(crate) fn label(&self) -> String {
        let parts: Vec<String> = self.label.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        parts.join(",")
    }
}
