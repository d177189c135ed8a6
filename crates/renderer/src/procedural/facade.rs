//! The walls of towers: windows with light behind some of them, shops, signs.

use super::math::{Color, floor, lerp, mix, smooth};
use super::noise::unit2;

/// The pattern of one wall.
pub(super) struct Facade {
    pub(super) salt: u32,
    pub(super) wall: Color,
    pub(super) glass: Color,
    pub(super) lamp: Color,
    pub(super) lit: f32,
    /// Metres from window to window, and from floor to floor.
    pub(super) pitch: [f32; 2],
    /// The glass share of that spacing.
    pub(super) share: [f32; 2],
    pub(super) has_sign: bool,
    pub(super) wall_glow: Color,
}

/// A column of pixels of a wall, drawn from row to row.
pub(super) struct FacadeColumn<'a> {
    facade: &'a Facade,
    top: f32,
    /// The column of windows, and how much of the pixels it covers, across.
    column: i32,
    cover: f32,
    /// Where, in floors from the middle of a window, its edge ends, and the inverse of how far from there it is solid.
    edge: f32,
    sharpness: f32,
    /// How far single windows are told apart: 0 not, 1 sharply.
    detail: f32,
    floors_a_metre: f32,
    /// Light of a shop on the ground floor.
    shop: Color,
    /// Metres from the middle of the sign.
    from_sign: f32,
    /// The window that was drawn last, with its floor.
    window: Option<(i32, Window)>,
}

#[derive(Clone, Copy)]
struct Window {
    /// 0 dark, 1 lit.
    lit: f32,
    light: Color,
}

impl Facade {
    /// The column at `along` of `width` metres, of a wall as high as `top`. A pixel covers `fine` metres.
    pub(super) fn strip(&self, along: f32, width: f32, top: f32, fine: f32) -> FacadeColumn<'_> {
        let columns = floor(width / self.pitch[0]).max(1) as f32;
        let u = along / width * columns;
        let column = floor(u);
        let soft = [fine / self.pitch[0], fine / self.pitch[1]];
        let blur = (soft[1] * 0.6).max(1e-4);
        let shop = if self.lit > 0.15 {
            let shop = smooth(0.15, 0.4, self.lit) * unit2(column / 2, 3, self.salt ^ 0x31);
            self.lamp * (0.26 * shop)
        } else {
            Color::BLACK
        };
        FacadeColumn {
            facade: self,
            top,
            column,
            cover: inside(u - column as f32 - 0.5, self.share[0], soft[0] * 0.6),
            edge: 0.5 * self.share[1] + blur,
            sharpness: -0.5 / blur,
            floors_a_metre: 1.0 / self.pitch[1],
            detail: smooth(0.55, 0.2, soft[1].max(soft[0])),
            shop,
            from_sign: (along - width * 0.18).abs(),
            window: None,
        }
    }
}

impl FacadeColumn<'_> {
    /// The color at height `z`.
    #[inline]
    pub(super) fn color(&mut self, z: f32) -> Color {
        let share = self.facade.share;
        // Divisions would be the most of the work.
        let v = z * self.floors_a_metre;
        let row = floor(v);
        let from_middle = v - row as f32 - 0.5;
        let is_parapet = self.top - z < 1.1;
        let solid = ((from_middle.abs() - self.edge) * self.sharpness).clamp(0.0, 1.0);
        let sharp = self.cover * solid * solid * (3.0 - 2.0 * solid);
        let glass = if is_parapet { 0.0 } else { lerp(share[0] * share[1], sharp, self.detail) };
        let Window { lit, light } = self.window_at(row);
        // A room is brighter below its ceiling lamp, and has curtains.
        let room = 0.75 + 0.5 * (from_middle + 0.3) * self.detail;
        let mut color = mix(self.facade.wall, mix(self.facade.glass, light * room, lit), glass);
        if z < 4.2 {
            color += self.shop * smooth(4.2, 3.0, z);
        }
        // Streets throw their light up the walls.
        color += self.facade.wall_glow * (49.0 / (49.0 + z * z));
        if self.facade.has_sign && self.from_sign < 1.1 && (z - self.top * 0.45).abs() < self.top * 0.22 {
            let glyph = unit2(floor(self.from_sign * 2.6), floor(z * 1.4), self.facade.salt ^ 0xbeef);
            color = mix(color, self.facade.lamp * 1.6, if glyph > 0.42 { 0.95 } else { 0.35 });
        }
        color
    }

    /// The window on a floor.
    #[inline]
    fn window_at(&mut self, floor: i32) -> Window {
        match self.window {
            Some((cached_floor, window)) if cached_floor == floor => window,
            _ => {
                let window = self.new_window(floor);
                self.window = Some((floor, window));
                window
            }
        }
    }

    fn new_window(&self, floor: i32) -> Window {
        let Facade { salt, lit, lamp, .. } = *self.facade;
        // From afar, several windows read as one.
        let group = if self.detail > 0.3 { 1 } else { 2 };
        let own = |salt: u32| unit2(self.column / group, floor / group, salt);
        let hue = if own(salt ^ 0x99) < 0.16 { Color::new(0.9, 1.1, 1.25) } else { lamp };
        Window {
            lit: smooth(lit + 0.02, lit - 0.02, own(salt)),
            light: hue * (lerp(0.35, 1.15, own(salt ^ 0x77)) * 0.9),
        }
    }
}

/// How much of a pixel lies inside a window, from the distance to its middle, along one axis.
fn inside(from_middle: f32, share: f32, soft: f32) -> f32 {
    smooth(0.5 * share + soft, 0.5 * share - soft, from_middle.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_of_a_strip_does_not_depend_on_the_order_of_rows() {
        let facade = Facade {
            salt: 5,
            wall: Color::grey(0.1),
            glass: Color::grey(0.2),
            lamp: Color::new(1.5, 1.0, 0.5),
            lit: 0.4,
            pitch: [3.0, 3.5],
            share: [0.6, 0.5],
            has_sign: true,
            wall_glow: Color::grey(0.05),
        };
        let heights: Vec<f32> = (0..200).map(|i| i as f32 * 0.3).collect();
        let mut strip = facade.strip(7.0, 21.0, 60.0, 0.05);
        let down: Vec<Color> = heights.iter().map(|z| strip.color(*z)).collect();
        assert!(down.iter().any(|color| *color != down[100]));
        for (z, color) in heights.iter().zip(&down).rev() {
            assert!(strip.color(*z) == *color && facade.strip(7.0, 21.0, 60.0, 0.05).color(*z) == *color);
        }
    }
}
