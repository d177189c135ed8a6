//! The run is told which shots to make, and when to stop.

use workflow::plan::Selection;

use crate::state::{RunState, Scope};

impl RunState {
    /// Names that the plan does not have select nothing.
    pub(in crate::state) fn scoped(&mut self, only: Option<Vec<String>>, fail_fast: bool) {
        let selection =
            only.map(|names| Selection::only(names.iter().filter_map(|name| self.plan.find(name))));
        self.scope = Scope { selection, fail_fast };
    }
}
