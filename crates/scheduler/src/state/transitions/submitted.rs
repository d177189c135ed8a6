//! The service accepted the request: its task is paid for and never submitted again.

use workflow::plan::NodeIx;

use crate::ids::{AttemptId, TaskId};
use crate::state::{Phase, RunState};
use crate::timestamp::Timestamp;

impl RunState {
    pub(crate) fn submitted(&mut self, node: NodeIx, attempt: AttemptId, task: TaskId, now: Timestamp) {
        if self.node(node).phase != (Phase::Submitting { attempt: attempt.clone() }) {
            return;
        }
        let lane = self.lane_mut(node);
        lane.has_reached_service = true;
        lane.limits.concurrency.speed_up();
        self.node_mut(node).refusals = 0;
        self.set_phase(node, Phase::InFlight { attempt, task, since: now });
        let (admitted, left_at) = (self.node(node).sent_at, self.node(node).left_at);
        let lane = self.lane_mut(node);
        let in_flight = lane.queues.in_flight - lane.queues.posting;
        if let Some(discovery) = &mut lane.limits.discovery
            && discovery.accepted(admitted, left_at, in_flight)
        {
            lane.limits.concurrency.restore();
        }
        self.schedule_first_poll(node, now);
    }
}
