//! One file a command. Each composes the libraries and answers with an exit code.

mod atomic_write;
pub(crate) mod check;
pub(crate) mod explain;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod models;
pub(crate) mod pick;
pub(crate) mod plan;
pub(crate) mod resolve;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod status;

/// Says on standard error what went wrong, in the form that all commands share.
pub(crate) fn print_error(what: impl std::fmt::Display) {
    errln!("error: {what}");
}
