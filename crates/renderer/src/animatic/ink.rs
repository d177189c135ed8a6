//! [`InkLayer`]: ink with opacity, drawn once and laid over many frames.

use std::ops::Range;

use media::RgbImage;
use text::Mask;

use super::palette::Rgb;

/// A rectangle of ink; each pixel has an opacity of its own.
#[derive(Clone, Debug)]
pub(super) struct InkLayer {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    /// Red, green, blue, opacity.
    pixels: Vec<[u8; 4]>,
    /// The columns of each row that have ink: most have none.
    inked: Vec<Range<usize>>,
}

/// A rectangle in pixels of the frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Area {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) width: f32,
    pub(super) height: f32,
}

impl Area {
    pub(super) fn bottom(&self) -> f32 {
        self.y + self.height
    }
}

impl InkLayer {
    /// A transparent layer over a part of the frame.
    pub(super) fn new(area: Area) -> Self {
        let (left, top) = (area.x.max(0.0) as usize, area.y.max(0.0) as usize);
        let (width, height) = (area.width.ceil().max(1.0) as usize, area.height.ceil().max(1.0) as usize);
        let inked = vec![Range { start: usize::MAX, end: 0 }; height];
        Self { left, top, width, height, pixels: vec![[0; 4]; width * height], inked }
    }

    /// Lays ink of a coverage (0 to 1) over a pixel, given in the frame's coordinates.
    fn blend_pixel(&mut self, x: usize, y: usize, color: Rgb, coverage: f32) {
        let (Some(x), Some(y)) = (x.checked_sub(self.left), y.checked_sub(self.top)) else { return };
        if x >= self.width || y >= self.height || coverage <= 0.0 {
            return;
        }
        let inked = &mut self.inked[y];
        *inked = inked.start.min(x)..inked.end.max(x + 1);
        let pixel = &mut self.pixels[y * self.width + x];
        let below = f32::from(pixel[3]) / 255.0;
        let alpha = coverage.min(1.0);
        let all = alpha + below * (1.0 - alpha);
        for (channel, ink) in pixel.iter_mut().zip(color) {
            let mixed = (f32::from(ink) * alpha + f32::from(*channel) * below * (1.0 - alpha)) / all;
            *channel = (mixed + 0.5) as u8;
        }
        pixel[3] = (all * 255.0 + 0.5) as u8;
    }

    /// Fills the shape with a signed distance (negative inside, in pixels) within an area.
    fn fill(&mut self, area: Area, color: Rgb, opacity: f32, distance: impl Fn(f32, f32) -> f32) {
        let (x0, y0) = ((area.x - 1.0).max(0.0) as usize, (area.y - 1.0).max(0.0) as usize);
        let (x1, y1) = ((area.x + area.width + 2.0) as usize, (area.bottom() + 2.0) as usize);
        for y in y0..y1.min(self.top + self.height) {
            for x in x0..x1.min(self.left + self.width) {
                let outside = distance(x as f32 + 0.5, y as f32 + 0.5);
                self.blend_pixel(x, y, color, (0.5 - outside).clamp(0.0, 1.0) * opacity);
            }
        }
    }

    /// A rectangle with round corners.
    pub(super) fn rounded(&mut self, area: Area, radius: f32, color: Rgb, opacity: f32) {
        let (cx, cy) = (area.x + area.width * 0.5, area.y + area.height * 0.5);
        self.fill(area, color, opacity, |x, y| {
            let dx = (x - cx).abs() - (area.width * 0.5 - radius);
            let dy = (y - cy).abs() - (area.height * 0.5 - radius);
            length(dx.max(0.0), dy.max(0.0)) + dx.max(dy).min(0.0) - radius
        });
    }

    /// A line with round ends.
    pub(super) fn line(&mut self, from: (f32, f32), to: (f32, f32), width: f32, color: Rgb) {
        let half = width * 0.5;
        let area = Area {
            x: from.0.min(to.0) - half,
            y: from.1.min(to.1) - half,
            width: (from.0 - to.0).abs() + width,
            height: (from.1 - to.1).abs() + width,
        };
        self.fill(area, color, 1.0, |x, y| {
            let (dx, dy) = (to.0 - from.0, to.1 - from.1);
            let share = ((x - from.0) * dx + (y - from.1) * dy) / (dx * dx + dy * dy).max(1e-6);
            let share = share.clamp(0.0, 1.0);
            length(x - from.0 - dx * share, y - from.1 - dy * share) - half
        });
    }

    /// Text with the upper left corner of its mask at a position.
    pub(super) fn text(&mut self, mask: &Mask, (left, top): (f32, f32), color: Rgb) {
        let (left, top) = (left.max(0.0) as usize, top.max(0.0) as usize);
        for row in 0..mask.height() {
            for (column, covered) in mask.row(row).iter().enumerate().filter(|(_, covered)| **covered > 0) {
                self.blend_pixel(left + column, top + row as usize, color, f32::from(*covered) / 255.0);
            }
        }
    }

    /// An image with its upper left corner at a position.
    pub(super) fn image(&mut self, image: &RgbImage, (left, top): (f32, f32)) {
        let (left, top) = (left.max(0.0) as usize, top.max(0.0) as usize);
        for y in 0..image.height() {
            for x in 0..image.width() {
                self.blend_pixel(left + x as usize, top + y as usize, image.pixel(x, y), 1.0);
            }
        }
    }

    /// Blends the layer over a frame, `rise` pixels lower than it was drawn and with a strength from 0 (not seen) to 256.
    pub(super) fn lay(&self, frame: &mut RgbImage, strength: u32, rise: usize) {
        if strength == 0 {
            return;
        }
        let stride = frame.width() as usize * 3;
        let width = self.width.min((frame.width() as usize).saturating_sub(self.left));
        let rows = frame.pixels_mut().chunks_exact_mut(stride).skip(self.top + rise);
        for (row, (inks, inked)) in rows.zip(self.pixels.chunks_exact(self.width).zip(&self.inked)) {
            let columns = inked.start..inked.end.min(width);
            if columns.is_empty() {
                continue;
            }
            let pixels = row[(self.left + columns.start) * 3..].as_chunks_mut::<3>().0;
            for (pixel, ink) in pixels.iter_mut().zip(&inks[columns]) {
                let alpha = (u32::from(ink[3]) * strength) >> 8;
                if alpha > 0 {
                    for channel in 0..3 {
                        let mixed =
                            u32::from(ink[channel]) * alpha + u32::from(pixel[channel]) * (255 - alpha);
                        pixel[channel] = ((mixed + 127) / 255) as u8;
                    }
                }
            }
        }
    }
}

fn length(x: f32, y: f32) -> f32 {
    (x * x + y * y).sqrt()
}
