//! Natural join of two lists of cells: one cell for each pair that agrees on the shared axes.

use super::{Agreement, CellIndex, CellSelector, MatrixCell};
use crate::limits;
use crate::work::WorkBudget;

/// A joined cell, and the indexes of its two source cells.
pub(crate) struct JoinedCell {
    pub(crate) cell: MatrixCell,
    pub(crate) left: usize,
    pub(crate) right: usize,
}

/// Why two lists of cells cannot be joined.
#[derive(Clone, Copy)]
pub(crate) enum JoinError {
    /// There are this many pairs that agree, or more.
    TooManyCells(usize),
    /// The joined cells have more values than a plan may have, or the budget is exhausted.
    TooMuchWork,
    /// The cell of the right list with this index agrees with none of the left list.
    Unmatched(usize),
}

/// The left list of a join, with its index.
pub(crate) struct LeftCells<'c> {
    pub(crate) cells: &'c [MatrixCell],
    pub(crate) index: &'c CellIndex,
    /// Which of the cells; of those, only the axes that it does not name.
    pub(crate) selector: &'c CellSelector<'c>,
}

/// All pairs that agree on the shared axes. The left list varies slowest, and its axes come first.
pub(crate) fn natural_join(
    left: &LeftCells<'_>,
    right: &[MatrixCell],
    work: &WorkBudget,
) -> Result<Vec<JoinedCell>, JoinError> {
    let mut pairs: Vec<(usize, usize)> = Vec::with_capacity(right.len());
    for (index, ours) in right.iter().enumerate() {
        let matches = left
            .index
            .find(left.cells, left.selector, ours, Agreement::OpenPart, work)
            .ok_or(JoinError::TooMuchWork)?;
        if matches.is_empty() {
            return Err(JoinError::Unmatched(index));
        }
        if pairs.len() + matches.len() > limits::MAX_INSTANCES {
            return Err(JoinError::TooManyCells(pairs.len() + matches.len()));
        }
        pairs.extend(matches.into_iter().map(|theirs| (theirs, index)));
    }
    pairs.sort_unstable();
    let mut values = 0;
    let mut joined = Vec::with_capacity(pairs.len());
    for (left_index, right_index) in pairs {
        let cell = left.selector.open_part(&left.cells[left_index]).joined_with(&right[right_index]);
        values += cell.values.len();
        if values > limits::MAX_CELL_VALUES || !work.charge(1 + cell.values.len()) {
            return Err(JoinError::TooMuchWork);
        }
        joined.push(JoinedCell { cell, left: left_index, right: right_index });
    }
    Ok(joined)
}
