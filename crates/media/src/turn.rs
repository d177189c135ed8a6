//! Quarter turns and mirroring of frames, as the display matrix of a track states them.

use crate::RgbImage;

/// A frame turned by quarter turns and mirrored: signs of the factors of the display matrix. The presented column is
/// `a * x + c * y`, the presented row `b * x + d * y`; either `a` and `d` or `b` and `c` are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    a: i8,
    b: i8,
    c: i8,
    d: i8,
}

impl Turn {
    pub(crate) const NONE: Self = Self { a: 1, b: 0, c: 0, d: 1 };
    /// By a quarter, which swaps the sides.
    pub(crate) const QUARTER: Self = Self { a: 0, b: 1, c: -1, d: 0 };

    /// From the matrices of a track and of its movie (ISO/IEC 14496-12, 8.2.2 and 8.3.2); `None` for other angles and for shear. Scale and
    /// position are ignored, as by players. A matrix without an image is taken for none.
    pub(crate) fn from_matrices(track: &[i32; 9], movie: &[i32; 9]) -> Option<Self> {
        let factors = |matrix: &[i32; 9]| {
            let all = [matrix[0], matrix[1], matrix[3], matrix[4]].map(f64::from);
            if all.iter().all(|factor| factor.abs() < 0.5) { [1.0, 0.0, 0.0, 1.0] } else { all }
        };
        let (t, m) = (factors(track), factors(movie));
        let product = [
            t[0] * m[0] + t[1] * m[2],
            t[0] * m[1] + t[1] * m[3],
            t[2] * m[0] + t[3] * m[2],
            t[2] * m[1] + t[3] * m[3],
        ];
        let largest = product.iter().fold(0.0, |largest: f64, factor| largest.max(factor.abs()));
        let sign = |factor: f64| if factor.abs() < largest * 0.01 { 0 } else { factor.signum() as i8 };
        let [a, b, c, d] = product.map(sign);
        let is_turn = (b == 0 && c == 0 && a != 0 && d != 0) || (a == 0 && d == 0 && b != 0 && c != 0);
        is_turn.then_some(Self { a, b, c, d })
    }

    pub(crate) fn swaps_sides(self) -> bool {
        self.a == 0
    }

    pub(crate) fn apply(self, image: RgbImage) -> RgbImage {
        if self == Self::NONE {
            return image;
        }
        let (width, height) = (image.width(), image.height());
        let mut turned =
            if self.swaps_sides() { RgbImage::new(height, width) } else { RgbImage::new(width, height) };
        let (columns, rows) = (turned.width(), turned.height());
        let coordinate =
            |sign: i8, index: u32, length: u32| if sign < 0 { length - 1 - index } else { index };
        let pixels = turned.pixels_mut().chunks_exact_mut(3);
        for (i, pixel) in (0..).zip(pixels) {
            let (column, row) = (i % columns, i / columns);
            let (x, y) = if self.swaps_sides() {
                (coordinate(self.b, row, rows), coordinate(self.c, column, columns))
            } else {
                (coordinate(self.a, column, columns), coordinate(self.d, row, rows))
            };
            pixel.copy_from_slice(&image.pixel(x, y));
        }
        turned
    }
}
