//! Adaptive shading: shades every other pixel in both directions, then interpolates the pixels between where their neighbours
//! agree and shades them where they do not.

use super::canvas::Canvas;
use super::math::{Color, mix};

/// Computes the colors of some pixels of an image.
pub(crate) trait Shader {
    /// The largest relative difference in brightness that is interpolated: vertically, horizontally.
    const TOLERANCE: [f32; 2];

    /// Prepares for column `x`.
    fn turn(&mut self, x: usize);

    /// Whether a pixel still needs shading.
    fn needs_shading(&self, canvas: &Canvas, index: usize) -> bool;

    /// Whether a pixel was shaded by this shader.
    fn has(&self, canvas: &Canvas, index: usize) -> bool;

    /// Whether pixels between two pixels are of the same kind as both, so that only the color needs interpolation.
    fn is_same_kind(&self, a: Color, b: Color) -> bool {
        // The fourth lane holds integers that mark the kind of a pixel.
        (a.fourth() - b.fourth()).abs() < 0.5
    }

    /// The color of the pixel at row `y` of the current column, which begins at `start`.
    fn pixel(&self, canvas: &Canvas, start: usize, y: usize) -> Color;
}

/// Shades all pixels that still need it.
pub(crate) fn shade<S: Shader>(canvas: &mut Canvas, shader: &mut S) {
    let (width, rows) = (canvas.width, canvas.height);
    let [down, across] = S::TOLERANCE;
    for x in (0..width).step_by(2) {
        let start = canvas.at(x, 0);
        if !(start..start + rows).any(|index| shader.needs_shading(canvas, index)) {
            continue;
        }
        shader.turn(x);
        for y in (0..rows).step_by(2) {
            if shader.needs_shading(canvas, start + y) {
                canvas.light[start + y] = shader.pixel(canvas, start, y);
            }
        }
        for y in (1..rows).step_by(2) {
            if shader.needs_shading(canvas, start + y) {
                let between = y + 1 < rows && fill(canvas, shader, start + y, 1, down);
                if !between {
                    canvas.light[start + y] = shader.pixel(canvas, start, y);
                }
            }
        }
    }
    for x in (1..width).step_by(2) {
        let start = canvas.at(x, 0);
        let inside = x + 1 < width;
        let mut turned = false;
        for y in 0..rows {
            if !shader.needs_shading(canvas, start + y)
                || (inside && fill(canvas, shader, start + y, rows, across))
            {
                continue;
            }
            if !turned {
                shader.turn(x);
                turned = true;
            }
            canvas.light[start + y] = shader.pixel(canvas, start, y);
        }
    }
}

/// Interpolates a pixel from the neighbours at distance `stride`, if they agree.
#[inline]
fn fill<S: Shader>(canvas: &mut Canvas, shader: &S, index: usize, stride: usize, tolerance: f32) -> bool {
    let (before, after) = (index - stride, index + stride);
    if !shader.has(canvas, before) || !shader.has(canvas, after) {
        return false;
    }
    let (a, b) = (canvas.light[before], canvas.light[after]);
    let near = canvas.nearness[before] + canvas.nearness[after];
    // The same surface: its distance changes evenly, and so does what it is.
    let even = (near - 2.0 * canvas.nearness[index]).abs() <= 0.03 * near && shader.is_same_kind(a, b);
    if !even || max_difference(a, b) > tolerance * (a.luma() + b.luma()) + DARK {
        return false;
    }
    canvas.light[index] = mix(a, b, 0.5);
    true
}

/// A difference in light that is invisible even in the dark.
const DARK: f32 = 0.002;

#[inline]
fn max_difference(a: Color, b: Color) -> f32 {
    let Color([r, g, b, _]) = a - b;
    r.abs().max(g.abs()).max(b.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bright to the right of a column, and counts what it is asked for.
    struct Step {
        x: usize,
        calls: std::cell::Cell<usize>,
    }

    impl Shader for Step {
        const TOLERANCE: [f32; 2] = [0.05, 0.05];

        fn turn(&mut self, x: usize) {
            self.x = x;
        }

        fn needs_shading(&self, canvas: &Canvas, index: usize) -> bool {
            canvas.nearness[index] > 0.0
        }

        fn has(&self, canvas: &Canvas, index: usize) -> bool {
            canvas.nearness[index] > 0.0
        }

        fn pixel(&self, _: &Canvas, _: usize, _: usize) -> Color {
            self.calls.set(self.calls.get() + 1);
            Color::grey(if self.x < 21 { 0.2 } else { 0.7 })
        }
    }

    #[test]
    fn shade_is_exact_at_edges_and_skips_flat_areas() {
        let mut canvas = Canvas::new(40, 40);
        canvas.nearness.fill(0.1);
        let mut shader = Step { x: 0, calls: std::cell::Cell::new(0) };
        shade(&mut canvas, &mut shader);
        for x in 0..40 {
            let expected = if x < 21 { 0.2 } else { 0.7 };
            for y in 0..40 {
                let actual = canvas.light[canvas.at(x, y)].0[0];
                assert!((actual - expected).abs() < 1e-6, "{x}, {y}: {actual}");
            }
        }
        let calls = shader.calls.get();
        assert!(calls < 40 * 40 / 3, "{calls} pixels were computed");
    }

    #[test]
    fn shade_leaves_unwanted_pixels_unchanged() {
        let mut canvas = Canvas::new(9, 9);
        canvas.nearness[..40].fill(0.1);
        shade(&mut canvas, &mut Step { x: 0, calls: std::cell::Cell::new(0) });
        assert!(canvas.light[..40].iter().all(|light| light.luma() > 0.1));
        assert!(canvas.light[40..].iter().all(|light| *light == Color::BLACK));
    }
}
