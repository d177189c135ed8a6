//! The scope of the run: selected shots, fail-fast.

use workflow::plan::{NodeIx, Selection};

use crate::Shot;
use crate::state::{RunScope, RunState};

impl RunState {
    /// Names that the plan does not have are ignored.
    pub(crate) fn run_configured(&mut self, only: Option<Vec<String>>, fail_fast: bool) {
        let selection =
            only.map(|names| Selection::only(names.iter().filter_map(|name| self.plan.find(name))));
        for (index, state) in self.nodes.iter_mut().enumerate() {
            let is_selected =
                selection.as_ref().is_none_or(|selection| selection.contains(NodeIx::new(index)));
            state.shot = Shot::new(is_selected);
        }
        self.scope = RunScope { selection, fail_fast };
    }
}
