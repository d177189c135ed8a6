//! A lookup of existing work is done, or an intent was not recorded because another attempt holds its key.

use std::time::Duration;

use workflow::plan::NodeIx;

use crate::ids::RunId;
use crate::projection::ShotStatus;
use crate::state::{AdoptedTask, Phase, RunState};
use crate::timestamp::Timestamp;
use crate::{Action, Event, ExistingWork, Failure, FailureKind};

/// How long to wait before the next lookup of a node that another live run claims: at least, and at most.
const MIN_CLAIM_LOOKUP_INTERVAL: Duration = Duration::from_millis(500);
const MAX_CLAIM_LOOKUP_INTERVAL: Duration = Duration::from_secs(10);

/// After a claim has lasted for a time, the next lookup follows after this fraction of it.
const CLAIM_LOOKUP_FRACTION: u32 = 8;

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
        let excludes_retry = !existing.may_be_retried();
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
                    AdoptedTask { was_downloaded, was_missing: is_missing, is_other_account, excludes_retry };
                self.set_phase(node, Phase::InFlight { attempt, task, since });
                self.schedule_adopted_poll(node, since, now);
            }
            ExistingWork::Indeterminate { intended_at, .. } => {
                self.hold_indeterminate_slot(node, intended_at.min(now));
                self.sync_end(node);
            }
            ExistingWork::Abandoned { .. } | ExistingWork::OtherService { .. } => self.sync_end(node),
            ExistingWork::ClaimedByOtherRun { .. } => {
                let since = self.claimed_since(node).unwrap_or(now);
                self.set_phase(node, Phase::ClaimedByOtherRun { since });
                let interval = (now.since(since) / CLAIM_LOOKUP_FRACTION)
                    .clamp(MIN_CLAIM_LOOKUP_INTERVAL, MAX_CLAIM_LOOKUP_INTERVAL);
                actions.extend(key.map(|key| Action::Lookup { node, key, not_before: now.after(interval) }));
            }
            ExistingWork::Changed { .. } => {
                self.set_phase(node, Phase::LookingUp);
                actions.extend(key.map(|key| Action::Lookup { node, key, not_before: now }));
            }
        }
    }

    fn claimed_since(&self, node: NodeIx) -> Option<Timestamp> {
        if let Phase::ClaimedByOtherRun { since } = self.node(node).phase { Some(since) } else { None }
    }

    /// Whether an event says again what the last lookup of its node did: that the same run claims it. It is neither recorded nor reported.
    pub fn repeats_claim(&self, event: &Event) -> bool {
        let Event::LookupDone { node, existing: ExistingWork::ClaimedByOtherRun { run }, .. } = event else {
            return false;
        };
        matches!(self.node(*node).shot().status(), ShotStatus::ClaimedByOtherRun { run: known } if known == run)
    }

    /// Why the node is no longer waited for, if another run has claimed it for longer than a task may take: that run is suspended, or its
    /// connection hangs. Whether it has paid is on its record; the next run goes on from there.
    pub(crate) fn after_claim(&self, node: NodeIx, run: &RunId, now: Timestamp) -> Option<Failure> {
        let (since, timeout) = (self.claimed_since(node)?, self.task_timeout(node));
        (now.since(since) >= timeout).then(|| {
            let message = format!(
                "run {run} has not ended and has been submitting this shot for longer than the shot's timeout; this run has submitted \
                 nothing for it. Once that run has ended, the next one continues from its record"
            );
            Failure::new(FailureKind::Transient, message)
        })
    }
}
