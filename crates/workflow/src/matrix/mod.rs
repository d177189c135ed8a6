//! Fan-out: what a matrix says, which cells it has, and how they are named. The rules of `include` and `exclude` are
//! those of GitHub Actions.

mod axes;
mod cell;
mod name;
mod range;

pub(crate) use self::axes::cells;
pub(crate) use self::cell::Cell;
pub(crate) use self::name::{matches as label_matches, tell_apart};
