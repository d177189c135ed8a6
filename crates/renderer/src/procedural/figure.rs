//! A walking person seen from a distance, drawn from signed-distance strokes.

use std::f32::consts::TAU;

use super::canvas::Canvas;
use super::frame_context::{FrameContext, stroke};
use super::math::{Color, lerp, mix, smooth};

/// Someone walking a straight line through the shot.
#[derive(Clone, Debug)]
pub(crate) struct Walker {
    pub(crate) from: [f32; 2],
    pub(crate) heading: [f32; 2],
    /// Metres per second; 0 stands still.
    pub(crate) pace: f32,
    pub(crate) coat: Color,
    pub(crate) has_lantern: bool,
    /// Wind on the coat: 0 calm, 1 storm.
    pub(crate) wind: f32,
}

/// Metres of one double step.
const STRIDE: f32 = 1.42;

impl Walker {
    /// Steps per second, for the sound.
    pub(crate) fn cadence(&self) -> f32 {
        self.pace / STRIDE * 2.0
    }

    pub(crate) fn position(&self, time: f32) -> [f32; 2] {
        [self.from[0] + self.heading[0] * self.pace * time, self.from[1] + self.heading[1] * self.pace * time]
    }

    pub(crate) fn draw(
        &self,
        context: &FrameContext<'_>,
        footing: impl Fn(f32, f32) -> f32,
        canvas: &mut Canvas,
    ) {
        let [x, y] = self.position(context.time);
        let foot = [x, y, footing(x, y)];
        // Nobody walks on water; a wet street is not water.
        if foot[2] < -0.4 {
            return;
        }
        let Some(projection) = context.project(foot) else { return };
        let phase = TAU * self.pace * context.time / STRIDE;
        let [right, away] = context.view.turned(self.heading[0], self.heading[1]);
        let walking = if self.pace > 0.0 { 1.0 } else { 0.0 };
        let bob = 0.025 * (2.0 * phase).cos() * walking;
        let lean = right * 0.05 * walking;
        let swing = phase.sin() * walking;
        let flutter = self.wind * (0.5 + 0.5 * (context.time * 9.0).sin()) * 0.16;

        cast_shadow(context, &projection, canvas);
        let lit = context.terrain.sunlit(x, y, foot[2] + 1.0);
        let Some([x0, x1, y0, y1]) = projection.bounds(-0.85, 0.85, -0.05, 2.0, canvas) else { return };
        let dark = Color::surface(0x20_2226);
        let skin = Color::surface(0xa8_7c60);
        let step = |side: f32| {
            let s = swing * side;
            let forward = 0.36 * s * right;
            let lift =
                0.10 * (0.5 - 0.5 * (phase + if side > 0.0 { 0.0 } else { TAU * 0.5 }).cos()) * walking;
            // Seen from behind, a foot further away stands higher in the image.
            (0.10 * side * away.abs().max(0.35) + forward, 0.05 + lift + 0.03 * s * away.abs())
        };
        let (left_foot, right_foot) = (step(-1.0), step(1.0));
        let hip = |side: f32| (0.09 * side, 0.86 + bob);
        let arm = |side: f32| {
            (0.27 * side * (0.5 + 0.5 * away.abs()) - 0.26 * swing * side * right + lean, 0.84 + bob)
        };
        for px in x0..x1 {
            for py in y0..y1 {
                let p = projection.local(px, py);
                let legs = stroke(p, hip(-1.0), left_foot, 0.075).min(stroke(p, hip(1.0), right_foot, 0.075));
                let boots = stroke(p, left_foot, (left_foot.0 + 0.09 * right, left_foot.1 - 0.01), 0.07)
                    .min(stroke(p, right_foot, (right_foot.0 + 0.09 * right, right_foot.1 - 0.01), 0.07));
                let (coat, across) = self.coat_outline(p, bob, lean, flutter, swing * right);
                let sleeve = |side: f32| stroke(p, (0.19 * side + lean, 1.38 + bob), arm(side), 0.068);
                let sleeves = sleeve(-1.0).min(sleeve(1.0));
                let head = (p.0 - lean * 1.6 - 0.02 * right, p.1 - 1.63 - bob);
                let hood = (head.0 * head.0 * 1.15 + head.1 * head.1).sqrt() - 0.145;
                let face = ((head.0 - 0.09 * right).powi(2) * 1.4 + (head.1 + 0.01).powi(2)).sqrt() - 0.085;

                let trousers = projection.coverage(legs.min(boots));
                let cloth = projection.coverage(coat.min(sleeves).min(hood));
                if trousers <= 0.0 && cloth <= 0.0 {
                    continue;
                }
                let index = canvas.at(px, py);
                let shade = |u: f32| {
                    let toward = (1.0 - u * u).max(0.0).sqrt();
                    context.light.on(context.facing(u * 0.9, toward * 0.9, 0.3), lit, 0.95)
                };
                if trousers > 0.0 {
                    projection.paint(canvas, index, dark * shade((p.0 * 5.0).clamp(-1.0, 1.0)), trousers);
                }
                if cloth > 0.0 {
                    let folds = 0.88 + 0.12 * (across * 9.0 + p.1 * 2.0).sin();
                    let arm_edge = 1.0 - 0.25 * smooth(0.03, 0.0, sleeves.abs());
                    let mut color = self.coat * shade(across.clamp(-1.0, 1.0)) * (folds * arm_edge);
                    let toward_us = -away;
                    if face < 0.0 && (toward_us > 0.2 || right.abs() > 0.5) {
                        color = mix(color, skin * shade(0.0), smooth(0.0, -0.02, face));
                    }
                    projection.paint(canvas, index, color, cloth);
                }
            }
        }
        if self.has_lantern {
            draw_lantern(context, foot, arm(1.0), canvas);
        }
    }

