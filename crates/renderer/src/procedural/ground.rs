//! Shading of the land: baked light, near texture, wet shores, aerial perspective. Pixels of water are only marked here; they
//! are shaded after everything that they reflect.

use super::adaptive_shading::{self, Shader};
use super::breakwater::Breakwater;
use super::camera::View;
use super::canvas::Canvas;
use super::city::City;
use super::light::Light;
use super::math::{Color, mix, smooth};
use super::noise::{Rng, Tile};
use super::relief::Relief;
use super::surface::MAX_WAVE_DISTANCE;
use super::terrain::Terrain;
use super::water::{Sea, Swell};

/// Value of the `fourth` lane of pixels left to the water pass.
pub(crate) const WATER: f32 = 2.0;

/// Distance in metres within which the ground has bumps, and their maximum height.
const ROUGH_WITHIN: f32 = 90.0;
const ROUGHNESS: f32 = 0.17;
/// Distance in metres within which a breakwater is wider than a line.
const STONE_WITHIN: f32 = 700.0;

/// The land of a shot, for marching and shading.
pub(crate) struct Ground {
    pub(crate) relief: Relief,
    pub(crate) terrain: Terrain,
    grain: Tile<f32>,
    texture: f32,
    stretch: f32,
}

impl Ground {
    pub(crate) fn new(relief: Relief, terrain: Terrain, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "ground");
        let (texture, stretch) = relief.texture();
        Self { grain: Tile::rolling(8, 8, 5, 0.75, rng.next() as u32), relief, terrain, texture, stretch }
    }

    /// Height of land and, if `breakwater`, stone at a point, with the roughness that only shows near the camera. No grid of
    /// the land before `finest` reaches the point.
    #[inline]
    pub(crate) fn height(&self, finest: usize, breakwater: bool, x: f32, y: f32, distance: f32) -> f32 {
        let mut height = self.terrain.height_from(finest, x, y);
        if distance < ROUGH_WITHIN && self.texture > 0.2 {
            let bump = self.grain.sample(x * 9.0, y * 9.0) - 0.5;
            height += bump * 2.0 * ROUGHNESS * smooth(ROUGH_WITHIN, 30.0, distance) * self.texture;
        }
        match &self.relief.breakwater {
            Some(stone) if breakwater => height.max(stone.height(x, y)),
            _ => height,
        }
    }

    /// How much higher or lower than the land its roughness may be from `distance` on.
    pub(crate) fn roughness(&self, distance: f32) -> f32 {
        if distance < ROUGH_WITHIN && self.texture > 0.2 { ROUGHNESS * self.texture } else { 0.0 }
    }

    /// The breakwater, if some of it may stand in the box `from..=to` (east, north) and is seen from `distance`.
    pub(crate) fn breakwater_near(&self, from: [f32; 2], to: [f32; 2], distance: f32) -> Option<&Breakwater> {
        self.relief
            .breakwater
            .as_ref()
            .filter(|breakwater| distance < STONE_WITHIN && breakwater.touches(from, to))
    }

    /// A fine irregular pattern 0..1, in texels, that breaks up foam.
    #[inline]
    pub(crate) fn lace(&self, u: f32, v: f32) -> f32 {
        self.grain.sample(u, v)
    }

    /// Height to stand on at a point.
    pub(crate) fn footing(&self, x: f32, y: f32) -> f32 {
        self.height(0, true, x, y, 1e6)
    }

    /// Shades every land pixel and marks every water pixel.
    pub(crate) fn shade(
        &self,
        light: &Light,
        sea: Option<&Sea>,
        city: Option<&City>,
        view: &View,
        time: f32,
        canvas: &mut Canvas,
    ) {
        let [ex, ey, _] = view.eye;
        let mut shader = GroundShader {
            ground: self,
            light,
            sea: sea.map(|sea| (sea, sea.at(time))),
            city,
            view,
            time,
            stone_light: light.on([0.0, 0.0, 1.0], 1.0, 0.9),
            reaches: self.terrain.reaches([ex, ey]),
            ray: [0.0; 2],
            distance: Color::BLACK,
        };
        adaptive_shading::shade(canvas, &mut shader);
    }

    /// Brightness of fine texture, around 1; fades out with distance to avoid aliasing.
    #[inline]
    fn pattern(&self, x: f32, y: f32, t: f32) -> f32 {
        let coarse = self.grain.sample(x * 1.3, y * 1.3 * self.stretch);
        let mut value = 1.0 + (coarse - 0.5) * self.texture * 0.8 * smooth(900.0, 200.0, t);
        if t < 160.0 {
            let fine = self.grain.sample(x * 9.0 + 31.0, y * 9.0 * self.stretch);
            value *= 1.0 + (fine - 0.5) * self.texture * 1.5 * smooth(160.0, 25.0, t);
        }
        if t < 34.0 {
            let finest = self.grain.sample(x * 47.0, y * 47.0);
            value *= 1.0 + (finest - 0.5) * self.texture * 1.2 * smooth(34.0, 6.0, t);
        }
        value
    }
}

