//! Styles that change more than colors: flat cartoon, papercraft, watercolor. They work on the finished 8-bit image.

use media::RgbImage;

use super::noise::Octaves;
use super::prompt::Style;

/// What a style does to frames of one size.
pub(crate) struct Stylize {
    style: Style,
    /// Paper: brightness of each pixel in 1/256, and for watercolor the white border.
    paper: Vec<u16>,
    /// The brightness around each pixel, and the step that it falls on; reused.
    luma: Vec<u8>,
    levels: Vec<u8>,
}

/// Steps of brightness.
const CARTOON_LEVELS: f32 = 7.0;
const PAPER_LEVELS: f32 = 6.0;

impl Stylize {
    /// `None` for styles that are a matter of grading.
    pub(crate) fn new(style: Style, width: u32, height: u32, seed: u64) -> Option<Self> {
        if !matches!(style, Style::Cartoon | Style::Papercraft | Style::Watercolor) {
            return None;
        }
        let grain = Octaves::new(seed as u32 ^ 0x9a_9e, 1.0, 3);
        let scale = 90.0 / height as f32;
        let paper = (0..width as usize * height as usize)
            .map(|index| {
                let (x, y) = ((index % width as usize) as f32, (index / width as usize) as f32);
                let fibre = grain.rolling_at(x * scale, y * scale, 0.0);
                let tone = match style {
                    Style::Watercolor => {
                        // Paint ends short of the paper's edge, and not straight.
                        let unit = height as f32 / 100.0;
                        let edge = x.min(y).min(width as f32 - x).min(height as f32 - y) / unit;
                        let wander = 2.6 * grain.rolling_at(x * scale * 0.12, y * scale * 0.12 + 9.0, 0.0);
                        let inside = ((edge + wander - 3.4) / 1.4).clamp(0.0, 1.0);
                        // The border is coded in the upper byte: 0 paper, 255 paint.
                        return ((inside * 255.0) as u16) << 8
                            | (242.0 + fibre * 9.0).clamp(0.0, 255.0) as u16;
                    }
                    Style::Papercraft => 244.0 + fibre * 16.0,
                    _ => 255.0,
                };
                tone as u16
            })
            .collect();
        Some(Self { style, paper, luma: Vec::new(), levels: Vec::new() })
    }

    pub(crate) fn apply(&mut self, image: &mut RgbImage) {
        let (width, height) = (image.width() as usize, image.height() as usize);
        match self.style {
            Style::Watercolor => self.watercolor(image),
            Style::Papercraft => {
                self.flatten(image, PAPER_LEVELS, 0.85);
                self.cut(image, width, height);
            }
            _ => self.flatten(image, CARTOON_LEVELS, 0.75),
        }
    }

    /// Steps of brightness with narrow transitions; remembers the step of each pixel.
    fn flatten(&mut self, image: &mut RgbImage, levels: f32, strength: f32) {
        let table: Vec<(u8, u16)> = (0..256)
            .map(|luma| {
                let scaled = luma as f32 / 255.0 * levels;
                let step = scaled.floor();
                let soft = ((scaled - step - 0.5) / 0.12).clamp(-0.5, 0.5) + 0.5;
                let flat = (step + soft) / levels * 255.0;
                let target = luma as f32 + (flat - luma as f32) * strength;
                ((scaled + 0.5).floor() as u8, (target / (luma as f32).max(1.0) * 256.0).min(1_024.0) as u16)
            })
            .collect();
        self.smooth_luma(image);
        for (index, (pixel, paper)) in image.pixels_mut().chunks_exact_mut(3).zip(&self.paper).enumerate() {
            let (level, gain) = table[usize::from(self.luma[index])];
            self.levels[index] = level;
            let gain = u32::from(gain) * u32::from(*paper) / 255;
            for value in pixel {
                *value = ((u32::from(*value) * gain) >> 8).min(255) as u8;
            }
        }
    }

    /// Means over squares of five pixels, so that steps have smooth borders.
    fn smooth_luma(&mut self, image: &RgbImage) {
        let (width, height) = (image.width() as usize, image.height() as usize);
        let luma: Vec<u32> = image
            .pixels()
            .chunks_exact(3)
            .map(|p| (u32::from(p[0]) * 54 + u32::from(p[1]) * 183 + u32::from(p[2]) * 19) >> 8)
            .collect();
        let mut rows = vec![0_u32; luma.len()];
        for (row, sums) in luma.chunks_exact(width).zip(rows.chunks_exact_mut(width)) {
            let luma_at = |x: usize| row[x.min(width - 1)];
            for (x, sum) in sums.iter_mut().enumerate() {
                *sum = luma_at(x.saturating_sub(2))
                    + luma_at(x.saturating_sub(1))
                    + luma_at(x)
                    + luma_at(x + 1)
                    + luma_at(x + 2);
            }
        }
        self.luma.resize(luma.len(), 0);
        self.levels.resize(luma.len(), 0);
        for y in 0..height {
            let sum_at = |dy: usize, x: usize| rows[(y + dy).saturating_sub(2).min(height - 1) * width + x];
            for x in 0..width {
                let sum: u32 = (0..5).map(|dy| sum_at(dy, x)).sum();
                self.luma[y * width + x] = (sum / 25) as u8;
            }
        }
    }

    /// Sheets of paper: where the step changes, an edge that catches light, and a shadow below it.
    fn cut(&self, image: &mut RgbImage, width: usize, height: usize) {
        let drop = (height / 90).max(1);
        let pixels = image.pixels_mut();
        for y in drop..height {
            for x in drop..width {
                let index = y * width + x;
                let own = self.levels[index];
                let shade = if self.levels[index - width] != own && self.levels[index - 1] != own {
                    300
                } else if self.levels[index - drop * width - drop] > own {
                    196
                } else {
                    continue;
                };
                for value in &mut pixels[index * 3..index * 3 + 3] {
                    *value = ((u32::from(*value) * shade) >> 8).min(255) as u8;
                }
            }
        }
    }

    fn watercolor(&mut self, image: &mut RgbImage) {
        for (pixel, paper) in image.pixels_mut().chunks_exact_mut(3).zip(&self.paper) {
            let (paint, tone) = (u32::from(paper >> 8), u32::from(paper & 255));
            for value in pixel {
                // Pigment gathers in steps, and the paper shows through.
                let v = u32::from(*value);
                let step = (v / 28) * 28 + 14;
                let washed = (v * 2 + step * 3) / 5;
                let thin = 255 - (255 - washed.min(255)) * 246 / 255;
                let wet = thin * tone / 244;
                *value = ((wet.min(255) * paint + 247 * tone / 244 * (255 - paint)) / 255).min(255) as u8;
            }
        }
    }
}
