//! The service from the outside: over HTTP on loopback, with a renderer that makes bytes instead of films.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test stops at the first surprise, in its helpers too"
)]

mod support;

mod durability;
mod errors;
mod faults;
mod files;
mod forms;
mod inputs;
mod keys;
mod lifecycle;
mod slow_clients;
mod storage;
