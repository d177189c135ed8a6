//! Color grading: linear light to 8-bit RGB by exposure, tone curve, style, vignette, grain and dither.

use media::RgbImage;

use super::bloom::Bloom;
use super::canvas::Canvas;
use super::grain::{FrameGrain, Grain, WHOLE};
use super::math::{Color, curve, lerp, linear_to_display, mix, smooth};
use super::prompt::Style;

/// The lookup tables are indexed by the upper bits of the light as `f32`: `OCTAVES` doublings from `DARKEST`, `1 << FINE` steps each.
const OCTAVES: usize = 13;
const FINE: u32 = 7;
const ENTRIES: usize = OCTAVES << FINE;
const DARKEST: f32 = 1.0 / 1024.0;
const SHIFT: u32 = f32::MANTISSA_DIGITS - 1 - FINE;
const FIRST: u32 = DARKEST.to_bits() >> SHIFT;
/// Brighter light uses the last entry.
const BRIGHTEST: f32 = f32::from_bits(((ENTRIES as u32 + FIRST) << SHIFT) - 1);
/// Fractional bits of [`Grade::develop_fine`]: the brightest value fits 16 bits, with room for filters that overshoot.
pub(crate) const FINE_BITS: u32 = 6;
/// Columns developed together.
const STRIP: usize = 16;
/// Strength of the bloom.
const SPILL: f32 = 0.30;

/// The grading of a shot.
pub(crate) struct Grade {
    /// Display values by light, for each channel, in 1/256 of a step.
    tables: [Vec<i32>; 3],
    saturation: f32,
    /// Tint of everything when saturation is 0.
    exposure: f32,
    vignette: f32,
    pub(crate) grain: Grain,
}

/// The grading of one style, in display values.
#[derive(Clone, Copy)]
struct Recipe {
    saturation: f32,
    /// Contrast; above 1 is higher.
    contrast: f32,
    /// Black level.
    lift: f32,
    /// White level.
    ceiling: f32,
    /// Added to shadows and to highlights: red, green, blue.
    shadows: [f32; 3],
    highlights: [f32; 3],
    exposure: f32,
    vignette: f32,
    grain: f32,
}

const NATURAL: Recipe = Recipe {
    saturation: 1.06,
    contrast: 1.04,
    lift: 0.012,
    ceiling: 1.0,
    shadows: [0.0, 0.0, 0.006],
    highlights: [0.006, 0.002, -0.006],
    exposure: 1.0,
    vignette: 0.20,
    grain: 0.5,
};

const fn recipe(style: Style) -> Recipe {
    match style {
        Style::Natural => NATURAL,
        Style::Cinematic => Recipe {
            saturation: 0.98,
            contrast: 1.12,
            shadows: [-0.022, 0.006, 0.024],
            highlights: [0.034, 0.008, -0.034],
            vignette: 0.30,
            ..NATURAL
        },
        Style::Noir => Recipe {
            saturation: 0.0,
            contrast: 1.42,
            lift: 0.006,
            exposure: 0.92,
            vignette: 0.55,
            grain: 1.6,
            shadows: [0.0, 0.0, 0.004],
            highlights: [0.0; 3],
            ..NATURAL
        },
        Style::Monochrome => Recipe {
            saturation: 0.0,
            contrast: 1.10,
            lift: 0.02,
            vignette: 0.28,
            grain: 1.2,
            shadows: [0.0; 3],
            highlights: [0.004, 0.002, -0.004],
            ..NATURAL
        },
        Style::Pastel => Recipe {
            saturation: 0.74,
            contrast: 0.78,
            lift: 0.12,
            ceiling: 0.985,
            exposure: 1.22,
            vignette: 0.05,
            shadows: [0.035, 0.012, 0.045],
            highlights: [0.012, 0.0, 0.004],
            ..NATURAL
        },
        Style::Watercolor => Recipe {
            saturation: 1.15,
            contrast: 1.15,
            lift: 0.03,
            ceiling: 0.97,
            exposure: 0.92,
            vignette: 0.0,
            grain: 0.0,
            shadows: [0.02, 0.02, 0.04],
            highlights: [0.02, 0.012, -0.01],
        },
        Style::Cartoon => {
            Recipe { saturation: 1.35, contrast: 1.05, exposure: 1.15, vignette: 0.0, grain: 0.0, ..NATURAL }
        }
        Style::Papercraft => Recipe {
            saturation: 1.05,
            contrast: 0.95,
            lift: 0.05,
            exposure: 1.15,
            vignette: 0.12,
            grain: 0.0,
            ..NATURAL
        },
        Style::Film => Recipe {
            saturation: 0.92,
            contrast: 1.02,
            lift: 0.035,
            ceiling: 0.965,
            grain: 2.0,
            vignette: 0.30,
            shadows: [0.004, 0.010, 0.012],
            highlights: [0.018, 0.006, -0.026],
            ..NATURAL
        },
        Style::Neon => Recipe {
            saturation: 1.35,
            contrast: 1.12,
            shadows: [0.02, -0.012, 0.045],
            highlights: [0.012, -0.008, 0.02],
            vignette: 0.34,
            ..NATURAL
        },
        Style::Sepia => Recipe {
            saturation: 0.10,
            contrast: 0.98,
            lift: 0.04,
            ceiling: 0.95,
            shadows: [0.045, 0.012, -0.028],
            highlights: [0.05, 0.004, -0.10],
            vignette: 0.45,
            grain: 1.5,
            ..NATURAL
        },
        Style::Dream => Recipe {
            saturation: 1.02,
            contrast: 0.88,
            lift: 0.05,
            exposure: 1.12,
            shadows: [0.014, 0.0, 0.04],
            highlights: [0.014, 0.0, 0.012],
            vignette: 0.12,
            ..NATURAL
        },
    }
}

