//! Color conversion between RGB and 8-bit YCbCr 4:2:0 with the BT.601 or BT.709 matrix.

use rusty_h264::YuvFrame;

use crate::RgbImage;
use crate::vector::vectorized;

/// Matrix and range of YCbCr samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ColorSpace {
    pub(crate) matrix: Matrix,
    /// 0..=255 for every component instead of the broadcast range 16..=235.
    pub(crate) is_full_range: bool,
}

/// The luma weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Matrix {
    Bt601,
    Bt709,
}

impl ColorSpace {
    /// The color space that this crate encodes.
    pub(crate) const WRITTEN: Self = Self { matrix: Matrix::Bt709, is_full_range: false };

    /// From the code points of streams and files (ISO/IEC 23001-8), where 2 means "unspecified". Unspecified values default as in players:
    /// BT.601 for standard definition, BT.709 above.
    pub(crate) fn from_code_points(matrix: Option<u16>, full_range: bool, height: u32) -> Self {
        let matrix = match matrix {
            Some(1) => Matrix::Bt709,
            Some(4..=6) => Matrix::Bt601,
            _ if height >= 720 => Matrix::Bt709,
            _ => Matrix::Bt601,
        };
        Self { matrix, is_full_range: full_range }
    }
}

impl Matrix {
    /// The weights of red and blue in luma.
    fn weights(self) -> (f64, f64) {
        match self {
            Self::Bt601 => (0.299, 0.114),
            Self::Bt709 => (0.2126, 0.0722),
        }
    }
}

const SHIFT: i32 = 14;
const HALF: i32 = 1 << (SHIFT - 1);

/// Fixed-point RGB to YCbCr.
struct Forward {
    y: [i32; 3],
    cb: [i32; 3],
    cr: [i32; 3],
    black: i32,
}

impl Forward {
    fn new(color: ColorSpace) -> Self {
        let (kr, kb) = color.matrix.weights();
        let kg = 1.0 - kr - kb;
        let (luma, chroma, black) =
            if color.is_full_range { (1.0, 1.0, 0) } else { (219.0 / 255.0, 224.0 / 255.0, 16) };
        let fixed = |value: f64| (value * f64::from(1 << SHIFT)).round() as i32;
        let (cb, cr) = (chroma / (2.0 * (1.0 - kb)), chroma / (2.0 * (1.0 - kr)));
        Self {
            y: [kr, kg, kb].map(|weight| fixed(luma * weight)),
            cb: [-kr, -kg, 1.0 - kb].map(|weight| fixed(cb * weight)),
            cr: [1.0 - kr, -kg, -kb].map(|weight| fixed(cr * weight)),
            black,
        }
    }
}

/// Converts into `frame`, which has the same even size. Chroma is the mean of each 2x2 block.
pub(crate) fn rgb_to_i420(image: &RgbImage, color: ColorSpace, frame: &mut YuvFrame) {
    let forward = Forward::new(color);
    let width = image.width() as usize;
    let row_pairs = image.pixels().chunks_exact(width * 6);
    let luma_pairs = frame.y.chunks_exact_mut(width * 2);
    let chroma = frame.u.chunks_exact_mut(width / 2).zip(frame.v.chunks_exact_mut(width / 2));
    for ((rgb, luma), (cb, cr)) in row_pairs.zip(luma_pairs).zip(chroma) {
        vectorized(
            #[inline(always)]
            || {
                forward.luma(rgb.as_chunks().0, luma);
                let (upper, lower) = rgb.split_at(width * 3);
                forward.chroma((upper.as_chunks().0, lower.as_chunks().0), cb, cr);
            },
        );
    }
}

impl Forward {
    /// Indexed, because iterators over several slices are not inlined, and then not vectorized.
    #[expect(clippy::inline_always, reason = "what is not inlined is compiled for the oldest processor only")]
    #[inline(always)]
    fn luma(&self, pixels: &[[u8; 3]], luma: &mut [u8]) {
        let count = pixels.len().min(luma.len());
        let (pixels, luma) = (&pixels[..count], &mut luma[..count]);
        for index in 0..count {
            let pixel = pixels[index];
            let sum = self.y[0] * i32::from(pixel[0])
                + self.y[1] * i32::from(pixel[1])
                + self.y[2] * i32::from(pixel[2]);
            luma[index] = (((sum + HALF) >> SHIFT) + self.black).min(255) as u8;
        }
    }

