//! Colors of a chain: a clip that begins on the last frame of the one before it gets that frame's colors.
//!
//! The mean and the standard deviation of luma and of both chroma components are carried over (E. Reinhard et al., "Color transfer between
//! images", IEEE CG&A 2001), in luma and chroma of BT.709, because coded frames have it: a table of 256 values for each component. Only two frames
//! that show the same thing are compared. A correction that would change more than a service's drift is refused.

use super::clip::Clip;
use super::color_correction::{Correction, Linear};
use crate::{Ffmpeg, MediaError, RgbImage};

/// Gains beyond it, in either direction, are no drift but another frame.
const MAX_GAIN: f64 = 1.25;
/// The largest change of a mean, as a share of the component's range.
const MAX_SHIFT: f64 = 0.06;
/// The largest mean difference of luma that may be left: more is another frame.
const MAX_RESIDUAL: f64 = 0.03;
/// Changes below it are not seen: one of 255 levels.
const MIN_CHANGE: f64 = 1.0 / 255.0;
/// A component that varies less has no gain: what is left of it is noise.
const MIN_DEVIATION: f64 = 0.006;
/// Frames are compared in so many columns and rows.
const GRID: (usize, usize) = (32, 18);

/// Gives the clips that match their predecessors their corrections. Returns the indices of those that differ by more than a drift.
///
/// # Errors
/// When a frame cannot be decoded, naming the clip.
pub(super) fn correct(clips: &mut [Clip], ffmpeg: &Ffmpeg) -> Result<Vec<usize>, MediaError> {
    let mut different = Vec::new();
    for index in 1..clips.len() {
        let (before, after) = (&clips[index - 1], &clips[index]);
        if !(after.matches_previous && before.is_video() && after.is_video()) {
            continue;
        }
        let expected = Statistics::new(&ffmpeg.last_frame(&before.path)?);
        let expected =
            before.correction.map_or_else(|| expected.clone(), |correction| expected.corrected(correction));
        let actual = Statistics::new(&ffmpeg.first_frame(&after.path)?);
        match actual.difference(&expected) {
            Difference::None => {}
            Difference::Drift(correction) => clips[index].correction = Some(correction),
            Difference::Other => different.push(index),
        }
    }
    Ok(different)
}

/// The colors of a frame.
#[derive(Clone, Debug)]
struct Statistics {
    /// Of luma from 0 to 1, and of Cb and Cr from -0.5 to 0.5.
    means: [f64; 3],
    deviations: [f64; 3],
    /// The mean luma of each cell of [`GRID`], row by row.
    cells: Vec<f64>,
}

impl Statistics {
    fn new(frame: &RgbImage) -> Self {
        let (width, height) = (frame.width() as usize, frame.height() as usize);
        let (mut sums, mut squares) = ([0.0; 3], [0.0; 3]);
        let mut cells = vec![(0.0, 0_u32); GRID.0 * GRID.1];
        for (index, pixel) in frame.pixels().chunks_exact(3).enumerate() {
            let [red, green, blue] = [0, 1, 2].map(|channel| f64::from(pixel[channel]) / 255.0);
            // BT.709.
            let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
            for (component, value) in
                [luma, (blue - luma) / 1.8556, (red - luma) / 1.5748].into_iter().enumerate()
            {
                sums[component] += value;
                squares[component] += value * value;
            }
            let (column, row) = (index % width * GRID.0 / width, index / width * GRID.1 / height);
            let cell = &mut cells[row * GRID.0 + column];
            *cell = (cell.0 + luma, cell.1 + 1);
        }
        let count = (width * height).max(1) as f64;
        let means = sums.map(|sum| sum / count);
        let deviation =
            |component: usize| (squares[component] / count - means[component].powi(2)).max(0.0).sqrt();
        Self {
            means,
            deviations: [0, 1, 2].map(deviation),
            cells: cells.into_iter().map(|(sum, count)| sum / f64::from(count.max(1))).collect(),
        }
    }

    fn corrected(&self, correction: Correction) -> Self {
        let component = |index: usize| correction.components[index];
        Self {
            means: [0, 1, 2].map(|index| component(index).apply(self.means[index])),
            deviations: [0, 1, 2].map(|index| component(index).gain * self.deviations[index]),
            cells: self.cells.iter().map(|luma| component(0).apply(*luma)).collect(),
        }
    }

