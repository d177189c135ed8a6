//! The ground below figures where the landscape gives none: a road, rails, a beach, a table.

use crate::procedural::camera::View;
use crate::procedural::canvas::{Canvas, clip};
use crate::procedural::light::Light;
use crate::procedural::math::{Color, fract, mix, smooth};
use crate::procedural::noise::unit2;

/// What the strip is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StripMaterial {
    Road,
    Rails,
    Sand,
    Wood,
}

/// A level strip across the image.
#[derive(Clone, Copy, Debug)]
pub(super) struct GroundStrip {
    pub(super) surface: StripMaterial,
    /// Metres above sea level.
    pub(super) height: f32,
    /// Metres before the camera at its far and its near edge, in the pose that it was built for.
    pub(super) far: f32,
    pub(super) near: f32,
    /// The camera of that pose.
    pub(super) eye: [f32; 3],
}

impl GroundStrip {
    pub(super) fn draw(&self, view: &View, light: &Light, time: f32, canvas: &mut Canvas) {
        let [_, ahead] = view.turned(view.eye[0] - self.eye[0], view.eye[1] - self.eye[1]);
        let [along, _] = view.turned(view.eye[0], view.eye[1]);
        let row = |distance: f32| view.row(self.height, (distance - ahead).max(0.2));
        let bottom = if self.surface == StripMaterial::Road || self.surface == StripMaterial::Rails {
            row(self.near)
        } else {
            view.height
        };
        let Some((y0, y1)) = clip(row(self.far) - 3.0, bottom, canvas.height) else { return };
        let lit = light.on([0.0, 0.0, 1.0], 1.0, 1.0) + Color::grey(0.05);
        let focal = view.focal;
        for y in y0..y1 {
            let drop = (y as f32 + 0.5 - view.horizon).max(0.5);
            let distance = (view.eye[2] - self.height) * focal / drop;
            let across = (distance + ahead - self.near) / (self.far - self.near);
            let edge = ((y as f32 + 0.5) - row(self.far)).clamp(0.0, 1.0);
            for x in 0..canvas.width {
                let wx = (x as f32 + 0.5 - 0.5 * view.width) / focal * distance + along;
                let (color, cover) = self.color(wx, distance + ahead, across, time);
                let index = canvas.at(x, y);
                let below = canvas.light[index];
                canvas.light[index] = mix(below, color * lit, cover * edge).with(0.0);
                canvas.nearness[index] = 1.0 / distance.max(0.1);
            }
        }
    }

    /// The color and the coverage at a place: metres along, metres ahead, and the share of the way from the near to the far edge.
    fn color(&self, x: f32, y: f32, across: f32, time: f32) -> (Color, f32) {
        let grain =
            |scale: f32, salt: u32| unit2((x * scale).floor() as i32, (y * scale * 2.0).floor() as i32, salt);
        match self.surface {
            StripMaterial::Road => {
                let asphalt = Color::surface(0x46_464c) * (0.92 + 0.12 * grain(14.0, 5));
                let dash = (across - 0.5).abs() < 0.035 && fract(x / 3.2) < 0.5;
                let border = (across - 0.95).abs() < 0.025 || (across - 0.05).abs() < 0.03;
                (if dash || border { Color::surface(0xd8_d4c4) } else { asphalt }, 1.0)
            }
            StripMaterial::Rails => {
                let gravel = Color::surface(0x6a_6258) * (0.75 + 0.4 * grain(9.0, 3));
                let sleeper = fract(x / 0.65) < 0.36 && (0.15..0.85).contains(&across);
                let rail = (across - 0.30).abs() < 0.035 || (across - 0.70).abs() < 0.03;
                let color = if rail {
                    Color::surface(0xb0_b4bc)
                } else if sleeper {
                    Color::surface(0x48_3424)
                } else {
                    gravel
                };
                (color, 1.0)
            }
            StripMaterial::Sand => {
                let wash = 0.88 + 0.06 * (x * 0.7 + time * 0.8).sin() + 0.03 * (x * 2.3 - time * 1.1).sin();
                let sand = Color::surface(0xc8_b088) * (0.94 + 0.08 * grain(11.0, 9));
                let wet = mix(sand, Color::surface(0x78_6a54), smooth(wash - 0.30, wash, across));
                let foam = smooth(wash - 0.05, wash, across);
                (mix(wet, Color::grey(0.95), foam), 1.0 - smooth(wash, wash + 0.08, across))
            }
            StripMaterial::Wood => {
                let board = (y * 7.0).floor();
                let fibre = 0.5 + 0.5 * (x * 9.0 + board * 3.1 + 0.8 * (x * 3.0 + board).sin()).sin();
                let gap = fract(y * 7.0) < 0.05;
                let wood = mix(Color::surface(0x8a_5c38), Color::surface(0x70_4628), fibre * 0.6);
                (if gap { wood * 0.5 } else { wood * (0.9 + 0.1 * unit2(board as i32, 1, 7)) }, 1.0)
            }
        }
    }
}
