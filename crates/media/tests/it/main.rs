//! The crate as others use it: clips are written, looked into, joined, and broken on purpose.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod clips;
mod foreign;
mod hostile;
mod joining;
mod making;
