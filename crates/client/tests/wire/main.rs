//! The client against servers on loopback: requests on the wire, and decoding of responses.

#![expect(clippy::expect_used, reason = "a test may stop at the first surprise")]

mod described;
mod downloads;
mod failures;
mod proxies;
mod requests;
mod secrets;
mod server;
