//! Ink over some of a film's frames.

use std::ops::Range;
use std::sync::Arc;

use rusty_h264::YuvFrame;

use crate::RgbImage;
use crate::color::{ColorSpace, rgb_to_i420};

/// What lies over a frame.
///
/// Invariant: there is one value of opacity for each pixel of the ink.
#[derive(Clone, Debug)]
pub struct Overlay {
    position: (u32, u32),
    ink: RgbImage,
    opacity: Vec<u8>,
}

impl Overlay {
    /// Ink with its upper left corner at a position, which is rounded down to even numbers. `opacity` is 0 for what stays as it is and 255 for ink,
    /// row after row; `None` unless there is one value for each pixel.
    pub fn new((x, y): (u32, u32), ink: RgbImage, opacity: Vec<u8>) -> Option<Self> {
        let pixels = u64::from(ink.width()) * u64::from(ink.height());
        (opacity.len() as u64 == pixels).then_some(Self { position: (x & !1, y & !1), ink, opacity })
    }
}

/// Draws an overlay by its index, for frames of a size in pixels.
pub type DrawOverlay = Arc<dyn Fn(usize, (u32, u32)) -> Option<Overlay> + Send + Sync>;

/// When an overlay is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlaySpan {
    /// The frames of the film over which it lies.
    pub frames: Range<u64>,
    /// For how many frames it fades in, and out again.
    pub fade: u64,
}

impl OverlaySpan {
    /// How much of it is seen in a frame of its range, in 256ths.
    fn strength(&self, frame: u64) -> u32 {
        // Both fades fit into it.
        let fade = self.fade.min((self.frames.end - self.frames.start) / 2);
        let edge = (frame - self.frames.start).min(self.frames.end - 1 - frame);
        if edge >= fade { 256 } else { ((edge * 2 + 1) * 128 / fade) as u32 }
    }
}

/// The overlays of a film. They are drawn when they are due, so that a long film needs no more memory than a short one.
#[derive(Clone)]
pub struct Overlays {
    /// When each of them is shown, in the order of their beginnings.
    pub spans: Vec<OverlaySpan>,
    /// Draws one of them.
    pub draw: DrawOverlay,
}

impl Overlays {
    /// These and others, of which those that begin later lie above.
    pub fn merged(self, other: Self) -> Self {
        let mut order: Vec<(OverlaySpan, bool, usize)> =
            Vec::with_capacity(self.spans.len() + other.spans.len());
        order.extend(self.spans.into_iter().enumerate().map(|(index, span)| (span, false, index)));
        order.extend(other.spans.into_iter().enumerate().map(|(index, span)| (span, true, index)));
        order.sort_by_key(|(span, is_other, index)| (span.frames.start, *is_other, *index));
        let sources: Vec<(bool, usize)> =
            order.iter().map(|(_, is_other, index)| (*is_other, *index)).collect();
        let (own, others) = (self.draw, other.draw);
        let draw = move |index: usize, size: (u32, u32)| match sources.get(index)? {
            (false, index) => own(*index, size),
            (true, index) => others(*index, size),
        };
        Self { spans: order.into_iter().map(|(span, ..)| span).collect(), draw: Arc::new(draw) }
    }
}

impl std::fmt::Debug for Overlays {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Overlays").field("spans", &self.spans).finish_non_exhaustive()
    }
}

/// Lays overlays over the frames of a film, which come in order.
pub(crate) struct OverlayPainter<'a> {
    overlays: &'a Overlays,
    size: (u32, u32),
    color: ColorSpace,
    /// The next one that has not begun.
    next: usize,
    /// Those that have not ended.
    open: Vec<(&'a OverlaySpan, Planes)>,
}

impl<'a> OverlayPainter<'a> {
    /// For frames of this size and these colors.
    pub(crate) fn new(overlays: &'a Overlays, size: (u32, u32), color: ColorSpace) -> Self {
        Self { overlays, size, color, next: 0, open: Vec::new() }
    }

