//! Weather and particles: rain, snow, embers, fireflies, lanterns, lightning.

use std::f32::consts::TAU;

use super::camera::View;
use super::canvas::Canvas;
use super::light::Light;
use super::math::{Color, fract, lerp, mix, smooth};
use super::noise::{Rng, unit2};

/// The weather of a scene, resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weather {
    /// 0 none, 1 a downpour.
    pub(crate) rain: f32,
    /// 0 none, 1 a blizzard.
    pub(crate) snow: f32,
    pub(crate) fog: f32,
    /// 0 calm, 1 a storm.
    pub(crate) wind: f32,
    /// Seconds at which lightning strikes.
    pub(crate) strikes: Vec<f32>,
    pub(crate) motes: Option<Motes>,
}

/// Glowing particles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motes {
    Embers,
    Fireflies,
    Lanterns,
}

impl Weather {
    /// How bright the sky flashes at a moment, 0 mostly.
    pub(crate) fn flash(&self, time: f32) -> f32 {
        self.strikes
            .iter()
            .map(|strike| {
                let since = time - strike;
                if !(0.0..0.9).contains(&since) {
                    return 0.0;
                }
                // A stroke and its return strokes.
                let flicker = 0.55 + 0.45 * (since * 61.0).sin().abs();
                (-since * 6.5).exp() * flicker
            })
            .sum()
    }

    /// Draws everything over the finished scene.
    pub(crate) fn draw(&self, light: &Light, view: &View, time: f32, seed: u32, canvas: &mut Canvas) {
        if let Some(motes) = self.motes {
            draw_motes(motes, view, time, seed, canvas);
        }
        if self.snow > 0.0 {
            self.draw_snow(light, view, time, seed, canvas);
        }
        if self.rain > 0.0 {
            self.draw_rain(light, view, time, seed, canvas);
        }
    }

    /// Streaks in four depths, bright against dark and dark against bright, as water is.
    fn draw_rain(&self, light: &Light, view: &View, time: f32, seed: u32, canvas: &mut Canvas) {
        let unit = view.width.hypot(view.height) / 980.0;
        let tint = mix(light.middle, light.horizon, 0.5) * 1.15 + Color::grey(0.05);
        for depth in 0..4_i32 {
            let near = 1.0 / (1.0 + depth as f32 * 0.75);
            let length = 46.0 * near * unit * lerp(0.7, 1.25, self.rain);
            let speed = 1500.0 * near * unit;
            let slant = lerp(0.02, 0.34, self.wind);
            let count = (lerp(90.0, 330.0, self.rain) / near.sqrt()) as i32;
            let strength = lerp(0.10, 0.2, near) * lerp(0.7, 1.1, self.rain);
            for i in 0..count {
                let cycle = view.height + length * 2.0;
                let travelled = unit2(i, depth, seed) * cycle
                    + time * speed * lerp(0.85, 1.15, unit2(i, depth, seed ^ 7));
                let lap = (travelled / cycle).floor();
                let y = travelled - lap * cycle - length;
                // A new column each time it falls, or the eye finds the pattern.
                let x = unit2(i, depth * 977 + lap as i32, seed ^ 3) * (view.width + slant * view.height)
                    + slant * -y;
                streak(
                    canvas,
                    x,
                    y,
                    length,
                    slant,
                    tint,
                    strength * lerp(0.5, 1.0, unit2(i, depth, seed ^ 9)),
                );
            }
        }
    }

    fn draw_snow(&self, light: &Light, view: &View, time: f32, seed: u32, canvas: &mut Canvas) {
        let flake_light = (light.skylight * 0.9 + light.sunlight * 0.35) * 1.1 + Color::grey(0.04);
        let count = lerp(500.0, 2600.0, self.snow) as i32;
        // Flakes live in a box that travels with the camera and wraps around it.
        let side = [26.0, 26.0, 15.0];
        let fall = 1.25 + 1.4 * self.wind;
        let blow = [lerp(0.3, 5.5, self.wind), lerp(-0.2, -1.6, self.wind)];
        for i in 0..count {
            let own = |salt: u32| unit2(i, 0, seed ^ salt);
            let weave = 0.5 * (time * lerp(0.6, 1.5, own(5)) + own(6) * TAU).sin();
            let wrap = |value: f32, size: f32, centre: f32| {
                let p = fract((value - centre) / size + 0.5) - 0.5;
                centre + p * size
            };
            let (fx, fy) = view.centre_ahead(side[1] * 0.5);
            let point = [
                wrap(own(1) * side[0] + blow[0] * time + weave, side[0], fx),
                wrap(own(2) * side[1] + blow[1] * time + weave * 0.4, side[1], fy),
                wrap(own(3) * side[2] - fall * lerp(0.7, 1.3, own(4)) * time, side[2], view.eye[2] + 0.5),
            ];
            let Some(spot) = view.project(point) else { continue };
            let radius =
                (0.020 * lerp(0.6, 1.5, own(8)) * view.focal / spot.distance).min(view.height * 0.012);
            let alpha = smooth(0.5, 1.6, spot.distance) * smooth(24.0, 12.0, spot.distance);
            disc(canvas, spot.x, spot.y, radius, 1.0 / spot.distance, flake_light, alpha * 0.85);
        }
    }
}

