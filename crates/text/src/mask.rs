//! Coverage of pixels.

/// How much of each pixel is covered by ink: 0 for none, 255 for all; rows from the top, no padding.
///
/// Invariant: there are exactly `width * height` values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    width: u32,
    height: u32,
    coverage: Vec<u8>,
}

impl Mask {
    pub(crate) fn new(width: u32, height: u32) -> Self {
        Self { width, height, coverage: vec![0; width as usize * height as usize] }
    }

    /// Columns.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// The values of a row. Panics when `y` is not below the height, as indexing does.
    pub fn row(&self, y: u32) -> &[u8] {
        &self.coverage[y as usize * self.width as usize..][..self.width as usize]
    }

    /// Covers a pixel with at least this much. Pixels outside are ignored.
    pub(crate) fn cover(&mut self, x: i64, y: i64, coverage: f32) {
        let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return };
        if x < self.width && y < self.height {
            let value = &mut self.coverage[y as usize * self.width as usize + x as usize];
            *value = (*value).max((coverage.clamp(0.0, 1.0) * 255.0).round() as u8);
        }
    }

    /// The smallest rectangle with ink, as `x..x` and `y..y`; `None` without ink.
    pub fn ink(&self) -> Option<(std::ops::Range<u32>, std::ops::Range<u32>)> {
        let has_ink = |y: &u32| self.row(*y).iter().any(|value| *value > 0);
        let top = (0..self.height).find(has_ink)?;
        let bottom = (0..self.height).rev().find(has_ink)?;
        let columns = |x: &u32| (top..=bottom).any(|y| self.row(y)[*x as usize] > 0);
        let left = (0..self.width).find(columns)?;
        let right = (0..self.width).rev().find(columns)?;
        Some((left..right + 1, top..bottom + 1))
    }
}
