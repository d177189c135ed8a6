//! The service has said which tasks a request without a response created. The attempt is then submitted, or was not accepted.

use workflow::plan::NodeIx;

use crate::state::{Phase, RunState};
use crate::{Action, AttemptId, ExistingWork, Failure, FailureKind, Refusal, RefusalKind, TaskId, Timestamp};

impl RunState {
    #[expect(clippy::too_many_arguments, reason = "the members of one event")]
    pub(crate) fn reconciled(
        &mut self,
        node: NodeIx,
        attempt: AttemptId,
        since: Timestamp,
        reason: Option<String>,
        task: Option<TaskId>,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if matches!(self.node(node).phase, Phase::Submitting { .. }) {
            if let Some(task) = task {
                self.submitted(node, attempt, task, now);
            } else {
                let failure = Failure::new(FailureKind::Transient, reason.unwrap_or_default());
                let refusal = Refusal { kind: RefusalKind::Retryable, failure, retry_after: None };
                self.refused(node, refusal, now);
            }
            return;
        }
        let existing = match task {
            Some(task) => ExistingWork::InFlight { attempt, task, since, was_downloaded: false },
            None => ExistingWork::None,
        };
        self.lookup_done(node, existing, now, actions);
    }
}
