//! Frames per second as an exact ratio.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Frames per second as a reduced ratio: `24`, `30000/1001`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FrameRate {
    numerator: u32,
    denominator: u32,
}

impl FrameRate {
    /// The slowest rate of a film.
    pub const MIN: f64 = 1.0;
    /// The fastest rate of a film.
    pub const MAX: f64 = 120.0;
    /// 24 frames per second.
    pub const CINEMA: Self = Self { numerator: 24, denominator: 1 };

    /// A ratio; `None` where either number is zero.
    pub fn new(numerator: u32, denominator: u32) -> Option<Self> {
        let divisor = greatest_common_divisor(numerator, denominator);
        (numerator > 0 && denominator > 0)
            .then(|| Self { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// Frames in [`Self::denominator`] seconds.
    pub const fn numerator(self) -> u32 {
        self.numerator
    }

    /// Seconds in which there are [`Self::numerator`] frames.
    pub const fn denominator(self) -> u32 {
        self.denominator
    }

    /// Frames per second.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator) / f64::from(self.denominator)
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator == 1 {
            self.numerator.fmt(f)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

/// The text is no frame rate that a film can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected frames per second from {} to {}, such as `24`, `29.97` or `30000/1001`",
    FrameRate::MIN,
    FrameRate::MAX
)]
pub struct ParseFrameRateError;

impl FromStr for FrameRate {
    type Err = ParseFrameRateError;

    /// Reads a whole number, a ratio, or one of the customary roundings of NTSC rates: `23.976`, `29.97`, `59.94`, `119.88`.
    fn from_str(text: &str) -> Result<Self, ParseFrameRateError> {
        let rate = match text.trim() {
            "23.976" | "23.98" => Self::new(24_000, 1_001),
            "29.97" => Self::new(30_000, 1_001),
            "59.94" => Self::new(60_000, 1_001),
            "119.88" => Self::new(120_000, 1_001),
            other => {
                let (numerator, denominator) = other.split_once('/').unwrap_or((other, "1"));
                match (numerator.trim().parse(), denominator.trim().parse()) {
                    (Ok(numerator), Ok(denominator)) => Self::new(numerator, denominator),
                    _ => None,
                }
            }
        };
        rate.filter(|rate| (Self::MIN..=Self::MAX).contains(&rate.as_f64())).ok_or(ParseFrameRateError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_rates_are_parsed_and_displayed() {
        for (text, ratio, shown) in [
            ("24", (24, 1), "24"),
            ("29.97", (30_000, 1_001), "30000/1001"),
            ("50/2", (25, 1), "25"),
            ("30000/1001", (30_000, 1_001), "30000/1001"),
        ] {
            let rate: FrameRate = text.parse().unwrap();
            assert_eq!((rate.numerator(), rate.denominator()), ratio);
            assert_eq!(rate.to_string(), shown);
        }
        for wrong in ["", "0", "24/0", "121", "1/2", "-24", "24.5", "24 fps"] {
            assert_eq!(wrong.parse::<FrameRate>(), Err(ParseFrameRateError), "{wrong}");
        }
    }
}
