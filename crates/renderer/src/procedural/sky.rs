//! The sky: gradient, two layers of drifting clouds, sun or moon, stars, aurora.
//!
//! Gradient and clouds are computed on a coarse grid and interpolated; stars and disc are drawn at full resolution.

use super::adaptive_shading::{self, Shader};
use super::camera::View;
use super::canvas::Canvas;
use super::light::{Direction, Light};
use super::math::{Color, cell, decay, lerp, mix, smooth};
use super::noise::{Rng, Tile};

/// Pixels between grid points.
const STEP: usize = 4;

/// The parameters of the sky of a shot.
pub(crate) struct Sky {
    clouds: Tile<f32>,
    /// Texels per second the low deck drifts.
    wind: [f32; 2],
    /// Offset into the cloud texture.
    offset: [f32; 2],
    /// Clouds on the unit plane, in texels.
    scale: f32,
    stars: Vec<Star>,
    has_moon: bool,
    /// 0 none, 1 a curtain across the north.
    aurora: f32,
    milky: f32,
}

struct Star {
    direction: Direction,
    light: Color,
    twinkle: f32,
}

/// The sky of one frame on the coarse grid, column by column; `fourth` is how much of it is cloud.
pub(crate) struct SkyGrid {
    top: f32,
    cells: Canvas,
}

