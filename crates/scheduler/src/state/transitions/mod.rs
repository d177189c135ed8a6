//! One file per transition. Each is an `impl RunState` with the method that [`super::RunState::apply`] calls.
//!
//! A transition that finds its node in another phase than it expects does nothing: the answer came too late to matter.

mod answered;
mod capped;
mod downloaded;
mod interrupted;
mod looked;
mod lost;
mod prepared;
mod refused;
mod scoped;
mod started;
mod submitted;
