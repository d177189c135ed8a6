//! Frame rates as exact fractions, so that durations stay exact.

use std::num::NonZeroU32;

/// Frames per second as a reduced fraction: 24/1, 30000/1001.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
pub struct FrameRate {
    numerator: NonZeroU32,
    denominator: NonZeroU32,
}

impl FrameRate {
    /// 24 frames per second.
    pub const CINEMA: Self = Self::per_second(NonZeroU32::MIN.saturating_add(23));

    /// A whole number of frames per second.
    pub const fn per_second(frames: NonZeroU32) -> Self {
        Self { numerator: frames, denominator: NonZeroU32::MIN }
    }

    /// `numerator / denominator` frames per second, reduced; `None` when either is zero.
    pub fn new(numerator: u32, denominator: u32) -> Option<Self> {
        let divisor = greatest_common_divisor(u64::from(numerator), u64::from(denominator)).max(1) as u32;
        Some(Self {
            numerator: NonZeroU32::new(numerator / divisor)?,
            denominator: NonZeroU32::new(denominator / divisor)?,
        })
    }

    /// The upper part of the fraction.
    pub fn numerator(self) -> u32 {
        self.numerator.get()
    }

    /// The lower part of the fraction.
    pub fn denominator(self) -> u32 {
        self.denominator.get()
    }

    /// Frames per second.
    pub fn as_f64(self) -> f64 {
        f64::from(self.numerator()) / f64::from(self.denominator())
    }

    /// How long `frames` last, rounded to a nanosecond.
    pub fn duration_of(self, frames: u64) -> std::time::Duration {
        duration(u128::from(frames) * u128::from(self.denominator()), self.numerator())
    }
}

impl std::fmt::Display for FrameRate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.denominator() {
            1 => write!(f, "{}", self.numerator()),
            _ => write!(f, "{:.3}", self.as_f64()),
        }
    }
}

/// `ticks / per_second` seconds, rounded to a nanosecond.
pub(crate) fn duration(ticks: u128, per_second: u32) -> std::time::Duration {
    let per_second = u128::from(per_second.max(1));
    let nanos = (ticks.saturating_mul(1_000_000_000) + per_second / 2) / per_second;
    std::time::Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// `ticks` of a clock of `from` per second on a clock of `to` per second, to the nearest tick.
pub(crate) fn rescale(ticks: i128, from: u32, to: u32) -> i128 {
    let from = i128::from(from.max(1));
    (ticks * i128::from(to) + from / 2).div_euclid(from)
}

/// The largest number that divides both.
pub(crate) fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The smallest common multiple, where it fits into 32 bits.
pub(crate) fn least_common_multiple(a: u32, b: u32) -> Option<u32> {
    let divisor = greatest_common_divisor(u64::from(a), u64::from(b)).max(1);
    u32::try_from(u64::from(a) / divisor * u64::from(b)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frame_rate_is_reduced_and_exact() {
        assert_eq!(FrameRate::new(48, 2), Some(FrameRate::CINEMA));
        assert_eq!(FrameRate::new(0, 1), None);
        assert_eq!(FrameRate::new(1, 0), None);
        let ntsc = FrameRate::new(30_000, 1001).unwrap();
        assert_eq!(ntsc.to_string(), "29.970");
        assert_eq!(ntsc.duration_of(30_000), std::time::Duration::from_secs(1001));
    }

    #[test]
    fn rescale_rounds_to_nearest_also_below_zero() {
        assert_eq!(rescale(1, 3, 48_000), 16_000);
        assert_eq!(rescale(-1, 2, 3), -1);
        assert_eq!(least_common_multiple(24, 48_000), Some(48_000));
        assert_eq!(least_common_multiple(4_000_000_000, 3_999_999_999), None);
    }
}
