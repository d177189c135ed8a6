//! Conversion between the clocks of clips and film.

use workflow::units::{FrameRate, Speed};

/// Bits of the fraction of a film frame in [`FilmClock`].
const FRACTION_BITS: u32 = 32;

/// Frames per second as they are played, as a reduced ratio: a frame rate times a speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    numerator: u64,
    denominator: u64,
}

impl Pace {
    pub(crate) fn new(rate: FrameRate, speed: Speed) -> Self {
        let (up, down) = speed.ratio();
        let numerator = u64::from(rate.numerator()) * u64::from(up);
        let denominator = u64::from(rate.denominator()) * u64::from(down);
        let divisor = greatest_common_divisor(numerator, denominator);
        Self { numerator: numerator / divisor, denominator: denominator / divisor }
    }

    /// Frames, and the seconds in which there are so many.
    pub(crate) fn parts(self) -> (u64, u64) {
        (self.numerator, self.denominator)
    }

    /// Numerator and denominator of `to / self`: frames at one pace per frame at another.
    fn ratio(self, to: Self) -> (u128, u128) {
        (
            u128::from(to.numerator) * u128::from(self.denominator),
            u128::from(to.denominator) * u128::from(self.numerator),
        )
    }
}

impl From<FrameRate> for Pace {
    fn from(rate: FrameRate) -> Self {
        Self::new(rate, Speed::NORMAL)
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a.max(1) } else { greatest_common_divisor(b, a % b) }
}

/// The frames at `to` that begin no later than `count` frames at `from` last.
pub(crate) fn scale_down(count: u64, from: impl Into<Pace>, to: impl Into<Pace>) -> u64 {
    let (up, down) = from.into().ratio(to.into());
    clamp(u128::from(count).saturating_mul(up) / down)
}

/// The least number of frames at `to` that last at least as long as `count` frames at `from`.
pub(crate) fn scale_up(count: u64, from: impl Into<Pace>, to: impl Into<Pace>) -> u64 {
    let (up, down) = from.into().ratio(to.into());
    clamp(u128::from(count).saturating_mul(up).div_ceil(down))
}

fn clamp(frames: u128) -> u64 {
    u64::try_from(frames).unwrap_or(u64::MAX)
}

/// Adds up lengths at different rates. Only sums are rounded, so a film of many clips does not drift: frames are counted for each rate,
/// and the sum of a rate is off by less than 2⁻³² frames.
pub(crate) struct FilmClock {
    pace: Pace,
    counts: Vec<(Pace, u64)>,
}

impl FilmClock {
    pub(crate) fn new(rate: FrameRate) -> Self {
        Self { pace: rate.into(), counts: Vec::new() }
    }

    /// The film frame that is nearest to the end of what was added; a half is rounded up.
    pub(crate) fn now(&self) -> u64 {
        let sum: u128 = self
            .counts
            .iter()
            .map(|(pace, count)| {
                let (up, down) = pace.ratio(self.pace);
                let product = u128::from(*count).saturating_mul(up);
                let whole = u128::from(clamp(product / down)) << FRACTION_BITS;
                whole + ((product % down) << FRACTION_BITS) / down
            })
            .fold(0, u128::saturating_add);
        clamp(sum.saturating_add(1 << (FRACTION_BITS - 1)) >> FRACTION_BITS)
    }

    pub(crate) fn add(&mut self, count: u64, pace: impl Into<Pace>) {
        let pace = pace.into();
        match self.counts.iter_mut().find(|(known, _)| *known == pace) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => self.counts.push((pace, count)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_rounded_and_not_their_terms() {
        let (film, ntsc) = (FrameRate::new(24, 1).unwrap(), FrameRate::new(30_000, 1_001).unwrap());
        let mut clock = FilmClock::new(film);
        for _ in 0..1_000 {
            clock.add(1, ntsc);
        }
        // 1000 × 1001 / 30000 s × 24 = 800.8.
        assert_eq!(clock.now(), 801);
        clock.add(10, film);
        assert_eq!(clock.now(), 811);
        assert_eq!((scale_down(7, ntsc, film), scale_up(7, ntsc, film)), (5, 6));
        assert_eq!((scale_down(6, film, film), scale_up(6, film, film)), (6, 6));
        // 7 frames at a third of their speed last 21.0021 frames.
        let third = Pace::new(film, "33.33%".parse().unwrap());
        assert_eq!((scale_down(7, third, film), scale_up(7, third, film)), (21, 22));
        assert_eq!((scale_down(21, film, third), scale_up(21, film, third)), (6, 7));
    }

    #[test]
    fn extreme_values_do_not_overflow() {
        let (slow, fast) = (FrameRate::new(1, u32::MAX).unwrap(), FrameRate::new(u32::MAX, 1).unwrap());
        let mut clock = FilmClock::new(fast);
        clock.add(u64::MAX, slow);
        clock.add(u64::MAX, fast);
        assert!(clock.now() > 0);
        assert_eq!(scale_up(u64::MAX, slow, fast), u64::MAX);
        assert_eq!(scale_down(1, fast, slow), 0);
    }
}
