//! The camera: its pose over time, and the projection of the world to the image.

use std::f32::consts::TAU;

use super::math::{lerp, smooth};

#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pose {
    /// Metres: east, north, up from sea level.
    pub(crate) eye: [f32; 3],
    /// Radians clockwise from north.
    pub(crate) yaw: f32,
    /// The row of the horizon as a share of the image's height from the top. Tilting shifts it; verticals stay vertical, as
    /// with a shift lens.
    pub(crate) horizon: f32,
    /// The focal length in relation to that of the rig.
    pub(crate) zoom: f32,
    /// Radians by which the image is turned clockwise.
    pub(crate) roll: f32,
}

impl Pose {
    /// What is added to get from another pose to this one.
    pub(crate) fn minus(self, other: Self) -> Self {
        self.plus(other.times(-1.0))
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            eye: [0, 1, 2].map(|i| self.eye[i] + other.eye[i]),
            yaw: self.yaw + other.yaw,
            horizon: self.horizon + other.horizon,
            zoom: self.zoom + other.zoom,
            roll: self.roll + other.roll,
        }
    }

    pub(crate) fn times(self, factor: f32) -> Self {
        Self {
            eye: self.eye.map(|metres| metres * factor),
            yaw: self.yaw * factor,
            horizon: self.horizon * factor,
            zoom: self.zoom * factor,
            roll: self.roll * factor,
        }
    }
}

/// A camera move: from one pose to another, along a line or an arc, with handheld shake.
#[derive(Clone, Debug)]
pub(crate) struct Rig {
    pub(crate) from: Pose,
    pub(crate) to: Pose,
    /// Radians travelled around `pivot` (in place of the straight line), and the pivot.
    pub(crate) orbit: Option<(f32, [f32; 2])>,
    /// Handheld shake: 0 tripod, 1 shoulder.
    pub(crate) unrest: f32,
    /// Focal length relative to the image's size; about 1.1 is a normal lens.
    pub(crate) focal: f32,
    /// Whether the move happens at once, in the middle of the shot.
    pub(crate) is_whip: bool,
    /// Phase of the shake.
    pub(crate) phase: f32,
}

impl Rig {
    /// The pose at `progress` (0 first frame, 1 last frame), `time` seconds in.
    pub(crate) fn pose(&self, progress: f32, time: f32) -> Pose {
        let mut pose = self.steady(progress);
        self.shake(&mut pose, time);
        pose
    }

    /// The pose at `progress` (0 first frame, 1 last frame) without shake.
    pub(crate) fn steady(&self, progress: f32) -> Pose {
        // Steady travel with soft starts and stops, at no less than half its speed: what continues the shot goes on from there.
        let eased = if self.is_whip {
            smooth(0.36, 0.52, progress)
        } else {
            lerp(progress, progress * progress * (3.0 - 2.0 * progress), 0.3)
        };
        let (a, b) = (self.from, self.to);
        let mut pose = Pose {
            eye: [0, 1, 2].map(|i| lerp(a.eye[i], b.eye[i], eased)),
            yaw: lerp(a.yaw, b.yaw, eased),
            horizon: lerp(a.horizon, b.horizon, eased),
            zoom: lerp(a.zoom, b.zoom, eased),
            roll: lerp(a.roll, b.roll, eased),
        };
        if let Some((angle, [px, py])) = self.orbit {
            let turn = angle * (eased - 0.5);
            let (sin, cos) = turn.sin_cos();
            let (dx, dy) = (pose.eye[0] - px, pose.eye[1] - py);
            pose.eye[0] = px + dx * cos + dy * sin;
            pose.eye[1] = py - dx * sin + dy * cos;
            pose.yaw += turn;
        }
        pose
    }

    /// Adds the shake of the hand at `time` in seconds.
    pub(crate) fn shake(&self, pose: &mut Pose, time: f32) {
        let wave = |hertz: f32, offset: f32| (TAU * (hertz * time + offset + self.phase)).sin();
        let sway = |offset: f32| {
            0.6 * wave(0.23, offset) + 0.3 * wave(0.61, offset * 1.7) + 0.1 * wave(1.37, offset * 2.9)
        };
        // On a shoulder each step is seen.
        let shoulder = (self.unrest - 0.5).max(0.0);
        let step = |offset: f32| 0.6 * wave(1.7, offset) + 0.4 * wave(2.9, offset * 2.3);
        pose.yaw += self.unrest * 0.008 * sway(0.1) + shoulder * 0.016 * step(0.3);
        pose.horizon += self.unrest * 0.008 * sway(0.47) + shoulder * 0.020 * step(0.7);
        pose.roll += shoulder * 0.014 * sway(0.21);
        pose.eye[2] += self.unrest * 0.05 * sway(0.83);
    }
}