impl Sky {
    pub(crate) fn new(light: &Light, wind: f32, aurora: bool, clear_stars: bool, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "sky");
        let clouds = Tile::rolling(9, 5, 7, 0.56, rng.next() as u32);
        let heading = rng.range(-0.7, 0.7) + if rng.chance(0.5) { 0.0 } else { std::f32::consts::PI };
        let speed = lerp(2.2, 13.0, wind);
        let stars = if light.stars > 0.01 { scatter_stars(&mut rng, light.stars) } else { Vec::new() };
        Self {
            clouds,
            wind: [heading.cos() * speed, heading.sin() * speed * 0.6 - speed * 0.35],
            offset: [rng.range(0.0, 512.0), rng.range(0.0, 512.0)],
            scale: rng.range(62.0, 92.0),
            stars,
            has_moon: light.stars > 0.6,
            aurora: if aurora { 1.0 } else { 0.0 },
            milky: if clear_stars { 1.0 } else { 0.35 },
        }
    }

    /// Computes the coarse grid for one frame; with a margin above the image when there is water to mirror it.
    pub(crate) fn grid(&self, light: &Light, view: &View, time: f32, mirrored: bool, grid: &mut SkyGrid) {
        // Water mirrors more sky than is seen.
        let margin = if mirrored { 0.45 * view.height } else { 0.0 };
        let bottom = (view.horizon + 6.0).clamp(1.0, view.height);
        grid.top = -margin;
        let columns = view.width as usize / STEP + 2;
        let rows = ((bottom + margin) / STEP as f32) as usize + 3;
        grid.cells.resize(columns, rows);
        let mut shader = SkyShader { sky: self, light, view, time, top: grid.top, ray: [0.0; 2] };
        adaptive_shading::shade(&mut grid.cells, &mut shader);
    }

    fn radiance(&self, light: &Light, d: Direction, time: f32) -> Color {
        let clear = light.sky(d);
        let mut color = clear.with(0.0);
        let up = d[2];
        if light.stars > 0.3 {
            color += self.deep_sky(light, d, time);
        }
        let toward = (d[0] * light.sun[0] + d[1] * light.sun[1] + d[2] * light.sun[2]).max(0.0);
        let near_sun = toward * toward * toward * toward;
        let reach = 1.0 / (up + 0.07);

        // High deck: streaks of ice, thin and bright.
        let (hx, hy) = (d[0] * reach * 0.55 * self.scale, d[1] * reach * 0.55 * self.scale);
        let (u, v) =
            (hx * 0.5 + hy * 0.25 + self.offset[1] + time * 0.8, hy * 1.6 - hx * 0.35 + self.offset[0]);
        let streak = self.clouds.sample(u, v) * 0.65 + self.clouds.sample(v * 2.3, u * 2.3) * 0.35;
        let veil = smooth(0.46, 0.95, streak) * 0.55 * smooth(0.02, 0.16, up) * (1.0 - light.cover * 0.6);
        let lit = mix(light.cloud_lit, light.glow, near_sun * 0.5) * (0.9 + 0.5 * near_sun);
        color = mix(color, lit.with(1.0), veil);

        // Low deck: heaps, lit through their own depth.
        let (lx, ly) = (d[0] * reach * self.scale, d[1] * reach * self.scale);
        let (u, v) = (lx + self.offset[0] + self.wind[0] * time, ly + self.offset[1] + self.wind[1] * time);
        let threshold = lerp(0.74, 0.14, light.cover);
        let body = self.clouds.sample(u, v);
        let detail = self.clouds.sample(u * 3.3 + 0.35 * time, v * 3.3 - 0.2 * time);
        let heap = body * 0.76 + detail * 0.24;
        let density = smooth(threshold, threshold + 0.24, heap);
        if density > 0.003 {
            let (su, sv) = (light.sun[0] * 11.0, light.sun[1] * 11.0);
            let beyond = self.clouds.sample(u + su, v + sv) * 0.76 + detail * 0.24;
            let depth = smooth(threshold - 0.05, threshold + 0.42, beyond);
            let through = decay(depth * 2.6);
            let rim = (1.0 - density) * near_sun;
            let core = smooth(threshold + 0.02, threshold + 0.5, heap);
            let shade = mix(light.cloud_dark * 1.25, light.cloud_dark * 0.8, core);
            let bright =
                mix(light.cloud_lit, light.glow, near_sun * 0.6) * (0.85 + 0.9 * near_sun + 1.6 * rim);
            let body = mix(shade, bright, through * lerp(0.95, 0.45, light.cover));
            // Far clouds sink into the air of the horizon.
            let far = smooth(0.0, 0.2, up);
            let sunk = mix(clear, body, 0.25 + 0.75 * far);
            color = mix(color, sunk.with(1.0), density * (0.12 + 0.88 * smooth(0.0, 0.09, up)) * 0.96);
        }
        color
    }

    /// Milky way and aurora, behind the clouds.
    fn deep_sky(&self, light: &Light, d: Direction, time: f32) -> Color {
        let mut glow = Color::BLACK;
        let band = d[0] * 0.62 + d[1] * 0.18 - d[2] * 0.55 + 0.24;
        let lane = decay(band * band * 22.0);
        if lane > 0.01 {
            let dust = self.clouds.sample(d[0] * 210.0, d[2] * 210.0 + d[1] * 90.0);
            glow += Color::new(0.055, 0.06, 0.085)
                * (lane * dust * dust * self.milky * light.stars * smooth(0.02, 0.3, d[2]));
        }
        if self.aurora > 0.0 {
            let along = d[0] / (d[1].abs() + 0.25);
            let fold = self.clouds.sample(along * 40.0 + time * 2.2, time * 1.4 + 30.0);
            let ray = self.clouds.sample(along * 260.0 + fold * 60.0 + time * 5.0, 7.0 + time * 0.7);
            let foot = 0.10 + 0.13 * fold;
            let above = d[2] - foot;
            let curtain = smooth(0.0, 0.02, above) * decay(above.max(0.0) * 5.2) * smooth(0.3, 0.62, fold);
            let hue =
                mix(Color::new(0.05, 0.55, 0.22), Color::new(0.28, 0.10, 0.42), smooth(0.03, 0.32, above));
            glow += hue * (curtain * (0.35 + 1.1 * ray) * self.aurora * 0.9);
        }
        glow
    }

    /// Draws the sky into every pixel without nearer content.
    pub(crate) fn paint(&self, light: &Light, view: &View, time: f32, grid: &SkyGrid, canvas: &mut Canvas) {
        let mut column = Vec::with_capacity(grid.cells.height);
        for x in 0..canvas.width {
            grid.column(x as f32, &mut column);
            let start = canvas.at(x, 0);
            for y in 0..canvas.height {
                if canvas.nearness[start + y] == 0.0 {
                    canvas.light[start + y] = sample_column(&column, (y as f32 - grid.top) / STEP as f32);
                }
            }
        }
        self.paint_stars(light, view, time, canvas);
        self.paint_disc(light, view, canvas);
    }

    fn paint_stars(&self, light: &Light, view: &View, time: f32, canvas: &mut Canvas) {
        for star in &self.stars {
            let Some([x, y]) = view.project_direction(star.direction) else { continue };
            if x < 0.0 || y < 0.0 || x >= view.width - 1.0 || y >= view.height - 1.0 {
                continue;
            }
            let shimmer = 0.8 + 0.2 * (time * star.twinkle + star.twinkle * 40.0).sin();
            let (ix, iy) = (x as usize, y as usize);
            let (fx, fy) = (x - ix as f32, y - iy as f32);
            for (px, py, share) in [
                (0, 0, (1.0 - fx) * (1.0 - fy)),
                (1, 0, fx * (1.0 - fy)),
                (0, 1, (1.0 - fx) * fy),
                (1, 1, fx * fy),
            ] {
                let index = canvas.at(ix + px, iy + py);
                if canvas.nearness[index] == 0.0 {
                    let clear = 1.0 - canvas.light[index].fourth().clamp(0.0, 1.0);
                    let faded = smooth(0.0, 0.22, star.direction[2]);
                    canvas.light[index] += star.light * (share * shimmer * clear * faded * light.stars);
                }
            }
        }
    }

    fn paint_disc(&self, light: &Light, view: &View, canvas: &mut Canvas) {
        let Some([cx, cy]) = view.project_direction(light.sun) else { return };
        let radius = view.focal * if self.has_moon { 0.021 } else { 0.019 };
        let reach = radius * 1.4;
        let Some((x0, x1)) = super::canvas::clip(cx - reach, cx + reach, canvas.width) else { return };
        let Some((y0, y1)) = super::canvas::clip(cy - reach, cy + reach, canvas.height) else { return };
        for x in x0..x1 {
            for y in y0..y1 {
                let index = canvas.at(x, y);
                if canvas.nearness[index] != 0.0 {
                    continue;
                }
                let (dx, dy) = ((x as f32 + 0.5 - cx) / radius, (y as f32 + 0.5 - cy) / radius);
                let distance = (dx * dx + dy * dy).sqrt();
                let edge = smooth(1.0 + 1.4 / radius, 1.0 - 1.4 / radius, distance);
                if edge <= 0.0 {
                    continue;
                }
                let clear = 1.0 - 0.9 * canvas.light[index].fourth().clamp(0.0, 1.0);
                let face = if self.has_moon {
                    // Maria: enough to read as the moon.
                    let seas = self.clouds.sample(dx * 26.0 + 90.0, dy * 26.0 + 40.0);
                    lerp(1.0, 0.62, smooth(0.46, 0.66, seas)) * (1.0 - 0.25 * distance * distance)
                } else {
                    1.0 - 0.3 * distance * distance
                };
                canvas.light[index] = mix(canvas.light[index], light.disc * face, edge * clear);
            }
        }
    }
}