    /// Signed distance to the coat, and the place across it, -1..1.
    fn coat_outline(&self, p: (f32, f32), bob: f32, lean: f32, flutter: f32, swing: f32) -> (f32, f32) {
        let (top, hem) = (1.47 + bob, 0.58 + bob * 0.5);
        let down = ((top - p.1) / (top - hem)).clamp(0.0, 1.0);
        // Shoulders, waist, skirt.
        let half = lerp(lerp(0.15, 0.215, smooth(0.0, 0.12, down)), 0.275, smooth(0.45, 1.0, down));
        let centre = lean * (1.0 - down) + (flutter + 0.04 * swing) * down * down;
        let across = p.0 - centre;
        let sides = across.abs() - half;
        let ends = (p.1 - top).max(hem + 0.03 * (p.0 * 14.0).sin() * self.wind - p.1);
        (sides.max(ends), across / half)
    }
}

fn cast_shadow(
    context: &FrameContext<'_>,
    projection: &super::frame_context::Projection,
    canvas: &mut Canvas,
) {
    let strength = (context.light.sunlight.luma() * 0.4).min(0.45) + 0.18;
    let Some([x0, x1, y0, y1]) = projection.bounds(-0.6, 0.6, -0.16, 0.16, canvas) else { return };
    for x in x0..x1 {
        for y in y0..y1 {
            let (u, v) = projection.local(x, y);
            let reach = 1.0 - (u / 0.55).powi(2) - (v / 0.13).powi(2);
            if reach > 0.0 {
                let index = canvas.at(x, y);
                let flag = canvas.light[index].fourth();
                canvas.light[index] = (canvas.light[index] * (1.0 - strength * reach.min(1.0))).with(flag);
            }
        }
    }
}

fn draw_lantern(context: &FrameContext<'_>, foot: [f32; 3], hand: (f32, f32), canvas: &mut Canvas) {
    let [rx, ry] = context.view.side_by_side(hand.0, 0.0);
    let Some(spot) = context.view.project([foot[0] + rx, foot[1] + ry, foot[2] + hand.1 - 0.16]) else {
        return;
    };
    let scale = context.view.focal / spot.distance;
    let waver = 0.9 + 0.1 * (context.time * 11.0).sin() * (context.time * 7.3).cos();
    let warm = Color::new(1.0, 0.58, 0.22) * waver;
    // The ground around the feet is nearer than the hand, and is lit too.
    let near = 1.6 / spot.distance;
    canvas.glow(spot.x, spot.y, scale * 0.10, near, warm * 3.5);
    canvas.glow(spot.x, spot.y, scale * 0.5, near, warm * 0.5);
    canvas.glow(spot.x, spot.y, scale * 2.2, near, warm * 0.07);
}
