//! Given frames: fitted to the size of the video, seen by the moving camera, and blended over what is drawn.

use media::RgbImage;

use super::camera::Pose;

/// A given frame in the size of the video.
#[derive(Debug)]
pub(super) struct Still {
    image: RgbImage,
}

impl Still {
    pub(super) fn new(image: &RgbImage, width: u32, height: u32) -> Self {
        Self { image: cover(image, width, height) }
    }

    /// Blends the image over a frame with a strength from 0 to 256, moved as the camera has moved since `Pose::REST`.
    pub(super) fn lay(&self, frame: &mut RgbImage, strength: u32, pose: Pose) {
        if strength >= 256 && pose == Pose::REST {
            frame.pixels_mut().copy_from_slice(self.image.pixels());
            return;
        }
        if strength == 0 {
            return;
        }
        let (width, height) = (frame.width() as usize, frame.height() as usize);
        let (cx, cy) = (width as f32 * 0.5, height as f32 * 0.5);
        // In 256ths of a pixel.
        let place = |at: usize, center: f32, shift: f32| {
            let seen = (at as f32 + 0.5 - center) / pose.zoom + center + shift * height as f32 - 0.5;
            (seen * 256.0).round() as i32
        };
        let columns: Vec<i32> = (0..width).map(|x| place(x, cx, pose.right * 0.5)).collect();
        for (y, row) in frame.pixels_mut().chunks_exact_mut(width * 3).enumerate() {
            let down = place(y, cy, pose.down * 0.5);
            for (x, pixel) in columns.iter().zip(row.chunks_exact_mut(3)) {
                let seen = sample(&self.image, *x, down);
                for (value, seen) in pixel.iter_mut().zip(seen) {
                    *value = ((seen * strength + u32::from(*value) * (256 - strength) + 128) >> 8) as u8;
                }
            }
        }
    }
}

/// The color at a position in 256ths of a pixel, between the pixels around it; outside, that of the rim.
fn sample(image: &RgbImage, x: i32, y: i32) -> [u32; 3] {
    let corner = |at: i32, side: u32| {
        let at = at.clamp(0, ((side - 1) as i32) << 8);
        ((at >> 8) as u32, ((at >> 8) as u32 + 1).min(side - 1), (at & 255) as u32)
    };
    let ((x0, x1, fx), (y0, y1, fy)) = (corner(x, image.width()), corner(y, image.height()));
    let pixels = [(x0, y0), (x1, y0), (x0, y1), (x1, y1)].map(|(x, y)| image.pixel(x, y).map(u32::from));
    [0, 1, 2].map(|channel| {
        let [a, b, c, d] = pixels.map(|pixel| pixel[channel]);
        let (top, bottom) = (a * (256 - fx) + b * fx, c * (256 - fx) + d * fx);
        (top * (256 - fy) + bottom * fy + (1 << 15)) >> 16
    })
}

/// `image` scaled to cover `width` × `height` and cropped to its middle. Of the same size it is itself.
pub(super) fn cover(image: &RgbImage, width: u32, height: u32) -> RgbImage {
    if image.width() == width && image.height() == height {
        return image.clone();
    }
    let scale = (image.width() as f32 / width as f32).min(image.height() as f32 / height as f32);
    let (left, top) = (
        (image.width() as f32 - width as f32 * scale) * 0.5,
        (image.height() as f32 - height as f32 * scale) * 0.5,
    );
    // When shrinking, the mean of what one pixel covers.
    let taps = scale.ceil().clamp(1.0, 8.0) as u32;
    let place = |at: u32, tap: u32, from: f32| {
        let seen = from + (at as f32 + (tap as f32 + 0.5) / taps as f32) * scale - 0.5;
        (seen * 256.0).round() as i32
    };
    let mut fitted = RgbImage::new(width, height);
    for (index, pixel) in fitted.pixels_mut().chunks_exact_mut(3).enumerate() {
        let (x, y) = (index as u32 % width, index as u32 / width);
        let mut sum = [0_u32; 3];
        for (tx, ty) in (0..taps * taps).map(|tap| (tap % taps, tap / taps)) {
            let seen = sample(image, place(x, tx, left), place(y, ty, top));
            sum = [0, 1, 2].map(|channel| sum[channel] + seen[channel]);
        }
        let count = taps * taps;
        for (value, sum) in pixel.iter_mut().zip(sum) {
            *value = ((sum + count / 2) / count) as u8;
        }
    }
    fitted
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
        let still = Still::new(&image, 64, 48);
        let mut frame = RgbImage::new(64, 48);
        still.lay(&mut frame, 0, Pose::REST);
        assert!(frame.pixels().iter().all(|value| *value == 0));
        still.lay(&mut frame, 256, Pose::REST);
        assert_eq!(frame.pixels(), image.pixels());
        let pushed = Pose { zoom: 1.2, ..Pose::REST };
        still.lay(&mut frame, 256, pushed);
        assert_ne!(frame.pixels(), image.pixels());
    }

    #[test]
    fn cover_crops_to_the_middle() {
        let wide = cover(&gradient(200, 50), 40, 40);
        let middle = &wide.pixels()[(20 * 40 + 20) * 3..][..3];
        assert!(middle[0].abs_diff(128) < 6 && middle[1].abs_diff(128) < 8, "{middle:?}");
    }
}
