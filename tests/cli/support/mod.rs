//! A project folder, the program in it, and services to run it against.

pub(crate) mod browser;
pub(crate) mod program;
pub(crate) mod project_state;
pub(crate) mod proxy;
pub(crate) mod stub;

pub(crate) use program::{Project, wait_until};
