//! Arguments of `explain-code`.

use clap::Args;

use super::Format;

#[derive(Debug, Args)]
pub(crate) struct ExplainCodeArgs {
    /// Code of an error or a warning, as in `error[unknown-key]` [default: list all].
    pub(crate) code: Option<String>,
    /// Output format on standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(crate) format: Format,
}
