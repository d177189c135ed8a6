//! The arguments of `rate`.

use clap::Args;

use super::{EngineAddressArgs, WorkflowArgs};

#[derive(Debug, Args)]
pub(crate) struct RateArgs {
    #[command(flatten)]
    pub(crate) workflow: WorkflowArgs,
    /// Shots as named by `plan`: `lamp#2`, or `lamp@look=noir` for a part of the instances of a shot.
    pub(crate) shot: String,
    /// 1 to 5, `reject`, or `none` to remove the rating.
    #[arg(value_parser = rating)]
    pub(crate) rating: Rating,
    #[command(flatten)]
    pub(crate) engine: EngineAddressArgs,
}

/// From 1 to 5, 0 for what is rejected, or no rating.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rating(pub(crate) Option<u8>);

fn rating(text: &str) -> Result<Rating, String> {
    match (text, text.parse::<u8>()) {
        ("reject", _) => Ok(Rating(Some(0))),
        ("none", _) => Ok(Rating(None)),
        (_, Ok(rating @ 1..=5)) => Ok(Rating(Some(rating))),
        _ => Err("expected 1 to 5, `reject` or `none`".to_owned()),
    }
}
