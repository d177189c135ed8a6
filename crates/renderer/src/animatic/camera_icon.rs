//! The camera move as on a storyboard: a frame with arrows, and its name.

use super::layer::{Area, InkLayer, Rgb};
use crate::procedural::Move;

/// The name of a move, as crews say it.
pub(super) const fn name(movement: Move) -> &'static str {
    match movement {
        Move::Static => "static",
        Move::DollyIn => "dolly in",
        Move::PullBack => "pull back",
        Move::PanLeft => "pan left",
        Move::PanRight => "pan right",
        Move::TrackLeft => "track left",
        Move::TrackRight => "track right",
        Move::TiltUp => "tilt up",
        Move::TiltDown => "tilt down",
        Move::Orbit => "orbit",
        Move::Rise => "crane up",
        Move::Descend => "crane down",
        Move::Flyover => "flyover",
        Move::WhipPan => "whip pan",
        Move::DollyZoom => "dolly zoom",
        Move::Roll => "roll",
    }
}

/// Arrows of a move as points of polylines, x to the right and y down, from -1 to 1 in the frame; each has its head at its end.
fn arrows(movement: Move) -> Vec<Vec<(f32, f32)>> {
    let arc = |from: f32, to: f32, rx: f32, ry: f32| -> Vec<(f32, f32)> {
        (0..=10).map(|i| from + (to - from) * i as f32 / 10.0).map(|a| (rx * a.cos(), ry * a.sin())).collect()
    };
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    match movement {
        Move::Static => Vec::new(),
        Move::DollyIn => {
            corners.iter().map(|(x, y)| vec![(x * 0.82, y * 0.78), (x * 0.36, y * 0.32)]).collect()
        }
        Move::PullBack => {
            corners.iter().map(|(x, y)| vec![(x * 0.36, y * 0.32), (x * 0.82, y * 0.78)]).collect()
        }
        // A pan turns, a track goes.
        Move::PanLeft => vec![arc(-0.25, -2.9, 0.72, 0.5)],
        Move::PanRight => vec![arc(-2.9, -0.25, 0.72, 0.5)],
        Move::TrackLeft => vec![vec![(0.72, 0.0), (-0.72, 0.0)]],
        Move::TrackRight => vec![vec![(-0.72, 0.0), (0.72, 0.0)]],
        Move::TiltUp => vec![arc(1.2, -1.2, 0.4, 0.66)],
        Move::TiltDown => vec![arc(-1.2, 1.2, 0.4, 0.66)],
        Move::Orbit => vec![arc(2.6, -2.9, 0.66, 0.56)],
        Move::Rise => vec![vec![(0.0, 0.66), (0.0, -0.66)]],
        Move::Descend => vec![vec![(0.0, -0.66), (0.0, 0.66)]],
        Move::WhipPan => vec![arc(-2.9, -0.25, 0.72, 0.5), arc(-2.9, -0.25, 0.72, 0.1)],
        Move::DollyZoom => vec![
            vec![(-0.25, 0.0), (-0.85, 0.0)],
            vec![(0.25, 0.0), (0.85, 0.0)],
            vec![(0.0, 0.8), (0.0, 0.25)],
        ],
        Move::Roll => vec![arc(-2.4, 0.9, 0.5, 0.7)],
        Move::Flyover => vec![arc(2.9, 4.9, 0.85, 0.8)],
    }
}

/// Draws the frame and its arrows into an area.
pub(super) fn draw(layer: &mut InkLayer, area: Area, movement: Move, ink: Rgb, accent: Rgb) {
    let stroke = (area.height * 0.045).max(1.0);
    let (x0, y0, x1, y1) = (area.x, area.y, area.x + area.width, area.y + area.height);
    for (from, to) in [((x0, y0), (x1, y0)), ((x1, y0), (x1, y1)), ((x1, y1), (x0, y1)), ((x0, y1), (x0, y0))]
    {
        layer.line(from, to, stroke, ink);
    }
    let (cx, cy) = ((x0 + x1) * 0.5, (y0 + y1) * 0.5);
    let to_area = |(x, y): (f32, f32)| (cx + x * area.width * 0.5, cy + y * area.height * 0.5);
    if movement == Move::Static {
        let half = area.height * 0.07;
        layer.rounded(
            Area { x: cx - half, y: cy - half, width: half * 2.0, height: half * 2.0 },
            half,
            accent,
            1.0,
        );
    }
    let bold = (area.height * 0.075).max(1.4);
    for arrow in arrows(movement) {
        let points: Vec<(f32, f32)> = arrow.into_iter().map(to_area).collect();
        for pair in points.windows(2) {
            layer.line(pair[0], pair[1], bold, accent);
        }
        if let [.., before, tip] = points.as_slice() {
            let (dx, dy) = (tip.0 - before.0, tip.1 - before.1);
            let length = dx.hypot(dy).max(1e-3);
            let (ux, uy) = (dx / length, dy / length);
            let head = area.height * 0.19;
            for side in [-1.0, 1.0] {
                let wing = (
                    tip.0 - head * (ux * 0.8 - uy * 0.6 * side),
                    tip.1 - head * (uy * 0.8 + ux * 0.6 * side),
                );
                layer.line(*tip, wing, bold, accent);
            }
        }
    }
}
