//! Water: moving waves, Fresnel reflection, sun glitter, foam on crests and shores.

use std::f32::consts::TAU;

use super::adaptive_shading::{self, Shader};
use super::camera::View;
use super::canvas::Canvas;
use super::ground::{Ground, WATER};
use super::light::Light;
use super::math::{Color, decay, lerp, mix, smooth};
use super::noise::{Rng, Tile};
use super::sky::{SkyGrid, sample_column};
use super::wave_layer::{LayerTransform, PATCH, WaveLayer};

/// Value of the `fourth` lane of shaded water pixels.
const SHADED: f32 = 3.0;

/// The surface at a point in time.
#[derive(Clone, Copy)]
pub(crate) struct Swell<'a> {
    sea: &'a Sea,
    layers: [LayerTransform; 3],
}

impl Swell<'_> {
    /// The height of the surface from the two largest scales, the ones with a visible silhouette.
    #[inline]
    pub(crate) fn level(&self, x: f32, y: f32) -> f32 {
        let lift = |index: usize| {
            let (u, v) = self.layers[index].texel(x, y);
            self.sea.heights.sample(u, v) * self.sea.layers[index].height
        };
        lift(0) + lift(1)
    }

    /// Slope east, slope north and height of one layer.
    #[inline]
    fn layer(&self, index: usize, x: f32, y: f32) -> Color {
        let (u, v) = self.layers[index].texel(x, y);
        let layer = &self.sea.layers[index];
        let [su, sv, h, _] = self.sea.patch.sample(u, v).0;
        let k = layer.height / layer.length;
        let (su, sv) = (su * k, sv * k);
        let [cos, sin] = layer.turn;
        Color([su * cos - sv * sin, su * sin + sv * cos, h * layer.height, 0.0])
    }
}

/// The water of a scene.
pub(crate) struct Sea {
    /// Slope east, slope north, height of a patch of unit size and unit height.
    patch: Tile<Color>,
    /// The heights once more, by themselves.
    heights: Tile<f32>,
    layers: [WaveLayer; 3],
    /// Mean square slope of the patch.
    steepness: f32,
    /// 0 none, 1 white crests everywhere.
    foam: f32,
    body: Color,
    shallow: Color,
}

