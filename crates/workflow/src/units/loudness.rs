//! Loudness of a program.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A loudness in hundredths of a LUFS (ITU-R BS.1770), displayed as `-16 LUFS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Loudness(i32);

impl Loudness {
    /// The lowest target, in LUFS: below that of quiet cinema.
    pub const MIN: f64 = -40.0;
    /// The highest target, in LUFS: that of loud music.
    pub const MAX: f64 = -5.0;

    /// A number of LUFS; `None` outside of [`Self::MIN`] to [`Self::MAX`].
    pub fn from_f64(lufs: f64) -> Option<Self> {
        (Self::MIN..=Self::MAX).contains(&lufs).then(|| Self((lufs * 100.0).round() as i32))
    }

    /// The number of LUFS.
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 100.0
    }
}

impl fmt::Display for Loudness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} LUFS", self.as_f64())
    }
}

/// The text is no loudness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a loudness from {} LUFS to {} LUFS, such as `-16 LUFS`", Loudness::MIN, Loudness::MAX)]
pub struct ParseLoudnessError;

impl FromStr for Loudness {
    type Err = ParseLoudnessError;

    fn from_str(text: &str) -> Result<Self, ParseLoudnessError> {
        super::number_before(text, "LUFS").and_then(Self::from_f64).ok_or(ParseLoudnessError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loudness_is_parsed_and_displayed() {
        for (text, lufs, shown) in [
            ("-16 LUFS", -16.0, "-16 LUFS"),
            ("-23lufs", -23.0, "-23 LUFS"),
            (" -14.5 LUFS ", -14.5, "-14.5 LUFS"),
        ] {
            let loudness: Loudness = text.parse().unwrap();
            assert_eq!((loudness.as_f64(), loudness.to_string().as_str()), (lufs, shown));
            assert_eq!(shown.parse(), Ok(loudness));
        }
        for wrong in ["", "LUFS", "-16", "16 LUFS", "-4 LUFS", "-41 LUFS", "NaN LUFS", "-16 dB"] {
            assert_eq!(wrong.parse::<Loudness>(), Err(ParseLoudnessError), "{wrong}");
        }
    }
}
