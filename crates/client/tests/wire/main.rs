//! The client against servers on loopback: what goes over the wire, and what is made of what comes back.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

mod downloads;
mod failures;
mod requests;
mod secrets;
mod server;
