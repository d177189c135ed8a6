//! What commands that take a workflow file are given with it.

use std::path::PathBuf;

use clap::Args;

/// A workflow file, and what it is given.
#[derive(Debug, Args)]
pub(crate) struct WorkflowArgs {
    /// The workflow file.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: OverrideArgs,
}

/// What a workflow is given for this time: parameters and axes.
#[derive(Debug, Default, Args)]
pub(crate) struct OverrideArgs {
    /// Sets a parameter of the workflow.
    #[arg(short, long = "param", value_name = "NAME=VALUE", value_parser = assignment)]
    pub(crate) params: Vec<(String, String)>,
    /// Sets parameters from a YAML or JSON file of names and values; `-p` goes before it.
    #[arg(long = "params", value_name = "FILE")]
    pub(crate) param_files: Vec<PathBuf>,
    /// Fans out over these values: in place of the axis of this name, or as one more axis of the whole workflow.
    #[arg(short = 's', long = "axis", value_name = "NAME=VALUE,VALUE", value_parser = assignment)]
    pub(crate) axes: Vec<(String, String)>,
}

fn assignment(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => Ok((name.trim().to_owned(), value.to_owned())),
        _ => Err("write NAME=VALUE".to_owned()),
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