    /// Of two rows, two pixels of each at a time.
    #[expect(clippy::inline_always, reason = "what is not inlined is compiled for the oldest processor only")]
    #[inline(always)]
    fn chroma(&self, (upper, lower): (&[[u8; 6]], &[[u8; 6]]), cb: &mut [u8], cr: &mut [u8]) {
        let count = upper.len().min(lower.len()).min(cb.len()).min(cr.len());
        let (upper, lower, cb, cr) = (&upper[..count], &lower[..count], &mut cb[..count], &mut cr[..count]);
        for index in 0..count {
            let (a, b) = (upper[index], lower[index]);
            let red = i32::from(a[0]) + i32::from(a[3]) + i32::from(b[0]) + i32::from(b[3]);
            let green = i32::from(a[1]) + i32::from(a[4]) + i32::from(b[1]) + i32::from(b[4]);
            let blue = i32::from(a[2]) + i32::from(a[5]) + i32::from(b[2]) + i32::from(b[5]);
            let weighed = self.cb[0] * red + self.cb[1] * green + self.cb[2] * blue + (HALF << 2);
            cb[index] = ((weighed >> (SHIFT + 2)) + 128).clamp(0, 255) as u8;
            let weighed = self.cr[0] * red + self.cr[1] * green + self.cr[2] * blue + (HALF << 2);
            cr[index] = ((weighed >> (SHIFT + 2)) + 128).clamp(0, 255) as u8;
        }
    }
}

/// Converts a decoded frame. Each chroma sample serves its 2x2 block unchanged, so that a frame that is decoded and encoded again as the
/// first frame of the next clip keeps its chroma exactly, however long the chain.
pub(crate) fn i420_to_rgb(frame: &YuvFrame, color: ColorSpace) -> RgbImage {
    let (width, height) = (frame.width, frame.height);
    let mut image = RgbImage::new(width as u32, height as u32);
    let inverse = Inverse::new(color);
    let chroma_width = width.div_ceil(2);
    let rows = image.pixels_mut().chunks_exact_mut(width * 3).zip(frame.y.chunks_exact(width));
    for (row, (rgb, luma)) in rows.enumerate() {
        let chroma = row / 2 * chroma_width..(row / 2 + 1) * chroma_width;
        let (cb, cr) = (&frame.u[chroma.clone()], &frame.v[chroma]);
        vectorized(
            #[inline(always)]
            || inverse.row(luma, (cb, cr), rgb.as_chunks_mut().0),
        );
        // The last column of an odd width has a block of its own.
        if width % 2 == 1 {
            let mut last = [[0; 3]; 2];
            let (luma, cb, cr) = ([luma[width - 1]; 2], cb[chroma_width - 1], cr[chroma_width - 1]);
            inverse.row(&luma, (&[cb], &[cr]), last.as_mut_slice().as_flattened_mut().as_chunks_mut().0);
            rgb[(width - 1) * 3..].copy_from_slice(&last[0]);
        }
    }
    image
}

/// Fixed-point YCbCr to RGB.
struct Inverse {
    gain: i32,
    black: i32,
    cr_to_red: i32,
    cb_to_green: i32,
    cr_to_green: i32,
    cb_to_blue: i32,
}

impl Inverse {
    fn new(color: ColorSpace) -> Self {
        let (kr, kb) = color.matrix.weights();
        let kg = 1.0 - kr - kb;
        let (luma, chroma, black) =
            if color.is_full_range { (1.0, 1.0, 0) } else { (255.0 / 219.0, 255.0 / 224.0, 16) };
        let fixed = |value: f64| (value * f64::from(1 << SHIFT)).round() as i32;
        Self {
            gain: fixed(luma),
            black,
            cr_to_red: fixed(chroma * 2.0 * (1.0 - kr)),
            cb_to_green: fixed(chroma * 2.0 * (1.0 - kb) * kb / kg),
            cr_to_green: fixed(chroma * 2.0 * (1.0 - kr) * kr / kg),
            cb_to_blue: fixed(chroma * 2.0 * (1.0 - kb)),
        }
    }
}

