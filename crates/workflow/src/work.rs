//! The work budget of an expansion: a small file may ask for more than a machine can do.

use std::cell::Cell;

use crate::limits;

/// Counts the steps of an expansion. A step is a cell that is made, indexed, compared or matched.
///
/// Invariant: what is charged depends on the file alone, never on time, so that a file is accepted everywhere or nowhere.
#[derive(Debug, Default)]
pub(crate) struct WorkBudget {
    steps: Cell<u64>,
}

impl WorkBudget {
    /// Charges steps; whether the budget still holds.
    pub(crate) fn charge(&self, steps: usize) -> bool {
        self.steps.set(self.steps.get().saturating_add(steps as u64));
        !self.is_exhausted()
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.steps.get() > limits::MAX_EXPANSION_STEPS
    }
}
