//! Arguments of `runner services`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct ServicesArgs {
    #[command(subcommand)]
    pub(crate) command: ServicesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServicesCommand {
    /// List the services whose descriptions come with this program.
    List(ListArgs),
    /// Show the models of a service: resolutions, durations, capabilities, and the words and fields of their requests.
    Show(ShowArgs),
    /// Check a description, and show what it reads from an answer of its service.
    Check(CheckDescriptionArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A service of `runner services list`, or the file of a description.
    #[arg(value_name = "SERVICE|FILE", default_value = "videos-v1")]
    pub(crate) service: String,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CheckDescriptionArgs {
    /// The file of a description, or a service of `runner services list`.
    #[arg(value_name = "FILE|SERVICE")]
    pub(crate) service: String,
    /// An answer of the service that was saved. Nothing is sent.
    #[arg(long, value_name = "FILE")]
    pub(crate) answer: Option<PathBuf>,
    /// The HTTP status that the answer had.
    #[arg(long, value_name = "STATUS", default_value_t = 200, requires = "answer", value_parser = clap::value_parser!(u16).range(100..600))]
    pub(crate) status: u16,
}