    /// Lays over the image of a frame of the film what is due in it. `None` where that is nothing.
    pub(crate) fn paint(&mut self, frame: u64, image: &YuvFrame) -> Option<YuvFrame> {
        self.open.retain(|(span, _)| span.frames.end > frame);
        while let Some(span) = self.overlays.spans.get(self.next).filter(|span| span.frames.start <= frame) {
            if span.frames.end > frame
                && let Some(overlay) = (self.overlays.draw)(self.next, self.size)
            {
                self.open.push((span, Planes::new(&overlay, self.color)));
            }
            self.next += 1;
        }
        if self.open.is_empty() {
            return None;
        }
        let mut painted = image.clone();
        for (span, planes) in &self.open {
            planes.blend(&mut painted, span.strength(frame));
        }
        Some(painted)
    }
}

/// An overlay in the form of the film's frames.
struct Planes {
    position: (usize, usize),
    ink: YuvFrame,
    luma: Vec<u8>,
    chroma: Vec<u8>,
}

impl Planes {
    fn new(overlay: &Overlay, color: ColorSpace) -> Self {
        let even = |side: u32| side.next_multiple_of(2);
        let (width, height) = (even(overlay.ink.width()), even(overlay.ink.height()));
        let mut padded = RgbImage::new(width, height);
        padded.paint((0, 0), &overlay.ink);
        let mut ink = YuvFrame::black(width as usize, height as usize);
        rgb_to_i420(&padded, color, &mut ink);
        let (wide, high) = (width as usize, height as usize);
        let mut luma = vec![0; wide * high];
        let rows =
            luma.chunks_exact_mut(wide).zip(overlay.opacity.chunks_exact(overlay.ink.width() as usize));
        for (row, opacity) in rows {
            row[..opacity.len()].copy_from_slice(opacity);
        }
        let mean = |x: usize, y: usize| {
            let luma_at = |x: usize, y: usize| u32::from(luma[y * wide + x]);
            ((luma_at(x, y) + luma_at(x + 1, y) + luma_at(x, y + 1) + luma_at(x + 1, y + 1) + 2) / 4) as u8
        };
        let chroma = (0..high)
            .step_by(2)
            .flat_map(|y| (0..wide).step_by(2).map(move |x| (x, y)))
            .map(|(x, y)| mean(x, y));
        let chroma = chroma.collect();
        let position = (overlay.position.0 as usize, overlay.position.1 as usize);
        Self { position, ink, luma, chroma }
    }

    /// `strength` in 256ths.
    fn blend(&self, image: &mut YuvFrame, strength: u32) {
        let (x, y) = self.position;
        let (width, half) = (image.width, image.width.div_ceil(2));
        let (wide, half_wide) = (self.ink.width, self.ink.width / 2);
        blend(&mut image.y, width, (x, y), (&self.ink.y, &self.luma, wide), strength);
        blend(&mut image.u, half, (x / 2, y / 2), (&self.ink.u, &self.chroma, half_wide), strength);
        blend(&mut image.v, half, (x / 2, y / 2), (&self.ink.v, &self.chroma, half_wide), strength);
    }
}

