//! The command line against the embedded service and against services that misbehave. One binary: each module is a theme.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]
#![expect(clippy::print_stdout, reason = "a test that skips says so")]

mod bad_input;
mod begin;
mod boundaries;
mod caps;
mod catalogue;
mod disk;
mod faults;
mod film;
mod killed;
mod money;
mod picks;
mod plan;
mod requests;
mod retries;
mod selection;
mod serve;
#[cfg(unix)]
mod signals;
mod support;
mod told;
mod wire;
