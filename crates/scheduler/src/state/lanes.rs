//! The services of a run: each has limits, a policy and a queue of its own, and what one answers proves nothing about another.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use workflow::plan::{NodeIx, Plan};

use super::{NodeState, Phase, RunState};
use crate::limits::{LimitDiscovery, ObservedLimits, RunLimits};
use crate::{Halt, Policy, Timestamp};

/// What a run knows of one of its services, and the nodes that it is busy with.
#[derive(Debug, Clone)]
pub(super) struct Lane {
    /// The identity of the service.
    pub(super) service: String,
    pub(super) policy: Policy,
    pub(super) limits: RunLimits,
    /// Why it cannot be used, if so: no key, no money, no answer. Its shots are not submitted; those of other services are.
    pub(super) unusable: Option<Halt>,
    /// Whether the service has responded to any request of this run.
    pub(super) has_reached_service: bool,
    /// When the service last reported on any task.
    pub(super) last_answer: Option<Timestamp>,
    /// Nodes whose task the service did not know when it was last asked.
    pub(super) unknown_tasks: BTreeSet<NodeIx>,
    /// Time of the first of the consecutive submissions that found no connection.
    pub(super) unreachable_since: Option<Timestamp>,
    pub(super) queues: LaneQueues,
}

/// Counters and queues of the nodes of one service, by phase.
#[derive(Debug, Clone, Default)]
pub(super) struct LaneQueues {
    pub(super) in_flight: usize,
    /// Requests that are prepared or wait for their response.
    pub(super) posting: usize,
    pub(super) downloading: usize,
    /// Nodes that may be submitted, longest path first, then file order.
    pub(super) ready: BTreeSet<(Reverse<u64>, NodeIx)>,
    /// Nodes that may be submitted from a later time on.
    pub(super) delayed: BTreeSet<(Timestamp, NodeIx)>,
    /// Tasks in flight, by the time of their next poll.
    pub(super) polls: BTreeSet<(Timestamp, NodeIx)>,
    /// Tasks in flight, by the time at which their run detaches from them even if they cannot be polled.
    pub(super) deadlines: BTreeSet<(Timestamp, NodeIx)>,
    /// Slots of ended nodes whose task is in flight or may be, with the time at which they are released.
    pub(super) held_slots: BTreeSet<(Timestamp, NodeIx)>,
    /// Downloads that are ready, soonest-expiring first.
    pub(super) downloads: BTreeSet<(Timestamp, NodeIx)>,
}

/// What earlier runs tell of a service.
#[derive(Debug, Clone, Default)]
pub struct ServiceHistory {
    /// The limits that they observed.
    pub limits: ObservedLimits,
    /// When they, or other processes, submitted: that counts against the submission rate.
    pub submissions: Vec<Timestamp>,
}

impl Lane {
    fn new(service: &str, policy: Policy) -> Self {
        Self {
            service: service.to_owned(),
            limits: RunLimits::new(&policy),
            policy,
            unusable: None,
            has_reached_service: false,
            last_answer: None,
            unknown_tasks: BTreeSet::new(),
            unreachable_since: None,
            queues: LaneQueues::default(),
        }
    }

    /// The slots that are taken: of tasks in flight, and of those that may be.
    pub(super) fn taken(&self) -> usize {
        self.queues.in_flight + self.queues.held_slots.len()
    }

    /// Times from a clock that was ahead count as now.
    fn begin_with(&mut self, history: ServiceHistory, now: Timestamp) {
        if let Some(discovery) = &mut self.limits.discovery {
            discovery.begin_with(history.limits);
        }
        for time in history.submissions {
            let time = time.min(now);
            if let Some(submits) = &mut self.limits.submit_rate {
                submits.take(time);
            }
            if let Some(discovery) = &mut self.limits.discovery {
                discovery.left_earlier(time);
            }
        }
    }
}

impl LaneQueues {
    pub(super) fn on_exit(&mut self, node: NodeIx, rank: u64, phase: &Phase) {
        self.in_flight -= usize::from(phase.is_in_flight());
        match phase {
            Phase::Ready { not_before } => {
                self.delayed.remove(&(*not_before, node));
                self.ready.remove(&(Reverse(rank), node));
            }
            Phase::ReadyToDownload(download) => {
                self.downloads.remove(&(expiry_order(download.expires_at), node));
            }
            Phase::Downloading(_) => self.downloading -= 1,
            Phase::Preparing | Phase::Submitting { .. } => self.posting -= 1,
            Phase::Pending
            | Phase::LookingUp
            | Phase::ClaimedByOtherRun { .. }
            | Phase::InFlight { .. }
            | Phase::Done => {}
        }
    }

    pub(super) fn on_enter(&mut self, node: NodeIx, state: &NodeState) {
        self.in_flight += usize::from(state.phase.is_in_flight());
        match &state.phase {
            Phase::Ready { not_before } => {
                self.delayed.insert((*not_before, node));
            }
            Phase::ReadyToDownload(download) => {
                self.downloads.insert((expiry_order(download.expires_at), node));
            }
            Phase::Downloading(_) => self.downloading += 1,
            Phase::Preparing | Phase::Submitting { .. } => self.posting += 1,
            Phase::Pending
            | Phase::LookingUp
            | Phase::ClaimedByOtherRun { .. }
            | Phase::InFlight { .. }
            | Phase::Done => {}
        }
    }
}

/// Videos that never expire come last.
fn expiry_order(time: Option<Timestamp>) -> Timestamp {
    time.unwrap_or(Timestamp(i64::MAX))
}

/// The lanes of a plan's nodes, all with one policy, and the lane of each node. `service` is that of nodes that name none.
pub(super) fn of_plan(plan: &Plan, service: &str, policy: &Policy) -> (Vec<Lane>, Vec<usize>) {
    let mut lanes: Vec<Lane> = Vec::new();
    let mut by_service: HashMap<&str, usize> = HashMap::new();
    let lane_of = plan
        .nodes()
        .map(|(_, node)| {
            let service = node.service.as_deref().unwrap_or(service);
            *by_service.entry(service).or_insert_with(|| {
                lanes.push(Lane::new(service, policy.clone()));
                lanes.len() - 1
            })
        })
        .collect();
    if lanes.is_empty() {
        lanes.push(Lane::new(service, policy.clone()));
    }
    (lanes, lane_of)
}

impl RunState {
    /// The same run, which begins at `now`, with the policy of one of its services and what earlier runs tell of that.
    pub fn with_service(
        mut self,
        service: &str,
        policy: Policy,
        history: ServiceHistory,
        now: Timestamp,
    ) -> Self {
        if let Some(lane) = self.lanes.iter_mut().find(|lane| lane.service == service) {
            *lane = Lane::new(service, policy);
            lane.begin_with(history, now);
        }
        self
    }

    /// The limits of each service on submissions, as far as they are known, by its identity.
    pub fn observed_limits(&self) -> impl Iterator<Item = (&str, ObservedLimits)> {
        self.lanes.iter().map(|lane| {
            let limits = lane.limits.discovery.as_ref().map(LimitDiscovery::observed);
            (lane.service.as_str(), limits.unwrap_or_default())
        })
    }

    /// The service of a node.
    pub(super) fn lane(&self, node: NodeIx) -> &Lane {
        &self.lanes[self.lane_of[node.index()]]
    }

    pub(super) fn lane_mut(&mut self, node: NodeIx) -> &mut Lane {
        &mut self.lanes[self.lane_of[node.index()]]
    }

    /// The policy of a node's service.
    pub(super) fn policy(&self, node: NodeIx) -> &Policy {
        &self.lane(node).policy
    }
}