impl Sea {
    /// `wind` 0 is a mirror, 1 a storm; `open` is false for lakes, whose waves stay small.
    pub(crate) fn new(light: &Light, wind: f32, open: bool, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "sea");
        let patch = bake_patch(&mut rng);
        let side = 1 << (2 * PATCH);
        let mut steepness = 0.0;
        for i in 0..side {
            let texel = patch.at(i, i >> PATCH).0;
            steepness += texel[0] * texel[0] + texel[1] * texel[1];
        }
        let heading = rng.range(-0.8, 0.8) + std::f32::consts::PI;
        let swell = if open { lerp(0.16, 1.25, wind * wind) } else { lerp(0.02, 0.18, wind) };
        let chop = lerp(0.3, 1.35, wind) * if open { 1.0 } else { 0.65 };
        let layer = |length: f32, height: f32, speed: f32, angle: f32| {
            let (sin, cos) = angle.sin_cos();
            WaveLayer { length, height, drift: [cos * speed, sin * speed], turn: [cos, sin] }
        };
        let spread = rng.range(0.3, 0.6);
        Self {
            heights: Tile::new(PATCH, |x, y| patch.at(x, y).0[2]),
            patch,
            layers: [
                layer(190.0, swell, 7.0 + 3.0 * wind, heading),
                layer(43.0, 0.16 * chop, 4.0, heading + spread),
                layer(8.9, 0.03 * chop, 1.7, heading - spread * 1.3),
            ],
            steepness: steepness / side as f32,
            foam: smooth(0.45, 1.0, wind) * if open { 1.0 } else { 0.3 },
            body: (light.skylight * 0.8 + light.sunlight * (light.sun[2].max(0.0) * 0.5))
                * Color::new(0.05, 0.15, 0.19),
            shallow: (light.skylight + light.sunlight * (light.sun[2].max(0.0) * 0.8))
                * Color::new(0.10, 0.26, 0.24),
        }
    }

    /// The waves at a point in time.
    pub(crate) fn at(&self, time: f32) -> Swell<'_> {
        Swell { sea: self, layers: self.layers.map(|layer| layer.at(time)) }
    }

    /// Maximum deviation of the surface from its mean, in metres.
    pub(crate) fn reach(&self) -> f32 {
        3.2 * (self.layers[0].height + self.layers[1].height)
    }

    /// Shades every pixel marked as water. Reflections are read from the canvas, where everything above the water is drawn already.
    pub(crate) fn shade(
        &self,
        light: &Light,
        ground: &Ground,
        view: &View,
        time: f32,
        grid: &SkyGrid,
        canvas: &mut Canvas,
    ) {
        let mut shader = WaterShader {
            sea: self,
            scene: WaterSurroundings {
                view,
                light,
                ground,
                grid,
                time,
                swell: self.at(time),
                reaches: ground.terrain.reaches([view.eye[0], view.eye[1]]),
            },
            foam_light: light.on([0.0, 0.0, 1.0], 0.9, 1.0) * 0.85,
            ray: [0.0; 2],
            distance: Color::BLACK,
            sky: Vec::new(),
        };
        adaptive_shading::shade(canvas, &mut shader);
    }

    #[inline]
    fn pixel(
        &self,
        scene: &WaterSurroundings<'_>,
        canvas: &Canvas,
        sky: &[Color],
        [dx, dy]: [f32; 2],
        (start, y): (usize, usize),
        foam_light: Color,
    ) -> Color {
        let (view, light, ground, time) = (scene.view, scene.light, scene.ground, scene.time);
        let t = 1.0 / canvas.nearness[start + y];
        let (px, py) = (view.eye[0] + dx * t, view.eye[1] + dy * t);
        let rise = view.rise(y as f32 + 0.5).min(-1e-4);
        let waves = self.waves(&scene.swell, view, px, py, t);
        let mirrored = scene.mirror(canvas, sky, (start, y), rise, &waves);

        let length = (dx * dx + dy * dy + rise * rise).sqrt();
        let facing = ((dx * waves.sx + dy * waves.sy - rise) / length + 0.16 * waves.unresolved.sqrt())
            .clamp(0.015, 1.0);
        let grazing = 1.0 - facing;
        let g2 = grazing * grazing;
        let fresnel = 0.02 + 0.98 * g2 * g2 * grazing;

        let mut body = self.body * (1.0 + 1.1 * waves.height.max(0.0));
        let depth = if t < 1500.0 {
            let finest = scene.reaches.iter().take_while(|reach| **reach < t).count();
            waves.height - ground.terrain.height_from(finest, px, py)
        } else {
            30.0
        };
        if depth < 14.0 {
            body = mix(body, self.shallow, decay(depth.max(0.0) * 0.32) * 0.85);
        }
        let mut color = mix(body, mirrored, fresnel);
        color += light.sunlight * glitter(light, [dx, dy, rise], length, facing, &waves);
        let foam = self.foam_at(ground, [px, py], t, time, depth, &waves);
        mix(color, foam_light, foam)
    }

    #[inline]
    fn waves(&self, swell: &Swell<'_>, view: &View, x: f32, y: f32, t: f32) -> Waves {
        let footprint = (t * t / (view.focal * view.eye[2].max(1.5))).max(t / view.focal);
        let mut sum = Color::BLACK;
        let mut unresolved = 0.0;
        for (index, layer) in self.layers.iter().enumerate() {
            let ratio = footprint * 9.0 / layer.length;
            let weight = 1.0 / (1.0 + ratio * ratio);
            let slope = layer.height / layer.length;
            unresolved += (1.0 - weight) * slope * slope * self.steepness;
            if weight > 0.1 {
                sum += swell.layer(index, x, y) * weight;
            }
        }
        Waves { sx: sum.0[0], sy: sum.0[1], height: sum.0[2], unresolved }
    }

    #[inline]
    fn foam_at(
        &self,
        ground: &Ground,
        [x, y]: [f32; 2],
        t: f32,
        time: f32,
        depth: f32,
        waves: &Waves,
    ) -> f32 {
        let mut foam = 0.0;
        if self.foam > 0.0 && t < 700.0 {
            let crest = waves.height / (self.layers[0].height * 1.3 + 0.2);
            if crest > 0.4 {
                let lace = ground.lace(x * 3.1 + time * 0.7, y * 3.1);
                foam = smooth(0.75, 1.7, crest + (lace - 0.5) * 1.5) * self.foam * smooth(700.0, 90.0, t);
            }
        }
        if depth < 1.0 && t < 900.0 {
            let lace = ground.lace(x * 4.0, y * 4.0 + time * 0.5);
            let wash = 0.5 + 0.5 * (TAU * (depth * 0.55 + time * 0.16)).sin();
            foam = foam.max(smooth(1.0, 0.1, depth) * smooth(0.55, 0.95, wash * 0.45 + lace * 0.7) * 0.6);
        }
        foam
    }
}

/// The water of one frame, column by column.
struct WaterShader<'a> {
    sea: &'a Sea,
    scene: WaterSurroundings<'a>,
    foam_light: Color,
    ray: [f32; 2],
    /// What the column fades to.
    distance: Color,
    /// The sky above the column.
    sky: Vec<Color>,
}

