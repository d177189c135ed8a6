//! Classification of macroblocks for interpolated frames: those whose motion vectors can be trusted, and those that are blended.
//!
//! An encoder searches motion by block matching. On static content, and where the light changes on smooth content, the best match is arbitrary,
//! and a block that is moved half-way to it is an artifact. Such macroblocks are blended from the pictures before and after instead.

use std::ops::Range;

use rusty_h264::YuvFrame;

use crate::vector::vectorized;

/// Maximum accepted motion, in pixels: the difference of a macroblock from the one before in its place, relative to that of its
/// neighbouring samples.
const MAX_MOTION: f32 = 12.0;
/// The mean difference of the samples of a macroblock from those before, up to which nothing moves that is seen.
const MIN_CHANGE: u32 = 2;
/// Energy of the texture of a macroblock in one picture relative to that in the other, above which something appears or disappears.
const MAX_ENERGY_RATIO: f32 = 20.0;
/// The correlation of the texture in its place, above which it stays there and only its contrast changes, as that of letters that fade.
const MAX_CORRELATION: f32 = 0.97;
/// The most slices of a picture. Level 3 allows 76 at 24 pictures per second (H.264 table A-4).
const MAX_RUNS: usize = 48;
const SIDE: usize = 16;

/// The change of the mean of all samples, above which light has changed everywhere, as by lightning.
const MAX_LIGHT: u64 = 3;

/// Runs of macroblocks in raster order that moved, and of others, in turns. `before` is the luma of the picture before.
pub(super) fn runs(before: &[u8], frame: &YuvFrame) -> Vec<(Range<u32>, bool)> {
    let (columns, rows) = (frame.width.div_ceil(SIDE), frame.height.div_ceil(SIDE));
    let (moved, light) = vectorized(
        #[inline(always)]
        || {
            let moved: Vec<bool> = (0..columns * rows)
                .map(|index| is_motion(before, frame, index % columns * SIDE, index / columns * SIDE))
                .collect();
            let sum = |samples: &[u8]| samples.iter().map(|sample| u64::from(*sample)).sum::<u64>();
            (moved, sum(before).abs_diff(sum(&frame.y)))
        },
    );
    if light > MAX_LIGHT * frame.y.len() as u64 {
        return vec![(0..(columns * rows) as u32, false)];
    }
    let mut shortest = 1;
    loop {
        let runs = joined(&moved, shortest);
        if runs.len() <= MAX_RUNS {
            return runs;
        }
        shortest += 1;
    }
}

/// The runs, of which those that are shorter are part of the one before.
fn joined(moved: &[bool], shortest: u32) -> Vec<(Range<u32>, bool)> {
    let mut runs: Vec<(Range<u32>, bool)> = Vec::new();
    for part in moved.chunk_by(|a, b| a == b) {
        let length = part.len() as u32;
        match runs.last_mut() {
            Some((run, kind)) if *kind == part[0] || length < shortest => run.end += length,
            last => {
                let start = last.map_or(0, |(run, _)| run.end);
                runs.push((start..start + length, part[0]));
            }
        }
    }
    runs
}

/// What the samples of two pictures in the place of a macroblock have in common.
#[derive(Default)]
struct Comparison {
    /// Differences of neighbouring samples, of the later picture.
    texture: u32,
    /// Differences between the pictures.
    change: u32,
    /// Samples.
    count: u32,
    /// Squares of the differences of neighbours, before and after, and their products.
    energy_before: i32,
    energy_after: i32,
    product: i32,
}

impl Comparison {
    #[expect(clippy::inline_always, reason = "it is compiled for the processor where it is called")]
    #[inline(always)]
    fn add(&mut self, before: &[u8], before_next: &[u8], after: &[u8], after_next: &[u8]) {
        let neighbours = before.iter().zip(before_next).zip(after.iter().zip(after_next));
        for ((before, before_next), (after, after_next)) in neighbours {
            let step_before = i32::from(*before_next) - i32::from(*before);
            let step_after = i32::from(*after_next) - i32::from(*after);
            self.texture += step_after.unsigned_abs();
            self.energy_before += step_before * step_before;
            self.energy_after += step_after * step_after;
            self.product += step_before * step_after;
        }
    }

