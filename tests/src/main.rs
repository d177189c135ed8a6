//! The program under test: `runner` with failpoints. It can wait or die at a commit of the ledger, limit the ledger's size, and
//! render fast.

#[expect(clippy::expect_used, reason = "a test program stops at the first surprise")]
#[path = "../cli/support/stub.rs"]
mod stub;

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::failpoint::{Boundary, install, limit_pages, set_picture_time};

/// Names the boundary at which it dies: `before prepared`, `after film-joined`.
const KILL_AT: &str = "RUNNER_TEST_KILL_AT";
/// Names the boundary at which it waits, once, for as long as there is a file `waiting` in the working folder, which it makes.
const WAIT_AT: &str = "RUNNER_TEST_WAIT_AT";
/// `procedural` for the renderer of the product; otherwise a stub renders.
const RENDERER: &str = "RUNNER_TEST_RENDERER";
/// How many pages the ledger may grow to.
const PAGES: &str = "RUNNER_TEST_LEDGER_PAGES";
/// How many milliseconds each picture of a film takes to be joined, whatever the machine takes.
const PICTURE_MILLIS: &str = "RUNNER_TEST_PICTURE_MILLIS";

static HAS_WAITED: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    install(|side, kind| {
        let side = match side {
            Boundary::Before => "before",
            Boundary::After => "after",
        };
        let is_here = |variable: &str| std::env::var(variable).is_ok_and(|at| at == format!("{side} {kind}"));
        if is_here(WAIT_AT) && !HAS_WAITED.swap(true, Ordering::SeqCst) {
            let marker = std::path::Path::new("waiting");
            if std::fs::write(marker, "").is_ok() {
                while marker.exists() {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
        if is_here(KILL_AT) {
            // From one instant to the next, as by the kernel: nothing of this process runs any more.
            #[cfg(unix)]
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
            #[cfg(not(unix))]
            std::process::abort();
        }
    });
    if let Some(pages) = std::env::var(PAGES).ok().and_then(|pages| pages.parse().ok()) {
        limit_pages(pages);
    }
    if let Some(millis) = std::env::var(PICTURE_MILLIS).ok().and_then(|millis| millis.parse().ok()) {
        set_picture_time(Duration::from_millis(millis));
    }
    if std::env::var(RENDERER).is_ok_and(|name| name == "procedural") {
        runner::main()
    } else {
        runner::main_with(std::sync::Arc::new(stub::Stub))
    }
}
