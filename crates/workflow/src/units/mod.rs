//! Quantities as types, and the numbers that represent them in files, JSON and the ledger.
//!
//! | Quantity | Type | As a number |
//! |---|---|---|
//! | money | [`Money`] | [`micros`] |
//! | length of video to request or to charge for | [`VideoDuration`] | [`millis`], [`seconds`] |
//! | any other duration, such as the probed length of a file | [`std::time::Duration`] | [`millis`], [`seconds`] |
//!
//! A field is represented by a number with `#[serde(with = "workflow::units::micros")]`. The name of the member or column states the unit.

mod money;
mod number;
mod video_duration;

pub use self::money::{Money, ParseMoneyError};
pub use self::number::{Micros, Milliseconds, NumberOf, Seconds, micros, millis, seconds};
pub use self::video_duration::VideoDuration;
