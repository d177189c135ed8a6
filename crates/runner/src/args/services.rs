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
    /// List the services that a workflow may name: those of `services.yaml`, and those that come with this program.
    List(ListArgs),
    /// Show the models of a service: resolutions, durations, capabilities, and the words and fields of their requests.
    Show(ShowArgs),
    /// Confirm, once on this machine, that the key of a service of `services.yaml` may be sent to its address.
    Trust(TrustArgs),
    /// Check a description, and show what it reads from an answer of its service.
    Check(CheckDescriptionArgs),
    /// Create a commented description of a service that is not in the list, or draft one from its OpenAPI document.
    New(NewArgs),
    /// Compare two descriptions, or OpenAPI documents: what changed for clients, and what that does to workflows. Exit code 1: a client may break.
    Diff(DiffArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Workflow file, or the folder that contains it and `services.yaml`.
    #[arg(long = "in", value_name = "FILE|FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A service of `runner services list`, or the file of a description.
    #[arg(value_name = "SERVICE|FILE", default_value = "videos-v1")]
    pub(crate) service: String,
    /// Workflow file, or the folder that contains it and `services.yaml`.
    #[arg(long = "in", value_name = "FILE|FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}

#[derive(Debug, Args)]
pub(crate) struct CheckDescriptionArgs {
    /// The file of a description, or a service of `runner services list`.
    #[arg(value_name = "FILE|SERVICE")]
    pub(crate) service: String,
    /// Workflow file, or the folder that contains it and `services.yaml`.
    #[arg(long = "in", value_name = "FILE|FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
    /// An answer of the service that was saved. Nothing is sent.
    #[arg(long, value_name = "FILE")]
    pub(crate) answer: Option<PathBuf>,
    /// The HTTP status that the answer had.
    #[arg(long, value_name = "STATUS", default_value_t = 200, requires = "answer", value_parser = clap::value_parser!(u16).range(100..600))]
    pub(crate) status: u16,
}

#[derive(Debug, Args)]
pub(crate) struct NewArgs {
    /// File to create.
    #[arg(default_value = "my-api.yaml")]
    pub(crate) file: PathBuf,
    /// The OpenAPI 3.0 document of the service, YAML or JSON: what it says is carried over, the rest is guessed and marked.
    #[arg(long, value_name = "OPENAPI")]
    pub(crate) from: Option<PathBuf>,
    /// The path of the POST operation that accepts a task, such as `/v1/videos` [default: the only one that takes a prompt].
    #[arg(long, value_name = "PATH", requires = "from")]
    pub(crate) operation: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The description before: a service of `runner services list`, or a file, also a plain OpenAPI document.
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// The description after.
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// A workflow whose requests are compared; more than once for several.
    #[arg(long = "workflow", value_name = "FILE")]
    pub(crate) workflows: Vec<PathBuf>,
    /// Workflow file, or the folder that contains it and `services.yaml`.
    #[arg(long = "in", value_name = "FILE|FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// A service of `services.yaml`.
    #[arg(value_name = "SERVICE")]
    pub(crate) service: String,
    /// Workflow file, or the folder that contains it and `services.yaml`.
    #[arg(long = "in", value_name = "FILE|FOLDER", default_value = ".")]
    pub(crate) project: PathBuf,
}
