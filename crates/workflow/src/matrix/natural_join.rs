//! Natural join of two lists of cells: one cell for each pair that agrees on the shared axes.

use super::Cell;
use crate::limits;

/// A joined cell, and the indexes of its two source cells.
pub(crate) struct JoinedCell {
    pub(crate) cell: Cell,
    pub(crate) left: usize,
    pub(crate) right: usize,
}

/// Why two lists of cells cannot be joined.
#[derive(Clone, Copy)]
pub(crate) enum JoinError {
    /// So many pairs would have to be compared.
    TooManyPairs(u128),
    /// The cell of the right list with this index agrees with none of the left list.
    Unmatched(usize),
}

/// All pairs that agree on the shared axes. The left list varies slowest, and its axes come first.
pub(crate) fn natural_join(left: &[Cell], right: &[Cell]) -> Result<Vec<JoinedCell>, JoinError> {
    let pairs = left.len() as u128 * right.len() as u128;
    if pairs > limits::MAX_JOIN_PAIRS {
        return Err(JoinError::TooManyPairs(pairs));
    }
    let mut found = Vec::with_capacity(left.len().max(right.len()));
    let mut used = vec![false; right.len()];
    for (left_at, theirs) in left.iter().enumerate() {
        for (right_at, ours) in right.iter().enumerate() {
            if theirs.agrees_with(ours) {
                used[right_at] = true;
                found.push(JoinedCell { cell: theirs.joined_with(ours), left: left_at, right: right_at });
            }
        }
    }
    match used.iter().position(|used| !used) {
        Some(unmatched) => Err(JoinError::Unmatched(unmatched)),
        None => Ok(found),
    }
}
