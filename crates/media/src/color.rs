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
    vectorized(
        #[inline(always)]
        || {
            for ((rgb, luma), (cb, cr)) in row_pairs.zip(luma_pairs).zip(chroma) {
                for (pixel, y) in rgb.chunks_exact(3).zip(luma.iter_mut()) {
                    let sum = forward.y[0] * i32::from(pixel[0])
                        + forward.y[1] * i32::from(pixel[1])
                        + forward.y[2] * i32::from(pixel[2]);
                    *y = (((sum + HALF) >> SHIFT) + forward.black).min(255) as u8;
                }
                let (upper, lower) = rgb.split_at(width * 3);
                let blocks = upper.chunks_exact(6).zip(lower.chunks_exact(6));
                for ((a, b), (cb, cr)) in blocks.zip(cb.iter_mut().zip(cr.iter_mut())) {
                    let sum = |c: usize| {
                        i32::from(a[c]) + i32::from(a[c + 3]) + i32::from(b[c]) + i32::from(b[c + 3])
                    };
                    let (red, green, blue) = (sum(0), sum(1), sum(2));
                    let weigh = |row: [i32; 3]| {
                        let value = row[0] * red + row[1] * green + row[2] * blue;
                        (((value + (HALF << 2)) >> (SHIFT + 2)) + 128).clamp(0, 255) as u8
                    };
                    *cb = weigh(forward.cb);
                    *cr = weigh(forward.cr);
                }
            }
        },
    );
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
        let cb = &frame.u[row / 2 * chroma_width..];
        let cr = &frame.v[row / 2 * chroma_width..];
        let blocks = rgb.chunks_mut(6).zip(luma.chunks(2)).zip(cb.iter().zip(cr));
        for ((pixels, lumas), (&cb, &cr)) in blocks {
            let (cb, cr) = (i32::from(cb) - 128, i32::from(cr) - 128);
            let red = inverse.cr_to_red * cr + HALF;
            let green = HALF - inverse.cb_to_green * cb - inverse.cr_to_green * cr;
            let blue = inverse.cb_to_blue * cb + HALF;
            for (pixel, &y) in pixels.chunks_exact_mut(3).zip(lumas) {
                let y = inverse.gain * (i32::from(y) - inverse.black);
                pixel[0] = ((y + red) >> SHIFT).clamp(0, 255) as u8;
                pixel[1] = ((y + green) >> SHIFT).clamp(0, 255) as u8;
                pixel[2] = ((y + blue) >> SHIFT).clamp(0, 255) as u8;
            }
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
