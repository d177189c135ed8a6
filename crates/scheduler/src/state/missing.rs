//! Tasks that the service does not know. Each is paid for, and a single 404 is not conclusive: the task is missing, stays on record
//! and is asked about again by the next run. Another one is paid for only if the shot's `retry` names `expired` and it is proven
//! that the service knows this account's tasks and not this one.

use workflow::plan::NodeIx;

use super::{Phase, RunState};
use crate::{FailureKind, NextStep, PollResult, Timestamp};

impl RunState {
    /// The service does not know the node's task. `None`: poll it again.
    pub(super) fn after_not_found(
        &self,
        node: NodeIx,
        since: Timestamp,
        expired: bool,
        now: Timestamp,
    ) -> Option<NextStep> {
        let state = self.node(node);
        let missing_since = state.missing_since.unwrap_or(now);
        let is_proven = self.is_proven_missing(node, missing_since, expired);
        // Replicated services answer 404 for a moment after accepting a task, or while a replica lags; and the response about another task
        // may still prove something.
        let is_decided = now.since(missing_since) >= self.policy(node).not_found_grace
            || now.since(since) >= self.task_timeout(node)
            || state.adopted.was_missing
            || state.adopted.is_other_account
            || (expired && (is_proven || !self.may_be_proven_yet(node)));
        if !is_decided {
            return None;
        }
        if state.adopted.is_other_account {
            let reason =
                "it was submitted with another API key, and the service does not show it to this one";
            return Some(NextStep::Detach { reason: reason.to_owned() });
        }
        if is_proven && self.may_retry(node, FailureKind::Expired) {
            return Some(self.fail_or_retry(node, FailureKind::Expired, now));
        }
        let others = self.lane(node).unknown_tasks.iter().any(|other| *other != node);
        let reason = match (is_proven, expired) {
            (false, _) if others => {
                "the service knows none of the tasks that it was asked about; the API key may belong to another account"
            }
            (_, true) => "the service reports that the task has expired",
            (_, false) => "the service does not know the task",
        };
        Some(NextStep::Missing { reason: reason.to_owned() })
    }

    /// The result of a poll, in which a refused access to a task of another account is an unknown task: it says nothing about the account of
    /// this run.
    pub(super) fn without_foreign_refusals(&self, node: NodeIx, result: PollResult) -> PollResult {
        let is_refused = matches!(result, PollResult::Unauthorized { .. });
        if is_refused && self.node(node).adopted.is_other_account {
            PollResult::NotFound { expired: false }
        } else {
            result
        }
    }

    /// Whether another task is in flight that the service may know.
    fn may_be_proven_yet(&self, node: NodeIx) -> bool {
        let in_flight = |unknown: &&NodeIx| {
            **unknown != node && matches!(self.node(**unknown).phase, Phase::InFlight { .. })
        };
        let lane = self.lane(node);
        lane.queues.in_flight > 1 + lane.unknown_tasks.iter().filter(in_flight).count()
    }

    /// Whether the service knows tasks of this account, so that it is this one that is missing: it has reported on another task since, or
    /// this is the only one and of this run or known before. The task has answered, or the service says that it is gone (`expired`): one that
    /// has never answered may have another id. Tasks that vanish together prove nothing.
    fn is_proven_missing(&self, node: NodeIx, missing_since: Timestamp, expired: bool) -> bool {
        let state = self.node(node);
        if state.adopted.is_other_account {
            return false;
        }
        if !state.has_answered && !expired {
            return false;
        }
        let lane = self.lane(node);
        if lane.last_answer.is_some_and(|answered_at| answered_at > missing_since) {
            return true;
        }
        let is_alone =
            lane.queues.in_flight <= 1 && lane.unknown_tasks.iter().all(|unknown| *unknown == node);
        is_alone && (state.has_answered || self.is_task_of_this_run(node))
    }

    /// Whether this run has submitted the node's task.
    pub(super) fn is_task_of_this_run(&self, node: NodeIx) -> bool {
        self.node(node).shot().attempts().last().is_some_and(|attempt| !attempt.is_adopted)
    }

    /// A poll reported on the node's task: the service knows it.
    pub(super) fn task_answered(&mut self, node: NodeIx, now: Timestamp) {
        let lane = self.lane_mut(node);
        lane.last_answer = Some(now);
        lane.unknown_tasks.remove(&node);
        self.node_mut(node).has_answered = true;
    }
}
