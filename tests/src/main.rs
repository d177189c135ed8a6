//! The program under test: `runner`, word for word, except that it can be told to die at a boundary of the ledger.

use std::process::ExitCode;

use engine::failpoint::{Boundary, install};

/// Names the boundary: `before prepared`, `after joined`.
const KILL_AT: &str = "RUNNER_TEST_KILL_AT";

fn main() -> ExitCode {
    install(|side, kind| {
        let side = match side {
            Boundary::Before => "before",
            Boundary::After => "after",
        };
        if std::env::var(KILL_AT).is_ok_and(|at| at == format!("{side} {kind}")) {
            // From one instant to the next, as by the kernel: nothing of this process runs any more.
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    });
    runner::main()
}
