//! Shots that go on where another ended: in its world, from its last pose, at its camera's speed.
//!
//! The last frame of a clip carries a note ([`media::RgbImage::note`]) with its [`Ending`]; the shot that is given this frame as its first one goes on there.

use serde::{Deserialize, Serialize};

use super::camera::{Pose, Rig};
use super::layout::Layout;
use super::noise::Rng;
use super::scene_spec::SceneSpec;
use super::world::World;

/// Longer prompts are not read from a note, in bytes; the contract allows far fewer.
const MAX_PROMPT_BYTES: usize = 60_000;
/// A world goes on for this long, in seconds.
const MAX_SECONDS: f32 = 3_600.0;
/// Metres from the origin; beyond, a note is not from a camera.
const MAX_DISTANCE: f32 = 20_000.0;
/// The camera's speed turns into that of the new move within about this many seconds.
const TURN_SECONDS: f32 = 0.7;

/// Where the world of a shot stands in its last frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ending {
    pub(super) version: u32,
    /// Prompt, seed, length in seconds and fixed camera of the shot that the world was made for.
    pub(super) prompt: String,
    pub(super) seed: u64,
    pub(super) seconds: f32,
    #[serde(rename = "fixed")]
    pub(super) is_fixed: bool,
    /// Seconds since the world's first frame.
    pub(super) time: f32,
    /// Shots in this world so far.
    pub(super) shots: u32,
    /// The camera without its shake, and its change per second.
    pub(super) pose: Pose,
    pub(super) speed: Pose,
}

impl Ending {
    pub(super) const VERSION: u32 = 1;

    pub(super) fn write(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// `None` for what another program wrote, or with numbers that no camera has.
    pub(super) fn read(note: &str) -> Option<Self> {
        let ending: Self = serde_json::from_str(note).ok()?;
        let is_bounded = |pose: &Pose| {
            let far = pose.eye.iter().all(|metres| metres.abs() <= MAX_DISTANCE);
            far && [pose.yaw, pose.horizon, pose.zoom, pose.roll].iter().all(|value| value.abs() <= 100.0)
        };
        let is_right = ending.version == Self::VERSION
            && ending.prompt.len() <= MAX_PROMPT_BYTES
            && (0.0..=MAX_SECONDS).contains(&ending.time)
            && ending.seconds > 0.0
            && ending.seconds <= 60.0
            && (0.05..=20.0).contains(&ending.pose.zoom)
            && is_bounded(&ending.pose)
            && is_bounded(&ending.speed);
        is_right.then_some(ending)
    }
}

/// The way of the camera.
pub(super) enum Course {
    /// That of the world's own rig.
    Own,
    /// From where another shot ended.
    Continued {
        from: Pose,
        speed: Pose,
        /// Seconds since the world's first frame, for the shake.
        elapsed: f32,
        /// The move of this shot, from anywhere.
        rig: Box<Rig>,
        /// The share of the move's way that is travelled.
        share: f32,
    },
}

impl Course {
    /// `spec` is that of the world, with the move of the new shot.
    pub(super) fn continued(ending: &Ending, spec: &SceneSpec, seed: u64) -> Self {
        let layout = if spec.set.is_some() { Layout::indoors(spec) } else { Layout::new(spec, seed) };
        let rig = layout.rig(spec, &mut Rng::new(seed, "continuation"), |_, _| 0.0);
        // There is little room around figures, and in a room.
        let is_narrow = spec.set.is_some() || !spec.figures.is_empty();
        let share = if is_narrow { 0.5_f32.powi(ending.shots.clamp(1, 12) as i32) } else { 1.0 };
        Self::Continued {
            from: ending.pose,
            speed: ending.speed,
            elapsed: ending.time,
            rig: Box::new(rig),
            share,
        }
    }

    /// The pose at `progress` (0 first frame, 1 last frame), `time` seconds into the shot.
    pub(super) fn pose(&self, world: &World, progress: f32, time: f32) -> Pose {
        let mut pose = self.steady(world, progress, time);
        let elapsed = match self {
            Self::Own => 0.0,
            Self::Continued { elapsed, .. } => *elapsed,
        };
        world.rig().shake(&mut pose, elapsed + time);
        pose
    }

    /// The same without shake.
    pub(super) fn steady(&self, world: &World, progress: f32, time: f32) -> Pose {
        let Self::Continued { from, speed, rig, share, .. } = self else {
            return world.rig().steady(progress);
        };
        // The old speed fades, and the new move comes in from rest: together there is no step in speed.
        let turned = 1.0 - (-time / TURN_SECONDS).exp();
        let glide = speed.times(TURN_SECONDS * turned);
        let (start, now) = (rig.steady(0.0), rig.steady(progress));
        let mut travel = now.minus(start).times(turned);
        let (sin, cos) = (from.yaw - start.yaw).sin_cos();
        let [right, ahead, up] = travel.eye.map(|metres| metres * share);
        travel.eye = [right * cos + ahead * sin, ahead * cos - right * sin, up];
        let mut pose = from.plus(glide).plus(travel);
        pose.zoom = pose.zoom.clamp(0.2, 5.0);
        pose.horizon = pose.horizon.clamp(-0.4, 1.4);
        world.clear(&mut pose);
        pose
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending() -> Ending {
        let pose = Pose { eye: [1.0, 2.0, 3.0], yaw: 0.1, horizon: 0.5, zoom: 1.0, roll: 0.0 };
        Ending {
            version: Ending::VERSION,
            prompt: "夜の港 \"in rain\"".to_owned(),
            seed: u64::MAX,
            seconds: 5.0,
            is_fixed: false,
            time: 4.96,
            shots: 1,
            pose,
            speed: Pose::default(),
        }
    }

    #[test]
    fn note_round_trip() {
        assert_eq!(Ending::read(&ending().write()), Some(ending()));
    }

    #[test]
    fn notes_that_no_camera_wrote_are_not_read() {
        let far = Pose { eye: [1e9, 0.0, 0.0], ..ending().pose };
        for wrong in [
            Ending { version: 2, ..ending() },
            Ending { seconds: 0.0, ..ending() },
            Ending { time: -1.0, ..ending() },
            Ending { pose: far, ..ending() },
            Ending { speed: far, ..ending() },
            Ending { prompt: "x".repeat(MAX_PROMPT_BYTES + 1), ..ending() },
        ] {
            assert_eq!(Ending::read(&wrong.write()), None, "{wrong:?}");
        }
        for text in ["", "{}", "null", "a prompt"] {
            assert_eq!(Ending::read(text), None);
        }
    }
}
