//! Matrices: axes, cells and their labels. `include` and `exclude` follow the rules of GitHub Actions.

mod axis;
mod axis_override;
mod cell;
mod cell_index;
mod cell_selector;
mod cells;
mod equal_cells;
mod exclude;
mod name;
mod natural_join;
mod product;
mod range;
mod rules;
mod table;
mod value;
mod zip;

pub(crate) use self::axis::{FileAccess, TableCache};
pub(crate) use self::axis_override::{AxisOverride, read as read_overrides};
pub(crate) use self::cell::MatrixCell;
pub(crate) use self::cell_index::{Agreement, CellIndex};
pub(crate) use self::cell_selector::CellSelector;
pub(crate) use self::cells::cells;
pub(crate) use self::name::disambiguate;
pub use self::name::value_text;
pub(crate) use self::natural_join::{JoinError, JoinedCell, LeftCells, natural_join};
pub(crate) use self::product::{DependentAxes, too_much_work};
pub(crate) use self::value::AxisValue;
