//! One file per transition. Each is an `impl RunState` with the method that [`super::RunState::apply`] calls.
//!
//! A transition does nothing for a node that has ended: the event came too late to matter. For any other node,
//! [`super::UnexpectedEvent::check`] has found that the event fits the phase.

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
