//! Cost estimates: the user's dated price table, and exact sums.
//!
//! | Subject | Where |
//! |---|---|
//! | the price table | [`check`], [`Prices`] |
//! | what determines the price of a request | [`PriceInputs`] |
//! | the cost of a task | [`Prices::estimate`], [`Prices::actual_cost`] |
//! | the cost of a plan | [`CostEstimate`] |
//!
//! Invariant: a task without a price is reported as unpriced; it never counts as 0.
//! Invariant: sums are integers, never floating-point.

mod estimate;
mod read;
mod table;

pub use self::estimate::{CostEstimate, EstimateKind, EstimateLine};
pub use self::read::{PricesOutcome, check};
pub use self::table::{MissingPrice, Prices};
pub use crate::plan::PriceInputs;
pub use crate::units::Interval;
