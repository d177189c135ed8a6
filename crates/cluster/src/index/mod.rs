//! Index of runs and forced reruns, per workflow and overall.

mod object;
mod state;

pub use object::IndexObject;
pub(crate) use state::{ALL_RUNS, index_key};
pub use state::{RunEnded, RunEntry};
