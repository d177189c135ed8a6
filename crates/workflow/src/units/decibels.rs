//! Levels of sound.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A change of level in hundredths of a decibel, displayed as `-6 dB`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Decibels(i32);

impl Decibels {
    /// The largest change in either direction.
    pub const MAX: f64 = 96.0;

    /// A number of decibels; `None` beyond [`Self::MAX`] in either direction.
    pub fn from_f64(decibels: f64) -> Option<Self> {
        let hundredths = (decibels * 100.0).round();
        (hundredths.abs() <= Self::MAX * 100.0).then_some(Self(hundredths as i32))
    }

    /// Whether nothing changes.
    pub const fn is_zero(&self) -> bool {
        self.0 == 0
    }

    /// The number of decibels.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// The factor of the amplitude.
    pub fn amplitude(self) -> f32 {
        10_f64.powf(self.as_f64() / 20.0) as f32
    }
}

impl fmt::Display for Decibels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} dB", self.as_f64())
    }
}

/// The text is no level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected decibels from -{0} to {0}, such as `-6dB`", Decibels::MAX)]
pub struct ParseDecibelsError;

impl FromStr for Decibels {
    type Err = ParseDecibelsError;

    fn from_str(text: &str) -> Result<Self, ParseDecibelsError> {
        super::number_before(text, "dB").and_then(Self::from_f64).ok_or(ParseDecibelsError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_are_parsed_and_displayed() {
        for (text, decibels, shown) in [
            ("-6dB", -6.0, "-6 dB"),
            ("+3 db", 3.0, "3 dB"),
            ("-1.5 dB", -1.5, "-1.5 dB"),
            ("0dB", 0.0, "0 dB"),
        ] {
            let level: Decibels = text.parse().unwrap();
            assert_eq!((level.as_f64(), level.to_string().as_str()), (decibels, shown));
            assert_eq!(shown.parse(), Ok(level));
        }
        for wrong in ["", "dB", "-6", "97dB", "NaN dB", "inf dB", "6 B"] {
            assert_eq!(wrong.parse::<Decibels>(), Err(ParseDecibelsError), "{wrong}");
        }
        assert!((Decibels::from_f64(-6.0).unwrap().amplitude() - 0.501).abs() < 0.001);
    }
}
