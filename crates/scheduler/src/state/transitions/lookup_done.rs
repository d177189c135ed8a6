//! A lookup of existing work is done, or an intent was not recorded because another attempt holds its key.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::state::{AdoptedTask, Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Action, ExistingWork};

/// How long to wait before the next lookup of a node that another live run claims.
const CLAIM_LOOKUP_INTERVAL: Duration = Duration::from_millis(500);

impl RunState {
    pub(crate) fn lookup_done(
        &mut self,
        node: NodeIx,
        existing: ExistingWork,
        now: Timestamp,
        actions: &mut Vec<Action>,
    ) {
        if self.node(node).phase == Phase::Done {
            return;
        }
        if !self.is_selected(node) && !matches!(existing, ExistingWork::Completed { .. }) {
            // It is not polled, but takes a slot.
            if let ExistingWork::InFlight { since: at, was_downloaded: false, is_missing: false, .. }
            | ExistingWork::Indeterminate { intended_at: at, .. } = existing
            {
                self.hold_indeterminate_slot(node, at.min(now));
            }
            self.sync_end(node);
            return;
        }
        let key = self.key(node);
        self.release_reservation(node);
        match existing {
            ExistingWork::None => self.set_phase(node, Phase::Ready { not_before: now }),
            ExistingWork::Completed { .. } => {
                self.sync_end(node);
                self.lookup_successors(node, now, actions);
            }
            ExistingWork::InFlight {
                attempt,
                task,
                since,
                was_downloaded,
                is_missing,
                is_other_account,
                ..
            } => {
                // A time from a clock that was ahead counts as now.
                let since = since.min(now);
                self.node_mut(node).adopted =
                    AdoptedTask { was_downloaded, was_missing: is_missing, is_other_account };
                self.set_phase(node, Phase::InFlight { attempt, task, since });
                self.schedule_adopted_poll(node, since, now);
            }
            ExistingWork::Indeterminate { intended_at, .. } => {
                self.hold_indeterminate_slot(node, intended_at.min(now));
                self.sync_end(node);
            }
            ExistingWork::Abandoned { .. } | ExistingWork::OtherService { .. } => self.sync_end(node),
            ExistingWork::ClaimedByOtherRun { .. } => {
                self.set_phase(node, Phase::ClaimedByOtherRun);
                if let Some(key) = key {
                    actions.push(Action::Lookup { node, key, not_before: now.after(CLAIM_LOOKUP_INTERVAL) });
                }
            }
        }
    }
}
