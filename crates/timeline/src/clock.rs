//! Conversion between the clocks of clips and film.

use workflow::units::FrameRate;

/// Bits of the fraction of a film frame in [`FilmClock`].
const FRACTION_BITS: u32 = 32;

/// Numerator and denominator of `to / from`: frames at one rate per frame at another.
fn ratio(from: FrameRate, to: FrameRate) -> (u64, u64) {
    (
        u64::from(to.numerator()) * u64::from(from.denominator()),
        u64::from(to.denominator()) * u64::from(from.numerator()),
    )
}

/// The frames at `to` that begin no later than `count` frames at `from` last.
pub(crate) fn scale_down(count: u64, from: FrameRate, to: FrameRate) -> u64 {
    let (up, down) = ratio(from, to);
    clamp(u128::from(count) * u128::from(up) / u128::from(down))
}

/// The least number of frames at `to` that last at least as long as `count` frames at `from`.
pub(crate) fn scale_up(count: u64, from: FrameRate, to: FrameRate) -> u64 {
    let (up, down) = ratio(from, to);
    clamp((u128::from(count) * u128::from(up)).div_ceil(u128::from(down)))
}

fn clamp(frames: u128) -> u64 {
    u64::try_from(frames).unwrap_or(u64::MAX)
}

/// Adds up lengths at different rates. Only sums are rounded, so a film of many clips does not drift: pictures are counted for each rate,
/// and the sum of a rate is off by less than 2⁻³² frames.
pub(crate) struct FilmClock {
    rate: FrameRate,
    pictures: Vec<(FrameRate, u64)>,
}

impl FilmClock {
    pub(crate) fn new(rate: FrameRate) -> Self {
        Self { rate, pictures: Vec::new() }
    }

    /// The film frame that is nearest to the end of what was added; a half is rounded up.
    pub(crate) fn now(&self) -> u64 {
        let sum: u128 = self
            .pictures
            .iter()
            .map(|(rate, count)| {
                let (up, down) = ratio(*rate, self.rate);
                let (product, down) = (u128::from(*count) * u128::from(up), u128::from(down));
                let whole = u128::from(clamp(product / down)) << FRACTION_BITS;
                whole + ((product % down) << FRACTION_BITS) / down
            })
            .fold(0, u128::saturating_add);
        clamp(sum.saturating_add(1 << (FRACTION_BITS - 1)) >> FRACTION_BITS)
    }

    pub(crate) fn add(&mut self, count: u64, rate: FrameRate) {
        match self.pictures.iter_mut().find(|(known, _)| *known == rate) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => self.pictures.push((rate, count)),
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
