//! The context for drawing objects into one frame.

use super::camera::{Spot, View};
use super::canvas::Canvas;
use super::light::Light;
use super::math::{Color, mix};
use super::terrain::Terrain;

/// The context of one frame.
#[derive(Clone, Copy)]
pub(crate) struct FrameContext<'a> {
    pub(crate) view: &'a View,
    pub(crate) light: &'a Light,
    pub(crate) terrain: &'a Terrain,
    /// Seconds since the first frame.
    pub(crate) time: f32,
    /// 0 first frame, 1 last frame.
    pub(crate) progress: f32,
}

/// The projection of an upright object: from pixels to metres in its plane, with the air in front of it.
pub(crate) struct Projection {
    pub(crate) spot: Spot,
    /// Pixels a metre.
    pub(crate) scale: f32,
    pub(crate) nearness: f32,
    veil: f32,
    distance: Color,
}

impl FrameContext<'_> {
    /// Projects an object that stands at `foot`; `None` behind the camera.
    pub(crate) fn project(&self, foot: [f32; 3]) -> Option<Projection> {
        let spot = self.view.project(foot)?;
        let [dx, dy] = self.view.ray(spot.x);
        Some(Projection {
            spot,
            scale: self.view.focal / spot.distance,
            nearness: 1.0 / spot.distance,
            veil: self.light.air.veil(spot.distance, self.view.eye[2], foot[2]),
            distance: self.light.distance(dx, dy),
        })
    }

    /// A direction given as (right, towards the camera, up), in world terms.
    pub(crate) fn facing(&self, right: f32, toward: f32, up: f32) -> [f32; 3] {
        let [x, y] = self.view.side_by_side(right, -toward);
        [x, y, up]
    }
}

impl Projection {
    /// A color after aerial perspective.
    #[inline]
    pub(crate) fn through_air(&self, color: Color) -> Color {
        mix(color, self.distance, self.veil)
    }

    /// Draws one pixel, with a depth test.
    #[inline]
    pub(crate) fn paint(&self, canvas: &mut Canvas, index: usize, color: Color, opacity: f32) {
        // A little tolerance: a thing stands in the ground it stands on.
        if canvas.nearness[index] > self.nearness * 1.02 {
            return;
        }
        let flag = canvas.light[index].fourth();
        // An edge leaves the pixel to what is behind it, which may be water yet to be drawn.
        let remaining_flag = if opacity > 0.5 { 0.0 } else { flag };
        canvas.light[index] = mix(canvas.light[index], self.through_air(color), opacity).with(remaining_flag);
        if opacity > 0.5 {
            canvas.nearness[index] = self.nearness;
        }
    }

    /// The pixel columns and rows that a box of its own metres covers.
    pub(crate) fn bounds(
        &self,
        left: f32,
        right: f32,
        low: f32,
        high: f32,
        canvas: &Canvas,
    ) -> Option<[usize; 4]> {
        let (x0, x1) = super::canvas::clip(
            self.spot.x + left * self.scale - 1.0,
            self.spot.x + right * self.scale + 1.0,
            canvas.width,
        )?;
        let (y0, y1) = super::canvas::clip(
            self.spot.y - high * self.scale - 1.0,
            self.spot.y - low * self.scale + 1.0,
            canvas.height,
        )?;
        Some([x0, x1, y0, y1])
    }

    /// A pixel's centre in its own metres: right, up.
    #[inline]
    pub(crate) fn local(&self, x: usize, y: usize) -> (f32, f32) {
        ((x as f32 + 0.5 - self.spot.x) / self.scale, (self.spot.y - y as f32 - 0.5) / self.scale)
    }

    /// How much of a pixel lies inside an outline, from the signed distance in metres (negative inside).
    #[inline]
    pub(crate) fn coverage(&self, outside: f32) -> f32 {
        (0.5 - outside * self.scale).clamp(0.0, 1.0)
    }
}

/// Signed distance to a stroke of the given half width between two points.
#[inline]
pub(crate) fn stroke(p: (f32, f32), a: (f32, f32), b: (f32, f32), half_width: f32) -> f32 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let (px, py) = (p.0 - a.0, p.1 - a.1);
    let t = ((px * dx + py * dy) / (dx * dx + dy * dy).max(1e-9)).clamp(0.0, 1.0);
    let (ex, ey) = (px - dx * t, py - dy * t);
    (ex * ex + ey * ey).sqrt() - half_width
}
