//! The crate through its public interface: writing, probing, joining, damaged files.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod boxes;
mod clips;
mod fallback;
mod fixtures;
mod foreign;
mod foreign_set;
mod fragments;
mod hostile;
mod inputs;
mod joining;
mod presentation;
mod sounds;
mod tags;
mod verify;