/// Target tones taken from reference images: shadows, midtones, highlights (display values, 0..1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tones(pub(crate) [[f32; 3]; 3]);

impl Tones {
    /// The mean color of the darkest, middle and brightest third of reference images.
    pub(crate) fn from_references(references: &[RgbImage]) -> Option<Self> {
        let mut pixels: Vec<[u8; 3]> = Vec::new();
        for image in references.iter().take(16) {
            let count = image.pixels().len() / 3;
            let stride = (count / 4000).max(1);
            pixels.extend(image.pixels().chunks_exact(3).step_by(stride).map(|p| [p[0], p[1], p[2]]));
        }
        if pixels.is_empty() {
            return None;
        }
        pixels.sort_unstable_by_key(|p| 2 * u32::from(p[0]) + 5 * u32::from(p[1]) + u32::from(p[2]));
        let third = pixels.len().div_ceil(3);
        let mean = |part: usize| {
            let from = (part * third).min(pixels.len() - 1);
            let slice = &pixels[from..(from + third).min(pixels.len())];
            let mut sum = [0.0_f64; 3];
            for p in slice {
                (0..3).for_each(|c| sum[c] += f64::from(p[c]));
            }
            sum.map(|s| (s / slice.len() as f64 / 255.0) as f32)
        };
        Some(Self([mean(0), mean(1), mean(2)]))
    }

    /// How each channel differs from grey at a display level.
    fn tint(&self, level: f32, channel: usize) -> f32 {
        let off = |part: usize| {
            let tone = self.0[part];
            tone[channel] - (0.2126 * tone[0] + 0.7152 * tone[1] + 0.0722 * tone[2])
        };
        let low = lerp(off(0), off(1), smooth(0.05, 0.45, level));
        lerp(low, off(2), smooth(0.45, 0.9, level))
    }
}

impl Grade {
    pub(crate) fn new(style: Style, exposure: f32, tones: Option<Tones>) -> Self {
        let recipe = recipe(style);
        let table = |channel: usize| {
            (0..ENTRIES)
                .map(|i| {
                    let from = if i == 0 { 0.0 } else { f32::from_bits((i as u32 + FIRST) << SHIFT) };
                    let to = f32::from_bits((i as u32 + FIRST + 1) << SHIFT);
                    let light = 0.5 * (from + to);
                    let seen = linear_to_display(curve(light));
                    // An S around the middle grey, then the print's black, white and color.
                    let bent = 0.46
                        + (seen - 0.46) * lerp(recipe.contrast, 1.0, smooth(0.2, 0.52, (seen - 0.46).abs()));
                    let toned = bent
                        + recipe.shadows[channel] * smooth(0.65, 0.05, seen)
                        + recipe.highlights[channel] * smooth(0.35, 0.95, seen);
                    let tinted = toned
                        + tones.map_or(0.0, |t| {
                            t.tint(seen, channel) * 0.62 * (4.0 * seen * (1.0 - seen)).clamp(0.0, 1.0).sqrt()
                        });
                    let shown = (recipe.lift + tinted * (recipe.ceiling - recipe.lift)).clamp(0.0, 1.0);
                    (shown * 255.0 * WHOLE).round() as i32
                })
                .collect()
        };
        Self {
            tables: [table(0), table(1), table(2)],
            saturation: recipe.saturation * if tones.is_some() { 0.72 } else { 1.0 },
            exposure: recipe.exposure * exposure,
            vignette: recipe.vignette,
            grain: Grain::new(recipe.grain),
        }
    }

    /// Converts the canvas to an image, adding bloom and grain.
    pub(crate) fn develop(
        &self,
        canvas: &Canvas,
        bloom: &Bloom,
        grain: FrameGrain<'_>,
        image: &mut RgbImage,
    ) {
        self.fill(canvas, bloom, image.pixels_mut(), |values, x, y| {
            let lift = grain.at(x, y);
            values.map(|value| ((value + lift) >> 8).clamp(0, 255) as u8)
        });
    }

