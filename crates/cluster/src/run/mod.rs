//! A run: a virtual object whose state is its event log.
//!
//! The answers of nodes arrive in batches. The object decides their events, appends and applies them to the run's `RunState`, and sends the
//! actions that follow as messages to nodes. `RunState` is not stored. It is what the log leads to, because `apply` is deterministic; workers keep a copy in memory
//! and catch up from the log. So nothing of a run is lost with a worker, and whoever reads the log has the same state.

mod active;
mod cache;
mod log;
mod object;
mod outgoing;

pub(crate) use cache::RunCache;
pub use log::{LogEntry, RunHead};
pub use object::RunObject;
