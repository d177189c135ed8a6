//! Sidecars of the videos of a run: written with each download, and again where that of a video which is reused is gone.

use scheduler::{Artifact, AttemptId, Download, Event, ExistingWork, RunState, TaskId, Timestamp};
use workflow::plan::{NodeIx, NodeKey, Plan};
use workflow::units::Money;

use super::effect_runner::EffectRunner;
use crate::ledger::{AttemptRow, Ledger};
use crate::sidecar::{Sidecar, TaskRecord};
use crate::unknown_task::is_service_task;

/// What only the state of a run knows of a node's sidecar, from before its lookup.
#[derive(Debug)]
pub(super) struct SidecarContext {
    key: NodeKey,
    service: String,
    render: u32,
    is_asked: bool,
    parents: Vec<(NodeIx, NodeKey)>,
    file: Option<String>,
    currency: Option<String>,
}

impl EffectRunner {
    /// What is known of a paid task before its video is there.
    pub(super) fn sidecar(&self, download: &Download, state: &RunState) -> Option<Sidecar> {
        let context = self.sidecar_context(download.node, download.key, state)?;
        Some(context.sidecar(&self.plan, download.node, &download.attempt, Some(&download.task)))
    }

    /// What was reserved for a task: of one that this run has submitted it is known, without waiting for the ledger.
    pub(super) fn reserved_cost(&self, download: &Download, state: &RunState) -> ReservedCost {
        if self.attempts.is_own(&download.attempt) {
            ReservedCost::OfThisRun(state.budget().reservation(&self.plan, download.node).cost)
        } else {
            ReservedCost::OnRecord
        }
    }

    /// The context of a node's sidecar; `None` where tasks are free.
    pub(super) fn sidecar_context(
        &self,
        node: NodeIx,
        key: NodeKey,
        state: &RunState,
    ) -> Option<SidecarContext> {
        let parents = self.plan.predecessors(node).into_iter();
        let provider = self.provider(node);
        provider.is_paid().then(|| SidecarContext {
            key,
            service: provider.identity().to_owned(),
            render: state.render(node).unwrap_or(1),
            is_asked: state.asked_render(node).is_some(),
            parents: parents.filter_map(|parent| Some((parent, state.key(parent)?))).collect(),
            file: self.workflow_file.clone(),
            currency: state.budget().currency().map(str::to_owned),
        })
    }
}

impl SidecarContext {
    fn sidecar(&self, plan: &Plan, node: NodeIx, attempt: &AttemptId, task: Option<&TaskId>) -> Sidecar {
        let record = TaskRecord {
            key: self.key,
            service: &self.service,
            task,
            attempt,
            file: self.file.as_deref(),
            render: self.render,
            is_asked: self.is_asked,
            currency: self.currency.as_deref(),
        };
        let key = |node| self.parents.iter().find(|(parent, _)| *parent == node).map(|(_, key)| *key);
        Sidecar::for_node(plan, node, record, key)
    }

    /// Writes the sidecar of a video that a lookup has found, unless it is there. The price of one that is there is a `stat`.
    pub(super) fn restore(&self, ledger: &Ledger, plan: &Plan, node: NodeIx, event: &Event, now: Timestamp) {
        let Event::LookupDone { existing: ExistingWork::Completed { attempt, task, artifact }, .. } = event
        else {
            return;
        };
        if ledger.store().has_sidecar(&artifact.sha256, &self.key.to_string()) {
            return;
        }
        let mut sidecar = self.sidecar(plan, node, attempt, Some(task).filter(|task| is_service_task(task)));
        if let Ok(render) = ledger.render_of(plan.name(), self.key) {
            (sidecar.render, sidecar.asked) = render;
        }
        let ended_at = ledger.attempt(attempt).ok().flatten().and_then(|row| row.ended_at);
        write_sidecar(ledger, sidecar, attempt, ReservedCost::OnRecord, artifact, ended_at.unwrap_or(now));
    }
}

/// What was reserved for a task when it was submitted: prices may have changed since.
#[derive(Debug, Clone, Copy)]
pub(super) enum ReservedCost {
    /// It was submitted by this run, which downloads its video for the first time; `None` where the task has no price.
    OfThisRun(Option<Money>),
    /// It was submitted by an earlier run: the ledger has it.
    OnRecord,
}

/// Writes the sidecar of a video that was complete at this time. A failure loses nothing: the ledger records the video all the same.
pub(super) fn write_sidecar(
    ledger: &Ledger,
    sidecar: Sidecar,
    attempt: &AttemptId,
    reserved: ReservedCost,
    artifact: &Artifact,
    completed_at: Timestamp,
) {
    let recorded = match reserved {
        // Nothing that a sidecar needs is on record yet: 64 downloads at once would wait for the ledger.
        ReservedCost::OfThisRun(_) => None,
        ReservedCost::OnRecord => ledger.attempt(attempt).ok().flatten(),
    };
    let earlier = recorded.as_ref().and_then(AttemptRow::video_identity);
    let mut sidecar = sidecar.with_video(&artifact.clone().delivered_after(earlier), completed_at);
    sidecar.reserved_cost = match reserved {
        ReservedCost::OfThisRun(cost) => cost,
        ReservedCost::OnRecord => recorded.and_then(|row| row.reservation.cost),
    };
    if let Err(error) = ledger.store().write_sidecar(&sidecar) {
        tracing::warn!(%error, "the sidecar of a video cannot be written");
    }
}
