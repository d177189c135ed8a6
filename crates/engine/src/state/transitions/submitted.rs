//! The service accepted the request. From here on there is a task that is paid for, and it is never submitted again.

use workflow::plan::NodeIx;

use crate::ids::{AttemptId, TaskId};
use crate::state::{Action, Halt, Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn submitted(
        &mut self,
        node: NodeIx,
        attempt: AttemptId,
        task: TaskId,
        now: Millis,
        actions: &mut Vec<Action>,
    ) {
        if self.node(node).phase != (Phase::Submitting { attempt: attempt.clone() }) {
            return;
        }
        self.limiter.speed_up();
        let interrupted = self.halt == Some(Halt::Interrupted);
        let first_poll = now.after(self.policy.poll_min);
        let state = self.node_mut(node);
        state.submitted_at = Some(now);
        state.post_tries = 0;
        state.trouble = None;
        if interrupted {
            self.end(node, Outcome::Detached { task, reason: "the run was interrupted".to_owned() });
            return;
        }
        self.put(node, Phase::Out { attempt: attempt.clone(), task: task.clone(), since: now });
        actions.push(Action::Poll { node, attempt, task, at: first_poll });
    }
}
