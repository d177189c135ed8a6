//! Previews a run: a decision and a reason for every node, without doing anything.

mod state;

use std::collections::HashMap;

use serde::Serialize;
use workflow::plan::{NodeIx, NodeKey, PickKind, Plan};

use crate::artifact_store::Verify;
use crate::ledger::{Ledger, LedgerError, WorkAtServices};
use crate::provider::Accounts;
use crate::records::WorkRecords;
use scheduler::{Artifact, AttemptId, Decision, ExistingWork, KeyResolver, StatusKind, TaskId};

pub use state::{StateBasis, states};

/// The preview of one node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    pub name: String,
    pub decision: Decision,
    /// What decides the state of its work under its present key, whichever run did it: see [`states`].
    #[serde(skip)]
    pub basis: StateBasis,
    /// The reason, if the decision alone does not say it.
    pub why: Option<String>,
    /// The task that would be reused or adopted.
    pub task: Option<TaskId>,
    /// The beginning of the node's key, if known.
    pub key: Option<String>,
    /// The node's key, if known.
    #[serde(skip)]
    pub full_key: Option<NodeKey>,
    /// The number in the list of renders of its instance, if its key is known.
    #[serde(skip)]
    pub render: Option<u32>,
    /// Whether its submission is certain, provided that nothing fails: always for [`Decision::Execute`], and for [`Decision::Deferred`] where
    /// the frame that it waits for is that of a video that does not exist yet, so that no earlier video can be its own.
    #[serde(rename = "certain")]
    pub is_certain: bool,
    /// Whether a `retry` may pay for another task where this one fails ([`ExistingWork::may_be_retried`]).
    #[serde(skip)]
    pub may_be_retried: bool,
    /// The service that it would be paid for at again: that has its finished work under another identity than any of the plan's.
    #[serde(skip)]
    pub known_at: Option<String>,
    /// The decision of the user that a blocked node waits for.
    #[serde(skip)]
    pub hint: Option<Hint>,
}

/// A decision of the user that unblocks a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// What became of this indeterminate attempt; with the id of a task that the response named.
    Resolve(AttemptId, Option<TaskId>),
    /// To render it again, although an abandoned attempt may have been accepted.
    Rerun,
}

/// Previews every node of `plan`, in its order. Without a ledger there is no existing work. Work that is in flight at another service
/// blocks a node whose own costs money, also where the account is unknown because there is no API key.
///
/// # Errors
/// When the ledger or an artifact cannot be read.
pub async fn preview<R: WorkRecords + ?Sized>(
    plan: &Plan,
    records: Option<&R>,
    keys: &KeyResolver,
    accounts: &Accounts,
    verify: &Verify,
) -> Result<Vec<Preview>, LedgerError> {
    survey(plan, records, keys, accounts, verify).await.map(|(previews, _)| previews)
}

/// Keys of a run of a plan, with the renders on record.
///
/// # Errors
/// When the ledger cannot be read.
pub fn key_resolver(plan: &Plan, ledger: Option<&Ledger>, service: &str) -> Result<KeyResolver, LedgerError> {
    match ledger {
        Some(ledger) => ledger.key_resolver(plan, service),
        None => Ok(KeyResolver::new(service)),
    }
}

/// As [`preview`], with the video that exists of each node.
///
/// # Errors
/// As [`preview`].
pub async fn survey<R: WorkRecords + ?Sized>(
    plan: &Plan,
    records: Option<&R>,
    keys: &KeyResolver,
    accounts: &Accounts,
    verify: &Verify,
) -> Result<(Vec<Preview>, Vec<Option<Artifact>>), LedgerError> {
    survey_with(plan, records, keys, accounts, verify, &HashMap::new()).await
}

