//! Test support: a project folder, the program, services to run it against, snapshots of its output.

pub(crate) mod browser;
pub(crate) mod http;
pub(crate) mod program;
pub(crate) mod project_state;
pub(crate) mod proxy;
#[cfg(unix)]
pub(crate) mod pseudo_terminal;
pub(crate) mod scripted;
pub(crate) mod stub;
pub(crate) mod transcript;

pub(crate) use program::{Output, Project, wait_until};
pub(crate) use transcript::{cli_snapshot, inline_snapshot};
