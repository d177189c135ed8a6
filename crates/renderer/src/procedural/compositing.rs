//! Compositing from front to back: a pixel that nearer things cover is not drawn again.

use super::canvas::Canvas;
use super::math::Color;

/// Less light than this from behind is invisible.
const OPAQUE: f32 = 1.0 / 256.0;

/// A layer that things are added to, nearest first, and that is then laid over a canvas.
///
/// Invariant: between two uses it is transparent.
#[derive(Default)]
pub(crate) struct CompositingLayer {
    height: usize,
    /// Light times opacity; the fourth lane is the share of light that comes through from behind.
    light: Vec<Color>,
    /// Inverse distance of the nearest thing that covers more than half of the pixel.
    nearness: Vec<f32>,
    /// For each column, the rows that were added to.
    touched: Vec<(usize, usize)>,
}

const CLEAR: Color = Color([0.0, 0.0, 0.0, 1.0]);
const UNTOUCHED: (usize, usize) = (usize::MAX, 0);

/// Part of a column of the layer.
pub(crate) struct ColumnSpan<'a> {
    light: &'a mut [Color],
    nearness: &'a mut [f32],
}

impl CompositingLayer {
    /// Begins a layer of the size of a canvas.
    pub(crate) fn begin(&mut self, canvas: &Canvas) {
        if (self.touched.len(), self.height) != (canvas.width, canvas.height) {
            self.height = canvas.height;
            self.light = vec![CLEAR; canvas.width * canvas.height];
            self.nearness = vec![0.0; canvas.width * canvas.height];
            self.touched = vec![UNTOUCHED; canvas.width];
        }
    }

    /// The rows `from..to` of column `x`, to be added to.
    pub(crate) fn span(&mut self, x: usize, from: usize, to: usize) -> ColumnSpan<'_> {
        let (first, last) = &mut self.touched[x];
        (*first, *last) = ((*first).min(from), (*last).max(to));
        let rows = x * self.height + from..x * self.height + to;
        ColumnSpan { light: &mut self.light[rows.clone()], nearness: &mut self.nearness[rows] }
    }

    /// Lays everything over the canvas.
    pub(crate) fn composite_onto(&mut self, canvas: &mut Canvas) {
        for (x, touched) in self.touched.iter_mut().enumerate() {
            let (from, to) = std::mem::replace(touched, UNTOUCHED);
            if from >= to {
                continue;
            }
            let rows = x * self.height + from..x * self.height + to;
            let own = self.light[rows.clone()].iter_mut().zip(&mut self.nearness[rows.clone()]);
            let behind = canvas.light[rows.clone()].iter_mut().zip(&mut canvas.nearness[rows]);
            for ((own, near), (light, nearness)) in own.zip(behind) {
                let (own, near) = (std::mem::replace(own, CLEAR), std::mem::take(near));
                let through = own.fourth();
                if through < 1.0 {
                    // What covers less than half of a pixel leaves its kind to what is behind, which may be water yet to be drawn.
                    let kind = if near > 0.0 { 0.0 } else { light.fourth() };
                    *light = (own + *light * through).with(kind);
                    *nearness = nearness.max(near);
                }
            }
        }
    }
}

impl ColumnSpan<'_> {
    /// Whether nothing that is added to a row can be seen.
    #[inline]
    pub(crate) fn is_covered(&self, row: usize) -> bool {
        self.light[row].fourth() < OPAQUE
    }

    /// Adds a color behind what was added before.
    #[inline]
    pub(crate) fn add(&mut self, row: usize, color: Color, opacity: f32, nearness: f32) {
        let light = &mut self.light[row];
        let through = light.fourth();
        *light = (*light + color * (through * opacity)).with(through * (1.0 - opacity));
        if opacity > 0.5 && self.nearness[row] == 0.0 {
            self.nearness[row] = nearness;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::procedural::math::mix;

    #[test]
    fn layer_equals_painting_in_reverse_order() {
        let things: [(f32, f32, f32); 5] =
            [(0.9, 0.3, 0.5), (0.2, 1.0, 0.4), (0.7, 0.6, 0.3), (0.4, 0.5, 0.2), (1.0, 0.9, 0.1)];
        for first in 0..things.len() {
            let things = &things[first..];
            let (mut canvas, mut layer) = (Canvas::new(2, 4), CompositingLayer::default());
            canvas.light.fill(Color::grey(0.1).with(2.0));
            layer.begin(&canvas);
            for (value, opacity, nearness) in things {
                let mut span = layer.span(1, 2, 4);
                if !span.is_covered(0) {
                    span.add(0, Color::grey(*value), *opacity, *nearness);
                }
            }
            layer.composite_onto(&mut canvas);
            let painted = things.iter().rev().fold(Color::grey(0.1), |behind, (value, opacity, _)| {
                mix(behind, Color::grey(*value), *opacity)
            });
            let index = canvas.at(1, 2);
            assert!((canvas.light[index].luma() - painted.luma()).abs() < 1e-2);
            assert!(canvas.light[index].fourth() == 0.0);
            let nearest = things.iter().find(|span| span.1 > 0.5).map_or(0.0, |span| span.2);
            assert!((canvas.nearness[index] - nearest).abs() < 1e-6);
            assert!(canvas.light[0] == Color::grey(0.1).with(2.0));
            // The layer is clear again.
            layer.composite_onto(&mut canvas);
            assert!((canvas.light[index].luma() - painted.luma()).abs() < 1e-2);
        }
    }
}