/// As [`survey`], as if the videos in `adopted` were recorded under their keys.
pub(crate) async fn survey_with<R: WorkRecords + ?Sized>(
    plan: &Plan,
    records: Option<&R>,
    keys: &KeyResolver,
    accounts: &Accounts,
    verify: &Verify,
    adopted: &HashMap<NodeKey, Artifact>,
) -> Result<(Vec<Preview>, Vec<Option<Artifact>>), LedgerError> {
    let at_services = match records {
        // Free work blocks nothing.
        Some(records) if accounts.any_is_paid() => records.work_at_services().await?,
        _ => HashMap::new(),
    };
    let mut survey = PreviewBuilder {
        plan,
        keys: keys.clone(),
        previews: vec![None; plan.len()],
        artifacts: vec![None; plan.len()],
    };
    // Nodes come in file order, which need not be topological. Those whose predecessors are decided are looked up together.
    let mut undecided: Vec<usize> = plan.nodes().map(|(ix, _)| plan.predecessors(ix).len()).collect();
    let mut decidable: Vec<NodeIx> =
        plan.nodes().map(|(ix, _)| ix).filter(|ix| undecided[ix.index()] == 0).collect();
    while !decidable.is_empty() {
        let looked_up: Vec<(NodeIx, NodeKey)> =
            decidable.iter().filter_map(|ix| Some((*ix, survey.decide_without_lookup(*ix)?))).collect();
        if let Some(records) = records {
            let asked: Vec<NodeKey> = looked_up.iter().map(|(_, key)| *key).collect();
            let existing = records.existing_work(&asked, accounts, verify).await?;
            for ((ix, _), existing) in looked_up.iter().zip(existing) {
                survey.apply_existing(*ix, existing);
            }
        }
        for (ix, key) in looked_up {
            survey.decide_new(ix, adopted.get(&key), accounts, &at_services);
        }
        let mut next = Vec::new();
        for after in decidable.iter().flat_map(|ix| plan.successors(*ix)) {
            let remaining = &mut undecided[after.index()];
            *remaining = remaining.saturating_sub(1);
            if *remaining == 0 {
                next.push(after);
            }
        }
        next.sort_unstable();
        decidable = next;
    }
    Ok((survey.previews.into_iter().flatten().collect(), survey.artifacts))
}

/// Decisions for nodes whose predecessors are decided.
struct PreviewBuilder<'p> {
    plan: &'p Plan,
    /// Assigns numbers as a run would.
    keys: KeyResolver,
    previews: Vec<Option<Preview>>,
    artifacts: Vec<Option<Artifact>>,
}

