//! Kills at each step of a submission: of the worker that is there, and of a node of Restate meanwhile.

use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::Rng as _;

use super::failpoint::AtStep;
use super::moment::Moment;
use super::processes::{Cluster, wait_until};
use super::service::CountingService;

/// How long to wait for a step that may not come any more.
const STEP_TIMEOUT: Duration = Duration::from_secs(6);
/// How long the end of a worker takes at most.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a node of several stays down at most, in milliseconds.
const MAX_DOWN_MILLIS: u64 = 4_000;
/// What a worker may have done since all of a video was sent, in milliseconds.
const MAX_UPLOAD_MILLIS: u64 = 30;

/// Where a step is observed.
#[derive(Debug, Clone, Copy)]
enum ObservedAt {
    /// Before the worker sends this message to Restate (`cluster::failpoint`).
    Message(&'static str),
    Service(Moment),
}

const STEPS: [(&str, ObservedAt); 11] = [
    ("before the intent is journalled", ObservedAt::Message("prepare: set record")),
    ("after the intent", ObservedAt::Message("run token")),
    ("after the token", ObservedAt::Message("run post")),
    ("as the POST arrives", ObservedAt::Service(Moment::PostArrived)),
    ("between acceptance and answer", ObservedAt::Service(Moment::PostAccepted)),
    ("as the answer arrives", ObservedAt::Service(Moment::Answered)),
    ("after the answer, before it is journalled", ObservedAt::Message("propose post")),
    ("during a poll", ObservedAt::Service(Moment::Poll)),
    ("in the middle of a download", ObservedAt::Service(Moment::HalfOfVideo)),
    ("during an upload", ObservedAt::Service(Moment::VideoSent)),
    ("after an upload, before it is journalled", ObservedAt::Message("propose download")),
];

/// Who is killed at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victim {
    Worker,
    Node,
}

/// The kills at steps: each step with each victim in turn.
#[derive(Debug, Default)]
pub(super) struct StepKills {
    next: usize,
    workers: [usize; STEPS.len()],
    nodes: [usize; STEPS.len()],
}

impl StepKills {
    /// Kills at the next step in turn. `None` if nothing was at that step in time.
    pub(super) fn kill(
        &mut self,
        cluster: &mut Cluster,
        service: &CountingService,
        rng: &mut SplitMix64,
    ) -> Result<Option<Victim>, String> {
        let (round, index) = (self.next / STEPS.len(), self.next % STEPS.len());
        self.next += 1;
        let victim = if round.is_multiple_of(2) { Victim::Worker } else { Victim::Node };
        let is_hit = match STEPS[index].1 {
            ObservedAt::Message(message) => at_message(cluster, message, victim, rng)?,
            ObservedAt::Service(moment) => at_moment(cluster, service, moment, victim, rng)?,
        };
        if !is_hit {
            return Ok(None);
        }
        match victim {
            Victim::Worker => self.workers[index] += 1,
            Victim::Node => self.nodes[index] += 1,
        }
        Ok(Some(victim))
    }

    /// How many there were.
    pub(super) fn count(&self) -> usize {
        self.workers.iter().chain(&self.nodes).sum()
    }

    /// How often each step was hit, and the steps that were not.
    pub(super) fn report(&self) -> (String, Vec<&'static str>) {
        let counts = self.workers.iter().zip(&self.nodes);
        let lines = STEPS
            .iter()
            .zip(counts.clone())
            .map(|((name, _), (workers, nodes))| format!("    {name}: {workers} workers, {nodes} nodes"));
        let missed = STEPS.iter().zip(counts).filter(|(_, (workers, nodes))| **workers + **nodes == 0);
        (lines.collect::<Vec<_>>().join("\n"), missed.map(|((name, _), _)| *name).collect())
    }
}

fn at_message(
    cluster: &mut Cluster,
    message: &str,
    victim: Victim,
    rng: &mut SplitMix64,
) -> Result<bool, String> {
    let file = cluster.step_file();
    let at_step = if victim == Victim::Worker { AtStep::Die } else { AtStep::Wait };
    file.arm(at_step, message)?;
    // It may not come in time.
    drop(wait_until(STEP_TIMEOUT, "", || Ok(file.is_reached())));
    let is_reached = file.is_reached();
    if is_reached {
        match victim {
            Victim::Worker => {
                wait_until(END_TIMEOUT, "a worker did not end at its step", || {
                    Ok(cluster.replace_ended_workers()? > 0)
                })?;
            }
            Victim::Node => {
                let node = kill_node(cluster, rng);
                // The worker goes on, and its message goes nowhere.
                file.clear();
                restart_node(cluster, node, rng)?;
                return Ok(true);
            }
        }
    }
    let was_reached = file.clear();
    if was_reached && !is_reached {
        // In the last moment: a worker has ended, or went on.
        std::thread::sleep(Duration::from_millis(200));
        cluster.replace_ended_workers()?;
    }
    Ok(is_reached)
}

fn at_moment(
    cluster: &mut Cluster,
    service: &CountingService,
    moment: Moment,
    victim: Victim,
    rng: &mut SplitMix64,
) -> Result<bool, String> {
    let Some(port) = service.moments().wait_for(moment, STEP_TIMEOUT) else { return Ok(false) };
    if moment == Moment::VideoSent {
        std::thread::sleep(Duration::from_millis(rng.next_u64() % MAX_UPLOAD_MILLIS));
    }
    match victim {
        Victim::Worker => {
            let worker = cluster.worker_with_port(port);
            cluster.kill_worker(worker.unwrap_or_default())?;
            service.moments().release();
        }
        Victim::Node => {
            let node = kill_node(cluster, rng);
            service.moments().release();
            restart_node(cluster, node, rng)?;
        }
    }
    Ok(true)
}

pub(super) fn kill_node(cluster: &mut Cluster, rng: &mut SplitMix64) -> usize {
    let node = usize::try_from(rng.next_u64() % 64).unwrap_or_default() % cluster.server.len();
    cluster.server.kill(node);
    node
}

/// Starts a node again: at once if there is no other one, else after a while in which the others go on.
pub(super) fn restart_node(cluster: &mut Cluster, node: usize, rng: &mut SplitMix64) -> Result<(), String> {
    if cluster.server.len() > 1 {
        std::thread::sleep(Duration::from_millis(rng.next_u64() % MAX_DOWN_MILLIS));
    }
    cluster.server.restart(node)
}
