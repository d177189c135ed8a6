//! Camera moves: what they do to the layers of the backdrop, and their arrows.

use super::ink::{Area, InkLayer};
use super::numbers::{ease, lerp, wave};
use super::palette::Rgb;

/// A move that a prompt names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    Static,
    PushIn,
    PullBack,
    ZoomIn,
    ZoomOut,
    PanLeft,
    PanRight,
    TrackLeft,
    TrackRight,
    TiltUp,
    TiltDown,
    CraneUp,
    CraneDown,
    Orbit,
    Handheld,
}

/// Where the camera is: shifts as shares of the frame's height, and the magnification.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pose {
    pub(super) right: f32,
    pub(super) down: f32,
    pub(super) zoom: f32,
    /// How much less what is far moves: 0 for as much as what is near.
    pub(super) parallax: f32,
}

impl Pose {
    pub(super) const REST: Self = Self { right: 0.0, down: 0.0, zoom: 1.0, parallax: 0.5 };
}

/// Every move with its name in the table of words and on the card.
const NAMES: [(Move, &str, &str); 15] = [
    (Move::Static, "static", "static"),
    (Move::PushIn, "push-in", "push in"),
    (Move::PullBack, "pull-back", "pull back"),
    (Move::ZoomIn, "zoom-in", "zoom in"),
    (Move::ZoomOut, "zoom-out", "zoom out"),
    (Move::PanLeft, "pan-left", "pan left"),
    (Move::PanRight, "pan-right", "pan right"),
    (Move::TrackLeft, "track-left", "track left"),
    (Move::TrackRight, "track-right", "track right"),
    (Move::TiltUp, "tilt-up", "tilt up"),
    (Move::TiltDown, "tilt-down", "tilt down"),
    (Move::CraneUp, "crane-up", "crane up"),
    (Move::CraneDown, "crane-down", "crane down"),
    (Move::Orbit, "orbit", "orbit"),
    (Move::Handheld, "handheld", "handheld"),
];

