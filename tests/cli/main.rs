//! The command line against the embedded service and against services that misbehave. One binary: each module is a theme.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod bad_input;
mod killed;
mod money;
mod requests;
mod storyboard;
mod support;
mod wire;
