//! Drawing of a glyph's outline.

use ab_glyph_rasterizer::{Point, Rasterizer, point};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

use crate::mask::Mask;

/// The largest glyph that is drawn, in pixels of either side.
const MAX_SIDE: f32 = 4_096.0;

/// Draws a glyph with its origin at `(x, y)`, `scale` pixels per unit of the font. A glyph without an outline leaves no ink.
pub(crate) fn draw(font: &Face<'_>, glyph: u16, scale: f32, (x, y): (f32, f32), mask: &mut Mask) {
    let glyph = GlyphId(glyph);
    let Some(bounds) = font.glyph_bounding_box(glyph) else { return };
    let left = (x + f32::from(bounds.x_min) * scale).floor();
    let top = (y - f32::from(bounds.y_max) * scale).floor();
    let right = (x + f32::from(bounds.x_max) * scale).ceil();
    let bottom = (y - f32::from(bounds.y_min) * scale).ceil();
    let (width, height) = (right - left + 1.0, bottom - top + 1.0);
    if !(1.0..=MAX_SIDE).contains(&width) || !(1.0..=MAX_SIDE).contains(&height) {
        return;
    }
    let (width, height) = (width as usize, height as usize);
    let mut pen = Pen {
        rasterizer: Rasterizer::new(width, height),
        origin: point(x - left, y - top),
        scale,
        start: Point::default(),
        last: Point::default(),
    };
    if font.outline_glyph(glyph, &mut pen).is_none() {
        return;
    }
    pen.rasterizer.for_each_pixel_2d(|column, row, coverage| {
        if coverage > 0.0 {
            mask.cover(left as i64 + i64::from(column), top as i64 + i64::from(row), coverage);
        }
    });
}

/// Turns font units with y upwards into pixels with y downwards.
struct Pen {
    rasterizer: Rasterizer,
    origin: Point,
    scale: f32,
    start: Point,
    last: Point,
}

impl Pen {
    fn pixel(&self, x: f32, y: f32) -> Point {
        point(self.origin.x + x * self.scale, self.origin.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.start = self.pixel(x, y);
        self.last = self.start;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let end = self.pixel(x, y);
        self.rasterizer.draw_line(self.last, end);
        self.last = end;
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (control, end) = (self.pixel(x1, y1), self.pixel(x, y));
        self.rasterizer.draw_quad(self.last, control, end);
        self.last = end;
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (first, second, end) = (self.pixel(x1, y1), self.pixel(x2, y2), self.pixel(x, y));
        self.rasterizer.draw_cubic(self.last, first, second, end);
        self.last = end;
    }

    fn close(&mut self) {
        self.rasterizer.draw_line(self.last, self.start);
        self.last = self.start;
    }
}
