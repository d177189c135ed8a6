//! What a run is, besides its events: made by the client, stored by its hash, read by workers and by whoever follows the run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::ledger::PlanArguments;
use scheduler::budget::{BudgetCaps, TaskPrices};
use scheduler::{Budget, Event, KeyResolver, Policy, RunId, RunState};
use serde::{Deserialize, Serialize};
use workflow::plan::{MediaSource, Plan, Selection};

use crate::index::RenderSnapshot;

/// The specification of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    pub run: RunId,
    /// SHA-256 of the plan in the shared store.
    pub plan: String,
    /// Names of the nodes that the run may submit; `None` for all.
    pub only: Option<Vec<String>>,
    /// Whether nothing more is submitted once a shot has failed.
    pub fail_fast: bool,
    /// Text that is part of every key.
    pub salt: Option<String>,
    /// Limits and timeouts as the client asks for them; workers set the least poll interval ([`effective_policy`]).
    pub policy: Policy,
    pub caps: BudgetCaps,
    /// The text of the price table.
    pub prices: Option<String>,
    /// Files of the workflow, in the shared store by their hash.
    pub files: Vec<SpecFile>,
    /// The renders on record, and what is asked for.
    #[serde(default)]
    pub renders: RenderSnapshot,
    /// The arguments that determined the plan, for commands that continue its work.
    #[serde(default)]
    pub arguments: Option<PlanArguments>,
}

/// A file of the workflow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecFile {
    /// Relative to the folder of the workflow file.
    pub path: PathBuf,
    /// SHA-256 of its content, lower-case hex.
    pub sha256: String,
}

impl RunSpec {
    /// The state before the first event. Workers and clients begin with the same one, so that the same events lead to the same state.
    pub fn initial_state(
        &self,
        plan: Arc<Plan>,
        identity: &str,
        policy: Policy,
        prices: Arc<dyn TaskPrices>,
    ) -> RunState {
        let selected = |only: &Vec<String>| Selection::only(only.iter().filter_map(|name| plan.find(name)));
        let keys = KeyResolver::new(identity)
            .with_salt(self.salt.clone())
            .with_renders(self.renders.renders())
            .with_selection(&plan, self.only.as_ref().map(selected).as_ref());
        RunState::new(plan, identity, policy).with_budget(Budget::new(self.caps, prices)).with_keys(keys)
    }

    /// The first events of the run.
    pub fn first_events(&self) -> Vec<Event> {
        let configured = (self.only.is_some() || self.fail_fast).then(|| Event::RunConfigured {
            only: self.only.clone(),
            fail_fast: self.fail_fast,
            several_services: false,
        });
        configured.into_iter().chain([Event::Started]).collect()
    }
}

/// The files beside the workflow that a plan needs: inputs of nodes and parts of films. Each once, sorted.
pub fn plan_files(plan: &Plan) -> Vec<SpecFile> {
    let inputs = plan.nodes().flat_map(|(_, node)| &node.inputs).filter_map(|input| match &input.source {
        MediaSource::File { path, sha256, .. } | MediaSource::FileFrame { path, sha256, .. } => {
            Some(SpecFile { path: path.clone(), sha256: sha256.clone() })
        }
        MediaSource::LastFrame(_) | MediaSource::FirstFrame(_) | MediaSource::Pick { .. } => None,
    });
    let films = plan.films().iter().flat_map(workflow::plan::Film::files);
    let films = films.map(|file| SpecFile { path: file.path.clone(), sha256: file.sha256.clone() });
    let mut files: Vec<SpecFile> = inputs.chain(films).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The policy that a run is executed with: workers know how far their service is, and each poll is an invocation of its own.
pub fn effective_policy(
    asked: &Policy,
    min_poll_interval: Duration,
    indeterminate_slot_hold: Duration,
) -> Policy {
    Policy {
        // Of a service near by, tasks are short.
        first_poll: asked.first_poll.min(3 * min_poll_interval),
        min_poll_interval,
        max_poll_interval: asked.max_poll_interval.max(min_poll_interval),
        indeterminate_slot_hold,
        // A node waits for Restate several times between its admission and its POST, and workers know when one is sent.
        paces_posts: false,
        ..asked.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_pace_submissions_and_polls_and_the_run_does_not() {
        let asked = Policy::remote();
        let effective = effective_policy(&asked, Duration::from_secs(3), Duration::from_mins(1));
        assert!(asked.paces_posts && !effective.paces_posts && effective.learns_limits);
        assert_eq!(effective.min_poll_interval, Duration::from_secs(3));
    }
}