/// The sky of one frame, column by column of the grid.
struct SkyShader<'a> {
    sky: &'a Sky,
    light: &'a Light,
    view: &'a View,
    time: f32,
    top: f32,
    ray: [f32; 2],
}

impl Shader for SkyShader<'_> {
    const TOLERANCE: [f32; 2] = [0.015, 0.015];

    fn turn(&mut self, x: usize) {
        self.ray = self.view.ray((x * STEP) as f32);
    }

    fn needs_shading(&self, _: &Canvas, _: usize) -> bool {
        true
    }

    fn has(&self, _: &Canvas, _: usize) -> bool {
        true
    }

    fn is_same_kind(&self, a: Color, b: Color) -> bool {
        // The fourth lane is how much of the sky is cloud.
        (a.fourth() - b.fourth()).abs() < 0.05
    }

    fn pixel(&self, _: &Canvas, _: usize, y: usize) -> Color {
        let [dx, dy] = self.ray;
        let rise = self.view.rise(self.top + (y * STEP) as f32).max(0.0015);
        let inverse = 1.0 / (dx * dx + dy * dy + rise * rise).sqrt();
        self.sky.radiance(self.light, [dx * inverse, dy * inverse, rise * inverse], self.time)
    }
}

fn scatter_stars(rng: &mut Rng, strength: f32) -> Vec<Star> {
    let count = 500 + (strength * 1700.0) as usize;
    (0..count)
        .map(|_| {
            let azimuth = rng.range(-1.5, 1.5);
            let up = rng.range(0.01, 0.95);
            let flat = (1.0 - up * up).sqrt();
            // Few bright ones, many faint ones.
            let magnitude = rng.unit().powi(5);
            let warm = rng.range(-0.2, 0.2);
            Star {
                direction: [azimuth.sin() * flat, azimuth.cos() * flat, up],
                light: Color::new(1.0 + warm, 1.0, 1.0 - warm) * (0.06 + 1.5 * magnitude),
                twinkle: rng.range(1.5, 5.0),
            }
        })
        .collect()
}

impl SkyGrid {
    pub(crate) fn empty() -> Self {
        Self { top: 0.0, cells: Canvas::new(0, 0) }
    }

    /// One column of the grid, interpolated at image column `x`.
    pub(crate) fn column(&self, x: f32, into: &mut Vec<Color>) {
        let Canvas { width, height, light, .. } = &self.cells;
        let u = (x / STEP as f32).clamp(0.0, *width as f32 - 1.001);
        let left = u as usize;
        let share = u - left as f32;
        let a = &light[left * height..][..*height];
        let b = &light[(left + 1) * height..][..*height];
        into.clear();
        into.extend(a.iter().zip(b).map(|(a, b)| mix(*a, *b, share)));
    }

    /// The grid row of an image row.
    pub(crate) fn row(&self, y: f32) -> f32 {
        (y - self.top) / STEP as f32
    }
}

/// A column of the grid at a fractional row, clamped to its ends.
#[inline]
pub(crate) fn sample_column(column: &[Color], row: f32) -> Color {
    let row = row.clamp(0.0, column.len() as f32 - 1.001);
    let (index, share) = cell(row);
    let [above, below] = [0, 1].map(|next| column[index as usize + next]);
    mix(above, below, share)
}
