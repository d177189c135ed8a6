//! Quantities as types, and the numbers that represent them in files, JSON and the ledger.
//!
//! | Quantity | Type | As a number |
//! |---|---|---|
//! | money | [`Money`] | [`micros`] |
//! | length of video to request or to charge for | [`VideoDuration`] | [`millis`], [`seconds`] |
//! | position or length in an edit | [`EditTime`] | text: `12f`, `0.5s` |
//! | frames per second | [`FrameRate`] | text: `24`, `30000/1001` |
//! | level of sound | [`Decibels`] | text: `-6 dB` |
//! | speed of a clip | [`Speed`] | text: `0.5` |
//! | loudness of a film | [`Loudness`] | text: `-16 LUFS` |
//! | any other duration, such as the probed length of a file | [`std::time::Duration`] | [`millis`], [`seconds`] |
//!
//! A field is represented by a number with `#[serde(with = "workflow::units::micros")]`. The name of the member or column states the unit.

mod decibels;
mod edit_time;
mod frame_rate;
mod interval;
mod loudness;
mod money;
mod number;
mod speed;
mod video_duration;

pub use self::decibels::{Decibels, ParseDecibelsError};
pub use self::edit_time::{EditTime, ParseEditTimeError};
pub use self::frame_rate::{FrameRate, ParseFrameRateError};
pub use self::interval::Interval;
pub use self::loudness::{Loudness, ParseLoudnessError};
pub use self::money::{Money, ParseMoneyError};
pub use self::number::{Micros, Milliseconds, NumberOf, Seconds, micros, millis, seconds};
pub use self::speed::{ParseSpeedError, Speed};
pub use self::video_duration::VideoDuration;

/// The form of a quantity in files and JSON is its text.
macro_rules! represented_by_text {
    ($($quantity:ty),*) => {$(
        impl From<$quantity> for String {
            fn from(quantity: $quantity) -> Self {
                quantity.to_string()
            }
        }

        impl TryFrom<String> for $quantity {
            type Error = <$quantity as std::str::FromStr>::Err;

            fn try_from(text: String) -> Result<Self, Self::Error> {
                text.parse()
            }
        }
    )*};
}

represented_by_text!(Decibels, EditTime, FrameRate, Loudness, Speed);

/// The number before a unit, in either case and with or without a space between them.
fn number_before(text: &str, unit: &str) -> Option<f64> {
    let text = text.trim();
    let (number, suffix) = text.split_at_checked(text.len().checked_sub(unit.len())?)?;
    suffix.eq_ignore_ascii_case(unit).then(|| number.trim_end().parse().ok())?
}
