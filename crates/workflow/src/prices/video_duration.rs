//! Lengths of video, and intervals.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A length of video in whole milliseconds; a JSON number of seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VideoDuration(u64);

impl VideoDuration {
    /// A number of milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// A number of whole seconds.
    #[must_use]
    pub const fn whole(seconds: u64) -> Self {
        Self(seconds.saturating_mul(1_000))
    }

    /// A length as a service or a probe reports it, to the nearest millisecond; zero where it is negative or not finite.
    #[must_use]
    pub fn nearest(seconds: f64) -> Self {
        Self(if seconds.is_finite() { (seconds.max(0.0) * 1_000.0).round() as u64 } else { 0 })
    }

    /// The length in milliseconds.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }

    /// The sum, or the greatest length there is.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for VideoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, millis) = (self.0 / 1_000, self.0 % 1_000);
        if millis == 0 {
            return f.pad(&whole.to_string());
        }
        f.pad(format!("{whole}.{millis:03}").trim_end_matches('0'))
    }
}

impl Serialize for VideoDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_multiple_of(1_000) {
            serializer.serialize_u64(self.0 / 1_000)
        } else {
            serializer.serialize_f64(self.0 as f64 / 1_000.0)
        }
    }
}

impl<'de> Deserialize<'de> for VideoDuration {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        if (0.0..1e12).contains(&seconds) {
            Ok(Self::nearest(seconds))
        } else {
            Err(serde::de::Error::custom("a length is a number of seconds"))
        }
    }
}

/// A closed interval; a known value has equal bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval<T> {
    /// The lower bound.
    pub least: T,
    /// The upper bound.
    pub most: T,
}

impl<T: Copy> Interval<T> {
    /// A known value.
    pub const fn exactly(value: T) -> Self {
        Self { least: value, most: value }
    }
}

impl<T: Ord + Copy> Interval<T> {
    /// The smallest interval that contains both.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

impl<T: PartialEq> Interval<T> {
    /// Whether the value is known.
    pub(crate) fn is_exact(&self) -> bool {
        self.least == self.most
    }
}

/// `5`, or `4 to 15`.
impl<T: PartialEq + fmt::Display> fmt::Display for Interval<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_exact() {
            write!(f, "{}", self.least)
        } else {
            write!(f, "{} to {}", self.least, self.most)
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
        assert_eq!(VideoDuration::nearest(f64::NAN), VideoDuration::default());
        assert_eq!(
            Interval { least: VideoDuration::whole(4), most: VideoDuration::whole(15) }.to_string(),
            "4 to 15"
        );
    }
}
