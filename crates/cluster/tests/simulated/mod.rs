//! A simulated Restate with workers of the product, in one thread and in simulated time.

mod execution;
pub(crate) mod process;
mod protocol;
pub(crate) mod restate;