fn draw_motes(motes: Motes, view: &View, time: f32, seed: u32, canvas: &mut Canvas) {
    let count = match motes {
        Motes::Embers => 190,
        Motes::Fireflies => 130,
        Motes::Lanterns => 70,
    };
    for i in 0..count {
        let own = |salt: u32| unit2(i, 1, seed ^ salt);
        let (fx, fy) = view.centre_ahead(0.0);
        let reach = if motes == Motes::Lanterns { 130.0 } else { 26.0 };
        let ahead = lerp(3.0, reach, own(2).powf(0.8));
        let across = (own(1) - 0.5) * (ahead * 1.5 + 4.0);
        let drift = (time * lerp(0.3, 0.9, own(4)) + own(5) * TAU).sin();
        let (up, light, size) = match motes {
            Motes::Embers => {
                let life = fract(own(3) + time * lerp(0.12, 0.3, own(6)));
                let heat = (1.0 - life) * smooth(0.0, 0.1, life);
                (life * 9.0 - 2.5, Color::new(3.2, 1.05, 0.22) * heat, 0.022)
            }
            Motes::Fireflies => {
                let pulse = smooth(0.2, 1.0, (time * lerp(0.8, 2.0, own(6)) + own(7) * TAU).sin());
                (own(3) * 4.5 - 2.6 + drift * 0.3, Color::new(1.5, 1.9, 0.45) * pulse, 0.03)
            }
            Motes::Lanterns => {
                let climb = own(3) * 46.0 + time * lerp(0.4, 1.1, own(6)) - 6.0;
                (climb, Color::new(2.6, 1.15, 0.34) * (0.75 + 0.25 * drift), 0.42)
            }
        };
        let turn = view.side_by_side(across + drift * 0.5, ahead);
        let point = [fx + turn[0], fy + turn[1], view.eye[2] + up];
        let Some(spot) = view.project(point) else { continue };
        let radius = size * view.focal / spot.distance;
        canvas.glow(spot.x, spot.y, radius * 3.6, 1.0 / spot.distance, light * 0.16);
        canvas.glow(spot.x, spot.y, radius.max(0.9), 1.0 / spot.distance, light);
    }
}

fn streak(canvas: &mut Canvas, x: f32, y: f32, length: f32, slant: f32, tint: Color, strength: f32) {
    let Some((y0, y1)) = super::canvas::clip(y, y + length, canvas.height) else { return };
    for row in y0..y1 {
        let share = (row as f32 + 0.5 - y) / length;
        let alpha = strength * smooth(0.0, 0.4, share) * smooth(1.0, 0.75, share);
        let center = x - slant * (row as f32 + 0.5 - y);
        if center < 0.0 || center >= canvas.width as f32 - 1.0 {
            continue;
        }
        let column = center as usize;
        let side = center - column as f32;
        for (column, share) in [(column, 1.0 - side), (column + 1, side)] {
            let index = canvas.at(column, row);
            canvas.over(index, tint, alpha * share);
        }
    }
}

fn disc(canvas: &mut Canvas, cx: f32, cy: f32, radius: f32, nearness: f32, color: Color, alpha: f32) {
    let reach = radius.max(0.75);
    // A dot smaller than a pixel is a fainter pixel.
    let alpha = alpha * (radius / reach).powi(2);
    let Some((x0, x1)) = super::canvas::clip(cx - reach, cx + reach, canvas.width) else { return };
    let Some((y0, y1)) = super::canvas::clip(cy - reach, cy + reach, canvas.height) else { return };
    for x in x0..x1 {
        for y in y0..y1 {
            let (dx, dy) = ((x as f32 + 0.5 - cx) / reach, (y as f32 + 0.5 - cy) / reach);
            let index = canvas.at(x, y);
            if canvas.nearness[index] <= nearness {
                canvas.over(index, color, alpha * smooth(1.0, 0.2, (dx * dx + dy * dy).sqrt()));
            }
        }
    }
}

/// The moments of lightning in a shot of `seconds`: irregular, never in the first half second.
pub(crate) fn strikes(seconds: f32, rng: &mut Rng) -> Vec<f32> {
    let mut time = rng.range(0.5, 1.4);
    let mut strikes = Vec::new();
    while time < seconds - 0.3 {
        strikes.push(time);
        time += rng.range(1.6, 4.2);
    }
    strikes
}
