//! Speeds of clips.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How fast a clip is played, in ten-thousandths of its own speed, displayed as `0.5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Speed(u32);

/// One, in the unit that is stored.
const UNIT: u32 = 10_000;
impl Speed {
    /// The slowest: below, frames are stills.
    pub const MIN: f64 = 0.1;
    /// The fastest: above, sound is noise.
    pub const MAX: f64 = 10.0;
    /// As it was taken.
    pub const NORMAL: Self = Self(UNIT);

    /// A factor, to the nearest ten-thousandth; `None` outside of [`Self::MIN`] to [`Self::MAX`].
    pub fn from_f64(factor: f64) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&factor).then(|| Self((factor * f64::from(UNIT)).round() as u32))
    }

    /// Whether the clip is played as it was taken.
    pub const fn is_normal(&self) -> bool {
        self.0 == UNIT
    }

    /// The factor.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / f64::from(UNIT)
    }

    /// How much of the clip is played in this time, to the nearest microsecond.
    pub fn played(self, shown: Duration) -> Duration {
        let unit = u128::from(UNIT);
        let micros = shown.as_micros().saturating_mul(self.0.into()).saturating_add(unit / 2) / unit;
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    /// The factor as a fraction.
    pub const fn ratio(self) -> (u32, u32) {
        (self.0, UNIT)
    }
}

impl Default for Speed {
    fn default() -> Self {
        Self::NORMAL
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_f64().fmt(f)
    }
}

/// The text is no speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a factor from {} to {}, such as `0.5` or `150%`", Speed::MIN, Speed::MAX)]
pub struct ParseSpeedError;

impl FromStr for Speed {
    type Err = ParseSpeedError;

    fn from_str(text: &str) -> Result<Self, ParseSpeedError> {
        let text = text.trim();
        let (number, unit) = match text.strip_suffix('%') {
            Some(percent) => (percent.trim_end(), 100.0),
            None => (text, 1.0),
        };
        let number: f64 = number.parse().map_err(|_| ParseSpeedError)?;
        Self::from_f64(number / unit).ok_or(ParseSpeedError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_parsed_and_displayed() {
        for (text, factor, shown) in [
            ("0.5", 0.5, "0.5"),
            ("2", 2.0, "2"),
            ("150%", 1.5, "1.5"),
            (" 33.33 % ", 0.3333, "0.3333"),
            ("10", 10.0, "10"),
            ("10%", 0.1, "0.1"),
        ] {
            let speed: Speed = text.parse().unwrap();
            assert_eq!((speed.as_f64(), speed.to_string().as_str()), (factor, shown));
            assert_eq!(shown.parse(), Ok(speed));
        }
        for wrong in ["", "%", "0", "-1", "0.05", "11", "9%", "NaN", "inf", "2x", "1/2"] {
            assert_eq!(wrong.parse::<Speed>(), Err(ParseSpeedError), "{wrong}");
        }
        assert!(Speed::default().is_normal() && "100%".parse() == Ok(Speed::NORMAL));
    }
}
