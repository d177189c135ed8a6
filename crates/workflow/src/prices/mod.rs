//! What a plan costs: a dated table of prices that the user edits, and exact sums over it.
//!
//! | Question | Where |
//! |---|---|
//! | what does the table say | [`check`], [`Prices`] |
//! | what of a request decides its price | [`PriceInputs`] |
//! | what does one task cost | [`Prices::estimate`], [`Prices::actual_cost`] |
//! | what do all of them cost | [`CostEstimate`] |
//!
//! Invariant: what has no price is said to be unpriced; it never counts as 0. Invariant: no sum is made of floats.

mod estimate;
mod inputs;
mod money;
mod read;
mod table;
mod video_duration;

pub use self::estimate::{CostEstimate, EstimateKind, EstimateLine};
pub use self::inputs::PriceInputs;
pub(crate) use self::inputs::SOUND;
pub use self::money::{Money, ParseMoneyError};
pub use self::read::{PricesOutcome, check};
pub use self::table::{Prices, Unpriced};
pub use self::video_duration::{Interval, VideoDuration};