impl PreviewBuilder<'_> {
    /// Decides a node that waits for something. Returns the key of any other one.
    fn decide_without_lookup(&mut self, ix: NodeIx) -> Option<NodeKey> {
        let (plan, artifacts, previews) = (self.plan, &self.artifacts, &self.previews);
        let predecessors = plan.predecessors(ix);
        let is_blocked = |predecessor: &NodeIx| {
            previews[predecessor.index()]
                .as_ref()
                .is_some_and(|preview| preview.decision == Decision::Blocked)
        };
        let missing = || predecessors.iter().filter(|predecessor| artifacts[predecessor.index()].is_none());
        let waits_for = missing().find(|predecessor| is_blocked(predecessor)).or_else(|| missing().next());
        let mut preview = Preview {
            name: plan.node(ix).name.clone(),
            decision: Decision::Execute,
            basis: StateBasis::Lookup(Box::new(ExistingWork::None)),
            why: None,
            task: None,
            key: None,
            full_key: None,
            render: None,
            is_certain: false,
            may_be_retried: true,
            known_at: None,
            hint: None,
        };
        let unpicked = plan.unpicked(ix).next();
        if let (Some(open), None) = (&unpicked, waits_for) {
            let choice = if open.kind == PickKind::Take { "a take" } else { "an instance" };
            preview.decision = Decision::Deferred;
            preview.basis = StateBasis::Fixed(StatusKind::Unpicked);
            preview.why = Some(format!("waits until {choice} of {} is picked", open.name));
        } else if let Some(parent) = waits_for {
            let will_exist = |predecessor: &NodeIx| {
                artifacts[predecessor.index()].is_some()
                    || previews[predecessor.index()]
                        .as_ref()
                        .is_some_and(|preview| preview.is_certain || preview.decision == Decision::Adopt)
            };
            let is_certain = unpicked.is_none()
                && predecessors.iter().all(will_exist)
                && (self.keys.asked_render(plan, ix).is_some()
                    || predecessors
                        .iter()
                        .any(|predecessor| is_new_video(&self.keys, plan, *predecessor, previews)));
            defer(&mut preview, plan, *parent, previews, is_certain);
            // A person may pick among the candidates that exist.
            if unpicked.is_some() && preview.decision == Decision::Deferred {
                preview.basis = StateBasis::Fixed(StatusKind::Unpicked);
            }
        } else {
            let key = self.keys.key(plan, ix, |parent| artifacts[parent.index()].as_ref());
            preview.full_key = key.map(|(key, _)| key);
            preview.render = key.map(|(_, choice)| choice.render);
            preview.key = preview.full_key.map(|key| key.short());
        }
        let key = preview.full_key;
        self.previews[ix.index()] = Some(preview);
        key
    }

    fn apply_existing(&mut self, ix: NodeIx, existing: ExistingWork) {
        if let Some(preview) = &mut self.previews[ix.index()] {
            self.artifacts[ix.index()] = apply_existing(preview, existing);
        }
    }

    /// Decides a node without existing work under its key.
    fn decide_new(
        &mut self,
        ix: NodeIx,
        adopted: Option<&Artifact>,
        accounts: &Accounts,
        at_services: &WorkAtServices,
    ) {
        let Some(preview) = &mut self.previews[ix.index()] else { return };
        if let Some(artifact) = adopted.filter(|_| preview.decision == Decision::Execute) {
            preview.decision = Decision::Reuse;
            preview.basis = StateBasis::Fixed(StatusKind::Done);
            self.artifacts[ix.index()] = Some(artifact.clone());
        }
        let service = self.keys.service_of(self.plan.node(ix));
        if preview.decision == Decision::Execute && accounts.is_paid(service) && !at_services.is_empty() {
            let artifact = |parent: NodeIx| self.artifacts[parent.index()].as_ref();
            let of_key = |key| self.keys.service_independent_key(self.plan, ix, key, artifact);
            let work = preview.full_key.and_then(of_key);
            let works = work.and_then(|work| at_services.get(&work.to_string()));
            let is_other =
                |other: &str| other != service && !self.plan.aliases(service).iter().any(|own| own == other);
            let mut others = works.into_iter().flatten().filter(|(other, _)| is_other(other));
            // What is in flight comes last: it decides.
            apply_other_service(preview, others.next_back(), accounts);
        }
        preview.is_certain = preview.decision == Decision::Execute;
        let is_asked = self.keys.asked_render(self.plan, ix).is_some();
        if is_asked && matches!(preview.decision, Decision::Execute | Decision::Adopt) {
            preview.why.get_or_insert_with(|| "asked for with `--rerun`".to_owned());
        }
    }
}

/// Blocks a node because of a video that the ledger does not know, with every node that would be submitted after it.
pub fn block_unrecorded(plan: &Plan, previews: &mut [Preview], node: NodeIx, why: String) {
    let first = node;
    let mut open = vec![(node, StateBasis::Fixed(StatusKind::Unrecorded), why)];
    while let Some((node, basis, why)) = open.pop() {
        let preview = &mut previews[node.index()];
        if node != first && !matches!(preview.decision, Decision::Execute | Decision::Deferred) {
            continue;
        }
        preview.decision = Decision::Blocked;
        preview.basis = basis;
        preview.is_certain = false;
        preview.why = Some(why);
        let waits_for = format!("waits for {}", plan.node(node).name);
        let blocked = |after| (after, StateBasis::Waits, waits_for.clone());
        open.extend(plan.successors(node).into_iter().map(blocked));
    }
}

