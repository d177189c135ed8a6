//! The library with Restate's server: versions of workers, and submissions of workers that are gone.
//!
//! `cargo xtask cluster test` starts a server for each of the two tests and names them in `RESTATE_INGRESS` and `RESTATE_ADMIN`. Without them nothing is tested, and the tests say so.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unused_async,
    reason = "tests, which say when they test nothing; handlers are asynchronous"
)]

mod deployments;
mod reconcile;
mod server;

/// The longest wait for anything.
const TIMEOUT: std::time::Duration = std::time::Duration::from_mins(2);