    fn is_motion(&self) -> bool {
        let is_change_of_texture = self.change > MIN_CHANGE * self.count
            && self.change as f32 <= MAX_MOTION * 0.5 * self.texture as f32;
        let (before, after) = (self.energy_before as f32, self.energy_after as f32);
        let has_appeared = before.min(after) * MAX_ENERGY_RATIO < before.max(after);
        let stays_in_place = self.product as f32 > MAX_CORRELATION * (before * after).sqrt();
        is_change_of_texture && !has_appeared && !stays_in_place
    }
}

#[expect(clippy::inline_always, reason = "it is compiled for the processor where it is called")]
#[inline(always)]
fn is_motion(before: &[u8], frame: &YuvFrame, left: usize, top: usize) -> bool {
    let (right, bottom) = ((left + SIDE).min(frame.width), (top + SIDE).min(frame.height));
    let mut comparison = Comparison::default();
    // Every other row tells as much as all of them.
    for y in (top..bottom - 1).step_by(2) {
        let row = y * frame.width + left..y * frame.width + right;
        let below = row.start + frame.width..row.end + frame.width;
        let (before_row, after_row) = (&before[row.clone()], &frame.y[row]);
        comparison.add(before_row, &before[below.clone()], after_row, &frame.y[below]);
        comparison.add(before_row, &before_row[1..], after_row, &after_row[1..]);
        let change =
            before_row.iter().zip(after_row).map(|(before, after)| u32::from(before.abs_diff(*after)));
        comparison.change += change.sum::<u32>();
        comparison.count += after_row.len() as u32;
    }
    comparison.is_motion()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(luma: impl Fn(usize, usize) -> u8) -> YuvFrame {
        let mut frame = YuvFrame::black(128, 64);
        for (index, y) in frame.y.iter_mut().enumerate() {
            *y = luma(index % 128, index / 128);
        }
        frame
    }

    #[test]
    fn moved_texture_differs_from_changed_light() {
        // Stripes that move by two pixels on the left half; light that changes, or nothing, on the right half.
        let shown = |shift: usize, light: u8| {
            frame(move |x, y| match (x < 64, y < 32) {
                (true, _) => 40 + ((x + shift) % 16 * 9) as u8,
                (false, true) => light + (x % 16) as u8,
                (false, false) => 90 + (x * 7 % 41 + y * 3 % 17) as u8,
            })
        };
        let (before, after) = (shown(0, 160), shown(2, 100));
        let expected = (0..8).map(|run| (run * 4..run * 4 + 4, run % 2 == 0)).collect::<Vec<_>>();
        let less = shown(2, 150);
        assert_eq!(runs(&shown(0, 160).y, &less), expected);
        assert_eq!(runs(&before.y, &after), [(0..32, false)]);
    }

    /// Letters that appear, and letters whose contrast grows: they are where they are.
    #[test]
    fn fading_texture_does_not_move() {
        let letters = |contrast: usize| {
            frame(move |x, y| if (x * 5 / 3 + y * 7 / 2) % 9 < 4 { 20 + contrast as u8 } else { 20 })
        };
        for (before, after) in [(0, 60), (60, 120), (120, 40), (60, 0)] {
            assert_eq!(runs(&letters(before).y, &letters(after)), [(0..32, false)], "{before} to {after}");
        }
        let moved = frame(|x, y| if ((x + 2) * 5 / 3 + y * 7 / 2) % 9 < 4 { 80 } else { 20 });
        assert_eq!(runs(&letters(60).y, &moved), [(0..32, true)]);
    }

    #[test]
    fn runs_cover_a_picture_in_order_and_are_few() {
        let texture = |x: usize| 60 + (x % 16 * 6) as u8;
        let mut after = YuvFrame::black(854, 480);
        let mut before = vec![0; after.y.len()];
        for (index, (after, before)) in after.y.iter_mut().zip(&mut before).enumerate() {
            let (x, y) = (index % 854, index / 854);
            let is_moved = (x / 16 * 7 + y / 16 * 11) % 5 < 2;
            (*after, *before) = (texture(x), texture(x + if is_moved { 2 } else { 0 }));
        }
        let runs = runs(&before, &after);
        assert!((2..=MAX_RUNS).contains(&runs.len()), "{}", runs.len());
        assert!(runs[0].0.start == 0 && runs[runs.len() - 1].0.end == 54 * 30);
        assert!(runs.windows(2).all(|pair| pair[0].0.end == pair[1].0.start && pair[0].1 != pair[1].1));
    }
}
