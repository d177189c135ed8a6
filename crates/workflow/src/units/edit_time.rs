//! Positions and lengths in an edit: frames, or seconds.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::FrameRate;

/// A position or a length in an edit: `12f`, `0.5s`, `1m20s`. A negative position counts back from the end of its clip: `-10f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum EditTime {
    /// Frames, at the frame rate of the clip or film that it is in.
    Frames(i64),
    Micros(i64),
}

/// The largest value in either unit that is read.
const MAX: i64 = MAX_CLIP_SECONDS as i64 * 1_000_000;
/// Maximum length of a clip.
pub(crate) const MAX_CLIP_SECONDS: u64 = 86_400;

impl EditTime {
    pub const ZERO: Self = Self::Frames(0);

    /// Whether it is below zero.
    pub const fn is_negative(self) -> bool {
        matches!(self, Self::Frames(value) | Self::Micros(value) if value < 0)
    }

    /// Whether it is zero.
    pub const fn is_zero(self) -> bool {
        matches!(self, Self::Frames(0) | Self::Micros(0))
    }

    /// A duration, in whole microseconds.
    pub fn from_duration(duration: Duration) -> Self {
        Self::Micros(i64::try_from(duration.as_micros()).unwrap_or(i64::MAX))
    }

    /// The duration; `None` for frames, whose length the frame rate decides, and below zero.
    pub fn to_duration(self) -> Option<Duration> {
        match self {
            Self::Frames(_) => None,
            Self::Micros(micros) => u64::try_from(micros).ok().map(Duration::from_micros),
        }
    }

    /// The number of microseconds; `None` for frames but none at all, whose length the frame rate decides.
    pub const fn micros(self) -> Option<i64> {
        match self {
            Self::Micros(micros) => Some(micros),
            Self::Frames(0) => Some(0),
            Self::Frames(_) => None,
        }
    }

    /// The number of frames at a rate, to the nearest; a half is rounded away from zero.
    pub fn frames(self, rate: FrameRate) -> i64 {
        match self {
            Self::Frames(frames) => frames,
            Self::Micros(micros) => {
                let per = i128::from(rate.denominator()) * 1_000_000;
                let scaled = i128::from(micros) * i128::from(rate.numerator());
                let half = if scaled < 0 { -per / 2 } else { per / 2 };
                i64::try_from((scaled + half) / per).unwrap_or(if micros < 0 { i64::MIN } else { i64::MAX })
            }
        }
    }
}

impl fmt::Display for EditTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frames(frames) => write!(f, "{frames}f"),
            Self::Micros(micros) => {
                let sign = if *micros < 0 { "-" } else { "" };
                let (seconds, rest) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
                if rest == 0 {
                    return write!(f, "{sign}{seconds}s");
                }
                write!(f, "{sign}{seconds}.{}s", format!("{rest:06}").trim_end_matches('0'))
            }
        }
    }
}

/// The text is no position or length in an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected frames such as `12f`, or seconds such as `0.5s`")]
pub struct ParseEditTimeError;

impl FromStr for EditTime {
    type Err = ParseEditTimeError;

    fn from_str(text: &str) -> Result<Self, ParseEditTimeError> {
        let text = text.trim();
        let (sign, rest) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest.trim_start()),
            None => (1, text),
        };
        if !rest.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
            return Err(ParseEditTimeError);
        }
        let value = match rest.strip_suffix('f') {
            Some(frames) => {
                let frames: i64 = frames.trim_end().parse().map_err(|_| ParseEditTimeError)?;
                Self::Frames(sign * frames)
            }
            // A zero length is no duration, but is a position.
            None if rest.strip_suffix('s').and_then(|zero| zero.trim_end().parse::<f64>().ok())
                == Some(0.0) =>
            {
                Self::Micros(0)
            }
            None => {
                let duration = crate::duration::parse_duration(rest).ok_or(ParseEditTimeError)?;
                Self::Micros(sign * i64::try_from(duration.as_micros()).map_err(|_| ParseEditTimeError)?)
            }
        };
        let (Self::Frames(number) | Self::Micros(number)) = value;
        if number.unsigned_abs() > MAX.unsigned_abs() { Err(ParseEditTimeError) } else { Ok(value) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_times_are_parsed_and_displayed() {
        for (text, time, shown) in [
            ("12f", EditTime::Frames(12), "12f"),
            ("-10f", EditTime::Frames(-10), "-10f"),
            ("0.5s", EditTime::Micros(500_000), "0.5s"),
            (" 1m20s ", EditTime::Micros(80_000_000), "80s"),
            ("- 2.25 s", EditTime::Micros(-2_250_000), "-2.25s"),
            ("0s", EditTime::Micros(0), "0s"),
            ("0f", EditTime::Frames(0), "0f"),
        ] {
            assert_eq!(text.parse(), Ok(time), "{text}");
            assert_eq!(time.to_string(), shown);
            assert_eq!(shown.parse(), Ok(time));
        }
        for wrong in
            ["", "f", "--1f", "12", "1.5f", "x", "1s ago", "-", "9223372036854775807f", "48h", "1e3s"]
        {
            assert_eq!(wrong.parse::<EditTime>(), Err(ParseEditTimeError), "{wrong}");
        }
    }

    #[test]
    fn edit_time_in_frames_is_the_nearest() {
        let (film, ntsc) = (FrameRate::new(24, 1).unwrap(), FrameRate::new(30_000, 1_001).unwrap());
        for (time, rate, frames) in [
            (EditTime::Frames(7), ntsc, 7),
            (EditTime::Micros(500_000), film, 12),
            (EditTime::Micros(-500_000), film, -12),
            (EditTime::Micros(20_000), film, 0),
            (EditTime::Micros(21_000), film, 1),
            (EditTime::Micros(1_001_000), ntsc, 30),
            (EditTime::Micros(MAX), film, 24 * 86_400),
        ] {
            assert_eq!(time.frames(rate), frames, "{time}");
        }
    }
}