impl Shader for WaterShader<'_> {
    // Side by side a surface this soft is always interpolated; the other way waves are foreshortened to lines.
    const TOLERANCE: [f32; 2] = [0.06, f32::INFINITY];

    fn turn(&mut self, x: usize) {
        let WaterSurroundings { view, light, grid, .. } = self.scene;
        grid.column(x as f32, &mut self.sky);
        self.ray = view.ray(x as f32 + 0.5);
        self.distance = light.distance(self.ray[0], self.ray[1]);
    }

    #[inline]
    fn needs_shading(&self, canvas: &Canvas, index: usize) -> bool {
        canvas.light[index].fourth() == WATER
    }

    #[inline]
    fn has(&self, canvas: &Canvas, index: usize) -> bool {
        canvas.light[index].fourth() == SHADED
    }

    #[inline]
    fn pixel(&self, canvas: &Canvas, start: usize, y: usize) -> Color {
        // Water is never mirrored in water, so the order in which pixels are shaded does not matter.
        let color = self.sea.pixel(&self.scene, canvas, &self.sky, self.ray, (start, y), self.foam_light);
        let t = 1.0 / canvas.nearness[start + y];
        let veil = self.scene.light.air.veil(t, self.scene.view.eye[2], 0.0);
        mix(color, self.distance, veil).with(SHADED)
    }
}

/// The surroundings of the water in one frame.
#[derive(Clone, Copy)]
struct WaterSurroundings<'a> {
    view: &'a View,
    light: &'a Light,
    ground: &'a Ground,
    grid: &'a SkyGrid,
    time: f32,
    swell: Swell<'a>,
    /// Beyond these distances the grids of the land need not be asked.
    reaches: [f32; 4],
}

impl WaterSurroundings<'_> {
    /// The reflection at row `y` of the column that begins at `start`.
    #[inline]
    fn mirror(
        &self,
        canvas: &Canvas,
        sky: &[Color],
        (start, y): (usize, usize),
        rise: f32,
        waves: &Waves,
    ) -> Color {
        let view = self.view;
        let [_, ahead] = view.turned(waves.sx, waves.sy);
        let up = (2.0 * ahead - rise + 0.25 * waves.unresolved.sqrt()).max(0.004);
        let row = view.horizon - up * view.focal;
        let from_sky = |row: f32| sample_column(sky, self.grid.row(row));
        if row < 0.0 {
            return from_sky(row);
        }
        let index = start + (row as usize).min(canvas.height - 1);
        let near = canvas.nearness[index];
        if near == 0.0 {
            let reflected = canvas.light[index];
            // The disc itself is left to the glitter.
            return if reflected.luma() > 2.0 { from_sky(row) } else { reflected };
        }
        // What is near stands higher in the mirror than what is far.
        let shifted = row + 2.0 * view.eye[2] * view.focal * near;
        let index = start + (shifted as usize).min(y.saturating_sub(1));
        let hit = canvas.light[index];
        let behind = canvas.nearness[index] > 0.0 && canvas.nearness[index] <= canvas.nearness[start + y];
        if hit.fourth() >= WATER || !behind { from_sky(row) } else { hit }
    }
}

/// Sun glitter, as a share of sunlight.
#[inline]
fn glitter(light: &Light, d: [f32; 3], length: f32, facing: f32, waves: &Waves) -> f32 {
    let k = 2.0 * facing;
    let inverse = 1.0 / length;
    let r = [d[0] * inverse - k * waves.sx, d[1] * inverse - k * waves.sy, d[2] * inverse + k];
    let size = (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]).sqrt();
    let cos = (r[0] * light.sun[0] + r[1] * light.sun[1] + r[2] * light.sun[2].max(0.03)) / size;
    if cos < 0.6 {
        return 0.0;
    }
    let sharp = 900.0 / (1.0 + waves.unresolved * 26_000.0);
    let lobe = 1.0 / (1.0 + sharp * (1.0 - cos).max(0.0));
    lobe * lobe * (0.35 + 0.0022 * sharp) * smooth(0.6, 0.8, cos)
}

/// The state of the surface at one pixel.
struct Waves {
    sx: f32,
    sy: f32,
    height: f32,
    /// Mean square slope of the waves below pixel size.
    unresolved: f32,
}

/// A tileable patch of waves: a sum of a few dozen sines.
fn bake_patch(rng: &mut Rng) -> Tile<Color> {
    let mut waves = Vec::new();
    for _ in 0..34 {
        let size = 1.0 + 10.0 * rng.unit().powf(1.6);
        let angle = rng.range(-1.0, 1.0) * rng.range(0.5, 1.25);
        let (kx, ky) = ((size * angle.cos()).round(), (size * angle.sin()).round());
        if kx == 0.0 && ky == 0.0 {
            continue;
        }
        waves.push((kx, ky, (kx * kx + ky * ky).powf(-0.62), rng.range(0.0, TAU)));
    }
    let power: f32 = waves.iter().map(|w| 0.5 * w.2 * w.2).sum();
    let scale = 1.0 / power.sqrt().max(1e-6);
    Tile::new(PATCH, |x, y| {
        let unit = TAU / (1 << PATCH) as f32;
        let (u, v) = (x as f32 * unit, y as f32 * unit);
        let mut sum = [0.0_f32; 3];
        for (kx, ky, amplitude, phase) in &waves {
            let (sin, cos) = (kx * u + ky * v + phase).sin_cos();
            sum[0] += amplitude * kx * TAU * cos;
            sum[1] += amplitude * ky * TAU * cos;
            sum[2] += amplitude * sin;
        }
        Color::new(sum[0] * scale, sum[1] * scale, sum[2] * scale)
    })
}
