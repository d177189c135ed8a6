//! The frame buffer: linear light and inverse distance, column-major, the order of ray marching.

use super::math::{Color, mix};

/// A frame buffer.
///
/// Columns are contiguous (`x * height + y`), because rays are marched up a column and reflections are read down it.
pub(crate) struct Canvas {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Light per pixel.
    pub(crate) light: Vec<Color>,
    /// Inverse forward distance per pixel in 1/m; 0 is the sky.
    pub(crate) nearness: Vec<f32>,
}

impl Canvas {
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self { width, height, light: vec![Color::BLACK; width * height], nearness: vec![0.0; width * height] }
    }

    /// Resizes; the pixels are unspecified.
    pub(crate) fn resize(&mut self, width: usize, height: usize) {
        (self.width, self.height) = (width, height);
        self.light.resize(width * height, Color::BLACK);
        self.nearness.resize(width * height, 0.0);
    }

    #[inline]
    pub(crate) const fn at(&self, x: usize, y: usize) -> usize {
        x * self.height + y
    }

    /// Blends `color` over a pixel.
    #[inline]
    pub(crate) fn over(&mut self, index: usize, color: Color, opacity: f32) {
        self.light[index] = mix(self.light[index], color, opacity);
    }

    /// Adds a soft round dot of light, with a depth test.
    pub(crate) fn glow(&mut self, cx: f32, cy: f32, radius: f32, nearness: f32, light: Color) {
        let radius = radius.clamp(0.6, 400.0);
        let Some((x0, x1)) = clip(cx - radius, cx + radius, self.width) else { return };
        let Some((y0, y1)) = clip(cy - radius, cy + radius, self.height) else { return };
        let scale = 1.0 / (radius * radius);
        for x in x0..x1 {
            let dx = x as f32 + 0.5 - cx;
            for y in y0..y1 {
                let dy = y as f32 + 0.5 - cy;
                let reach = 1.0 - (dx * dx + dy * dy) * scale;
                let index = self.at(x, y);
                if reach > 0.0 && self.nearness[index] <= nearness {
                    self.light[index] += light * (reach * reach * reach);
                }
            }
        }
    }
}

/// The whole pixels of `from..to` that lie inside `0..limit`, if any.
pub(crate) fn clip(from: f32, to: f32, limit: usize) -> Option<(usize, usize)> {
    if !(from < limit as f32 && to > 0.0) {
        return None;
    }
    let first = from.floor().max(0.0) as usize;
    let last = (to.ceil() as usize).min(limit);
    (first < last).then_some((first, last))
}
