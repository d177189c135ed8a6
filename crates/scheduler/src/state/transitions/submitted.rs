//! The service accepted the request. From here on there is a task that is paid for, and it is never submitted again.

use workflow::plan::NodeIx;

use crate::ids::{AttemptId, TaskId};
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Halt, Outcome};

impl RunState {
    pub(crate) fn submitted(&mut self, node: NodeIx, attempt: AttemptId, task: TaskId, now: Timestamp) {
        if self.node(node).phase != (Phase::Submitting { attempt: attempt.clone() }) {
            return;
        }
        self.limits.concurrency.speed_up();
        let interrupted = self.halt == Some(Halt::Interrupted);
        let state = self.node_mut(node);
        state.submitted_at = Some(now);
        state.post_tries = 0;
        state.last_error = None;
        if interrupted {
            self.end(node, Outcome::Detached { task, reason: "the run was interrupted".to_owned() });
            return;
        }
        self.set_phase(node, Phase::InFlight { attempt, task, since: now });
        self.schedule_first_poll(node, now);
    }
}
