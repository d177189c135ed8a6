//! What a run is, besides its events: made by the client, stored by its hash, read by workers and by whoever follows the run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use engine::ledger::PlanArguments;
use scheduler::budget::{BudgetCaps, TaskPrices};
use scheduler::{Budget, Event, KeyResolver, Policy, RunId, RunState};
use serde::{Deserialize, Serialize};
use workflow::plan::{MediaSource, NodeIx, NodeKey, Plan};

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
    /// Shots that are rendered again, and those that were.
    #[serde(default)]
    pub reruns: SpecReruns,
    /// The arguments that determined the plan, for commands that continue its work.
    #[serde(default)]
    pub arguments: Option<PlanArguments>,
}

/// Forced reruns, as the client knew them when it started the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpecReruns {
    /// Salts of earlier reruns, by base key.
    pub recorded: BTreeMap<String, String>,
    /// Names of the nodes that this run renders again. Their salt is the run's id.
    pub forced: Vec<String>,
    /// Base keys of reruns that an earlier run began and did not finish.
    pub unfinished: BTreeSet<String>,
}

impl SpecReruns {
    /// Keys with these reruns, for a run of `plan`.
    #[must_use]
    pub fn apply(&self, keys: KeyResolver, plan: &Plan, run: &RunId) -> KeyResolver {
        // A malformed key matches no node.
        let salts = self.recorded.iter().filter_map(|(key, salt)| Some((NodeKey::parse(key)?, salt.clone())));
        let unfinished = self.unfinished.iter().filter_map(|key| NodeKey::parse(key)).collect();
        let forced: Vec<NodeIx> = self.forced.iter().filter_map(|name| plan.find(name)).collect();
        keys.with_recorded_salts(salts.collect())
            .with_forced(forced, run.as_str())
            .with_unfinished_reruns(unfinished)
    }
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
        prices: Arc<dyn TaskPrices>,
    ) -> RunState {
        let keys = KeyResolver::new(identity).with_salt(self.salt.clone());
        let keys = self.reruns.apply(keys, &plan, &self.run);
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
#[must_use]
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

    fn plan() -> Plan {
        let text = "version: 1\nname: lamp\nshots:\n  - { id: lamp, model: modelb-video-480p, seconds: 4, prompt: a lamp }\n";
        let (files, options) = (workflow::InMemory::default(), workflow::Options::default());
        workflow::load(text.as_bytes(), "lamp.yaml", &files, &options, contract::Contract::embedded())
            .expect("a plan")
    }

    #[test]
    fn workers_pace_submissions_and_polls_and_the_run_does_not() {
        let asked = Policy::remote();
        let effective = effective_policy(&asked, Duration::from_secs(3), Duration::from_mins(1));
        assert!(asked.paces_posts && !effective.paces_posts && effective.learns_limits);
        assert_eq!(effective.min_poll_interval, Duration::from_secs(3));
    }

    #[test]
    fn rerun_counts_from_the_run_that_forces_it_on() {
        let plan = plan();
        let key = |reruns: &SpecReruns, run: &str| {
            let keys = reruns.apply(KeyResolver::new("https://videos.example.com"), &plan, &RunId::from(run));
            let node = plan.find("lamp").expect("the shot");
            (keys.key(&plan, node, |_| None).expect("a key"), keys.forced_rerun(&plan, node, |_| None))
        };
        let (base, rerun) = key(&SpecReruns::default(), "r1");
        assert_eq!(rerun, None);
        let forced = SpecReruns { forced: vec!["lamp".to_owned()], ..SpecReruns::default() };
        let (salted, rerun) = key(&forced, "r1");
        let rerun = rerun.expect("what is recorded");
        assert_eq!((salted, rerun.key.as_str()), (base.salted("r1"), base.to_string().as_str()));
        // A later run finds it, also one that forces it again before it has ended.
        let recorded: BTreeMap<String, String> = [(rerun.key.clone(), rerun.salt)].into();
        let later = SpecReruns { recorded: recorded.clone(), ..SpecReruns::default() };
        assert_eq!(key(&later, "r2"), (salted, None));
        let unfinished = SpecReruns { recorded, unfinished: [rerun.key].into(), ..forced.clone() };
        assert_eq!(key(&unfinished, "r2"), (salted, None));
        let finished = SpecReruns { unfinished: BTreeSet::new(), ..unfinished };
        assert_eq!(key(&finished, "r3").0, base.salted("r3"));
        let stored = serde_json::to_string(&finished).expect("JSON");
        assert_eq!(serde_json::from_str::<SpecReruns>(&stored).expect("the same"), finished);
    }
}
