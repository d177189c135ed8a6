//! Cell selectors: `look=noir,seed=3` selects one cell, `seed=3` all cells with that value.

use super::MatrixCell;

/// The part of a reference after the `@`. `None` selects every cell.
pub(crate) struct CellSelector<'r>(Option<Vec<Option<(&'r str, &'r str)>>>);

impl<'r> CellSelector<'r> {
    /// Parses `axis=value,axis=value`. A malformed part matches no cell.
    pub(crate) fn parse(text: Option<&'r str>) -> Self {
        Self(text.map(|text| text.split(',').map(|part| part.split_once('=')).collect()))
    }

    /// Whether a cell has all named values, in any order.
    pub(crate) fn matches(&self, cell: &MatrixCell) -> bool {
        let has = |(axis, value): (&str, &str)| {
            cell.label.iter().any(|(name, text)| **name == *axis && **text == *value)
        };
        self.0.as_ref().is_none_or(|parts| parts.iter().all(|part| part.is_some_and(has)))
    }

    /// Whether a cell agrees with another on all axes that the selector does not name.
    pub(crate) fn agrees_on_open_axes(&self, cell: &MatrixCell, user: &MatrixCell) -> bool {
        cell.values
            .iter()
            .filter(|(axis, _)| !self.names(axis))
            .all(|(axis, value)| user.values.get(axis).is_none_or(|theirs| theirs.value == value.value))
    }

    /// The cell without the axes that the selector names; empty if it names all of the label.
    pub(crate) fn open_part(&self, cell: &MatrixCell) -> MatrixCell {
        let mut open = cell.clone();
        open.label.retain(|(axis, _)| !self.names(axis));
        if open.label.is_empty() {
            return MatrixCell::default();
        }
        open.values.retain(|axis, _| !self.names(axis));
        open
    }

    /// The axes that it names, with the label's text on each; `None` where it can match no cell.
    pub(crate) fn named(&self) -> Option<Vec<(&'r str, &'r str)>> {
        let mut named: Vec<(&str, &str)> = self.0.iter().flatten().copied().collect::<Option<_>>()?;
        named.sort_unstable();
        named.dedup();
        named.windows(2).all(|two| two[0].0 != two[1].0).then_some(named)
    }

    pub(crate) fn names(&self, axis: &str) -> bool {
        self.0.iter().flatten().flatten().any(|(named, _)| *named == axis)
    }
}
