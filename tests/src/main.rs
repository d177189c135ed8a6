//! The program under test: `runner` with failpoints. It can wait or die at a commit of the ledger, limit the ledger's size, and
//! render fast.

#[expect(clippy::expect_used, reason = "a test program stops at the first surprise")]
#[path = "../cli/support/stub.rs"]
mod stub;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::failpoint::{Boundary, install, limit_pages, set_frame_time};

/// Names the boundary at which it dies: `before prepared`, `after film-joined`.
const KILL_AT: &str = "RUNNER_TEST_KILL_AT";
/// Names the boundary at which it waits, once, for as long as there is a file `waiting` in the working folder, which it makes.
const WAIT_AT: &str = "RUNNER_TEST_WAIT_AT";
/// `product` for the renderer of the product; otherwise a stub renders.
const RENDERER: &str = "RUNNER_TEST_RENDERER";
/// How many pages the ledger may grow to.
const PAGES: &str = "RUNNER_TEST_LEDGER_PAGES";
/// Names a file with a step of a worker of a cluster: `die run post`, or `wait` before the step, in any handler or in the one
/// that is named (`die prepare: set record`). The worker that reaches it gives
/// the file the extension `reached`; one that waits does so until that is removed.
#[cfg(feature = "cluster")]
const STEP_FILE: &str = "RUNNER_TEST_STEP_FILE";
/// How many milliseconds each frame of a film takes to be joined, whatever the machine takes.
const FRAME_MILLIS: &str = "RUNNER_TEST_FRAME_MILLIS";

static HAS_WAITED: AtomicBool = AtomicBool::new(false);

/// Ends from one instant to the next, as by the kernel: nothing of this process runs any more.
fn die() {
    #[cfg(unix)]
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
    #[cfg(not(unix))]
    std::process::abort();
}

fn main() -> ExitCode {
    install(|side, kind| {
        let side = match side {
            Boundary::Before => "before",
            Boundary::After => "after",
        };
        let is_at_boundary = |variable: &str| {
            std::env::var(variable).is_ok_and(|boundary| boundary == format!("{side} {kind}"))
        };
        if is_at_boundary(WAIT_AT) && !HAS_WAITED.swap(true, Ordering::SeqCst) {
            let marker = std::path::Path::new("waiting");
            if std::fs::write(marker, "").is_ok() {
                while marker.exists() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
        if is_at_boundary(KILL_AT) {
            die();
        }
    });
    #[cfg(feature = "cluster")]
    cluster::failpoint::install(|step| {
        let Some(file) = std::env::var_os(STEP_FILE).map(std::path::PathBuf::from) else { return };
        let Ok(instruction) = std::fs::read_to_string(&file) else { return };
        let Some((action, target)) = instruction.split_once(' ') else { return };
        // With the handler, or in any.
        if step != target && step.split_once(": ").is_none_or(|(_, message)| message != target) {
            return;
        }
        // One process and thread reaches it.
        let reached = file.with_extension("reached");
        if std::fs::rename(&file, &reached).is_ok() {
            if action == "die" {
                die();
            }
            while reached.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    });
    if let Some(pages) = std::env::var(PAGES).ok().and_then(|pages| pages.parse().ok()) {
        limit_pages(pages);
    }
    if let Some(millis) = std::env::var(FRAME_MILLIS).ok().and_then(|millis| millis.parse().ok()) {
        set_frame_time(Duration::from_millis(millis));
    }
    if std::env::var(RENDERER).is_ok_and(|name| name == "product") {
        runner::main()
    } else {
        runner::main_with(std::sync::Arc::new(stub::Stub))
    }
}