    /// How a clip that begins with this frame differs from one that ends with another.
    fn difference(&self, expected: &Self) -> Difference {
        let component = |index: usize| {
            let (own, other) = (self.deviations[index], expected.deviations[index]);
            let gain = if own.min(other) < MIN_DEVIATION { 1.0 } else { other / own };
            Linear { gain, offset: expected.means[index] - gain * self.means[index] }
        };
        let components = [0, 1, 2].map(component);
        let change = |index: usize| {
            let shift = (expected.means[index] - self.means[index]).abs();
            shift + (components[index].gain - 1.0).abs() * self.deviations[index]
        };
        let components =
            [0, 1, 2].map(|index| if change(index) < MIN_CHANGE { Linear::NONE } else { components[index] });
        let is_drift = |index: usize| {
            let gain = components[index].gain;
            let shift = (expected.means[index] - self.means[index]).abs();
            (1.0 / MAX_GAIN..=MAX_GAIN).contains(&gain) && shift <= MAX_SHIFT
        };
        let correction = Correction { components };
        let differences = self.corrected(correction).cells.into_iter().zip(&expected.cells);
        let residual =
            differences.map(|(own, other)| (own - other).abs()).sum::<f64>() / expected.cells.len() as f64;
        if !((0..3).all(is_drift) && residual <= MAX_RESIDUAL) {
            Difference::Other
        } else if components == [Linear::NONE; 3] {
            Difference::None
        } else {
            Difference::Drift(correction)
        }
    }
}

/// How the colors of two frames differ.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Difference {
    /// By nothing that is seen.
    None,
    /// By what this takes back.
    Drift(Correction),
    /// By more than a drift, or they show something else.
    Other,
}

#[cfg(test)]
mod tests {
    use rusty_h264::YuvFrame;

    use super::*;

    /// A frame with light, shade and color, changed by a function of its values.
    fn frame(change: impl Fn(f64) -> f64) -> RgbImage {
        let mut image = RgbImage::new(96, 54);
        for (index, pixel) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
            let (x, y) = ((index % 96) as f64 / 96.0, (index / 96) as f64 / 54.0);
            let values = [0.2 + 0.5 * x, 0.3 + 0.3 * y, 0.6 - 0.3 * x * y];
            for (channel, value) in pixel.iter_mut().zip(values) {
                *channel = (change(value) * 255.0).round() as u8;
            }
        }
        image
    }

    fn difference(expected: &RgbImage, actual: &RgbImage) -> Difference {
        Statistics::new(actual).difference(&Statistics::new(expected))
    }

    #[test]
    fn drift_is_taken_back() {
        let (expected, actual) = (frame(|value| value), frame(|value| value * 1.06 + 0.015));
        let Difference::Drift(correction) = difference(&expected, &actual) else { panic!("it is a drift") };
        let after = Statistics::new(&actual).corrected(correction);
        let before = Statistics::new(&expected);
        for index in 0..3 {
            assert!((after.means[index] - before.means[index]).abs() < 1e-9);
            assert!((after.deviations[index] - before.deviations[index]).abs() < 0.001);
        }
        let [luma, ..] = correction.components;
        assert!((luma.gain * 1.06 - 1.0).abs() < 0.01, "{luma:?}");
    }

    #[test]
    fn equal_frames_and_other_scenes_are_left_as_they_are() {
        let scene = frame(|value| value);
        assert_eq!(difference(&scene, &scene), Difference::None);
        assert_eq!(difference(&scene, &frame(|value| value + 0.002)), Difference::None, "less than a level");
        assert_eq!(
            difference(&scene, &frame(|value| value * 0.5)),
            Difference::Other,
            "darker than any drift"
        );
        assert_eq!(
            difference(&scene, &frame(|value| (value + 0.09).min(1.0))),
            Difference::Other,
            "brighter than any drift"
        );
        // The same colors elsewhere in the frame.
        let mut turned = scene.clone();
        let pixels: Vec<u8> = scene.pixels().chunks_exact(3).rev().flatten().copied().collect();
        turned.pixels_mut().copy_from_slice(&pixels);
        let mut brighter = turned.clone();
        brighter.pixels_mut().iter_mut().for_each(|value| *value = value.saturating_add(6));
        assert_eq!(difference(&scene, &brighter), Difference::Other, "another frame");
    }

    #[test]
    fn corrections_apply_to_both_ranges() {
        let linear = |gain, offset| Linear { gain, offset };
        let correction = Correction { components: [linear(0.9, 0.02), linear(1.1, 0.0), Linear::NONE] };
        let mut frame = YuvFrame::black(4, 2);
        frame.y.fill(16 + 110);
        frame.u.fill(128 + 40);
        let mut full = frame.clone();
        correction.apply(&mut frame, false);
        // 0.9 × 110 + 0.02 × 219, and 1.1 × 40.
        assert_eq!((frame.y[0], frame.u[0], frame.v[0]), (16 + 103, 128 + 44, 128));
        correction.apply(&mut full, true);
        // 0.9 × 126 + 0.02 × 255.
        assert_eq!((full.y[0], full.u[0]), (119, 172));
    }
}
