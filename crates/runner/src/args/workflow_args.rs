//! The workflow file and its overrides: the arguments that most subcommands share.

use std::path::PathBuf;

use clap::Args;

/// A workflow file and its overrides.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArgs {
    /// Workflow file.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,
}

/// Overrides of a workflow: parameters and axes.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct OverrideArgs {
    /// Set a parameter of the workflow.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) params: Vec<(String, String)>,
    /// Set parameters from a YAML or JSON file of names and values; `--param` overrides it.
    #[arg(long = "param-file", value_name = "FILE")]
    pub(crate) param_files: Vec<PathBuf>,
    /// Set the values of an axis: replaces the axis of this name, or adds one to the whole workflow.
    #[arg(short = 'a', long = "axis", value_name = "NAME=VALUE,VALUE", value_parser = assignment)]
    pub(crate) axes: Vec<(String, String)>,
    /// The service that renders all shots, whatever the file says: `rehearsal`, which is free, one of `services.yaml` or of `services list`.
    #[arg(long, value_name = "NAME")]
    pub(crate) service: Option<String>,
    /// Render every shot on this machine, for nothing: each service is replaced by the embedded one, which takes the same requests and models.
    #[arg(long)]
    pub(crate) rehearse: bool,
    /// Do not show the warnings of this code, as in `warning[unused-param]`; repeatable. A file has them at its top, as `allow: [CODE]`.
    #[arg(long, value_name = "CODE", value_parser = code)]
    pub(crate) allow: Vec<&'static str>,
}

fn code(text: &str) -> Result<&'static str, String> {
    workflow::allowable(text).map_err(|(message, help)| format!("{message}; {help}"))
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assignment_splits_at_first_equals_sign() {
        assert_eq!(assignment("keeper=a = b"), Ok(("keeper".into(), "a = b".into())));
        assert!(assignment("keeper").is_err() && assignment("=x").is_err());
    }
}
