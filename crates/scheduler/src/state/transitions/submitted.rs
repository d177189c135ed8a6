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
        self.has_reached_service = true;
        self.limits.concurrency.speed_up();
        self.node_mut(node).refusals = 0;
        self.set_phase(node, Phase::InFlight { attempt, task, since: now });
        let in_flight = self.queues.in_flight - self.queues.posting;
        let (admitted, left_at) = (self.node(node).sent_at, self.node(node).left_at);
        if let Some(discovery) = &mut self.limits.discovery
            && discovery.accepted(admitted, left_at, in_flight)
        {
            self.limits.concurrency.restore();
        }
        self.schedule_first_poll(node, now);
    }
}
