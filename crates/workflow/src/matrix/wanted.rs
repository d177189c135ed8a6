//! The cells that a name means: `look=noir,seed=3` is one cell, `seed=3` all that have it.

use super::Cell;

/// What stands after the `@` of a reference, part by part. Nothing there means every cell.
pub(crate) struct Wanted<'r>(Option<Vec<Option<(&'r str, &'r str)>>>);

impl<'r> Wanted<'r> {
    /// Reads `axis=value,axis=value`. A part that is none means no cell at all.
    pub(crate) fn parse(text: Option<&'r str>) -> Self {
        Self(text.map(|text| text.split(',').map(|part| part.split_once('=')).collect()))
    }

    /// Whether a cell has all the parts, in any order.
    pub(crate) fn matches(&self, cell: &Cell) -> bool {
        let has = |(axis, value): (&str, &str)| {
            cell.label.iter().any(|(known, text)| known == axis && text == value)
        };
        self.0.as_ref().is_none_or(|parts| parts.iter().all(|part| part.is_some_and(has)))
    }

    /// Whether a cell agrees with another on all axes that are not named here.
    pub(crate) fn leaves_open_alike(&self, cell: &Cell, user: &Cell) -> bool {
        cell.values
            .iter()
            .filter(|(axis, _)| !self.names(axis))
            .all(|(axis, value)| user.values.get(axis).is_none_or(|theirs| theirs.value == value.value))
    }

    /// What a cell has besides the axes that are named here: nothing where its name is told in full.
    pub(crate) fn open_part(&self, cell: &Cell) -> Cell {
        let mut open = cell.clone();
        open.label.retain(|(axis, _)| !self.names(axis));
        if open.label.is_empty() {
            return Cell::default();
        }
        open.values.retain(|axis, _| !self.names(axis));
        open
    }

    fn names(&self, axis: &str) -> bool {
        self.0.iter().flatten().flatten().any(|(named, _)| *named == axis)
    }
}
