//! Layout: the positions of objects and the camera move.

use super::breakwater::Breakwater;
use super::camera::{Pose, Rig};
use super::math::lerp;
use super::noise::Rng;
use super::prompt::{Framing, Hour, Landscape, Move, Subject};
use super::scene_spec::SceneSpec;

/// The layout of a shot, computed before the land.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// East, north of the lighthouse, if there is one.
    pub(crate) lighthouse: Option<[f32; 2]>,
    pub(crate) headland: Option<[f32; 4]>,
    pub(crate) breakwater: Option<Breakwater>,
    /// Minimum height of the camera above ground or sea, in metres.
    pub(crate) clearance: f32,
    pub(crate) eye: [f32; 2],
    /// A fixed height of the camera above sea level, in metres.
    pub(crate) eye_height: Option<f32>,
    pub(crate) yaw: f32,
    pub(crate) horizon: f32,
    pub(crate) sun_azimuth: f32,
    /// Metres a full camera move covers.
    pub(crate) travel: f32,
    /// The centre of an orbit.
    pub(crate) pivot: [f32; 2],
    pub(crate) focal: f32,
}

impl Layout {
    pub(crate) fn new(spec: &SceneSpec, seed: u64) -> Self {
        let mut rng = Rng::new(seed, "staging");
        let side = spec.side;
        let aerial = spec.framing == Framing::Aerial;
        let (clearance, horizon, travel): (f32, f32, f32) = match spec.landscape {
            Landscape::Mountains => (if aerial { 190.0 } else { 42.0 }, 0.60, 60.0),
            Landscape::Sea => (if aerial { 46.0 } else { 4.6 }, if aerial { 0.46 } else { 0.56 }, 16.0),
            Landscape::Coast | Landscape::Harbour => (if aerial { 42.0 } else { 7.0 }, 0.58, 16.0),
            Landscape::Lake => (if aerial { 60.0 } else { 6.0 }, 0.55, 16.0),
            Landscape::Desert => (if aerial { 60.0 } else { 9.0 }, 0.50, 26.0),
            Landscape::Snowfield => (if aerial { 70.0 } else { 7.0 }, 0.53, 22.0),
            Landscape::Forest => (if aerial { 62.0 } else { 24.0 }, 0.44, 28.0),
            Landscape::Meadow => (if aerial { 60.0 } else { 6.5 }, 0.56, 18.0),
            Landscape::City => {
                (if aerial { 105.0 } else { rng.range(34.0, 52.0) }, if aerial { 0.40 } else { 0.52 }, 34.0)
            }
            Landscape::Canyon => (if aerial { 130.0 } else { 22.0 }, 0.56, 30.0),
        };
        // Someone on foot is met near the ground.
        let on_foot = spec.is_on_foot() && !aerial;
        let (clearance, horizon) = match spec.landscape {
            Landscape::City if on_foot => (2.6, 0.60),
            Landscape::Coast | Landscape::Harbour | Landscape::Sea => (clearance, horizon),
            _ if on_foot => (clearance.min(4.6), 0.52),
            _ => (clearance, horizon),
        };
        let low_sun = !matches!(spec.hour, Hour::Day);
        let sun_azimuth = match spec.hour {
            Hour::Day => side * rng.range(1.0, 2.1),
            Hour::Golden if rng.chance(0.4) => -side * rng.range(0.7, 1.2),
            _ => -side * rng.range(0.06, 0.30),
        };
        let mut layout = Self {
            lighthouse: None,
            headland: None,
            breakwater: None,
            clearance,
            eye: [0.0, 0.0],
            eye_height: None,
            yaw: rng.range(-0.06, 0.06),
            horizon: horizon + rng.range(-0.02, 0.02),
            sun_azimuth: if low_sun { sun_azimuth } else { sun_azimuth * side * side },
            travel: if on_foot { travel.min(6.5) } else { travel },
            pivot: [0.0, if aerial { 260.0 } else { 120.0 }],
            focal: 1.1,
        };
        if matches!(spec.landscape, Landscape::Coast | Landscape::Harbour) {
            layout.stage_seaside(spec, &mut rng);
        }
        layout.keep_away(spec);
        layout
    }

