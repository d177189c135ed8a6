//! Shading of the land: baked light, near texture, wet shores, and the air in front of it. Pixels where the sea covers the
//! land are only marked here; the water is drawn once everything it mirrors is there.

use super::camera::View;
use super::canvas::Canvas;
use super::city::City;
use super::light::Light;
use super::maths::{Colour, mix, smooth};
use super::noise::{Dice, Tile};
use super::relief::Relief;
use super::terrain::Terrain;
use super::water::Sea;

/// The `fourth` lane of pixels that the water pass has yet to draw.
pub(crate) const WATER: f32 = 2.0;

/// The land of a shot, ready to be marched and shaded.
pub(crate) struct Ground {
    pub(crate) relief: Relief,
    pub(crate) terrain: Terrain,
    grain: Tile<f32>,
    texture: f32,
    stretch: f32,
}

impl Ground {
    pub(crate) fn new(relief: Relief, terrain: Terrain, seed: u64) -> Self {
        let mut dice = Dice::new(seed, "ground");
        let (texture, stretch) = relief.texture();
        Self { grain: Tile::rolling(8, 8, 5, 0.75, dice.next() as u32), relief, terrain, texture, stretch }
    }

    /// Height of land or stone at a point, with the roughness that only shows near the camera.
    #[inline]
    pub(crate) fn height(&self, x: f32, y: f32, distance: f32) -> f32 {
        let mut height = self.terrain.height(x, y);
        if distance < 90.0 && self.texture > 0.2 {
            let bump = self.grain.sample(x * 9.0, y * 9.0) - 0.5;
            height += bump * 0.34 * smooth(90.0, 30.0, distance) * self.texture;
        }
        if let Some(mole) = &self.relief.mole
            && distance < 700.0
        {
            height = height.max(mole.height(x, y));
        }
        height
    }

    /// A fine irregular pattern 0..1, in texels: what foam is torn into.
    #[inline]
    pub(crate) fn lace(&self, u: f32, v: f32) -> f32 {
        self.grain.sample(u, v)
    }

    /// Height to stand on at a point.
    pub(crate) fn footing(&self, x: f32, y: f32) -> f32 {
        self.height(x, y, 1e6).max(self.relief.mole.as_ref().map_or(-50.0, |mole| mole.height(x, y)))
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
        let stone_light = light.on([0.0, 0.0, 1.0], 1.0, 0.9);
        for x in 0..canvas.width {
            let [dx, dy] = view.ray(x as f32 + 0.5);
            let distance = light.distance(dx, dy);
            let start = canvas.at(x, 0);
            for y in 0..canvas.height {
                let near = canvas.nearness[start + y];
                if near == 0.0 {
                    continue;
                }
                let t = 1.0 / near;
                let (px, py) = (view.eye[0] + dx * t, view.eye[1] + dy * t);
                let z = view.eye[2] + view.rise(y as f32 + 0.5) * t;
                let mut land = self.terrain.height(px, py);
                let mut stone = None;
                if let Some(mole) = &self.relief.mole
                    && t < 700.0
                {
                    let height = mole.height(px, py);
                    if height > land && z > -0.5 {
                        land = height;
                        stone = Some(mole);
                    }
                }
                let level = match sea {
                    // Where the land is deeper than any trough, the exact level does not matter.
                    Some(sea) if t < 260.0 && land > -sea.reach() => sea.level(px, py, time),
                    Some(_) => 0.0,
                    None => -100.0,
                };
                if land < level && z < level + 0.6 + t * 0.004 + sea.map_or(0.0, Sea::reach) {
                    canvas.light[start + y] = Colour::BLACK.with(WATER);
                    continue;
                }
                let texel = match stone {
                    Some(mole) => {
                        let lit = self.terrain.sunlit(px, py, z);
                        let shade = mix(light.skylight * 0.5, stone_light, lit * 0.85 + 0.15);
                        mole.surface(px, py, z) * shade
                    }
                    None => self.terrain.texel(px, py),
                };
                let mut colour = texel;
                if let Some(city) = city {
                    colour = city.street(light, px, py, t, time);
                } else if t < 900.0 {
                    colour = colour * self.pattern(px, py, t);
                }
                // Stones darken where waves reach.
                if sea.is_some() && land < 1.6 {
                    colour = colour * (0.5 + 0.5 * smooth(0.1, 1.5, land - level));
                }
                let veil = light.air.veil(t, view.eye[2], z);
                canvas.light[start + y] = mix(colour, distance, veil).with(0.0);
            }
        }
    }

    /// Brightness of fine texture around 1, fading out before it would shimmer.
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
