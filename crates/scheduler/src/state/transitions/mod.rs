//! One file per transition. Each is an `impl RunState` with the method that [`super::RunState::apply`] calls.
//!
//! A transition that finds its node in an unexpected phase does nothing: the event came too late to matter.

mod budget_exceeded;
mod downloaded;
mod indeterminate;
mod interrupted;
mod lookup_done;
mod polled;
mod prepared;
mod reconciled;
mod refused;
mod run_configured;
mod started;
mod submitted;
