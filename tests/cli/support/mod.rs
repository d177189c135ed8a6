//! A project folder, the program in it, and services to run it against.

pub(crate) mod browser;
pub(crate) mod front;
pub(crate) mod made;
pub(crate) mod program;
pub(crate) mod stub;

pub(crate) use program::{Project, wait_until};
