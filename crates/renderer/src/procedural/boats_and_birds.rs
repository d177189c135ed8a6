//! Boats on the water and birds above it.

use std::f32::consts::TAU;

use super::canvas::Canvas;
use super::frame_context::{FrameContext, stroke};
use super::math::{Color, fract, mix, smooth};
use super::noise::Rng;
use super::water::Sea;

/// A boat seen from the side.
#[derive(Clone, Debug)]
pub(crate) struct Boat {
    position: [f32; 2],
    drift: f32,
    has_sail: bool,
    /// -1 bow to the left, 1 to the right.
    bow: f32,
    hull: Color,
    scale: f32,
    lamp: f32,
}

impl Boat {
    /// A fleet of `count`, spread ahead and to the far side of the subject.
    pub(crate) fn fleet(count: u32, side: f32, dark: f32, rng: &mut Rng) -> Vec<Self> {
        (0..count)
            .map(|i| {
                let ahead = rng.range(42.0, 80.0) + i as f32 * rng.range(25.0, 70.0);
                Self {
                    position: [-side * ahead * rng.range(-0.02, 0.34), ahead],
                    drift: rng.range(0.4, 1.3),
                    has_sail: rng.chance(0.55),
                    bow: rng.sign(),
                    hull: Color::surface(rng.pick(&[0x7a_2822, 0x24_3c58, 0xd8_d4c8, 0x2c_4a3c])),
                    scale: rng.range(0.9, 1.25),
                    lamp: dark,
                }
            })
            .collect()
    }

    pub(crate) fn draw(&self, context: &FrameContext<'_>, sea: &Sea, canvas: &mut Canvas) {
        let x = self.position[0] + self.bow * self.drift * context.time;
        let y = self.position[1];
        let swell = sea.at(context.time);
        let afloat = swell.level(x, y);
        let roll = (swell.level(x + 3.0, y) - swell.level(x - 3.0, y)) / 6.0 * 0.8
            + 0.02 * (context.time * 1.1 + x).sin();
        let Some(mut projection) = context.project([x, y, afloat * 0.8 - 0.1]) else { return };
        projection.scale *= self.scale;
        let Some([x0, x1, y0, y1]) = projection.bounds(-5.4, 5.4, -1.0, 11.0, canvas) else { return };
        let (sin, cos) = roll.sin_cos();
        let side_light = context.light.on(context.facing(0.0, 0.95, 0.3), 1.0, 0.9);
        let sail_light = context.light.on(context.facing(0.3 * self.bow, 0.8, 0.2), 1.0, 0.9)
            + context.light.sunlight * 0.12;
        for px in x0..x1 {
            for py in y0..y1 {
                let (lx, ly) = projection.local(px, py);
                let p = ((lx * cos + ly * sin) * self.bow, ly * cos - lx * sin);
                let index = canvas.at(px, py);
                for (outside, color) in self.parts(p) {
                    let cover = projection.coverage(outside);
                    if cover > 0.0 {
                        let light = if color.fourth() > 0.5 { sail_light } else { side_light };
                        projection.paint(canvas, index, color.with(0.0) * light, cover);
                    }
                }
            }
        }
        if self.lamp > 0.2 {
            let near = projection.nearness * 1.1;
            let (lx, ly) = (
                projection.spot.x + 0.4 * self.bow * projection.scale,
                projection.spot.y - 2.6 * projection.scale,
            );
            let warm = Color::new(1.0, 0.66, 0.3) * self.lamp;
            canvas.glow(lx, ly, projection.scale * 0.22, near, warm * 3.0);
            canvas.glow(lx, ly, projection.scale * 2.2, near, warm * 0.35);
        }
    }

    /// Outlines (signed distance in metres) and colors, back to front; `fourth` marks cloth.
    fn parts(&self, (x, y): (f32, f32)) -> [(f32, Color); 5] {
        let sheer = 0.75 + 0.045 * (x + 0.6) * (x + 0.6);
        let stem = x.abs() - (4.1 + 0.45 * y.clamp(-0.5, 1.4) * if x > 0.0 { 1.0 } else { 0.35 });
        let hull = (y - sheer).max(-0.6 - y).max(stem);
        let line = (hull + 0.0).max((y - sheer + 0.16).abs() - 0.06);
        let white = Color::surface(0xe4_ded0);
        let mast = stroke((x, y), (0.5, 0.7), (0.5, if self.has_sail { 9.6 } else { 5.2 }), 0.06);
        if self.has_sail {
            // Main and jib, bellied by the wind.
            let belly = 0.35 * (y * 0.32).sin();
            let main = (0.62 - belly * 0.2 - x.max(-9.0))
                .max(-(0.62 - x))
                .max(1.5 - y)
                .max(y - 9.2 + (0.62 - x).max(0.0) * 1.95);
            let main = main.max(x - 0.42);
            let jib = (0.66 - x).max(1.35 - y).max(y - 8.2 + (x - 0.66) * 2.0 - belly * 0.4);
            [
                (mast, Color::surface(0x4a_3a2c)),
                (main.max(x - 0.42).max(-3.6 - x), white.with(1.0)),
                (jib, (white * 0.94).with(1.0)),
                (hull, self.hull),
                (line, white),
            ]
        } else {
            let house = ((x + 1.3).abs() - 1.25).max((y - 1.75).abs() - 0.95);
            let window = ((x + 1.0).abs() - 0.7).max((y - 2.15).abs() - 0.24);
            [
                (mast, Color::surface(0x4a_3a2c)),
                (house, white),
                (window, Color::surface(0x2a_343c)),
                (hull, self.hull),
                (line, white),
            ]
        }
    }
}