impl Inverse {
    /// Of a row, two pixels at a time, which share their chroma. Indexed for the same reason as [`Forward::luma`].
    #[expect(clippy::inline_always, reason = "what is not inlined is compiled for the oldest processor only")]
    #[inline(always)]
    fn row(&self, luma: &[u8], (cb, cr): (&[u8], &[u8]), pixels: &mut [[u8; 6]]) {
        let lumas = luma.as_chunks::<2>().0;
        let count = pixels.len().min(lumas.len()).min(cb.len()).min(cr.len());
        let (pixels, lumas, cb, cr) = (&mut pixels[..count], &lumas[..count], &cb[..count], &cr[..count]);
        for index in 0..count {
            let (blue_difference, red_difference) = (i32::from(cb[index]) - 128, i32::from(cr[index]) - 128);
            let red = self.cr_to_red * red_difference + HALF;
            let green = HALF - self.cb_to_green * blue_difference - self.cr_to_green * red_difference;
            let blue = self.cb_to_blue * blue_difference + HALF;
            let (pixel, left, right) = (&mut pixels[index], lumas[index][0], lumas[index][1]);
            let left = self.gain * (i32::from(left) - self.black);
            let right = self.gain * (i32::from(right) - self.black);
            pixel[0] = ((left + red) >> SHIFT).clamp(0, 255) as u8;
            pixel[1] = ((left + green) >> SHIFT).clamp(0, 255) as u8;
            pixel[2] = ((left + blue) >> SHIFT).clamp(0, 255) as u8;
            pixel[3] = ((right + red) >> SHIFT).clamp(0, 255) as u8;
            pixel[4] = ((right + green) >> SHIFT).clamp(0, 255) as u8;
            pixel[5] = ((right + blue) >> SHIFT).clamp(0, 255) as u8;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(rgb: [u8; 3]) -> (u8, u8, u8) {
        let image = RgbImage::from_pixels(2, 2, rgb.repeat(4)).unwrap();
        let mut frame = YuvFrame::black(2, 2);
        rgb_to_i420(&image, ColorSpace::WRITTEN, &mut frame);
        (frame.y[0], frame.u[0], frame.v[0])
    }

    #[test]
    fn rgb_primaries_have_bt709_code_values() {
        assert_eq!(convert([0, 0, 0]), (16, 128, 128));
        assert_eq!(convert([255, 255, 255]), (235, 128, 128));
        assert_eq!(convert([255, 0, 0]), (63, 102, 240));
        assert_eq!(convert([0, 255, 0]), (173, 42, 26));
        assert_eq!(convert([0, 0, 255]), (32, 240, 118));
    }

    #[test]
    fn rgb_round_trip_error_is_bounded() {
        for step in 0..=255u32 {
            let grey = [step as u8; 3];
            let color = [step as u8, (step * 7 % 256) as u8, (step * 31 % 256) as u8];
            for rgb in [grey, color] {
                let image = RgbImage::from_pixels(2, 2, rgb.repeat(4)).unwrap();
                let mut frame = YuvFrame::black(2, 2);
                rgb_to_i420(&image, ColorSpace::WRITTEN, &mut frame);
                let back = i420_to_rgb(&frame, ColorSpace::WRITTEN).pixel(1, 1);
                for c in 0..3 {
                    assert!(rgb[c].abs_diff(back[c]) <= 3, "{rgb:?} came back as {back:?}");
                }
            }
        }
    }

    #[test]
    fn second_generation_keeps_chroma() {
        let mut frame = YuvFrame::black(16, 16);
        frame.y.iter_mut().enumerate().for_each(|(i, y)| *y = 90 + (i % 40) as u8);
        frame.u.iter_mut().enumerate().for_each(|(i, u)| *u = 110 + (i % 30) as u8);
        frame.v.iter_mut().enumerate().for_each(|(i, v)| *v = 140 - (i % 25) as u8);
        let mut second = YuvFrame::black(16, 16);
        rgb_to_i420(&i420_to_rgb(&frame, ColorSpace::WRITTEN), ColorSpace::WRITTEN, &mut second);
        for (a, b) in frame.u.iter().zip(&second.u).chain(frame.v.iter().zip(&second.v)) {
            assert!(a.abs_diff(*b) <= 1);
        }
    }
}
