//! Index of runs and renders, per workflow and overall.

mod object;
mod renders;
mod state;

pub use object::IndexObject;
pub use renders::{RenderFact, RenderSnapshot, WorkflowRenders};
pub(crate) use state::{ALL_RUNS, index_key};
pub use state::{RunEnded, RunEntry};
