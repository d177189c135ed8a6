//! Previews a run: a decision and a reason for every node, without doing anything.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use workflow::plan::{NodeIx, NodeKey, PickKind, Plan};

use crate::artifact_store::Verify;
use crate::executor::lookup;
use crate::ledger::{Ledger, LedgerError};
use scheduler::{Artifact, AttemptId, Decision, ExistingWork, KeyResolver, TaskId};

/// The preview of one node.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Preview {
    /// The node's name.
    pub name: String,
    /// The decision.
    pub decision: Decision,
    /// The reason, if the decision alone does not say it.
    pub why: Option<String>,
    /// The task that would be reused or adopted.
    pub task: Option<TaskId>,
    /// The beginning of the node's key, if known.
    pub key: Option<String>,
    /// Whether its submission is certain, provided that nothing fails: always for [`Decision::Execute`], and for [`Decision::Deferred`] where
    /// the frame that it waits for is that of a video that does not exist yet, so that no earlier video can be its own.
    pub is_certain: bool,
    /// The decision of the user that a blocked node waits for.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
}

/// A decision of the user that unblocks a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remedy {
    /// What became of this indeterminate attempt; with the id of a task that the response named.
    Resolve(AttemptId, Option<TaskId>),
    /// To render it again, although an abandoned attempt may have been accepted.
    Rerun,
    /// That the API key is another one of the account that the task was submitted with.
    LinkAccount,
}

/// Previews every node of `plan`, in its order. Without a ledger there is no existing work. `is_paid`: work that is in flight at another
/// service blocks a node, also where the account is unknown because there is no API key.
///
/// # Errors
/// When the ledger or an artifact cannot be read.
pub async fn preview(
    plan: &Arc<Plan>,
    ledger: Option<&Ledger>,
    keys: &KeyResolver,
    account: Option<&str>,
    is_paid: bool,
    verify: &Verify,
) -> Result<Vec<Preview>, LedgerError> {
    let adopted = HashMap::new();
    survey_at(plan, ledger, keys, account, is_paid, verify, &adopted).await.map(|(previews, _)| previews)
}

/// Keys of a run of a plan without forced reruns: recorded salts apply, and what earlier versions called the service and identical shots.
///
/// # Errors
/// When the ledger cannot be read.
pub fn key_resolver(ledger: Option<&Ledger>, plan: &Plan, service: &str) -> Result<KeyResolver, LedgerError> {
    match ledger {
        Some(ledger) => ledger.key_resolver(plan, service),
        None => Ok(KeyResolver::new(service)),
    }
}

/// As [`preview`], with the video that exists of each node.
///
/// # Errors
/// As [`preview`].
pub async fn survey(
    plan: &Arc<Plan>,
    ledger: Option<&Ledger>,
    keys: &KeyResolver,
    account: Option<&str>,
    verify: &Verify,
) -> Result<(Vec<Preview>, Vec<Option<Artifact>>), LedgerError> {
    survey_with(plan, ledger, keys, account, verify, &HashMap::new()).await
}

/// As [`survey`], as if the videos in `adopted` were recorded under their keys.
pub(crate) async fn survey_with(
    plan: &Arc<Plan>,
    ledger: Option<&Ledger>,
    keys: &KeyResolver,
    account: Option<&str>,
    verify: &Verify,
    adopted: &HashMap<NodeKey, Artifact>,
) -> Result<(Vec<Preview>, Vec<Option<Artifact>>), LedgerError> {
    survey_at(plan, ledger, keys, account, account.is_some(), verify, adopted).await
}

async fn survey_at(
    plan: &Arc<Plan>,
    ledger: Option<&Ledger>,
    keys: &KeyResolver,
    account: Option<&str>,
    is_paid: bool,
    verify: &Verify,
    adopted: &HashMap<NodeKey, Artifact>,
) -> Result<(Vec<Preview>, Vec<Option<Artifact>>), LedgerError> {
    let mut made: Vec<Option<Artifact>> = vec![None; plan.len()];
    let mut previews: Vec<Option<Preview>> = vec![None; plan.len()];
    let at_other_services = match ledger {
        // Free work blocks nothing.
        Some(ledger) if is_paid => ledger.work_at_other_services(keys.service())?,
        _ => HashMap::new(),
    };
    // Nodes come in file order, which need not be topological: repeat until nothing more can be decided.
    loop {
        let mut decided = false;
        for (ix, node) in plan.nodes() {
            let before = plan.predecessors(ix);
            if previews[ix.index()].is_some()
                || before.iter().any(|before| previews[before.index()].is_none())
            {
                continue;
            }
            decided = true;
            let is_blocked = |before: &NodeIx| {
                previews[before.index()].as_ref().is_some_and(|preview| preview.decision == Decision::Blocked)
            };
            let missing = || before.iter().filter(|before| made[before.index()].is_none());
            let waits_for = missing().find(|before| is_blocked(before)).or_else(|| missing().next());
            let mut preview = Preview {
                name: node.name.clone(),
                decision: Decision::Execute,
                why: None,
                task: None,
                key: None,
                is_certain: false,
                remedy: None,
            };
            let unpicked = plan.unpicked(ix).next();
            if let (Some(open), None) = (&unpicked, waits_for) {
                let one = if open.kind == PickKind::Take { "a take" } else { "an instance" };
                preview.decision = Decision::Deferred;
                preview.why = Some(format!("waits until {one} of {} is picked", open.name));
            } else if let Some(parent) = waits_for {
                let will_exist = |before: &NodeIx| {
                    made[before.index()].is_some()
                        || previews[before.index()]
                            .as_ref()
                            .is_some_and(|preview| preview.is_certain || preview.decision == Decision::Adopt)
                };
                let is_certain = unpicked.is_none()
                    && before.iter().all(will_exist)
                    && (keys.is_always_new(ix)
                        || before.iter().any(|before| is_new_video(keys, *before, &previews)));
                defer(&mut preview, plan, *parent, &previews, is_certain);
            } else if let Some(key) = keys.key(plan, ix, |parent| made[parent.index()].as_ref()) {
                preview.key = Some(key.short());
                if let Some(ledger) = ledger {
                    let existing =
                        lookup::recorded_work(ledger, &key.to_string(), account, None, verify).await?;
                    made[ix.index()] = apply_existing(&mut preview, existing);
                }
                if let Some(artifact) = adopted.get(&key).filter(|_| preview.decision == Decision::Execute) {
                    preview.decision = Decision::Reuse;
                    made[ix.index()] = Some(artifact.clone());
                }
                if preview.decision == Decision::Execute && !at_other_services.is_empty() {
                    let work = keys.service_independent_key(plan, ix, |parent| made[parent.index()].as_ref());
                    let found = work.and_then(|work| at_other_services.get(&work.to_string()));
                    apply_other_service(&mut preview, found);
                }
                preview.is_certain = preview.decision == Decision::Execute;
            }
            previews[ix.index()] = Some(preview);
        }
        if !decided {
            break;
        }
    }
    Ok((previews.into_iter().flatten().collect(), made))
}

