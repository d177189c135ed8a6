//! Film grain and dither, added to display values before they are rounded.

use super::noise::Tile;

/// Display values have 8 fractional bits while grain is added.
pub(crate) const WHOLE: f32 = 256.0;
/// Base-2 logarithm of the width of the grain tile, in pixels.
const SIDE: u32 = 7;

/// What is added to the display values of a shot, for all channels alike, in 1/256 of a step; includes half a step for rounding.
pub(crate) struct Grain {
    noise: Tile<i16>,
}

/// The grain of one frame.
#[derive(Clone, Copy)]
pub(crate) struct FrameGrain<'a> {
    noise: &'a Tile<i16>,
    shift: [i32; 2],
}

impl Grain {
    pub(crate) fn new(strength: f32) -> Self {
        let noise: Tile<f32> = Tile::rolling(SIDE, 1 << (SIDE - 1), 1, 1.0, 0x6721);
        Self {
            noise: Tile::new(SIDE, |x, y| {
                let noise = (noise.at(x, y) - 0.5) * strength * 2.2;
                ((0.5 + noise) * WHOLE).round() as i16
            }),
        }
    }

    /// `frame` shifts the grain.
    pub(crate) fn frame(&self, frame: u32) -> FrameGrain<'_> {
        let shift = [53, 91].map(|step| (frame.wrapping_mul(step) % (1 << SIDE)) as i32);
        FrameGrain { noise: &self.noise, shift }
    }
}

impl FrameGrain<'_> {
    /// Of one pixel.
    #[inline]
    pub(crate) fn at(self, x: usize, y: usize) -> i32 {
        // The tile turned on its side: its rows run down the columns of the canvas.
        i32::from(self.noise.at(y as i32 + self.shift[1], x as i32 + self.shift[0])) + DITHER[x & 3][y & 3]
    }

    /// Of a row of the image, in steps and without the half step for rounding; the same value for three channels of each pixel.
    pub(crate) fn row(self, y: usize, row: &mut [f32]) {
        let noise = self.noise.row(y as i32 + self.shift[1]);
        let mut period = [0.0; 3 << SIDE];
        for (x, pixel) in period.chunks_exact_mut(3).enumerate() {
            let noise = i32::from(noise[(x + self.shift[0] as usize) % noise.len()]);
            pixel.fill((noise + DITHER[x & 3][y & 3]) as f32 / WHOLE - 0.5);
        }
        for part in row.chunks_mut(period.len()) {
            part.copy_from_slice(&period[..part.len()]);
        }
    }
}

/// Ordered dither of half a step, in 1/256 of a step. Static, so that it breaks banding without costing bits in the encoder.
const DITHER: [[i32; 4]; 4] =
    [[-120, 72, -72, 120], [8, -56, 56, -8], [-87, 105, -105, 87], [41, -23, 23, -41]];
