//! Two lists of cells as one: each pair that agrees, as one cell.

use super::Cell;
use crate::limits;

/// One cell of a crossing, and the cells of the two lists that it comes from.
pub(crate) struct Crossed {
    pub(crate) cell: Cell,
    pub(crate) left: usize,
    pub(crate) right: usize,
}

/// Why there is no crossing.
#[derive(Clone, Copy)]
pub(crate) enum NoCrossing {
    /// So many pairs would have to be looked at.
    TooMany(u128),
    /// This cell of the second list agrees with none of the first.
    Lonely(usize),
}

/// All pairs that agree on the axes that both have: the first list moves slowly, its axes come first.
pub(crate) fn cross(left: &[Cell], right: &[Cell]) -> Result<Vec<Crossed>, NoCrossing> {
    let pairs = left.len() as u128 * right.len() as u128;
    if pairs > limits::MAX_JOIN_PAIRS {
        return Err(NoCrossing::TooMany(pairs));
    }
    let mut found = Vec::with_capacity(left.len().max(right.len()));
    let mut used = vec![false; right.len()];
    for (left_at, theirs) in left.iter().enumerate() {
        for (right_at, ours) in right.iter().enumerate() {
            if theirs.agrees_with(ours) {
                used[right_at] = true;
                found.push(Crossed { cell: theirs.joined_with(ours), left: left_at, right: right_at });
            }
        }
    }
    match used.iter().position(|used| !used) {
        Some(lonely) => Err(NoCrossing::Lonely(lonely)),
        None => Ok(found),
    }
}
