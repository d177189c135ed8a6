//! Timecodes: hours, minutes, seconds and frames (SMPTE ST 12-1).

use std::fmt;

use workflow::units::FrameRate;

/// A timecode: `01:00:04:12`, and `01:00:04;12` in drop-frame counting.
///
/// At 30000/1001 and 60000/1001 frames per second, drop-frame counting leaves out the numbers of 2 (4) frames at the start of every minute but
/// each tenth, so that it agrees with the clock. All other rates are counted at the nearest whole number of frames per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timecode {
    /// Hours; not limited to 23.
    pub hours: u64,
    /// Minutes, below 60.
    pub minutes: u64,
    /// Seconds, below 60.
    pub seconds: u64,
    /// Frames within the second.
    pub frames: u64,
    /// Whether it is drop-frame counting.
    pub is_drop_frame: bool,
}

impl Timecode {
    /// The timecode of a frame that is counted from 00:00:00:00.
    pub fn new(frame: u64, rate: FrameRate) -> Self {
        let per_second = nominal_rate(rate);
        let is_drop_frame = is_drop_frame(rate);
        let number = if is_drop_frame { frame.saturating_add(dropped(frame, per_second)) } else { frame };
        let seconds = number / per_second;
        Self {
            hours: seconds / 3_600,
            minutes: seconds / 60 % 60,
            seconds: seconds % 60,
            frames: number % per_second,
            is_drop_frame,
        }
    }
}

/// Whether timecode at this rate is counted in drop-frame.
pub(crate) fn is_drop_frame(rate: FrameRate) -> bool {
    rate.denominator() == 1_001 && matches!(rate.numerator(), 30_000 | 60_000)
}

/// Frame numbers per second of timecode.
fn nominal_rate(rate: FrameRate) -> u64 {
    let (up, down) = (u64::from(rate.numerator()), u64::from(rate.denominator()));
    ((up + down / 2) / down).max(1)
}

/// How many numbers were left out before a frame.
fn dropped(frame: u64, per_second: u64) -> u64 {
    let per_minute_dropped = per_second / 15;
    let per_minute = per_second * 60 - per_minute_dropped;
    let per_ten_minutes = per_minute * 10 + per_minute_dropped;
    let (tens, rest) = (frame / per_ten_minutes, frame % per_ten_minutes);
    let minutes = rest.saturating_sub(per_minute_dropped) / per_minute;
    per_minute_dropped * (tens.saturating_mul(9).saturating_add(minutes))
}

impl fmt::Display for Timecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.is_drop_frame { ';' } else { ':' };
        write!(f, "{:02}:{:02}:{:02}{separator}{:02}", self.hours, self.minutes, self.seconds, self.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timecodes_are_counted_with_and_without_dropping() {
        let rate = |up, down| FrameRate::new(up, down).unwrap();
        for (frame, rate, text) in [
            (0, rate(24, 1), "00:00:00:00"),
            (119, rate(24, 1), "00:00:04:23"),
            (86_400, rate(24, 1), "01:00:00:00"),
            (25, rate(25, 1), "00:00:01:00"),
            (24, rate(24_000, 1_001), "00:00:01:00"),
            (1_799, rate(30_000, 1_001), "00:00:59;29"),
            (1_800, rate(30_000, 1_001), "00:01:00;02"),
            (17_981, rate(30_000, 1_001), "00:09:59;29"),
            (17_982, rate(30_000, 1_001), "00:10:00;00"),
            (17_982 + 1_800, rate(30_000, 1_001), "00:11:00;02"),
            (107_892, rate(30_000, 1_001), "01:00:00;00"),
            (3_600, rate(60_000, 1_001), "00:01:00;04"),
            (3_600, rate(60, 1), "00:01:00:00"),
        ] {
            assert_eq!(Timecode::new(frame, rate).to_string(), text, "{frame} at {rate}");
        }
        assert!(Timecode::new(u64::MAX, rate(30_000, 1_001)).hours > 0);
    }
}
