//! Upscaling with a separable Catmull-Rom filter, which keeps edges sharp.

use media::RgbImage;

/// Four neighbouring source positions and their weights, in 1/256.
type Taps = [(u32, i32); 4];

/// The weights for one target size, kept for a whole video.
pub(crate) struct Upscale {
    across: Vec<Taps>,
    down: Vec<Taps>,
    line: Vec<i32>,
}

impl Upscale {
    pub(crate) fn new(from: (u32, u32), to: (u32, u32)) -> Self {
        Self { across: taps(from.0, to.0), down: taps(from.1, to.1), line: Vec::new() }
    }

    /// Enlarges `small` into `large`; both have the sizes given at the start.
    pub(crate) fn enlarge(&mut self, small: &RgbImage, large: &mut RgbImage) {
        let stride = small.width() as usize * 3;
        let width = self.across.len() * 3;
        for (row, out) in self.down.iter().zip(large.pixels_mut().chunks_exact_mut(width)) {
            let [a, b, c, d] = row.map(|(y, w)| (&small.pixels()[y as usize * stride..][..stride], w));
            self.line.clear();
            self.line.extend((0..stride).map(|i| {
                i32::from(a.0[i]) * a.1
                    + i32::from(b.0[i]) * b.1
                    + i32::from(c.0[i]) * c.1
                    + i32::from(d.0[i]) * d.1
            }));
            for (column, pixel) in self.across.iter().zip(out.chunks_exact_mut(3)) {
                for (channel, slot) in pixel.iter_mut().enumerate() {
                    let sum: i32 = column.iter().map(|(x, w)| self.line[*x as usize * 3 + channel] * w).sum();
                    *slot = ((sum + (1 << 15)) >> 16).clamp(0, 255) as u8;
                }
            }
        }
    }
}

fn taps(from: u32, to: u32) -> Vec<Taps> {
    (0..to)
        .map(|i| {
            let at = (f64::from(i) + 0.5) * f64::from(from) / f64::from(to) - 0.5;
            let base = at.floor();
            let f = at - base;
            let weights = [
                ((-0.5 * f + 1.0) * f - 0.5) * f,
                (1.5 * f - 2.5) * f * f + 1.0,
                ((-1.5 * f + 2.0) * f + 0.5) * f,
                (0.5 * f - 0.5) * f * f,
            ];
            let mut whole = weights.map(|w| (w * 256.0).round() as i32);
            // The sum is exact, or flat areas would change.
            whole[1] += 256 - whole.iter().sum::<i32>();
            [0, 1, 2, 3].map(|k| {
                let position = (base as i64 - 1 + k as i64).clamp(0, i64::from(from) - 1);
                (position as u32, whole[k])
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upscale_preserves_flat_areas_and_edges() {
        let mut small = RgbImage::new(8, 4);
        for (i, p) in small.pixels_mut().chunks_exact_mut(3).enumerate() {
            p.fill(if i % 8 < 4 { 40 } else { 200 });
        }
        let mut large = RgbImage::new(20, 10);
        Upscale::new((8, 4), (20, 10)).enlarge(&small, &mut large);
        let row = &large.pixels()[5 * 60..][..60];
        assert_eq!(row[0], 40);
        assert_eq!(row[57], 200);
        assert!(row[27] < 120 && row[33] > 120, "{row:?}");
    }
}
