//! Which runs there are, and which shots were rendered again: per workflow, and runs of all workflows together.

mod object;
mod state;

pub use object::IndexObject;
pub(crate) use state::{ALL_RUNS, index_key};
pub use state::{RunEnded, RunEntry};
