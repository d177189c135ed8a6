//! What is in front of the camera: a landscape or a set.

use super::camera::{Pose, Rig};
use super::scene::{Scene, Workspace};
use super::scene_spec::SceneSpec;
use super::set_scene::SetScene;
use super::terrain::Detail;

/// What is in front of the camera.
pub(super) enum World {
    Land(Box<Scene>),
    Set(Box<SetScene>),
}

impl World {
    pub(super) fn build(spec: SceneSpec, aspect: f32, seconds: f32, seed: u64, detail: Detail) -> Self {
        match spec.set {
            Some(set) => Self::Set(Box::new(SetScene::build(spec, set, aspect, seconds, seed))),
            None => Self::Land(Box::new(Scene::build(spec, aspect, seconds, seed, detail))),
        }
    }

    pub(super) fn rig(&self) -> &Rig {
        match self {
            Self::Land(scene) => &scene.rig,
            Self::Set(scene) => &scene.rig,
        }
    }

    pub(super) fn spec(&self) -> &SceneSpec {
        match self {
            Self::Land(scene) => &scene.spec,
            Self::Set(scene) => &scene.spec,
        }
    }

    /// Keeps a camera out of the ground and of walls.
    pub(super) fn clear(&self, pose: &mut Pose) {
        match self {
            Self::Land(scene) => scene.keep_above_ground(pose),
            Self::Set(_) => SetScene::keep_inside(pose),
        }
    }

    /// Draws what a camera sees at `progress` (0 first, 1 last) of the shot that the world was made for, `time` seconds in.
    pub(super) fn draw(&self, pose: Pose, progress: f32, time: f32, work: &mut Workspace) {
        match self {
            Self::Land(scene) => scene.draw(pose, progress, time, work),
            Self::Set(scene) => scene.draw(pose, time, work),
        }
    }
}