/// A flock of birds in flight.
#[derive(Clone, Debug)]
pub(crate) struct Flock {
    birds: Vec<Bird>,
    is_pale: bool,
}

#[derive(Clone, Debug)]
struct Bird {
    centre: [f32; 3],
    radius: f32,
    /// Radians a second around the centre.
    turn: f32,
    phase: f32,
    beat: f32,
}

impl Flock {
    /// `count` birds circling around a point.
    pub(crate) fn new(count: u32, around: [f32; 3], pale: bool, rng: &mut Rng) -> Self {
        let birds = (0..count).map(|_| Bird {
            centre: [
                around[0] + rng.range(-38.0, 38.0),
                around[1] + rng.range(-25.0, 40.0),
                around[2] + rng.range(-6.0, 17.0),
            ],
            radius: rng.range(9.0, 34.0),
            turn: rng.range(0.16, 0.42) * rng.sign(),
            phase: rng.range(0.0, TAU),
            beat: rng.range(1.9, 3.0),
        });
        Self { birds: birds.collect(), is_pale: pale }
    }

    pub(crate) fn draw(&self, context: &FrameContext<'_>, canvas: &mut Canvas) {
        let back = context.light.on([0.0, 0.0, 1.0], 0.8, 0.8);
        let color = if self.is_pale {
            Color::surface(0xd8_d8d6) * back * 0.8
        } else {
            Color::surface(0x24_2428) * back
        };
        for bird in &self.birds {
            let angle = bird.phase + bird.turn * context.time;
            let position = [
                bird.centre[0] + bird.radius * angle.cos(),
                bird.centre[1] + bird.radius * angle.sin() * 0.7,
                bird.centre[2] + 1.6 * (angle * 1.7).sin(),
            ];
            let Some(projection) = context.project(position) else { continue };
            let span = (projection.scale * 0.62).max(1.3);
            // Beats, then glides.
            let cycle = fract(context.time * 0.23 + bird.phase);
            let flap = (TAU * bird.beat * context.time + bird.phase * 7.0).sin() * smooth(0.62, 0.5, cycle);
            let bank = bird.turn.signum() * 0.3 * angle.sin();
            let (tip_up, elbow_up) = (0.5 * flap + 0.12, 0.34 + 0.22 * flap);
            let width = (0.055 * span).max(0.35);
            let reach = span * 1.15 + 2.0;
            let (cx, cy) = (projection.spot.x, projection.spot.y);
            let Some((x0, x1)) = super::canvas::clip(cx - reach, cx + reach, canvas.width) else { continue };
            let Some((y0, y1)) = super::canvas::clip(cy - reach, cy + reach, canvas.height) else { continue };
            for x in x0..x1 {
                for y in y0..y1 {
                    let p = ((x as f32 + 0.5 - cx) / span, (cy - y as f32 - 0.5) / span);
                    let wing = |side: f32| {
                        let elbow = (0.42 * side, elbow_up * 0.5 + bank * 0.3 * side);
                        let tip = (1.0 * side, tip_up * 0.8 + bank * side);
                        stroke(p, (0.0, 0.0), elbow, 0.07).min(stroke(p, elbow, tip, 0.045))
                    };
                    let body = stroke(p, (-0.12, -0.03), (0.14, -0.02), 0.075);
                    let outside = wing(-1.0).min(wing(1.0)).min(body) * span;
                    let cover = (width - outside).clamp(0.0, 1.0);
                    if cover > 0.0 {
                        let index = canvas.at(x, y);
                        if canvas.nearness[index] <= projection.nearness {
                            canvas.light[index] =
                                mix(canvas.light[index], projection.through_air(color), cover * 0.92);
                        }
                    }
                }
            }
        }
    }
}
