//! The service accepted the request. From here on there is a task that is paid for, and it is never submitted again.

use workflow::plan::NodeIx;

use crate::ids::{AttemptId, TaskId};
use crate::state::{Halt, Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn submitted(
        &mut self,
        node: NodeIx,
        attempt: AttemptId,
        task: TaskId,
        now: Millis,
    ) {
        if self.node(node).phase != (Phase::Submitting { attempt: attempt.clone() }) {
            return;
        }
        self.limits.places.speed_up();
        let interrupted = self.halt == Some(Halt::Interrupted);
        let state = self.node_mut(node);
        state.submitted_at = Some(now);
        state.post_tries = 0;
        state.trouble = None;
        if interrupted {
            self.end(node, Outcome::Detached { task, reason: "the run was interrupted".to_owned() });
            return;
        }
        self.put(node, Phase::Out { attempt, task, since: now });
        self.ask_first(node, now);
    }
}
