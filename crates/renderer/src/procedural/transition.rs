//! First and last frames: a camera move over the still image, with a dissolve from or to the scene.

use media::RgbImage;

use super::math::{Color, lerp, smooth};
use super::noise::Octaves;
use super::prompt::Move;

/// A first frame, fitted to the size of the video; in reverse, a last frame.
pub(crate) struct Still {
    image: RgbImage,
    /// When each pixel dissolves: 0 first, 1 last. On a coarse grid, row by row.
    order: Vec<f32>,
    columns: usize,
    drift: [f32; 2],
    zoom: f32,
}

/// Pixels per cell of the coarse order.
const CELL: usize = 8;
/// The share of the dissolve's duration that each pixel takes.
const SOFT: f32 = 0.55;

impl Still {
    /// Fits `image` to `width` × `height` by covering and cropping, and gives it the camera's direction.
    pub(crate) fn new(image: &RgbImage, width: u32, height: u32, movement: Option<Move>, seed: u64) -> Self {
        let image = cover(image, width, height);
        let (columns, rows) = ((width as usize).div_ceil(CELL) + 1, (height as usize).div_ceil(CELL) + 1);
        let cloud = Octaves::new(seed as u32 ^ 0x57_11, 1.0, 3);
        let mut order = Vec::with_capacity(columns * rows);
        for row in 0..rows {
            for column in 0..columns {
                let (x, y) = ((column * CELL).min(width as usize - 1), (row * CELL).min(height as usize - 1));
                let offset = (y * width as usize + x) * 3;
                let p = &image.pixels()[offset..offset + 3];
                let luma =
                    (0.2126 * f32::from(p[0]) + 0.7152 * f32::from(p[1]) + 0.0722 * f32::from(p[2])) / 255.0;
                let scale = 3.2 / height as f32;
                let wander = cloud.rolling_at(x as f32 * scale, y as f32 * scale, 0.0);
                // Light goes first: the new sky opens, then the land under it.
                order.push(
                    (1.0 - luma) * 0.42
                        + y as f32 / height as f32 * 0.24
                        + (wander * 0.5 + 0.5).clamp(0.0, 1.0) * 0.34,
                );
            }
        }
        blur(&mut order, columns, rows);
        level(&mut order);
        let (zoom, drift) = match movement {
            Some(Move::PullBack | Move::Descend) => (0.045, [0.0, 0.012]),
            Some(Move::PanLeft | Move::TrackLeft) => (0.05, [-0.05, 0.0]),
            Some(Move::PanRight | Move::TrackRight | Move::Orbit | Move::WhipPan) => (0.05, [0.05, 0.0]),
            Some(Move::TiltUp | Move::Rise) => (0.05, [0.0, -0.045]),
            Some(Move::TiltDown) => (0.05, [0.0, 0.045]),
            Some(Move::Roll | Move::Static) => (0.0, [0.0, 0.0]),
            Some(Move::Flyover) => (0.14, [0.0, 0.0]),
            Some(Move::DollyIn | Move::DollyZoom) | None => (0.09, [0.0, 0.0]),
        };
        Self { image, order, columns, drift, zoom }
    }

    /// The likeness of an image of the same size to the still: peak signal-to-noise ratio in dB, of means of 8 by 8 pixels.
    pub(crate) fn likeness(&self, image: &RgbImage) -> f64 {
        let width = image.width() as usize;
        let (mut squares, mut count) = (0.0, 0_u32);
        let rows = |image: &RgbImage, y: usize| image.pixels()[y * width * 3..][..width * 3 * CELL].to_vec();
        for y in (0..(image.height() as usize / CELL) * CELL).step_by(CELL) {
            let (own, other) = (rows(&self.image, y), rows(image, y));
            for x in (0..(width / CELL) * CELL).step_by(CELL) {
                for channel in 0..3 {
                    let mean = |rows: &[u8]| {
                        let sum = |row: usize| {
                            let from = (row * width + x) * 3 + channel;
                            rows[from..].iter().step_by(3).take(CELL).map(|v| u32::from(*v)).sum::<u32>()
                        };
                        f64::from((0..CELL).map(sum).sum::<u32>()) / (CELL * CELL) as f64
                    };
                    squares += (mean(&own) - mean(&other)).powi(2);
                    count += 1;
                }
            }
        }
        10.0 * (255.0 * 255.0 / (squares / f64::from(count.max(1))).max(1e-9)).log10()
    }

