//! What a plan costs: a dated table of prices that the user edits, and exact sums over it.
//!
//! | Question | Where |
//! |---|---|
//! | what does the table say | [`check`], [`Prices`] |
//! | what of a request decides its price | [`Billing`] |
//! | what does one task cost | [`Prices::estimate`], [`Prices::settle`] |
//! | what do all of them cost | [`Forecast`] |
//!
//! Invariant: what has no price is said to be unpriced; it never counts as 0. Invariant: no sum is made of floats.

mod billing;
mod forecast;
mod money;
mod read;
mod seconds;
mod table;

pub use self::billing::Billing;
pub(crate) use self::billing::SOUND;
pub use self::forecast::{Chance, Forecast, Line};
pub use self::money::{Money, NotMoney};
pub use self::read::{CheckedPrices, check};
pub use self::seconds::{Between, Seconds};
pub use self::table::{Prices, Unpriced};