/// A pose projected onto an image of given size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) eye: [f32; 3],
    forward: [f32; 2],
    right: [f32; 2],
    pub(crate) width: f32,
    pub(crate) height: f32,
    /// Focal length in pixels.
    pub(crate) focal: f32,
    /// The horizon's row in pixels from the top; may lie outside the image.
    pub(crate) horizon: f32,
}

/// A projected point.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    pub(crate) x: f32,
    pub(crate) y: f32,
    /// Forward distance in metres, positive.
    pub(crate) distance: f32,
}

impl View {
    pub(crate) fn new(pose: Pose, focal: f32, width: usize, height: usize) -> Self {
        let (sin, cos) = pose.yaw.sin_cos();
        let (width, height) = (width as f32, height as f32);
        Self {
            eye: pose.eye,
            forward: [sin, cos],
            right: [cos, -sin],
            width,
            height,
            // By area, so that upright and wide images show things equally large.
            focal: focal * pose.zoom * (width * height).sqrt(),
            horizon: pose.horizon * height,
        }
    }

    /// The ground direction of a column per metre of forward distance.
    #[inline]
    pub(crate) fn ray(&self, x: f32) -> [f32; 2] {
        let s = (x - 0.5 * self.width) / self.focal;
        [self.forward[0] + self.right[0] * s, self.forward[1] + self.right[1] * s]
    }

    /// How much a row rises per metre of forward distance.
    #[inline]
    pub(crate) fn rise(&self, y: f32) -> f32 {
        (self.horizon - y) / self.focal
    }

    /// The row of height `z` at forward distance `t`.
    #[inline]
    pub(crate) fn row(&self, z: f32, t: f32) -> f32 {
        self.horizon - (z - self.eye[2]) * self.focal / t
    }

    /// Where a point of the world appears, if it is in front of the camera.
    pub(crate) fn project(&self, point: [f32; 3]) -> Option<Spot> {
        let (dx, dy) = (point[0] - self.eye[0], point[1] - self.eye[1]);
        let distance = dx * self.forward[0] + dy * self.forward[1];
        if distance < 0.3 {
            return None;
        }
        let across = dx * self.right[0] + dy * self.right[1];
        Some(Spot {
            x: 0.5 * self.width + across / distance * self.focal,
            y: self.row(point[2], distance),
            distance,
        })
    }

    /// Where a far-away direction appears (x, y), if it is in front of the camera.
    pub(crate) fn project_direction(&self, d: [f32; 3]) -> Option<[f32; 2]> {
        let depth = d[0] * self.forward[0] + d[1] * self.forward[1];
        if depth < 0.05 {
            return None;
        }
        let across = d[0] * self.right[0] + d[1] * self.right[1];
        Some([0.5 * self.width + across / depth * self.focal, self.horizon - d[2] / depth * self.focal])
    }

    /// The component of a ground vector to the right and forward, as the camera sees it.
    #[inline]
    pub(crate) fn turned(&self, x: f32, y: f32) -> [f32; 2] {
        [x * self.right[0] + y * self.right[1], x * self.forward[0] + y * self.forward[1]]
    }

    /// The ground point `distance` metres straight ahead.
    pub(crate) fn centre_ahead(&self, distance: f32) -> (f32, f32) {
        (self.eye[0] + self.forward[0] * distance, self.eye[1] + self.forward[1] * distance)
    }

    /// The ground vector of so many metres to the right and forward.
    pub(crate) fn side_by_side(&self, right: f32, forward: f32) -> [f32; 2] {
        [self.right[0] * right + self.forward[0] * forward, self.right[1] * right + self.forward[1] * forward]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rig() -> Rig {
        let from = Pose { eye: [0.0, 0.0, 10.0], yaw: 0.2, horizon: 0.5, zoom: 1.0, roll: 0.0 };
        let to = Pose { eye: [0.0, 40.0, 10.0], yaw: 0.2, horizon: 0.5, zoom: 1.0, roll: 0.0 };
        Rig { from, to, orbit: None, unrest: 0.0, focal: 1.1, is_whip: false, phase: 0.0 }
    }

    #[test]
    fn camera_move_starts_and_ends_at_its_poses() {
        let rig = rig();
        assert!((rig.pose(0.0, 0.0).eye[1] - 0.0).abs() < 1e-4);
        assert!((rig.pose(1.0, 5.0).eye[1] - 40.0).abs() < 1e-4);
    }

    #[test]
    fn projection_is_inverse_of_ray() {
        let view = View::new(rig().from, 1.1, 320, 180);
        let [dx, dy] = view.ray(250.0);
        let t = 33.0;
        let z = 10.0 + view.rise(40.0) * t;
        let spot = view.project([dx * t, dy * t, z]).expect("it is in front");
        assert!(
            (spot.x - 250.0).abs() < 0.01 && (spot.y - 40.0).abs() < 0.01 && (spot.distance - t).abs() < 0.01
        );
    }
}