    /// Fills `frame` with the still as the camera sees it before it has come to it; `gone` as in [`Still::lay`].
    pub(crate) fn fill(&self, frame: &mut RgbImage, gone: f32) {
        if gone <= 0.0 {
            frame.pixels_mut().copy_from_slice(self.image.pixels());
            return;
        }
        let (width, height) = (frame.width() as usize, frame.height() as usize);
        let view = self.view(gone.min(1.0), (width, height));
        for (y, row) in frame.pixels_mut().chunks_exact_mut(width * 3).enumerate() {
            for (x, slot) in row.chunks_exact_mut(3).enumerate() {
                let [sx, sy] = view(x, y);
                for (slot, value) in slot.iter_mut().zip(sample(&self.image, sx, sy).0) {
                    *slot = (value + 0.5) as u8;
                }
            }
        }
    }

    /// The position in the still that is seen at a pixel.
    fn view(&self, gone: f32, (width, height): (usize, usize)) -> impl Fn(usize, usize) -> [f32; 2] {
        // In motion from the first frame on, as the shot before it: a start from rest is seen as a freeze.
        let travel = gone * (0.4 + 0.6 * gone);
        let (zoom, drift) = (self.zoom, self.drift);
        move |x, y| {
            let (u, v) = ((x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32);
            // What is low in the image is near, and moves more.
            let near = lerp(0.72, 1.28, v);
            let scale = 1.0 / (1.0 + zoom * travel * near);
            [
                ((u - 0.5) * scale + 0.5 + drift[0] * travel * near) * width as f32 - 0.5,
                ((v - 0.5) * scale + 0.5 + drift[1] * travel * near) * height as f32 - 0.5,
            ]
        }
    }

    /// Blends the still over `frame`. `gone` is 0 for the still only and 1 for the scene only.
    pub(crate) fn lay(&self, frame: &mut RgbImage, gone: f32) {
        if gone >= 1.0 {
            return;
        }
        if gone <= 0.0 {
            frame.pixels_mut().copy_from_slice(self.image.pixels());
            return;
        }
        let (width, height) = (frame.width() as usize, frame.height() as usize);
        let view = self.view(gone, (width, height));
        let front = gone * (1.0 + SOFT);
        let pixels = frame.pixels_mut();
        for y in 0..height {
            let line = (y / CELL) * self.columns;
            let down = (y % CELL) as f32 / CELL as f32;
            for x in 0..width {
                let cell = line + x / CELL;
                let across = (x % CELL) as f32 / CELL as f32;
                let order = lerp(
                    lerp(self.order[cell], self.order[cell + 1], across),
                    lerp(self.order[cell + self.columns], self.order[cell + self.columns + 1], across),
                    down,
                );
                let scene = smooth(order, order + SOFT, front);
                if scene >= 0.999 {
                    continue;
                }
                let [sx, sy] = view(x, y);
                let still = sample(&self.image, sx, sy);
                let offset = (y * width + x) * 3;
                for (slot, value) in pixels[offset..offset + 3].iter_mut().zip(still.0) {
                    *slot = (lerp(value, f32::from(*slot), scene) + 0.5) as u8;
                }
            }
        }
    }
}

/// Bilinear, clamped to the image's rim.
#[inline]
fn sample(image: &RgbImage, x: f32, y: f32) -> Color {
    let (width, height) = (image.width() as usize, image.height() as usize);
    let x = x.clamp(0.0, width as f32 - 1.0);
    let y = y.clamp(0.0, height as f32 - 1.0);
    let (x0, y0) = (x as usize, y as usize);
    let (x1, y1) = ((x0 + 1).min(width - 1), (y0 + 1).min(height - 1));
    let (fx, fy) = (x - x0 as f32, y - y0 as f32);
    let pixels = image.pixels();
    let color_at = |x: usize, y: usize| {
        let p = &pixels[(y * width + x) * 3..][..3];
        Color::new(f32::from(p[0]), f32::from(p[1]), f32::from(p[2]))
    };
    let top = color_at(x0, y0) + (color_at(x1, y0) - color_at(x0, y0)) * fx;
    let bottom = color_at(x0, y1) + (color_at(x1, y1) - color_at(x0, y1)) * fx;
    top + (bottom - top) * fy
}

/// `image` scaled to cover `width` × `height` and cropped to its middle. Of the same size it is itself.
pub(crate) fn cover(image: &RgbImage, width: u32, height: u32) -> RgbImage {
    if image.width() == width && image.height() == height {
        return image.clone();
    }
    let scale = (image.width() as f32 / width as f32).min(image.height() as f32 / height as f32);
    let (left, top) = (
        (image.width() as f32 - width as f32 * scale) * 0.5,
        (image.height() as f32 - height as f32 * scale) * 0.5,
    );
    // When shrinking, average over what one pixel covers.
    let taps = scale.ceil().clamp(1.0, 8.0) as usize;
    let mut fitted = RgbImage::new(width, height);
    for (index, slot) in fitted.pixels_mut().chunks_exact_mut(3).enumerate() {
        let (x, y) = (index % width as usize, index / width as usize);
        let mut sum = Color::BLACK;
        for ty in 0..taps {
            for tx in 0..taps {
                let sub = |i: usize, t: usize| (i as f32 + (t as f32 + 0.5) / taps as f32) * scale - 0.5;
                sum += sample(image, left + sub(x, tx), top + sub(y, ty));
            }
        }
        let mean = sum * (1.0 / (taps * taps) as f32);
        for (slot, value) in slot.iter_mut().zip(mean.0) {
            *slot = (value + 0.5) as u8;
        }
    }
    fitted
}

fn blur(values: &mut [f32], columns: usize, rows: usize) {
    for _ in 0..3 {
        let before = values.to_vec();
        for row in 0..rows {
            for column in 0..columns {
                let value_at = |c: usize, r: usize| before[r.min(rows - 1) * columns + c.min(columns - 1)];
                let sum = value_at(column.saturating_sub(1), row)
                    + value_at(column + 1, row)
                    + value_at(column, row.saturating_sub(1))
                    + value_at(column, row + 1)
                    + value_at(column, row);
                values[row * columns + column] = sum * 0.2;
            }
        }
    }
}

/// Stretches values to 0..1.
fn level(values: &mut [f32]) {
    let low = values.iter().copied().fold(f32::INFINITY, f32::min);
    let high = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let scale = 1.0 / (high - low).max(1e-3);
    for value in values {
        *value = (*value - low) * scale;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gradient(width: u32, height: u32) -> RgbImage {
        let mut image = RgbImage::new(width, height);
        for (i, p) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
            let (x, y) = (i as u32 % width, i as u32 / width);
            p.copy_from_slice(&[(x * 255 / width) as u8, (y * 255 / height) as u8, 90]);
        }
        image
    }

    #[test]
    fn still_is_exact_at_one_end_and_absent_at_the_other() {
        let image = gradient(64, 48);
        let still = Still::new(&image, 64, 48, None, 3);
        let mut frame = RgbImage::new(64, 48);
        still.lay(&mut frame, 0.0);
        assert_eq!(frame.pixels(), image.pixels());
        let mut frame = RgbImage::new(64, 48);
        still.lay(&mut frame, 1.0);
        assert!(frame.pixels().iter().all(|v| *v == 0));
    }

    #[test]
    fn dissolve_is_monotonic() {
        let still = Still::new(&gradient(64, 48), 64, 48, Some(Move::Static), 3);
        let mut before = u64::MAX;
        for step in 0..=10 {
            let mut frame = RgbImage::new(64, 48);
            still.lay(&mut frame, step as f32 / 10.0);
            let sum: u64 = frame.pixels().iter().map(|v| u64::from(*v)).sum();
            assert!(sum <= before, "step {step}");
            before = sum;
        }
        assert_eq!(before, 0);
    }

    #[test]
    fn cover_crops_to_the_middle() {
        let wide = cover(&gradient(200, 50), 40, 40);
        let middle = &wide.pixels()[(20 * 40 + 20) * 3..][..3];
        assert!(middle[0].abs_diff(128) < 6 && middle[1].abs_diff(128) < 8, "{middle:?}");
    }
}
