//! A breakwater: a stone causeway into the sea, modelled analytically so that its edges stay sharp.

use super::math::{Color, floor, fract, mix, smooth};
use super::noise::unit2;

/// A straight causeway from one point to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Breakwater {
    pub(crate) from: [f32; 2],
    pub(crate) to: [f32; 2],
    /// Length and unit direction from `from` to `to`.
    length: f32,
    pub(crate) heading: [f32; 2],
    half_width: f32,
    pub(crate) top: f32,
    /// Half the side of the head at its end, in metres; 0 for none.
    head: f32,
    paint: StoneColors,
}

/// Its colors, wet and dry.
#[derive(Clone, Copy, Debug)]
struct StoneColors {
    wet: Color,
    dry: Color,
}

/// The height in metres of the parapet, and the maximum that a boulder adds to the slope at the foot.
const PARAPET: f32 = 0.75;
/// Metres from the wall that boulders reach.
const FOOT: f32 = 9.0;

impl Breakwater {
    pub(crate) fn new(from: [f32; 2], to: [f32; 2], half_width: f32, top: f32, head: f32) -> Self {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let length = dx.hypot(dy).max(1e-3);
        let paint = StoneColors { wet: Color::surface(0x3a_3836), dry: Color::surface(0x8d_857a) };
        Self { from, to, length, heading: [dx / length, dy / length], half_width, top, head, paint }
    }

    /// The maximum height, in metres.
    pub(crate) fn highest(&self) -> f32 {
        self.top + PARAPET
    }

    /// Whether any of it may stand in the box `from..=to`.
    pub(crate) fn touches(&self, from: [f32; 2], to: [f32; 2]) -> bool {
        let reach = self.half_width.max(self.head) + FOOT;
        (0..2).all(|axis| {
            from[axis] <= self.from[axis].max(self.to[axis]) + reach
                && to[axis] >= self.from[axis].min(self.to[axis]) - reach
        })
    }

    /// Distance along and to the right of the causeway's line.
    #[inline]
    fn local(&self, x: f32, y: f32) -> (f32, f32) {
        let [ux, uy] = self.heading;
        let (px, py) = (x - self.from[0], y - self.from[1]);
        (px * ux + py * uy, px * uy - py * ux)
    }

    /// Height of the stone at a point; far below the sea where there is none.
    #[inline]
    pub(crate) fn height(&self, x: f32, y: f32) -> f32 {
        let (along, across) = self.local(x, y);
        let (hx, hy) = (along - self.length, across);
        let from_head = (hx * hx + hy * hy).sqrt() - self.head;
        let aside = if along > self.length || along < 0.0 { 1e3 } else { across.abs() - self.half_width };
        let out = aside.min(from_head);
        if out <= 0.0 {
            // A parapet along the weather side.
            let parapet = across > self.half_width - 0.9 && from_head > 0.0;
            return if parapet { self.top + PARAPET } else { self.top };
        }
        if out > FOOT {
            return -50.0;
        }
        // Tipped boulders at the foot.
        let rubble = unit2(floor(x * 0.62), floor(y * 0.62), 11) * 1.5
            + unit2(floor(x * 1.3), floor(y * 1.3), 5) * 0.7;
        self.top - 1.6 - out * 0.62 + rubble
    }

    /// The material at a point.
    pub(crate) fn surface(&self, x: f32, y: f32, z: f32) -> Color {
        let (along, across) = self.local(x, y);
        let dry = mix(self.paint.wet, self.paint.dry, smooth(0.2, self.top - 0.8, z));
        let (u, v) = (along / 2.4, across / 1.7 + 0.5 * fract(floor(along / 2.4) as f32 * 0.5) * 2.0);
        let tone = 0.82 + 0.3 * unit2(floor(u), floor(v), 23);
        let joint = fract(u).min(1.0 - fract(u)).min(fract(v)).min(1.0 - fract(v));
        let slab = tone * (0.62 + 0.38 * smooth(0.0, 0.05, joint));
        let on_top = smooth(self.top - 0.3, self.top - 0.05, z);
        dry * (on_top * slab + (1.0 - on_top) * (0.55 + 0.5 * unit2(floor(x * 0.62), floor(y * 0.62), 3)))
    }

    /// A point on the walkway, `along` metres from its start.
    pub(crate) fn point(&self, along: f32) -> [f32; 2] {
        [self.from[0] + self.heading[0] * along, self.from[1] + self.heading[1] * along]
    }
}
