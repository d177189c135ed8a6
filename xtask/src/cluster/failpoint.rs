//! Makes a worker end, or wait, at a step of its work.
//!
//! The workers of the kill test are the program under test. It compares each message that it is about to send to Restate with the content of
//! a file; the one that takes the file away has reached the step.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Names the file to the program under test.
const VARIABLE: &str = "RUNNER_TEST_STEP_FILE";

/// What a worker does at a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AtStep {
    /// It kills itself.
    Die,
    /// It waits until it is released.
    Wait,
}

/// The file by which workers are told.
pub(super) struct StepFile(PathBuf);

impl StepFile {
    pub(super) fn new(folder: &Path) -> Self {
        Self(folder.join("step"))
    }

    /// Names the file to a worker.
    pub(super) fn name_to(&self, command: &mut Command) {
        command.env(VARIABLE, &self.0);
    }

    /// Tells the workers to do this at this step, such as `run post`. The first one that reaches it does.
    pub(super) fn arm(&self, at_step: AtStep, step: &str) -> Result<(), String> {
        let action = match at_step {
            AtStep::Die => "die",
            AtStep::Wait => "wait",
        };
        // Written beside it, so that nobody reads a half of it.
        let draft = self.0.with_extension("draft");
        fs_err::write(&draft, format!("{action} {step}"))
            .and_then(|()| fs_err::rename(&draft, &self.0))
            .map_err(|error| error.to_string())
    }

    /// Whether a worker has reached the step.
    pub(super) fn is_reached(&self) -> bool {
        self.reached().exists()
    }

    /// Releases a worker that waits, and takes back what was not reached. Returns whether the step was reached.
    pub(super) fn clear(&self) -> bool {
        let reached = self.reached();
        let is_pending = fs_err::remove_file(&self.0).is_ok();
        // A worker may have reached it a moment ago.
        !is_pending && fs_err::remove_file(reached).is_ok()
    }

    fn reached(&self) -> PathBuf {
        self.0.with_extension("reached")
    }
}
