//! Turns a finished image around its middle, for cameras that roll.

use media::RgbImage;

/// Smaller angles are not seen, in radians.
const MIN_ROLL: f32 = 0.002;

/// Turns `image` clockwise by an angle, enlarged as far as its corners need it. `source` is a buffer.
pub(crate) fn turn(image: &mut RgbImage, angle: f32, source: &mut Vec<u8>) {
    if angle.abs() < MIN_ROLL {
        return;
    }
    let (width, height) = (image.width() as usize, image.height() as usize);
    source.clear();
    source.extend_from_slice(image.pixels());
    let (sin, cos) = angle.sin_cos();
    let (wide, high) = (width as f32, height as f32);
    let (longer, shorter) = (wide.max(high), wide.min(high));
    let scale = 1.0 / (cos.abs() + sin.abs() * longer / shorter);
    for (y, row) in image.pixels_mut().chunks_exact_mut(width * 3).enumerate() {
        let v = y as f32 + 0.5 - high * 0.5;
        for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
            let u = x as f32 + 0.5 - wide * 0.5;
            let sx = ((u * cos + v * sin) * scale + wide * 0.5 - 0.5).clamp(0.0, wide - 1.001);
            let sy = ((v * cos - u * sin) * scale + high * 0.5 - 0.5).clamp(0.0, high - 1.001);
            let (ix, iy) = (sx as usize, sy as usize);
            let (fx, fy) = ((sx - ix as f32) * 256.0, (sy - iy as f32) * 256.0);
            let (fx, fy) = (fx as u32, fy as u32);
            let (ix1, iy1) = ((ix + 1).min(width - 1), (iy + 1).min(height - 1));
            for (channel, value) in pixel.iter_mut().enumerate() {
                let sample = |x: usize, y: usize| u32::from(source[(y * width + x) * 3 + channel]);
                let top = sample(ix, iy) * (256 - fx) + sample(ix1, iy) * fx;
                let bottom = sample(ix, iy1) * (256 - fx) + sample(ix1, iy1) * fx;
                *value = ((top * (256 - fy) + bottom * fy + 32_768) >> 16) as u8;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn image_turns_clockwise() {
        let mut image = RgbImage::new(40, 40);
        // White above the middle.
        for (index, pixel) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
            pixel.fill(if index / 40 < 20 { 255 } else { 0 });
        }
        turn(&mut image, 0.3, &mut Vec::new());
        // The horizon falls to the right.
        assert_eq!((image.pixel(2, 18)[0], image.pixel(37, 21)[0]), (0, 255));
        let before = image.clone();
        turn(&mut image, 0.0, &mut Vec::new());
        assert!(image == before);
    }
}
