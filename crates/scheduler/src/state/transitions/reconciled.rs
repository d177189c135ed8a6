//! The service has reported which tasks a request without a response created. The attempt is then submitted, or was not accepted.

use workflow::plan::NodeIx;

use crate::state::retry::not_accepted;
use crate::state::{Phase, RunState};
use crate::{Action, Event, ExistingWork, NextStep, Timestamp};

impl RunState {
    pub(crate) fn reconciled(
        &mut self,
        node: NodeIx,
        event: Event,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        let Event::Reconciled { attempt, since, reason, task, next, .. } = event else { return };
        if matches!(self.node(node).phase, Phase::Submitting { .. }) {
            if let Some(task) = task {
                self.submitted(node, attempt, task, now);
            } else {
                let refusal = not_accepted(&reason.unwrap_or_default());
                self.refused(node, &refusal, &next.unwrap_or(NextStep::Fail), now);
            }
            return;
        }
        let existing = match task {
            Some(task) => ExistingWork::InFlight {
                attempt,
                task,
                since,
                was_downloaded: false,
                is_missing: false,
                is_expired: false,
                is_other_account: false,
                damage: None,
            },
            None => ExistingWork::None,
        };
        self.lookup_done(node, existing, now, actions);
    }
}
