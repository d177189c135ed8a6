//! Lengths of video: whole milliseconds.

use std::fmt;
use std::iter::Sum;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A length of video in whole milliseconds. Displayed, and by default serialized, as a number of seconds: `5`, `4.5`.
///
/// Sums saturate: a length that does not fit is greater than any cap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VideoDuration(u64);

impl VideoDuration {
    /// A number of milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// A number of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// A length as a service or a probe reports it, to the nearest millisecond; zero where it is negative or not finite.
    pub fn from_secs_f64(seconds: f64) -> Self {
        Self(if seconds.is_finite() { (seconds.max(0.0) * 1_000.0).round() as u64 } else { 0 })
    }

    /// A length as requests write it: a number, or its digits as text, also with an `s` after them.
    pub fn of_value(value: &serde_json::Value) -> Option<Self> {
        let seconds = match value {
            serde_json::Value::String(text) => text.strip_suffix('s').unwrap_or(text).parse().ok(),
            value => value.as_f64(),
        };
        seconds.filter(|seconds: &f64| *seconds >= 0.0).map(Self::from_secs_f64)
    }

    /// The length in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1_000.0
    }

    /// The length in milliseconds.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The length in microseconds, or the greatest there is.
    pub fn as_micros(self) -> i64 {
        i64::try_from(self.0).map_or(i64::MAX, |millis| millis.saturating_mul(1_000))
    }

    /// The sum, or the greatest length there is.
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference, or zero where the other is greater.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// To the nearest millisecond.
impl From<Duration> for VideoDuration {
    fn from(duration: Duration) -> Self {
        let millis = duration.as_nanos().saturating_add(500_000) / 1_000_000;
        Self(u64::try_from(millis).unwrap_or(u64::MAX))
    }
}

impl Sum for VideoDuration {
    fn sum<I: Iterator<Item = Self>>(lengths: I) -> Self {
        lengths.fold(Self::default(), Self::saturating_add)
    }
}

impl fmt::Display for VideoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, millis) = (self.0 / 1_000, self.0 % 1_000);
        if millis == 0 {
            return f.pad(&seconds.to_string());
        }
        f.pad(format!("{seconds}.{millis:03}").trim_end_matches('0'))
    }
}

impl Serialize for VideoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1_000) {
            serializer.serialize_u64(self.0 / 1_000)
        } else {
            serializer.serialize_f64(self.as_secs_f64())
        }
    }
}

impl<'de> Deserialize<'de> for VideoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        if (0.0..1e12).contains(&seconds) {
            Ok(Self::from_secs_f64(seconds))
        } else {
            Err(serde::de::Error::custom("a length is a number of seconds"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn video_duration_round_trips_and_displays_briefly() {
        for (millis, shown) in [(5_000, "5"), (4_500, "4.5"), (4_125, "4.125"), (50, "0.05"), (0, "0")] {
            let length = VideoDuration::from_millis(millis);
            assert_eq!(length.to_string(), shown);
            let json = serde_json::to_string(&length).unwrap();
            assert_eq!(
                (json.as_str(), serde_json::from_str::<VideoDuration>(&json).unwrap()),
                (shown, length)
            );
        }
        assert!(serde_json::from_str::<VideoDuration>("-1").is_err());
        assert_eq!(VideoDuration::from_secs_f64(f64::NAN), VideoDuration::default());
    }

    #[test]
    fn video_duration_arithmetic_saturates() {
        let (one, all) = (VideoDuration::from_secs(1), VideoDuration::from_millis(u64::MAX));
        assert_eq!([one, one, one].into_iter().sum::<VideoDuration>(), VideoDuration::from_secs(3));
        assert_eq!([one, all].into_iter().sum::<VideoDuration>(), all);
        assert_eq!(one.saturating_sub(all), VideoDuration::default());
    }

    #[test]
    fn video_duration_from_duration_is_rounded() {
        for (nanos, millis) in [(5_041_499_999, 5_041), (5_041_500_000, 5_042), (0, 0)] {
            assert_eq!(VideoDuration::from(Duration::from_nanos(nanos)).as_millis(), millis);
        }
        assert_eq!(VideoDuration::from(Duration::MAX).as_millis(), u64::MAX);
    }
}
