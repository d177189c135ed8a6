//! Explains a node's key: what changed against the nearest earlier attempt, and what depends on the node.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde::Serialize;
use workflow::plan::{Clip, Film, KeyPart, NodeIx, PartChange, Plan, input_name, part_changes};

use crate::artifact_store::Verify;
use crate::ledger::{AttemptRecord, Ledger, LedgerError};
use crate::preview::{self, Preview};
use crate::provider::Accounts;
use scheduler::{Artifact, AttemptState, KeyResolver, Timestamp};

/// The explanation of one node.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// What a run would do with it.
    #[serde(flatten)]
    pub preview: Preview,
    /// The nearest earlier attempt; `None` without a recorded one.
    pub nearest: Option<NearestAttempt>,
    /// Names of the key parts that equal those of the nearest attempt.
    pub same: Vec<String>,
    /// Key parts that depend on videos that do not exist yet.
    pub unknown: Vec<UnknownPart>,
    /// The nodes that depend on it, directly or not, in file order.
    pub affects: Vec<String>,
    /// The films that show it or one of those.
    pub films: Vec<String>,
}

/// A key part that depends on another node's video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnknownPart {
    pub part: String,
    /// The node on whose video it depends.
    pub shot: String,
}

/// The earlier attempt nearest to a node.
#[derive(Debug, Clone, Serialize)]
pub struct NearestAttempt {
    pub attempt: String,
    /// The name of its node at that time.
    pub shot: String,
    /// When its intent was recorded.
    pub intended_at: Timestamp,
    pub state: AttemptState,
    /// The differences; empty if the key is the same.
    pub changes: Vec<PartChange>,
}

/// Explains nodes of `plan`, in the order given. `service` is that of nodes that name none; `accounts` are as for [`preview::preview`].
///
/// # Errors
/// When the ledger or an artifact cannot be read.
pub async fn explain(
    plan: &Arc<Plan>,
    ledger: Option<&Ledger>,
    service: &str,
    accounts: &Accounts,
    nodes: &[NodeIx],
) -> Result<Vec<Explanation>, LedgerError> {
    let keys = preview::key_resolver(plan, ledger, service)?;
    let (previews, videos) = preview::survey(plan, ledger, &keys, accounts, &Verify::Metadata).await?;
    let mut records: HashMap<&str, AttemptHistory> = HashMap::new();
    let mut explanations = Vec::with_capacity(nodes.len());
    for ix in nodes {
        let shot = &*plan.node(*ix).shot;
        if !records.contains_key(shot) {
            let attempts = ledger.map_or_else(|| Ok(Vec::new()), |ledger| ledger.attempts_of_shot(shot))?;
            records.insert(shot, AttemptHistory::new(attempts));
        }
        let artifact = |parent: NodeIx| videos[parent.index()].as_ref();
        explanations.push(explain_node(
            plan,
            *ix,
            &keys,
            previews[ix.index()].clone(),
            artifact,
            &records[shot],
        ));
    }
    Ok(explanations)
}

/// Maximum number of other instances' attempts that are compared with an instance without attempts.
const MAX_COMPARED_ATTEMPTS: usize = 100;

/// The recorded attempts of a shot, the latest first, indexed by instance.
struct AttemptHistory {
    attempts: Vec<AttemptRecord>,
    by_name: HashMap<String, Vec<usize>>,
}

impl AttemptHistory {
    fn new(attempts: Vec<AttemptRecord>) -> Self {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, attempt) in attempts.iter().enumerate() {
            by_name.entry(attempt.node.clone()).or_default().push(index);
        }
        Self { attempts, by_name }
    }

    /// The attempts of an instance.
    fn attempts_of(&self, name: &str) -> impl Iterator<Item = &AttemptRecord> {
        self.by_name.get(name).into_iter().flatten().map(|index| &self.attempts[*index])
    }
}

fn explain_node<'a>(
    plan: &Plan,
    ix: NodeIx,
    keys: &KeyResolver,
    preview: Preview,
    artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    record: &AttemptHistory,
) -> Explanation {
    let node = plan.node(ix);
    let parts = keys.key_parts(plan, ix, &artifact);
    let unknown: Vec<UnknownPart> = node
        .inputs
        .iter()
        .zip(keys.input_identities(plan, ix, &artifact))
        .filter(|(_, identity)| identity.is_none())
        .filter_map(|(input, _)| {
            let shot = match input.source.nodes() {
                [] => return None,
                [only] => plan.node(*only).name.clone(),
                candidates => plan.open_pick(candidates).name.into_owned(),
            };
            Some(UnknownPart { part: input_name(input), shot })
        })
        .collect();
    let nearest = nearest(&node.name, &parts, &unknown, record);
    let same = nearest.as_ref().map_or_else(Vec::new, |nearest| {
        let changed = |part: &KeyPart| nearest.changes.iter().any(|change| change.name == part.name);
        parts.iter().filter(|part| !changed(part)).map(|part| part.name.clone()).collect()
    });
    let affected = downstream(plan, ix);
    let is_in = |film: &&Film| {
        film.clips.iter().flat_map(Clip::nodes).any(|node| *node == ix || affected.contains(node))
    };
    let films = plan.films().iter().filter(is_in).map(|film| film.output.clone()).collect();
    Explanation {
        preview,
        nearest,
        same,
        unknown,
        affects: affected.iter().map(|ix| plan.node(*ix).name.clone()).collect(),
        films,
    }
}

/// The attempt with the fewest differences: among the node's own if it has any, else among those of the shot; of equals the latest.
fn nearest(
    name: &str,
    parts: &[KeyPart],
    unknown: &[UnknownPart],
    record: &AttemptHistory,
) -> Option<NearestAttempt> {
    let unknown: Vec<String> = unknown.iter().map(|unknown| unknown.part.clone()).collect();
    let fewest = |(attempt, changes): &(&AttemptRecord, Vec<PartChange>)| {
        (changes.len(), std::cmp::Reverse(attempt.intended_at))
    };
    record
        .attempts_of(name)
        .map(|attempt| (attempt, part_changes(&attempt.parts, parts, &unknown)))
        .min_by_key(fewest)
        .or_else(|| {
            let others = record.attempts.iter().take(MAX_COMPARED_ATTEMPTS);
            others.map(|attempt| (attempt, part_changes(&attempt.parts, parts, &unknown))).min_by_key(fewest)
        })
        .map(|(attempt, changes)| NearestAttempt {
            attempt: attempt.attempt.to_string(),
            shot: attempt.node.clone(),
            intended_at: attempt.intended_at,
            state: attempt.state,
            changes,
        })
}

/// All nodes that depend on this one, directly or not.
fn downstream(plan: &Plan, ix: NodeIx) -> BTreeSet<NodeIx> {
    let mut dependents = BTreeSet::new();
    let mut next = vec![ix];
    while let Some(node) = next.pop() {
        next.extend(plan.successors(node).into_iter().filter(|later| dependents.insert(*later)));
    }
    dependents
}
