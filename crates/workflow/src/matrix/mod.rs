//! Matrices: axes, cells and their labels. `include` and `exclude` follow the rules of GitHub Actions.

mod axis;
mod axis_forms;
mod axis_override;
mod cell;
mod cell_index;
mod cell_selector;
mod cells;
mod equal_cells;
mod exclude;
mod name;
mod natural_join;
mod range;
mod rules;
mod table;
mod zip;

use std::sync::Arc;

use serde_json::Value;

pub(crate) use self::axis::{FileAccess, TableCache};
pub(crate) use self::axis_forms::{FILTER_HELP, is_filter};
pub(crate) use self::axis_override::{AxisOverride, read as read_overrides};
pub(crate) use self::cell::MatrixCell;
pub(crate) use self::cell_index::{Agreement, CellIndex};
pub(crate) use self::cell_selector::CellSelector;
pub(crate) use self::cells::{cells, too_much_work};
pub(crate) use self::name::disambiguate;
pub(crate) use self::natural_join::{JoinError, JoinedCell, LeftCells, natural_join};
use crate::source::Spanned;

/// A value of an axis, shared by all cells that have it: a row of a table can be large.
pub(crate) type AxisValue = Spanned<Arc<Value>>;

/// The values of an axis, in order.
pub(crate) type Values = Vec<AxisValue>;