impl Move {
    /// The move of a name in the table of words.
    pub(super) fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, own, _)| *own == name).map(|(value, ..)| *value)
    }

    /// Its name on the card.
    pub(super) fn label(self) -> &'static str {
        NAMES.iter().find(|(value, ..)| *value == self).map_or("", |(.., label)| label)
    }

    /// The pose at a share of the shot, and after so many seconds.
    pub(super) fn pose(self, share: f32, seconds: f32) -> Pose {
        // In motion from the first frame on: a start from rest is seen as a freeze.
        let travel = lerp(share, ease(0.0, 1.0, share), 0.7);
        let rest = Pose::REST;
        match self {
            Self::Static => rest,
            Self::PushIn => Pose { zoom: 1.0 + 0.28 * travel, ..rest },
            Self::PullBack => Pose { zoom: 1.28 - 0.28 * travel, ..rest },
            Self::ZoomIn => Pose { zoom: 1.0 + 0.28 * travel, parallax: 0.0, ..rest },
            Self::ZoomOut => Pose { zoom: 1.28 - 0.28 * travel, parallax: 0.0, ..rest },
            Self::PanLeft => Pose { right: -0.5 * travel, parallax: 0.1, ..rest },
            Self::PanRight => Pose { right: 0.5 * travel, parallax: 0.1, ..rest },
            Self::TrackLeft => Pose { right: -0.5 * travel, parallax: 0.7, ..rest },
            Self::TrackRight => Pose { right: 0.5 * travel, parallax: 0.7, ..rest },
            Self::TiltUp => Pose { down: -0.16 * travel, parallax: 0.1, ..rest },
            Self::TiltDown => Pose { down: 0.16 * travel, parallax: 0.1, ..rest },
            Self::CraneUp => Pose { down: -0.2 * travel, parallax: 0.7, ..rest },
            Self::CraneDown => Pose { down: 0.2 * travel, parallax: 0.7, ..rest },
            Self::Orbit => Pose { right: 0.4 * travel, parallax: 1.8, ..rest },
            Self::Handheld => {
                let sway = |speed: f32, phase: f32| {
                    wave(seconds * speed + phase) + 0.5 * wave(seconds * speed * 2.7 + phase)
                };
                Pose {
                    right: 0.012 * sway(0.61, 0.1),
                    down: 0.010 * sway(0.83, 0.4),
                    zoom: 1.04,
                    parallax: 0.2,
                }
            }
        }
    }

    /// Draws its arrow.
    pub(super) fn draw(self, layer: &mut InkLayer, area: Area, color: Rgb) {
        let (cx, cy) = (area.x + area.width * 0.5, area.y + area.height * 0.5);
        let stroke = (area.height * 0.12).max(1.2);
        let at = |(x, y): (f32, f32)| (cx + x * area.width * 0.5, cy + y * area.height * 0.5);
        for path in self.arrows() {
            for pair in path.windows(2) {
                layer.line(at(pair[0]), at(pair[1]), stroke, color);
            }
            let [.., before, tip] = path.as_slice() else { continue };
            let (before, tip) = (at(*before), at(*tip));
            let (dx, dy) = (tip.0 - before.0, tip.1 - before.1);
            let length = (dx * dx + dy * dy).sqrt().max(1e-3);
            let (ux, uy, head) = (dx / length, dy / length, area.height * 0.34);
            for side in [-1.0, 1.0] {
                let wing = (
                    tip.0 - head * (ux * 0.8 - uy * 0.6 * side),
                    tip.1 - head * (uy * 0.8 + ux * 0.6 * side),
                );
                layer.line(tip, wing, stroke, color);
            }
        }
        if self == Self::Static {
            let half = area.height * 0.16;
            layer.rounded(
                Area { x: cx - half, y: cy - half, width: half * 2.0, height: half * 2.0 },
                half,
                color,
                1.0,
            );
        }
    }

    /// Paths from -1 to 1, each with its head at the last point.
    fn arrows(self) -> Vec<Vec<(f32, f32)>> {
        // A bow from left to right, or the other way, as low as `sag` in its middle.
        let bow = |direction: f32, sag: f32| {
            let point = |step: i32| {
                let x = step as f32 / 4.0;
                (x * 0.95 * direction, sag * (0.5 - x * x))
            };
            (-4..=4).map(point).collect::<Vec<_>>()
        };
        let upright = |path: Vec<(f32, f32)>| path.into_iter().map(|(x, y)| (y * 0.4, x)).collect::<Vec<_>>();
        match self {
            Self::Static => Vec::new(),
            Self::PushIn | Self::ZoomIn => vec![vec![(-1.0, 0.0), (-0.2, 0.0)], vec![(1.0, 0.0), (0.2, 0.0)]],
            Self::PullBack | Self::ZoomOut => {
                vec![vec![(-0.1, 0.0), (-0.95, 0.0)], vec![(0.1, 0.0), (0.95, 0.0)]]
            }
            Self::PanLeft => vec![bow(-1.0, -0.8)],
            Self::PanRight => vec![bow(1.0, -0.8)],
            Self::TrackLeft => vec![vec![(0.95, 0.0), (-0.95, 0.0)]],
            Self::TrackRight => vec![vec![(-0.95, 0.0), (0.95, 0.0)]],
            Self::TiltUp => vec![upright(bow(-1.0, 0.8))],
            Self::TiltDown => vec![upright(bow(1.0, 0.8))],
            Self::CraneUp => vec![vec![(0.0, 0.95), (0.0, -0.95)]],
            Self::CraneDown => vec![vec![(0.0, -0.95), (0.0, 0.95)]],
            Self::Orbit => vec![bow(1.0, 1.6)],
            Self::Handheld => {
                vec![vec![(-0.9, 0.2), (-0.5, -0.6), (-0.1, 0.5), (0.3, -0.5), (0.6, 0.4), (0.95, -0.2)]]
            }
        }
    }
}
