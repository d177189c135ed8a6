//! The user asks the run to end. Nothing more is submitted; what is out is kept for the next run.

use crate::state::{Halt, Outcome, Phase, RunState};

impl RunState {
    pub(in crate::state) fn interrupted(&mut self) {
        self.halt = Some(Halt::Interrupted);
        for node in &mut self.nodes {
            let task = match &node.phase {
                Phase::Out { task, .. } => task.clone(),
                Phase::Finished(download) | Phase::Downloading(download) => download.task.clone(),
                // A POST on its way is waited for: its answer holds the id of something paid for.
                Phase::Waiting
                | Phase::Looking
                | Phase::Elsewhere
                | Phase::Ready { .. }
                | Phase::Preparing
                | Phase::Submitting { .. }
                | Phase::Over(_) => continue,
            };
            node.end(Outcome::Detached { task, reason: "the run was interrupted".to_owned() });
        }
    }
}
