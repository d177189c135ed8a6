//! One module per subcommand. Each composes the libraries and returns an exit code.

pub(crate) mod atomic_write;
pub(crate) mod check;
pub(crate) mod clean;
#[cfg(feature = "cluster")]
pub(crate) mod cluster_address;
#[cfg(feature = "cluster")]
mod cluster_resolve;
#[cfg(feature = "cluster")]
mod cluster_run;
pub(crate) mod completions;
pub(crate) mod edit;
pub(crate) mod explain;
mod explain_code;
pub(crate) mod export;
pub(crate) mod import;
mod import_cut;
pub(crate) mod init;
pub(crate) mod ledger;
pub(crate) mod pick;
pub(crate) mod plan;
mod preflight;
pub(crate) mod rate;
pub(crate) mod report;
pub(crate) mod resolve;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod services;
pub(crate) mod status;
pub(crate) mod view;
#[cfg(feature = "cluster")]
pub(crate) mod worker;