fn defer(preview: &mut Preview, plan: &Plan, parent: NodeIx, previews: &[Option<Preview>], is_certain: bool) {
    let blocked =
        previews[parent.index()].as_ref().is_some_and(|parent| parent.decision == Decision::Blocked);
    preview.decision = if blocked { Decision::Blocked } else { Decision::Deferred };
    preview.basis = StateBasis::Waits;
    preview.is_certain = is_certain && !blocked;
    preview.why = Some(format!("waits for {}", plan.node(parent).name));
}

/// The same work at another service, which may be another address of this one: in flight it blocks the shot, as in a run; otherwise it is
/// reported.
fn apply_other_service(preview: &mut Preview, other_service: Option<&(String, bool)>, accounts: &Accounts) {
    match other_service {
        Some((service, true)) => {
            preview.decision = Decision::Blocked;
            preview.basis = StateBasis::Fixed(StatusKind::AtOtherService);
            preview.why = Some(format!("it was submitted to {service} and has not ended"));
        }
        // Where the plan has both, each is wanted.
        Some((service, false)) if !accounts.services().any(|own| own == service) => {
            preview.why = Some(format!(
                "its work is on record from {service}: a run stops before it is paid for again"
            ));
            preview.known_at = Some(service.clone());
        }
        Some((_, false)) | None => {}
    }
}

/// Whether the video of `node` will be a new one. A render that was asked for sends the same request again: a deterministic service renders the
/// same frames, whose successors may exist.
fn is_new_video(keys: &KeyResolver, plan: &Plan, node: NodeIx, previews: &[Option<Preview>]) -> bool {
    keys.asked_render(plan, node).is_none()
        && previews[node.index()].as_ref().is_some_and(|preview| preview.is_certain)
}

fn apply_existing(preview: &mut Preview, existing: ExistingWork) -> Option<Artifact> {
    preview.may_be_retried = existing.may_be_retried();
    preview.basis = StateBasis::Lookup(Box::new(existing.clone()));
    match existing {
        // No lookup says that the record has changed.
        ExistingWork::None | ExistingWork::Changed { .. } => None,
        ExistingWork::Completed { task, artifact, .. } => {
            preview.decision = Decision::Reuse;
            preview.task = Some(task);
            Some(artifact)
        }
        ExistingWork::InFlight {
            task,
            was_downloaded,
            is_missing,
            is_expired,
            is_other_account,
            damage,
            ..
        } => {
            preview.decision = Decision::Adopt;
            preview.task = Some(task);
            preview.why = if is_other_account {
                Some(
                    "it was submitted with another API key; an account that does not own it cannot see it"
                        .to_owned(),
                )
            } else if is_expired {
                Some("the service did not know its task, or had no intact video of it, and an earlier run gave it up; it is asked again before another one is paid for".to_owned())
            } else if is_missing {
                Some("the service did not know its task, or had no intact video of it, when it was last asked; it is asked again, and nothing is submitted".to_owned())
            } else if let Some(damage) = damage {
                Some(format!("its video is damaged ({damage}); it will be downloaded again"))
            } else {
                was_downloaded
                    .then(|| "its file is missing or modified; it will be downloaded again".to_owned())
            };
            None
        }
        ExistingWork::Indeterminate { attempt, suggested_task, .. } => {
            preview.decision = Decision::Blocked;
            preview.why = Some(format!("attempt {attempt} is indeterminate"));
            preview.hint = Some(Hint::Resolve(attempt, suggested_task));
            None
        }
        ExistingWork::Abandoned { attempt } => {
            preview.decision = Decision::Blocked;
            preview.why = Some(format!("its submission {attempt} was abandoned"));
            preview.hint = Some(Hint::Rerun);
            None
        }
        ExistingWork::OtherService { service, .. } => {
            preview.decision = Decision::Blocked;
            preview.why = Some(format!("it is in flight at {service}"));
            None
        }
        ExistingWork::ClaimedByOtherRun { run } => {
            preview.decision = Decision::Adopt;
            preview.why = Some(format!("run {run} is submitting it now"));
            None
        }
    }
}
