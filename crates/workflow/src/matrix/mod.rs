//! Fan-out: what a matrix says, which cells it has, and how they are named. The rules of `include` and `exclude` are
//! those of GitHub Actions.

mod axis;
mod cell;
mod cells;
mod cross;
mod given;
mod name;
mod range;
mod table;
mod wanted;
mod zip;

use serde_json::Value;

pub(crate) use self::axis::Folders;
pub(crate) use self::cell::Cell;
pub(crate) use self::cells::cells;
pub(crate) use self::cross::{NoCrossing, cross};
pub(crate) use self::given::{Given, read as read_given};
pub(crate) use self::name::tell_apart;
pub(crate) use self::wanted::Wanted;
use crate::source::Spanned;

/// The words of a matrix that are not axes.
pub(crate) const WORDS: [&str; 3] = ["include", "exclude", "zip"];

/// The values of an axis, in order.
pub(crate) type Values = Vec<Spanned<Value>>;
