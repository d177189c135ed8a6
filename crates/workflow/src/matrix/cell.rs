//! One cell of a matrix.

use std::sync::Arc;

use indexmap::IndexMap;

use super::name;
use super::value::AxisValue;

/// One combination of axis values. A shot without a matrix has one empty cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MatrixCell {
    /// Axis to value, each value with its span.
    pub(crate) values: IndexMap<Arc<str>, AxisValue>,
    /// The cell's label, part by part: `lens=24mm`. Values that `include` adds to a cell are not part of it.
    pub(crate) label: Vec<(Arc<str>, Arc<str>)>,
}

impl MatrixCell {
    /// A cell with all its values in its label.
    pub(super) fn named(values: IndexMap<Arc<str>, AxisValue>) -> Self {
        let label = values
            .iter()
            .map(|(axis, value)| (Arc::clone(axis), name::value_label(&value.value).into()))
            .collect();
        Self { values, label }
    }

    /// The text of the label on an axis.
    pub(crate) fn label_on(&self, axis: &str) -> Option<&str> {
        self.label.iter().find(|(name, _)| **name == *axis).map(|(_, text)| &**text)
    }

    /// This cell, followed by the axes of another one that it does not have.
    pub(crate) fn joined_with(&self, other: &Self) -> Self {
        let mut joined = self.clone();
        for (axis, value) in &other.values {
            joined.values.entry(axis.clone()).or_insert_with(|| value.clone());
        }
        for (axis, text) in &other.label {
            if !joined.label.iter().any(|(name, _)| name == axis) {
                joined.label.push((axis.clone(), text.clone()));
            }
        }
        joined
    }

    /// The label as part of an instance's name; empty for the empty cell.
    pub(crate) fn label(&self) -> String {
        let parts: Vec<String> = self.label.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        parts.join(",")
    }
}
