//! The run is told which shots to make, and when to stop.

use workflow::plan::Selection;

use crate::state::{RunScope, RunState};

impl RunState {
    /// Names that the plan does not have select nothing.
    pub(crate) fn run_configured(&mut self, only: Option<Vec<String>>, fail_fast: bool) {
        let selection =
            only.map(|names| Selection::only(names.iter().filter_map(|name| self.plan.find(name))));
        self.scope = RunScope { selection, fail_fast };
    }
}
