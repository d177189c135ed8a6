//! The video is on disk, or could not be fetched this time.

use workflow::plan::NodeIx;

use crate::artifact::Artifact;
use crate::state::{Action, Failure, FailureKind, Outcome, Phase, RunState};
use crate::time::Millis;

impl RunState {
    pub(in crate::state) fn downloaded(
        &mut self,
        node: NodeIx,
        artifact: Artifact,
        now: Millis,
        actions: &mut Vec<Action>,
    ) {
        let Phase::Downloading(download) = &self.node(node).phase else { return };
        let task = download.task.clone();
        let state = self.node_mut(node);
        state.done_at = Some(now);
        state.end(Outcome::Done { artifact, task });
        self.look_after(node, now, actions);
    }

    /// Tries go by turns to the address that the service gave and to its content endpoint. When all have failed the task is kept for a later run:
    /// it is paid for.
    pub(in crate::state) fn not_downloaded(&mut self, node: NodeIx, failure: Failure, now: Millis) {
        let Phase::Downloading(download) = &self.node(node).phase else { return };
        let mut download = download.clone();
        self.node_mut(node).download_tries += 1;
        let tries = self.node(node).download_tries;
        let wait = self.policy.wait_after(tries);
        let patient = tries < self.policy.download_tries && failure.kind != FailureKind::Local;
        let state = self.node_mut(node);
        if patient {
            state.trouble = Some(failure.message);
            download.at = now.after(wait);
            download.turn += 1;
            state.phase = Phase::Finished(download);
        } else {
            let reason = format!("its video could not be fetched: {}", failure.message);
            state.end(Outcome::Detached { task: download.task, reason });
        }
    }
}
