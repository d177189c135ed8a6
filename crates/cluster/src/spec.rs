//! What a run is, besides its events: made by the client, stored by its hash, read by workers and by whoever follows the run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use scheduler::budget::{BudgetLimits, Prices};
use scheduler::{Budget, Event, KeyResolver, Policy, RunId, RunState};
use serde::{Deserialize, Serialize};
use workflow::plan::{Plan, Source};

/// The specification of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The run's id.
    pub run: RunId,
    /// SHA-256 of the plan in the shared store.
    pub plan: String,
    /// Names of the nodes that the run may submit; `None` for all.
    pub only: Option<Vec<String>>,
    /// Whether nothing more is submitted once a shot has failed.
    pub fail_fast: bool,
    /// Text that is part of every key.
    pub salt: Option<String>,
    /// Limits and time-outs as the client asks for them; workers set the least poll interval ([`effective_policy`]).
    pub policy: Policy,
    /// Caps of this run.
    pub caps: BudgetLimits,
    /// The text of the price table.
    pub prices: Option<String>,
    /// Files of the workflow, in the shared store by their hash.
    pub files: Vec<SpecFile>,
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
    #[must_use]
    pub fn initial_state(
        &self,
        plan: Arc<Plan>,
        identity: &str,
        policy: Policy,
        prices: Arc<dyn Prices>,
    ) -> RunState {
        let keys = KeyResolver::new(identity).with_salt(self.salt.clone());
        RunState::new(plan, identity, policy).with_budget(Budget::new(self.caps, prices)).with_keys(keys)
    }

    /// The first events of the run.
    #[must_use]
    pub fn first_events(&self) -> Vec<Event> {
        let configured = (self.only.is_some() || self.fail_fast)
            .then(|| Event::RunConfigured { only: self.only.clone(), fail_fast: self.fail_fast });
        configured.into_iter().chain([Event::Started]).collect()
    }
}

/// The files beside the workflow that a plan needs: inputs of nodes and parts of films. Each once, sorted.
#[must_use]
pub fn plan_files(plan: &Plan) -> Vec<SpecFile> {
    let inputs = plan.nodes().flat_map(|(_, node)| &node.inputs).filter_map(|input| match &input.source {
        Source::File { path, sha256, .. } | Source::FileFrame { path, sha256, .. } => {
            Some(SpecFile { path: path.clone(), sha256: sha256.clone() })
        }
        Source::LastFrame(_) | Source::FirstFrame(_) | Source::Pick { .. } => None,
    });
    let films = plan.films().iter().flat_map(workflow::plan::Film::files);
    let films = films.map(|file| SpecFile { path: file.path.clone(), sha256: file.sha256.clone() });
    let mut files: Vec<SpecFile> = inputs.chain(films).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The policy that a run is executed with: workers know how far their service is, and each poll is an invocation of its own.
#[must_use]
pub fn effective_policy(
    asked: &Policy,
    min_poll_interval: Duration,
    indeterminate_slot_hold: Duration,
) -> Policy {
    let max_poll_interval = asked.max_poll_interval.max(min_poll_interval);
    Policy { min_poll_interval, max_poll_interval, indeterminate_slot_hold, ..asked.clone() }
}
