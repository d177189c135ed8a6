//! The lint of instances of a shot that request the same video: each is rendered, and paid for.

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasher as _;
use std::sync::Arc;

use serde_json::Value;

use super::dedup::DiagnosticDedup;
use super::lints::Requests;
use crate::diagnostic::{Diagnostic, quoted_list};
use crate::plan::{Input, Node};

/// What the nodes of a shot are looked up by: its id, the render, the salt, the service, the digests of the request's values, and its inputs.
type Asked<'a> =
    (&'a Arc<str>, Option<u32>, Option<&'a str>, Option<&'a str>, Vec<(&'a str, u64)>, &'a [Input]);

/// Warns of a shot with such instances, with the first two.
pub(super) fn run(requests: &Requests<'_>, dedup: &mut DiagnosticDedup) {
    let hasher = RandomState::new();
    // Requests share values, of which some are long.
    let mut digests: HashMap<*const Value, u64> = HashMap::new();
    let mut digest = |value| *digests.entry(value).or_insert_with(|| hasher.hash_one(value));
    let mut first: HashMap<Asked<'_>, &Node> = HashMap::new();
    let mut equal: BTreeMap<&str, (&Node, &Node, usize)> = BTreeMap::new();
    for node in requests.nodes().iter().filter(|node| !node.cell.is_empty()) {
        let values = node.request.iter().map(|(name, value)| (name, digest(value))).collect();
        let (salt, service) = (node.salt.as_deref(), node.service.as_deref());
        match first.entry((&node.shot, node.take, salt, service, values, &node.inputs)) {
            Entry::Vacant(unknown) => {
                unknown.insert(node);
            }
            // Equal cells are reported where the matrix has them.
            Entry::Occupied(other) if other.get().cell == node.cell => {}
            Entry::Occupied(other) => equal.entry(&node.shot).or_insert((other.get(), node, 0)).2 += 1,
        }
    }
    for (index, shot) in requests.shots(|node| equal.contains_key(&*node.shot)) {
        let Some((one, other, count)) = equal.get(shot.id.value.as_str()) else { continue };
        let differs = |axis: &&str| one.cell.get(axis) != other.cell.get(axis);
        let axes = quoted_list(other.cell.iter().map(|(axis, _)| axis).filter(differs), 12);
        let names = format!("`{}` and `{}`", one.name, other.name);
        let (message, help) = if one.dialogue == other.dialogue {
            (
                format!("{names} request the same video, and both are paid for"),
                format!(
                    "the request does not depend on {axes}: leave it out of this shot, or write `takes: 2` for several candidates"
                ),
            )
        } else {
            (
                format!(
                    "{names} differ only in what is said: both request the same video, and both are paid for"
                ),
                format!("make {axes} a parameter, and run once for each value: nothing is rendered again"),
            )
        };
        let mut warning = Diagnostic::warning("equal-cells", shot.id.span, message).help(help);
        if *count > 1 {
            warning = warning.label(format!("{count} instances are like another one"));
        }
        dedup.add_of_shot(index, warning);
    }
}