/// Blocks a node whose submission was expected, with every node that waits for it.
pub fn block(plan: &Plan, previews: &mut [Preview], node: NodeIx, why: String) {
    let mut open = vec![(node, why)];
    while let Some((node, why)) = open.pop() {
        let preview = &mut previews[node.index()];
        if !matches!(preview.decision, Decision::Execute | Decision::Deferred) {
            continue;
        }
        preview.decision = Decision::Blocked;
        preview.is_certain = false;
        preview.why = Some(why);
        let waits_for = format!("waits for {}", plan.node(node).name);
        open.extend(plan.successors(node).into_iter().map(|after| (after, waits_for.clone())));
    }
}

fn defer(preview: &mut Preview, plan: &Plan, parent: NodeIx, previews: &[Option<Preview>], is_certain: bool) {
    let blocked =
        previews[parent.index()].as_ref().is_some_and(|parent| parent.decision == Decision::Blocked);
    preview.decision = if blocked { Decision::Blocked } else { Decision::Deferred };
    preview.is_certain = is_certain && !blocked;
    preview.why = Some(format!("waits for {}", plan.node(parent).name));
}

/// The same work at another service, which may be another address of this one: in flight it blocks the shot, as in a run; otherwise it is
/// said.
fn apply_other_service(preview: &mut Preview, found: Option<&(String, bool)>) {
    match found {
        None => {}
        Some((service, true)) => {
            preview.decision = Decision::Blocked;
            preview.why = Some(format!("it is in flight at {service}"));
        }
        Some((service, false)) => {
            preview.why = Some(format!(
                "the ledger knows this work from {service}: if that is the same service, set RUNNER_BASE_URL to it and nothing is paid for again"
            ));
        }
    }
}

/// Whether the video of `node` will be a new one. A forced rerun sends the same request again: a deterministic service renders the same frames,
/// whose successors may exist.
fn is_new_video(keys: &KeyResolver, node: NodeIx, previews: &[Option<Preview>]) -> bool {
    !keys.is_forced(node) && previews[node.index()].as_ref().is_some_and(|preview| preview.is_certain)
}

fn apply_existing(preview: &mut Preview, existing: ExistingWork) -> Option<Artifact> {
    match existing {
        ExistingWork::None => None,
        ExistingWork::Completed { task, artifact, .. } => {
            preview.decision = Decision::Reuse;
            preview.task = Some(task);
            Some(artifact)
        }
        ExistingWork::InFlight { task, was_downloaded, is_missing, is_other_account, damage, .. } => {
            preview.decision = Decision::Adopt;
            preview.task = Some(task);
            if is_other_account {
                preview.remedy = Some(Remedy::LinkAccount);
            }
            preview.why = if is_other_account {
                Some(
                    "it was submitted with another API key; an account that does not own it cannot see it"
                        .to_owned(),
                )
            } else if is_missing {
                Some("the service did not know its task when it was last asked; it is asked again, and nothing is submitted".to_owned())
            } else if let Some(damage) = damage {
                Some(format!("its video is damaged ({damage}); it will be downloaded again"))
            } else {
                was_downloaded
                    .then(|| "its file is missing or changed; it will be downloaded again".to_owned())
            };
            None
        }
        ExistingWork::Indeterminate { attempt, suggested_task, .. } => {
            preview.decision = Decision::Blocked;
            preview.why = Some(format!("attempt {attempt} is indeterminate"));
            preview.remedy = Some(Remedy::Resolve(attempt, suggested_task));
            None
        }
        ExistingWork::Abandoned { attempt } => {
            preview.decision = Decision::Blocked;
            preview.why = Some(format!("its submission {attempt} was abandoned"));
            preview.remedy = Some(Remedy::Rerun);
            None
        }
        ExistingWork::OtherService { service, .. } => {
            preview.decision = Decision::Blocked;
            preview.why = Some(format!("it is in flight at {service}"));
            None
        }
        ExistingWork::ClaimedByRun { run } => {
            preview.decision = Decision::Adopt;
            preview.why = Some(format!("run {run} is submitting it now"));
            None
        }
    }
}
