//! The lighthouse beam: two cones of scattered light, integrated along each line of sight.

use super::canvas::Canvas;
use super::frame_context::FrameContext;
use super::lighthouse::{LAMP, Lighthouse};
use super::math::{Color, decay, lerp, mix, smooth};

/// Pixels between the samples of the scattered light.
const STEP: usize = 4;

/// Adds the beams of `lighthouse` to the image.
pub(crate) fn draw(
    lighthouse: &Lighthouse,
    context: &FrameContext<'_>,
    canvas: &mut Canvas,
    cells: &mut Vec<f32>,
) {
    let strength = lighthouse.lamp(context.progress) * lighthouse.power;
    if strength < 0.03 {
        return;
    }
    let view = context.view;
    let lamp = [lighthouse.foot[0], lighthouse.foot[1], lighthouse.foot[2] + LAMP];
    let bearing = lighthouse.bearing(context.time);
    let axis = [bearing.sin(), bearing.cos(), -0.012];
    let (columns, rows) = (canvas.width / STEP + 2, canvas.height / STEP + 2);
    cells.clear();
    for column in 0..columns {
        let x = (column * STEP).min(canvas.width - 1);
        let [dx, dy] = view.ray(x as f32);
        for row in 0..rows {
            let y = (row * STEP).min(canvas.height - 1);
            let near = canvas.nearness[canvas.at(x, y)];
            let direction = [dx, dy, view.rise(y as f32)];
            cells.push(scattered(view.eye, direction, lamp, axis, if near > 0.0 { 1.0 / near } else { 1e5 }));
        }
    }
    // Thicker air shows more of it.
    let air = (0.5 + context.light.air.haze * 1500.0 + context.light.air.mist * 300.0).min(1.5);
    let tint = mix(Color::new(1.0, 0.9, 0.66), Color::grey(1.0), 0.1) * (strength * air * 0.85);
    let inverse = 1.0 / STEP as f32;
    for x in 0..canvas.width {
        let left = x / STEP;
        let share = (x % STEP) as f32 * inverse;
        for y in 0..canvas.height {
            let top = y / STEP;
            let down = (y % STEP) as f32 * inverse;
            let cell_at = |c: usize, r: usize| cells[c * rows + r];
            let value = lerp(
                lerp(cell_at(left, top), cell_at(left + 1, top), share),
                lerp(cell_at(left, top + 1), cell_at(left + 1, top + 1), share),
                down,
            );
            if value > 0.002 {
                let index = canvas.at(x, y);
                canvas.light[index] += tint * value;
            }
        }
    }
}

/// Light of both cones along one line of sight that ends at forward distance `reach`.
fn scattered(eye: [f32; 3], d: [f32; 3], lamp: [f32; 3], axis: [f32; 3], reach: f32) -> f32 {
    let dot = |a: [f32; 3], b: [f32; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let between = [eye[0] - lamp[0], eye[1] - lamp[1], eye[2] - lamp[2]];
    // The points where line of sight and axis pass closest.
    let (dd, da, db, ab) = (dot(d, d), dot(d, axis), dot(d, between), dot(axis, between));
    let aa = dot(axis, axis);
    let spread = (dd * aa - da * da).max(1e-5);
    let t = ((da * ab - aa * db) / spread).clamp(0.0, reach);
    let along = (ab + t * da) / aa;
    let out = along.abs();
    if out > 900.0 {
        return 0.0;
    }
    let miss = [0, 1, 2].map(|i| between[i] + d[i] * t - axis[i] * along);
    let radius = 0.9 + 0.033 * out;
    let q = dot(miss, miss) / (radius * radius);
    // Seen along its axis a beam is deeper; near the lamp it is denser.
    let sine = (spread / (dd * aa)).sqrt().max(0.12);
    decay(q * 1.6) * smooth(900.0, 60.0, out) * (1.0 / (1.0 + out * 0.02)) / sine.sqrt()
        * smooth(0.6, 3.0, out)
}