    /// The camera in a set: at eye height, with little way to go.
    pub(crate) fn indoors(spec: &SceneSpec) -> Self {
        let mut layout = Self {
            lighthouse: None,
            headland: None,
            breakwater: None,
            clearance: 0.2,
            eye: [0.0, 0.0],
            eye_height: Some(1.45),
            yaw: 0.03 * spec.side,
            horizon: 0.50,
            sun_azimuth: -0.3 * spec.side,
            travel: 1.0,
            pivot: [0.0, 3.0],
            focal: 1.0,
        };
        layout.keep_away(spec);
        layout
    }

    /// Figures stand near the camera: it does not run into them, and turns around them.
    fn keep_away(&mut self, spec: &SceneSpec) {
        if let Some(distance) = super::puppet::cast::nominal_distance(spec, self.focal) {
            let follows = matches!(spec.movement, Move::TrackLeft | Move::TrackRight);
            self.travel = if follows { self.travel.min(14.0) } else { self.travel.min(distance * 0.36) };
            self.pivot = [self.eye[0] + self.yaw.sin() * distance, self.eye[1] + self.yaw.cos() * distance];
        }
    }

    fn stage_seaside(&mut self, spec: &SceneSpec, rng: &mut Rng) {
        let side = spec.side;
        let lighthouse =
            spec.has(Subject::Lighthouse) || spec.has(Subject::Lamp) || spec.has(Subject::Stairs);
        let on_foot = spec.has_walker || spec.has(Subject::Breakwater);
        let aerial = spec.framing == Framing::Aerial;
        let close = spec.framing == Framing::Close;
        let at_door = spec.has(Subject::Door);
        if at_door || spec.has(Subject::Stairs) || (close && lighthouse) {
            // Up on the headland, near the tower.
            let distance = if at_door {
                27.0
            } else if close {
                46.0
            } else {
                62.0
            };
            let foot = [side * distance * 0.17, distance];
            let top = rng.range(10.0, 13.0);
            self.lighthouse = Some(foot);
            self.headland = Some([foot[0] + side * 14.0, foot[1] + 4.0, 88.0, top]);
            self.eye_height = Some(
                top + if at_door {
                    2.3
                } else if close {
                    19.5
                } else {
                    8.0
                },
            );
            self.horizon = if at_door {
                0.70
            } else if close {
                0.62
            } else {
                0.74
            };
            self.travel = if at_door { 5.0 } else { 9.0 };
            self.pivot = foot;
            return;
        }
        if on_foot || (lighthouse && spec.landscape == Landscape::Harbour) {
            // A breakwater leads the eye out to the light.
            let length = rng.range(120.0, 150.0);
            let from = [side * 0.6, -14.0];
            let to = [side * length * 0.17, length];
            self.breakwater = Some(Breakwater::new(from, to, 3.4, 3.4, 9.5));
            self.lighthouse = Some(to);
            self.eye_height = Some(if aerial { 34.0 } else { rng.range(6.2, 7.4) });
            self.eye = [-side * 0.6, 0.0];
            self.yaw = side * 0.03;
            self.horizon = 0.5;
            self.travel = 11.0;
            self.pivot = to;
            return;
        }
        let distance = rng.range(125.0, 165.0);
        let foot = [side * distance * rng.range(0.22, 0.30), distance];
        let top = rng.range(11.0, 17.0);
        self.headland = Some([foot[0] + side * 16.0, foot[1] + 10.0, rng.range(46.0, 60.0), top]);
        self.pivot = foot;
        if lighthouse {
            self.lighthouse = Some(foot);
        }
        self.eye = [-side * 14.0, 0.0];
        self.yaw = side * 0.07;
        self.eye_height = Some(if aerial { 44.0 } else { rng.range(5.5, 8.5) });
    }

