//! Why a node would be made again: what of its key is not what it was, and what hangs on it.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;
use workflow::plan::{KeyPart, NodeIx, PartChange, Plan, input_name, part_changes};

use crate::artifact::Artifact;
use crate::ledger::{Ledger, LedgerError, RecordedAttempt};
use crate::preview::{self, Preview};
use crate::state::{identities_of, parts_of};
use crate::store::Check;
use crate::time::Millis;

/// Why a node would be done as it would.
#[derive(Debug, Clone, Serialize)]
pub struct Explanation {
    /// What would be done with it.
    #[serde(flatten)]
    pub preview: Preview,
    /// The earlier attempt that is nearest to it; nothing where none is on record.
    pub nearest: Option<Nearest>,
    /// How many earlier attempts there are whose parts are not on record, because a version without them made them.
    pub unrecorded: usize,
    /// The names of the parts that are the same as in the nearest attempt.
    pub same: Vec<String>,
    /// The parts that are not known before another shot is made.
    pub unknown: Vec<Unknown>,
    /// The nodes that wait for it, directly or not, in file order.
    pub affects: Vec<String>,
    /// The film, where it or one of those is in it.
    pub film: Option<String>,
}

/// A part of a key that another node decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unknown {
    /// The part's name.
    pub part: String,
    /// The node whose video decides it.
    pub shot: String,
}

/// The earlier attempt that is nearest to a node.
#[derive(Debug, Clone, Serialize)]
pub struct Nearest {
    /// The attempt.
    pub attempt: String,
    /// The name that its node had.
    pub shot: String,
    /// When it was about to be submitted.
    pub at: Millis,
    /// What it came to, in the ledger's word.
    pub state: String,
    /// What differs; empty where the key is the same.
    pub changes: Vec<PartChange>,
}

/// Explains nodes of `plan`, in the order given.
///
/// # Errors
/// When the ledger or an artifact cannot be read.
pub async fn explain(
    plan: &Arc<Plan>,
    ledger: Option<&Ledger>,
    service: &str,
    nodes: &[NodeIx],
) -> Result<Vec<Explanation>, LedgerError> {
    let (previews, made) = preview::survey(plan, ledger, &preview::keys(ledger, service)?, Check::Quick).await?;
    nodes
        .iter()
        .map(|ix| {
            let artifact = |parent: NodeIx| made[parent.index()].as_ref();
            let recorded = match ledger {
                Some(ledger) => ledger.recorded(&plan.node(*ix).shot)?,
                None => Vec::new(),
            };
            Ok(one(plan, *ix, service, previews[ix.index()].clone(), artifact, &recorded))
        })
        .collect()
}

fn one<'a>(
    plan: &Plan,
    ix: NodeIx,
    service: &str,
    preview: Preview,
    artifact: impl Fn(NodeIx) -> Option<&'a Artifact>,
    recorded: &[RecordedAttempt],
) -> Explanation {
    let node = plan.node(ix);
    let parts = parts_of(plan, ix, service, &artifact);
    let unknown: Vec<Unknown> = node
        .inputs
        .iter()
        .zip(identities_of(plan, ix, &artifact))
        .filter(|(_, identity)| identity.is_none())
        .filter_map(|(input, _)| {
            let shot = plan.node(input.source.node()?).name.clone();
            Some(Unknown { part: input_name(&input.pointer), shot })
        })
        .collect();
    let nearest = nearest(&node.name, &parts, &unknown, recorded);
    let same = nearest.as_ref().map_or_else(Vec::new, |nearest| {
        let changed = |part: &KeyPart| nearest.changes.iter().any(|change| change.name == part.name);
        parts.iter().filter(|part| !changed(part)).map(|part| part.name.clone()).collect()
    });
    let affected = downstream(plan, ix);
    let film = plan.film().filter(|film| film.clips.iter().any(|clip| *clip == ix || affected.contains(clip)));
    Explanation {
        preview,
        nearest,
        unrecorded: recorded.iter().filter(|attempt| attempt.node == node.name && attempt.parts.is_none()).count(),
        same,
        unknown,
        affects: affected.iter().map(|ix| plan.node(*ix).name.clone()).collect(),
        film: film.map(|film| film.output.clone()),
    }
}

/// The attempt with the fewest differences: of the node's own name where there are any, else of the same shot; of equals the latest.
fn nearest(
    name: &str,
    parts: &[KeyPart],
    unknown: &[Unknown],
    recorded: &[RecordedAttempt],
) -> Option<Nearest> {
    let unknown: Vec<String> = unknown.iter().map(|unknown| unknown.part.clone()).collect();
    recorded
        .iter()
        .filter_map(|attempt| {
            let changes = part_changes(attempt.parts.as_ref()?, parts, &unknown);
            Some((attempt, changes))
        })
        .min_by_key(|(attempt, changes)| {
            (attempt.node != name, changes.len(), std::cmp::Reverse(attempt.intended_at))
        })
        .map(|(attempt, changes)| Nearest {
            attempt: attempt.attempt.to_string(),
            shot: attempt.node.clone(),
            at: attempt.intended_at,
            state: attempt.state.clone(),
            changes,
        })
}

/// All nodes that wait for this one, directly or not.
fn downstream(plan: &Plan, ix: NodeIx) -> BTreeSet<NodeIx> {
    let mut found = BTreeSet::new();
    let mut next = vec![ix];
    while let Some(at) = next.pop() {
        next.extend(plan.successors(at).into_iter().filter(|later| found.insert(*later)));
    }
    found
}