/// Mixes a plane of ink into one of a frame, as far as it is inside.
fn blend(
    plane: &mut [u8],
    width: usize,
    (x, y): (usize, usize),
    (ink, opacity, ink_width): (&[u8], &[u8], usize),
    strength: u32,
) {
    let rows = plane.chunks_exact_mut(width.max(1)).skip(y);
    let inks = ink.chunks_exact(ink_width.max(1)).zip(opacity.chunks_exact(ink_width.max(1)));
    for (row, (ink, opacity)) in rows.zip(inks) {
        let Some(row) = row.get_mut(x..) else { return };
        for ((value, ink), opacity) in row.iter_mut().zip(ink).zip(opacity) {
            let covered = u32::from(*opacity) * strength / 256;
            let rest = 255 - covered;
            *value = ((u32::from(*ink) * covered + u32::from(*value) * rest + 127) / 255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn overlays(frames: Vec<Range<u64>>) -> Overlays {
        let draw = |index: usize, size: (u32, u32)| {
            assert_eq!(size, (64, 32));
            let shade = [250, 130][index];
            let ink = RgbImage::from_pixels(9, 5, vec![shade; 9 * 5 * 3])?;
            // Transparent in its first column.
            let opacity = (0..45).map(|i| if i % 9 == 0 { 0 } else { 255 }).collect();
            Overlay::new((11 + 20 * index as u32, 7), ink, opacity)
        };
        let spans = frames.into_iter().map(|frames| OverlaySpan { frames, fade: 0 }).collect();
        Overlays { spans, draw: Arc::new(draw) }
    }

    #[test]
    fn overlays_lie_over_their_frames() {
        let overlays = overlays(vec![2..4, 3..6]);
        let mut painter = OverlayPainter::new(&overlays, (64, 32), ColorSpace::WRITTEN);
        let image = YuvFrame::black(64, 32);
        let lights = |painted: &YuvFrame| {
            let is_light = |x: usize| painted.y[8 * 64 + x] > 100;
            (0..64).filter(|x| is_light(*x)).collect::<Vec<_>>()
        };
        for (frame, expected) in [
            (0, None),
            (2, Some((11..19).collect::<Vec<_>>())),
            (3, Some((11..19).chain(31..39).collect())),
            (5, Some((31..39).collect())),
            (6, None),
        ] {
            assert_eq!(painter.paint(frame, &image).as_ref().map(lights), expected, "frame {frame}");
        }
        let mut late = OverlayPainter::new(&overlays, (64, 32), ColorSpace::WRITTEN);
        assert_eq!(late.paint(10, &image), None, "those that are over are never drawn");
    }

    #[test]
    fn merged_overlays_come_in_the_order_of_their_beginnings() {
        let overlays = |starts: &[u64], shade: u8| {
            let spans =
                starts.iter().map(|start| OverlaySpan { frames: *start..start + 2, fade: 0 }).collect();
            let draw = move |index: usize, _: (u32, u32)| {
                let ink = RgbImage::from_pixels(1, 1, vec![shade + index as u8; 3])?;
                Overlay::new((0, 0), ink, vec![255])
            };
            Overlays { spans, draw: Arc::new(draw) }
        };
        let merged = overlays(&[3, 9], 10).merged(overlays(&[1, 3, 5], 20));
        let starts: Vec<u64> = merged.spans.iter().map(|span| span.frames.start).collect();
        assert_eq!(starts, [1, 3, 3, 5, 9]);
        let shades: Vec<u8> =
            (0..5).map(|index| (merged.draw)(index, (2, 2)).unwrap().ink.pixels()[0]).collect();
        assert_eq!(shades, [20, 10, 21, 22, 11]);
    }

    #[test]
    fn overlays_fade_in_and_out() {
        let strengths = |fade: u64| {
            let span = OverlaySpan { frames: 10..16, fade };
            (10..16).map(|frame| span.strength(frame)).collect::<Vec<_>>()
        };
        assert_eq!(strengths(0), [256; 6]);
        assert_eq!(strengths(2), [64, 192, 256, 256, 192, 64]);
        assert_eq!(strengths(100), strengths(3), "fades meet in the middle");
    }

    #[test]
    fn overlays_outside_of_the_frame_are_cut() {
        let ink = RgbImage::new(40, 40);
        let overlay = Overlay::new((60, 30), ink.clone(), vec![255; 1_600]).unwrap();
        let mut image = YuvFrame::black(64, 32);
        image.y.fill(200);
        Planes::new(&overlay, ColorSpace::WRITTEN).blend(&mut image, 256);
        assert_eq!(image.y.iter().filter(|value| **value != 200).count(), 4 * 2);
        let outside = Overlay::new((1_000, 1_000), ink.clone(), vec![255; 1_600]).unwrap();
        Planes::new(&outside, ColorSpace::WRITTEN).blend(&mut image, 256);
        assert!(Overlay::new((0, 0), ink, vec![255; 3]).is_none());
    }
}