    /// The camera move, given the height of the ground to stay above.
    pub(crate) fn rig(&self, spec: &SceneSpec, rng: &mut Rng, ground: impl Fn(f32, f32) -> f32) -> Rig {
        let eager = spec.eagerness;
        let base = Pose {
            eye: [self.eye[0], self.eye[1], 0.0],
            yaw: self.yaw,
            horizon: self.horizon,
            zoom: 1.0,
            roll: 0.0,
        };
        let travel = self.travel * eager;
        let turn = 0.26 * eager;
        let moved = |right: f32, ahead: f32, up: f32, yaw: f32, horizon: f32| {
            let (sin, cos) = base.yaw.sin_cos();
            Pose {
                eye: [base.eye[0] + cos * right + sin * ahead, base.eye[1] - sin * right + cos * ahead, up],
                yaw: base.yaw + yaw,
                horizon: base.horizon + horizon,
                ..base
            }
        };
        let still = moved(0.0, 0.0, 0.0, 0.0, 0.0);
        // Rising by as much as the camera is high halves the ground that is near.
        let nearest =
            super::puppet::cast::nominal_distance(spec, self.focal).map_or(f32::INFINITY, |away| 0.4 * away);
        let climb = (1.1 * self.eye_height.unwrap_or(self.clearance)).max(travel * 0.62).min(nearest) * eager;
        let mut orbit = None;
        let (from, to) = match spec.movement {
            Move::Static => (still, still),
            Move::DollyIn => (still, moved(0.0, travel, 0.0, 0.0, 0.0)),
            Move::PullBack => (moved(0.0, travel, 0.0, 0.0, 0.0), still),
            Move::PanLeft => (moved(0.0, 0.0, 0.0, turn, 0.0), moved(0.0, 0.0, 0.0, -turn, 0.0)),
            Move::PanRight => (moved(0.0, 0.0, 0.0, -turn, 0.0), moved(0.0, 0.0, 0.0, turn, 0.0)),
            Move::TrackLeft => {
                (moved(travel * 0.4, 0.0, 0.0, 0.0, 0.0), moved(-travel * 0.4, 0.0, 0.0, 0.0, 0.0))
            }
            Move::TrackRight => {
                (moved(-travel * 0.4, 0.0, 0.0, 0.0, 0.0), moved(travel * 0.4, 0.0, 0.0, 0.0, 0.0))
            }
            Move::TiltUp => (moved(0.0, 0.0, 0.0, 0.0, -0.22), moved(0.0, 0.0, 0.0, 0.0, 0.10)),
            Move::TiltDown => (moved(0.0, 0.0, 0.0, 0.0, 0.12), moved(0.0, 0.0, 0.0, 0.0, -0.16)),
            Move::Orbit => {
                orbit = Some((spec.side * 0.62, self.pivot));
                (still, still)
            }
            Move::Rise => (still, moved(0.0, travel * 0.15, climb, 0.0, -0.03)),
            Move::Descend => (moved(0.0, 0.0, climb, 0.0, -0.03), moved(0.0, travel * 0.15, 0.0, 0.0, 0.0)),
            Move::Flyover => {
                (still, moved(spec.side * -travel * 0.3, travel * 3.0, travel * 0.16, 0.05, -0.015))
            }
            Move::WhipPan => (moved(0.0, 0.0, 0.0, -0.75, 0.0), still),
            Move::DollyZoom => {
                // The lens widens while the camera comes closer: the subject keeps its size, the background falls away.
                let away = self.pivot[1] - self.eye[1];
                let closer = away.min(3.0 * travel) * 0.42;
                (still, Pose { zoom: (away - closer) / away, ..moved(0.0, closer, 0.0, 0.0, 0.0) })
            }
            Move::Roll => (Pose { roll: -0.19 * eager, ..still }, Pose { roll: 0.19 * eager, ..still }),
        };
        let is_whip = spec.movement == Move::WhipPan;
        let mut rig =
            Rig { from, to, orbit, unrest: spec.unrest, focal: self.focal, is_whip, phase: rng.unit() };
        // High enough for the whole way, and smoothly so: one lift for all of it.
        let mut lift = self.eye_height.unwrap_or(f32::NEG_INFINITY);
        let slack = if self.eye_height.is_some() { self.clearance.min(1.9) } else { self.clearance };
        for step in 0..=12 {
            let pose = rig.pose(step as f32 / 12.0, 0.0);
            let near = (0..4).map(|k| ground(pose.eye[0], pose.eye[1] + k as f32 * 2.5)).fold(0.0, f32::max);
            lift = lift.max(near + slack - pose.eye[2]);
        }
        rig.from.eye[2] += lift;
        rig.to.eye[2] += lift;
        rig
    }

    /// The centre of the baked land: the middle of the camera move.
    pub(crate) fn centre(&self, spec: &SceneSpec) -> [f32; 2] {
        let ahead = match spec.movement {
            Move::Flyover => self.travel * spec.eagerness,
            Move::DollyIn | Move::PullBack => self.travel * 0.5 * spec.eagerness,
            _ => 0.0,
        };
        [self.eye[0], lerp(self.eye[1], self.eye[1] + ahead, 1.0)]
    }
}
