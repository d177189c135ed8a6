//! Bloom: the glow of a lens around bright things such as sun, windows and lamps.

use super::canvas::Canvas;
use super::math::{Color, mix};

/// Pixels per cell of the downsampled image that is blurred.
const CELL: usize = 6;

/// Buffers, reused between frames.
#[derive(Default)]
pub(crate) struct Bloom {
    cells: Vec<Color>,
    spare: Vec<Color>,
    rows: usize,
}

impl Bloom {
    /// Computes a blurred copy of everything above diffuse white.
    pub(crate) fn gather(&mut self, canvas: &Canvas) {
        let (columns, rows) = (canvas.width.div_ceil(CELL), canvas.height.div_ceil(CELL));
        self.rows = rows;
        self.cells.clear();
        self.cells.resize(columns * rows, Color::BLACK);
        // Every other column tells as much as all of them.
        let weight = 2.0 / (CELL * CELL) as f32;
        for x in (0..canvas.width).step_by(2) {
            let base = x / CELL * rows;
            for (y, light) in canvas.light[x * canvas.height..][..canvas.height].iter().enumerate() {
                let luma = light.luma();
                let excess = luma - 0.62;
                if excess > 0.0 {
                    let share = excess / (excess + 0.62);
                    let limit = (3.5 / luma).min(1.0);
                    self.cells[base + y / CELL] += *light * (share * limit * weight);
                }
            }
        }
        if self.cells.iter().all(|cell| *cell == Color::BLACK) {
            self.cells.clear();
            return;
        }
        for _ in 0..2 {
            self.blur(columns, rows);
        }
    }

    /// The bloom of image column `x`, by cell, times `strength`; empty without bloom. One more entry than cells, for
    /// interpolation at the end.
    pub(crate) fn column(&self, x: usize, strength: f32, into: &mut Vec<Color>) {
        into.clear();
        if self.cells.is_empty() {
            return;
        }
        let columns = self.cells.len() / self.rows;
        let (left, share) = Self::cell_at(x, columns);
        let right = (left + 1).min(columns - 1);
        let pair = |r: usize| (self.cells[left * self.rows + r], self.cells[right * self.rows + r]);
        into.extend((0..self.rows).map(pair).map(|(left, right)| mix(left, right, share) * strength));
        into.push(into.last().copied().unwrap_or(Color::BLACK));
    }

    /// The cell (of `count`) before an image position, and the fraction to the next.
    pub(crate) fn cell_at(position: usize, count: usize) -> (usize, f32) {
        let v = ((position as f32 + 0.5) / CELL as f32 - 0.5).clamp(0.0, (count as f32 - 1.001).max(0.0));
        (v as usize, v - v.floor())
    }

    /// Cells in a column.
    pub(crate) const fn rows(&self) -> usize {
        self.rows
    }

    /// A box blur in both directions, with a radius of three cells.
    fn blur(&mut self, columns: usize, rows: usize) {
        const REACH: usize = 3;
        let scale = 1.0 / (2 * REACH + 1) as f32;
        for (from_stride, along, across_stride, across) in
            [(1, rows, rows, columns), (rows, columns, 1, rows)]
        {
            self.spare.clear();
            self.spare.resize(self.cells.len(), Color::BLACK);
            for line in 0..across {
                let cell_index = |i: usize| line * across_stride + i.min(along - 1) * from_stride;
                let mut sum = Color::BLACK;
                for i in 0..=2 * REACH {
                    sum += self.cells[cell_index(i.saturating_sub(REACH))];
                }
                for i in 0..along {
                    self.spare[cell_index(i)] = sum * scale;
                    sum += self.cells[cell_index(i + REACH + 1)]
                        - self.cells[cell_index(i.saturating_sub(REACH))];
                }
            }
            std::mem::swap(&mut self.cells, &mut self.spare);
        }
    }
}
