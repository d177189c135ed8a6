//! A breakwater: a stone causeway running out into the sea, sharp enough to walk on.

use super::maths::{Colour, floor, fract, mix, smooth};
use super::noise::unit2;

/// A straight causeway from one point to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mole {
    pub(crate) from: [f32; 2],
    pub(crate) to: [f32; 2],
    pub(crate) half_width: f32,
    pub(crate) top: f32,
    /// Half the side of the round head at its end; 0 for none.
    pub(crate) head: f32,
}

impl Mole {
    /// Distance along and to the right of the causeway's line.
    #[inline]
    fn local(&self, x: f32, y: f32) -> (f32, f32, f32) {
        let (dx, dy) = (self.to[0] - self.from[0], self.to[1] - self.from[1]);
        let length = (dx * dx + dy * dy).sqrt();
        let (ux, uy) = (dx / length, dy / length);
        let (px, py) = (x - self.from[0], y - self.from[1]);
        (px * ux + py * uy, px * uy - py * ux, length)
    }

    /// Height of the stone at a point; far below the sea where there is none.
    #[inline]
    pub(crate) fn height(&self, x: f32, y: f32) -> f32 {
        let (along, across, length) = self.local(x, y);
        let (hx, hy) = (x - self.to[0], y - self.to[1]);
        let from_head = (hx * hx + hy * hy).sqrt() - self.head;
        let aside = if along > length || along < 0.0 { 1e3 } else { across.abs() - self.half_width };
        let out = aside.min(from_head);
        if out <= 0.0 {
            // A parapet along the weather side.
            let parapet = across > self.half_width - 0.9 && from_head > 0.0;
            return if parapet { self.top + 0.75 } else { self.top };
        }
        if out > 9.0 {
            return -50.0;
        }
        // Tipped boulders at the foot.
        let rubble = unit2(floor(x * 0.62), floor(y * 0.62), 11) * 1.5
            + unit2(floor(x * 1.3), floor(y * 1.3), 5) * 0.7;
        self.top - 1.6 - out * 0.62 + rubble
    }

    /// What the stone looks like at a point.
    pub(crate) fn surface(&self, x: f32, y: f32, z: f32) -> Colour {
        let (along, across, _) = self.local(x, y);
        let dry = mix(Colour::surface(0x3a_3836), Colour::surface(0x8d_857a), smooth(0.2, self.top - 0.8, z));
        let (u, v) = (along / 2.4, across / 1.7 + 0.5 * fract(floor(along / 2.4) as f32 * 0.5) * 2.0);
        let tone = 0.82 + 0.3 * unit2(floor(u), floor(v), 23);
        let joint = fract(u).min(1.0 - fract(u)).min(fract(v)).min(1.0 - fract(v));
        let slab = tone * (0.62 + 0.38 * smooth(0.0, 0.05, joint));
        let on_top = smooth(self.top - 0.3, self.top - 0.05, z);
        dry * (on_top * slab + (1.0 - on_top) * (0.55 + 0.5 * unit2(floor(x * 0.62), floor(y * 0.62), 3)))
    }

    /// A point on the walkway, `along` metres from its start.
    pub(crate) fn point(&self, along: f32) -> [f32; 2] {
        let (dx, dy) = (self.to[0] - self.from[0], self.to[1] - self.from[1]);
        let length = (dx * dx + dy * dy).sqrt();
        [self.from[0] + dx / length * along, self.from[1] + dy / length * along]
    }

    pub(crate) fn length(&self) -> f32 {
        (self.to[0] - self.from[0]).hypot(self.to[1] - self.from[1])
    }
}
