//! Upscaling with a separable Catmull-Rom filter, which keeps edges sharp.

use media::RgbImage;

use super::color_grading::FINE_BITS;
use super::grain::FrameGrain;
use super::math::Color;
use media::vectorized;

/// Rows or columns of the source that a filter reaches beyond its edge.
const MARGIN: usize = 2;

/// The first of four neighbouring source positions, counted from [`MARGIN`] before the edge, and their weights, of which the sum is 1.
type Taps = (usize, [f32; 4]);

/// The weights for one target size, kept for a whole video, and the widened rows that are in use.
pub(crate) struct Upscale {
    source_rows: usize,
    across: Vec<Taps>,
    down: Vec<Taps>,
    /// A row of the source with its margins.
    texels: Vec<Color>,
    /// The grain of a row.
    grain: Vec<f32>,
    /// Widened rows: a row of the source is in the slot of its number modulo 4.
    rows: [WidenedRow; 4],
}

#[derive(Default)]
struct WidenedRow {
    /// The row of the source.
    source: Option<usize>,
    values: Vec<f32>,
}

impl Upscale {
    pub(crate) fn new(from: (u32, u32), to: (u32, u32)) -> Self {
        let width = to.0 as usize * 3;
        Self {
            source_rows: from.1 as usize,
            across: taps(from.0, to.0),
            down: taps(from.1, to.1),
            texels: Vec::new(),
            grain: vec![0.0; width],
            rows: std::array::from_fn(|_| WidenedRow { source: None, values: vec![0.0; width] }),
        }
    }

    /// Enlarges `small`, rows of display values with [`FINE_BITS`] fractional bits, into `large`; both have the sizes given at the start.
    pub(crate) fn enlarge(&mut self, small: &[i16], grain: FrameGrain<'_>, large: &mut RgbImage) {
        // Adding a large number leaves the rounded integer in the low bits.
        const ROUND: f32 = 12_582_912.0;
        let stride = small.len() / self.source_rows;
        self.rows.iter_mut().for_each(|row| row.source = None);
        let width = self.grain.len();
        for (index, out) in large.pixels_mut().chunks_exact_mut(width).enumerate() {
            let (first, [wa, wb, wc, wd]) = self.down[index];
            let sources = [0, 1, 2, 3].map(|k| (first + k).saturating_sub(MARGIN).min(self.source_rows - 1));
            for source in sources {
                self.widen(&small[source * stride..][..stride], source);
            }
            grain.row(index, &mut self.grain);
            let [a, b, c, d] = sources.map(|source| &self.rows[source % 4].values[..width]);
            let rows = a.iter().zip(b).zip(c).zip(d).zip(&self.grain);
            vectorized(
                #[inline(always)]
                || {
                    for (out, ((((a, b), c), d), grain)) in out.iter_mut().zip(rows) {
                        let sum = (a * wa + b * wb) + (c * wc + d * wd) + grain;
                        let clamped = if sum > 0.0 { sum } else { 0.0 };
                        let clamped = if clamped < 255.0 { clamped } else { 255.0 };
                        *out = (clamped + ROUND).to_bits() as u8;
                    }
                },
            );
        }
    }

    /// Sees to it that a row of the source is among the widened ones.
    fn widen(&mut self, values: &[i16], source: usize) {
        let row = &mut self.rows[source % 4];
        if row.source == Some(source) {
            return;
        }
        row.source = Some(source);
        let texel = |p: &[i16]| {
            Color::new(f32::from(p[0]), f32::from(p[1]), f32::from(p[2])) * (1.0 / (1 << FINE_BITS) as f32)
        };
        let (first, last) = (texel(values), texel(&values[values.len() - 3..]));
        self.texels.clear();
        self.texels.extend([first; MARGIN]);
        self.texels.extend(values.chunks_exact(3).map(texel));
        self.texels.extend([last; MARGIN]);
        for ((first, [wa, wb, wc, wd]), out) in self.across.iter().zip(row.values.chunks_exact_mut(3)) {
            let t = &self.texels[*first..][..4];
            let Color(sum) = (t[0] * *wa + t[1] * *wb) + (t[2] * *wc + t[3] * *wd);
            out.copy_from_slice(&sum[..3]);
        }
    }
}

/// The Catmull-Rom filter for each target position.
fn taps(from: u32, to: u32) -> Vec<Taps> {
    (0..to)
        .map(|i| {
            let position = (f64::from(i) + 0.5) * f64::from(from) / f64::from(to) - 0.5;
            let base = position.floor();
            let f = position - base;
            let weights = [
                ((-0.5 * f + 1.0) * f - 0.5) * f,
                (1.5 * f - 2.5) * f * f + 1.0,
                ((-1.5 * f + 2.0) * f + 0.5) * f,
                (0.5 * f - 0.5) * f * f,
            ];
            ((base as i64 - 1 + MARGIN as i64) as usize, weights.map(|weight| weight as f32))
        })
        .collect()
}
