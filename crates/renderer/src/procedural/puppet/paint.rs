//! Drawing of puppets: shapes to pixels, lit by the scene.

use super::shapes::Parts;
use crate::procedural::camera::View;
use crate::procedural::canvas::{Canvas, clip};
use crate::procedural::light::Light;
use crate::procedural::math::{Color, mix};
use crate::procedural::prompt::Style;

/// Light that falls on puppets, so that they are seen at night too.
const FILL: f32 = 0.11;

/// Below this brightness a figure has a rim of light, of this share of the image's height, or it would vanish in front of dark things.
const DARK: f32 = 0.36;
const RIM: f32 = 0.0035;

/// How shapes are drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShapeStyle {
    /// An outline around the whole figure: its width as a share of the image's height, and its color.
    pub(super) outline: Option<(f32, Color)>,
    /// Whether surfaces are round, or flat like paper.
    pub(super) is_round: bool,
}

impl ShapeStyle {
    pub(super) fn new(style: Style) -> Self {
        let outline = match style {
            Style::Cartoon => Some((0.006, Color::surface(0x18_1418))),
            Style::Papercraft => Some((0.010, Color::grey(0.92))),
            _ => None,
        };
        Self { outline, is_round: !matches!(style, Style::Cartoon | Style::Papercraft) }
    }
}

/// Where a puppet stands in the image.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placement {
    /// Its foot, in pixels.
    pub(super) x: f32,
    pub(super) y: f32,
    /// Pixels a metre; negative faces left.
    pub(super) scale: f32,
    pub(super) is_mirrored: bool,
    pub(super) distance: f32,
}

/// Draws a puppet over everything that is there.
pub(super) fn paint(
    parts: &Parts,
    placement: Placement,
    manner: ShapeStyle,
    light: &Light,
    view: &View,
    canvas: &mut Canvas,
) {
    let facing = |right: f32, toward: f32, up: f32| {
        let [x, y] = view.side_by_side(right, -toward);
        light.on([x, y, up], 1.0, 0.95) + Color::grey(FILL)
    };
    let seen = facing(0.0, 0.8, 0.5).luma();
    // In the dark a figure still stands out.
    let lift = Color::grey((0.42 - seen).max(0.0) * 0.62);
    let (left, right, middle) = (facing(-0.75, 0.5, 0.25), facing(0.75, 0.5, 0.25), facing(0.0, 0.8, 0.5));
    // And in a bright place it keeps its color.
    let dim = (0.80 / seen.max(0.01)).min(1.0);
    let (left, right, middle) = (left * dim + lift, right * dim + lift, middle * dim + lift);
    let lights = if placement.is_mirrored { [right, middle, left] } else { [left, middle, right] };
    if let Some((width, color)) = manner.outline {
        let outset = width * view.height / placement.scale;
        // Paper casts a shadow on what is behind it.
        if manner.is_round || color.luma() > 0.5 {
            let shifted = Placement {
                x: placement.x + view.height * 0.008,
                y: placement.y + view.height * 0.010,
                ..placement
            };
            for part in parts.0.iter().filter(|part| part.opacity >= 1.0) {
                fill(part, shifted, outset, canvas, |below, _, _| below * 0.55);
            }
        }
        let lit = color * (middle * 0.9);
        for part in parts.0.iter().filter(|part| part.opacity >= 1.0) {
            fill(part, placement, outset, canvas, |_, _, _| lit);
        }
    }
    if manner.outline.is_none() && seen < DARK {
        let outset = RIM * view.height / placement.scale;
        let rim = Color::grey(0.30 * (1.0 - seen / DARK));
        for part in parts.0.iter().filter(|part| part.opacity >= 1.0) {
            fill(part, placement, outset, canvas, |below, _, _| mix(below, rim, 0.5));
        }
    }
    for part in &parts.0 {
        if part.glows {
            let glow = part.color * 1.5;
            fill(part, placement, 0.0, canvas, |below, _, _| mix(below, glow, part.opacity));
        } else if manner.is_round {
            fill(part, placement, 0.0, canvas, |below, u, v| {
                let side = if u < 0.0 { mix(lights[1], lights[0], -u) } else { mix(lights[1], lights[2], u) };
                mix(below, part.color * side * (0.84 + 0.16 * v), part.opacity)
            });
        } else {
            let flat = part.color * middle;
            fill(part, placement, 0.0, canvas, |below, _, _| mix(below, flat, part.opacity));
        }
    }
}

/// Fills one shape. `ink` gets what is below, and the place inside of the shape from -1 to 1, to the right and up.
fn fill(
    part: &super::shapes::Part,
    placement: Placement,
    outset: f32,
    canvas: &mut Canvas,
    ink: impl Fn(Color, f32, f32) -> Color,
) {
    let [left, right, low, high] = part.form.bounds();
    let mirror = if placement.is_mirrored { -1.0 } else { 1.0 };
    let (a, b) = (left * mirror * placement.scale, right * mirror * placement.scale);
    let margin = outset * placement.scale + 1.0;
    let Some((x0, x1)) = clip(placement.x + a.min(b) - margin, placement.x + a.max(b) + margin, canvas.width)
    else {
        return;
    };
    let Some((y0, y1)) = clip(
        placement.y - high * placement.scale - margin,
        placement.y - low * placement.scale + margin,
        canvas.height,
    ) else {
        return;
    };
    let (cx, cy) = ((left + right) * 0.5, (low + high) * 0.5);
    let (wide, tall) = (2.0 / (right - left).max(1e-4), 2.0 / (high - low).max(1e-4));
    let inverse = 1.0 / placement.scale;
    let nearness = 1.0 / placement.distance.max(0.1);
    for x in x0..x1 {
        let px = (x as f32 + 0.5 - placement.x) * inverse * mirror;
        for y in y0..y1 {
            let py = (placement.y - y as f32 - 0.5) * inverse;
            let cover = (0.5 - (part.form.distance((px, py)) - outset) * placement.scale).clamp(0.0, 1.0);
            if cover > 0.0 {
                let index = canvas.at(x, y);
                let below = canvas.light[index];
                let (u, v) = (((px - cx) * wide).clamp(-1.0, 1.0), ((py - cy) * tall).clamp(-1.0, 1.0));
                canvas.light[index] = mix(below, ink(below, u, v), cover).with(0.0);
                if cover > 0.5 {
                    canvas.nearness[index] = nearness;
                }
            }
        }
    }
}

/// A soft dark spot below a puppet.
pub(super) fn shadow(placement: Placement, half_width: f32, light: &Light, canvas: &mut Canvas) {
    let strength = (light.sunlight.luma() * 0.35).min(0.4) + 0.25;
    let (rx, ry) = ((half_width * placement.scale).max(2.0), (half_width * placement.scale * 0.16).max(1.5));
    let Some((x0, x1)) = clip(placement.x - rx, placement.x + rx, canvas.width) else { return };
    let Some((y0, y1)) = clip(placement.y - ry, placement.y + ry, canvas.height) else { return };
    for x in x0..x1 {
        for y in y0..y1 {
            let (u, v) = ((x as f32 + 0.5 - placement.x) / rx, (y as f32 + 0.5 - placement.y) / ry);
            let reach = 1.0 - u * u - v * v;
            if reach > 0.0 {
                let index = canvas.at(x, y);
                let below = canvas.light[index];
                canvas.light[index] =
                    (below * (1.0 - strength * (reach * 1.6).min(1.0))).with(below.fourth());
            }
        }
    }
}
