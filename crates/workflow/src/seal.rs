//! The third phase: seals instances into a plan.

use crate::expand::Instances;
use crate::plan::{Edge, InvalidPlan, Plan, frame_edges};

/// Seals instances into a plan.
///
/// # Errors
/// The violated invariant. Instances that were expanded without an error satisfy all of them.
pub fn seal(instances: Instances) -> Result<Plan, InvalidPlan> {
    let Instances { name, nodes, order, films, picks } = instances;
    let mut edges = frame_edges(&nodes);
    edges.extend(order.into_iter().map(|(from, to)| (from, to, Edge::Order)));
    Plan::seal(name, nodes, edges, films, picks)
}