/// The land of one frame, column by column.
struct GroundShader<'a> {
    ground: &'a Ground,
    light: &'a Light,
    sea: Option<(&'a Sea, Swell<'a>)>,
    city: Option<&'a City>,
    view: &'a View,
    time: f32,
    stone_light: Color,
    /// Beyond these distances the grids of the land need not be asked.
    reaches: [f32; 4],
    ray: [f32; 2],
    /// The color of the air at the column's horizon.
    distance: Color,
}

impl Shader for GroundShader<'_> {
    const TOLERANCE: [f32; 2] = [0.03, 0.03];

    fn turn(&mut self, x: usize) {
        self.ray = self.view.ray(x as f32 + 0.5);
        self.distance = self.light.distance(self.ray[0], self.ray[1]);
    }

    #[inline]
    fn needs_shading(&self, canvas: &Canvas, index: usize) -> bool {
        canvas.nearness[index] != 0.0
    }

    #[inline]
    fn has(&self, canvas: &Canvas, index: usize) -> bool {
        canvas.nearness[index] != 0.0
    }

    #[inline]
    fn pixel(&self, canvas: &Canvas, start: usize, y: usize) -> Color {
        let Self { ground, light, view, time, .. } = *self;
        let t = 1.0 / canvas.nearness[start + y];
        let (px, py) = (view.eye[0] + self.ray[0] * t, view.eye[1] + self.ray[1] * t);
        let z = view.eye[2] + view.rise(y as f32 + 0.5) * t;
        let finest = self.reaches.iter().take_while(|reach| **reach < t).count();
        let texel = ground.terrain.texel_from(finest, px, py);
        let mut land = texel.fourth();
        let mut stone = None;
        if let Some(breakwater) = &ground.relief.breakwater
            && t < STONE_WITHIN
        {
            let height = breakwater.height(px, py);
            if height > land && z > -0.5 {
                land = height;
                stone = Some(breakwater);
            }
        }
        let level = match &self.sea {
            // Where the land is deeper than any trough, the exact level does not matter.
            Some((sea, swell)) if t < MAX_WAVE_DISTANCE && land > -sea.reach() => swell.level(px, py),
            Some(_) => 0.0,
            None => -100.0,
        };
        if land < level && z < level + 0.6 + t * 0.004 + self.sea.as_ref().map_or(0.0, |(sea, _)| sea.reach())
        {
            return Color::BLACK.with(WATER);
        }
        let mut color = match stone {
            Some(breakwater) => {
                let lit = ground.terrain.sunlit(px, py, z);
                let shade = mix(light.skylight * 0.5, self.stone_light, lit * 0.85 + 0.15);
                breakwater.surface(px, py, z) * shade
            }
            None => texel,
        };
        if let Some(city) = self.city {
            color = city.street(light, px, py, t, time);
        } else if t < 900.0 {
            color = color * ground.pattern(px, py, t);
        }
        // Stones darken where waves reach.
        if self.sea.is_some() && land < 1.6 {
            color = color * (0.5 + 0.5 * smooth(0.1, 1.5, land - level));
        }
        let veil = light.air.veil(t, view.eye[2], z);
        mix(color, self.distance, veil).with(0.0)
    }
}