    /// The same without grain, as display values with [`FINE_BITS`] fractional bits, row by row.
    pub(crate) fn develop_fine(&self, canvas: &Canvas, bloom: &Bloom, values: &mut Vec<i16>) {
        values.resize(canvas.width * canvas.height * 3, 0);
        self.fill(canvas, bloom, values, |values, _, _| {
            values.map(|value| (value >> (8 - FINE_BITS)) as i16)
        });
    }

    /// Fills rows of pixels with display values as `finish` makes them, from values in 1/256 of a step, column and row.
    fn fill<T: Copy + Default>(
        &self,
        canvas: &Canvas,
        bloom: &Bloom,
        pixels: &mut [T],
        finish: impl Fn([i32; 3], usize, usize) -> [T; 3],
    ) {
        let (width, height) = (canvas.width, canvas.height);
        let falloff = |i: usize, n: usize| {
            let d = (i as f32 + 0.5) / n as f32 * 2.0 - 1.0;
            d * d
        };
        let down: Vec<(f32, usize, f32)> = (0..height)
            .map(|y| {
                let (cell, share) = Bloom::cell_at(y, bloom.rows());
                (falloff(y, height), cell, share)
            })
            .collect();
        let mut spill = Vec::new();
        // The canvas is stored by columns and the image by rows: a few columns are developed into a strip that stays in
        // the cache, and then copied row by row.
        let mut strip = vec![[T::default(); 3 * STRIP]; height];
        for x0 in (0..width).step_by(STRIP) {
            let columns = STRIP.min(width - x0);
            for x in x0..x0 + columns {
                bloom.column(x, SPILL, &mut spill);
                let across = falloff(x, width);
                let offset = (x - x0) * 3;
                let column = &canvas.light[x * height..][..height];
                for (y, ((light, (drop, cell, share)), row)) in
                    column.iter().zip(&down).zip(&mut strip).enumerate()
                {
                    let corner = across + drop;
                    let shade = self.exposure * (1.0 - self.vignette * 0.25 * corner * corner);
                    let spilled = match spill.get(*cell..cell + 2) {
                        Some(pair) => mix(pair[0], pair[1], *share),
                        None => Color::BLACK,
                    };
                    let light = (*light + spilled) * shade;
                    let grey = Color::grey(light.luma());
                    // On all four lanes, which the compiler computes side by side.
                    let [r, g, b, _] = mix(grey, light, self.saturation).0.map(|value| {
                        let clamped = if value > DARKEST { value } else { DARKEST };
                        let clamped = if clamped < BRIGHTEST { clamped } else { BRIGHTEST };
                        (clamped.to_bits() >> SHIFT) - FIRST
                    });
                    let [red, green, blue] = &self.tables;
                    let values = [red[r as usize], green[g as usize], blue[b as usize]];
                    row[offset..offset + 3].copy_from_slice(&finish(values, x, y));
                }
            }
            for (row, out) in strip.iter().zip(pixels.chunks_exact_mut(width * 3)) {
                out[x0 * 3..(x0 + columns) * 3].copy_from_slice(&row[..columns * 3]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn develop(style: Style, light: Color, tones: Option<Tones>) -> [u8; 3] {
        let mut canvas = Canvas::new(16, 16);
        canvas.light.fill(light);
        let mut image = RgbImage::new(16, 16);
        let grade = Grade::new(style, 1.0, tones);
        grade.develop(&canvas, &Bloom::default(), grade.grain.frame(0), &mut image);
        let offset = (8 * 16 + 8) * 3;
        [0, 1, 2].map(|c| image.pixels()[offset + c])
    }

    #[test]
    fn grading_is_monotonic_in_light() {
        let mut before = 0;
        for i in 0..40 {
            let [_, g, _] = develop(Style::Natural, Color::grey(i as f32 * 0.08), None);
            assert!(i32::from(g) + 3 >= i32::from(before), "at step {i}: {g} after {before}");
            before = before.max(g);
        }
        assert!(before > 235);
    }

    #[test]
    fn monochrome_has_no_saturation() {
        let [r, g, b] = develop(Style::Monochrome, Color::new(0.6, 0.2, 0.1), None);
        assert!(r.abs_diff(g) < 5 && g.abs_diff(b) < 5, "{r} {g} {b}");
    }

    #[test]
    fn references_shift_color() {
        let mut red = RgbImage::new(8, 8);
        red.pixels_mut().chunks_exact_mut(3).for_each(|p| p.copy_from_slice(&[200, 60, 40]));
        let plain = develop(Style::Natural, Color::grey(0.2), None);
        let tinted = develop(Style::Natural, Color::grey(0.2), Tones::from_references(&[red]));
        assert!(tinted[0] > plain[0] + 8 && tinted[2] < plain[2], "{plain:?} {tinted:?}");
    }
}
