//! The world of a shot and the camera's way through it: its own, or that of the shot that it continues.

use media::RgbImage;

use super::audio::Soundscape;
use super::camera::Pose;
use super::color_grading::{Grade, Tones};
use super::continuation::{Course, Ending};
use super::frame_buffers::{FrameBuffers, RenderScale};
use super::noise::Rng;
use super::prompt::{self, SceneBrief};
use super::roll;
use super::scene::Workspace;
use super::scene_spec::SceneSpec;
use super::stylize::Stylize;
use super::terrain::Detail;
use super::transition::Still;
use super::world::World;
use crate::Job;

/// The world of a shot and the way of the camera through it.
pub(super) struct Stage {
    pub(super) world: World,
    course: Course,
    /// Of the world.
    pub(super) seed: u64,
    /// The shot that the world was made for: prompt, seed, seconds, and whether its camera was fixed.
    origin: (String, u64, f32, bool),
    /// Where the shot before ended, if this one goes on in its world.
    pub(super) ending: Option<Ending>,
    /// What the panel shows.
    pub(super) movement: prompt::Move,
}

impl Stage {
    pub(super) fn own(job: &Job, spec: SceneSpec, seed: u64, detail: Detail) -> Self {
        let movement = spec.movement;
        let seconds = job.seconds as f32;
        Self {
            world: World::build(spec, aspect(job), seconds, seed, detail),
            course: Course::Own,
            seed,
            origin: (job.prompt.clone(), job.seed, seconds, job.camera_fixed),
            ending: None,
            movement,
        }
    }

    /// The stage of the shot whose last frame `still` is. `None` unless it says where it was taken, and looks like it.
    pub(super) fn continued(
        job: &Job,
        own: &SceneSpec,
        names_move: bool,
        still: &Still,
        detail: Detail,
    ) -> Option<Self> {
        let ending = Ending::read(job.first_frame.as_ref()?.note()?)?;
        let seed = scene_seed(&ending.prompt, ending.seed);
        let brief = SceneBrief::read(&ending.prompt);
        let mut spec = SceneSpec::resolve(&brief, ending.is_fixed, ending.seconds, seed);
        let world = World::build(spec.clone(), aspect(job), ending.seconds, seed, detail);
        if names_move {
            (spec.movement, spec.eagerness) = (own.movement, own.eagerness);
        }
        let movement = spec.movement;
        let stage = Self {
            world,
            course: Course::continued(&ending, &spec, seed),
            seed,
            origin: (ending.prompt.clone(), ending.seed, ending.seconds, ending.is_fixed),
            ending: Some(ending),
            movement,
        };
        stage.matches_still(job, still).then_some(stage)
    }

    /// Whether the world at the beginning of the shot is what an image shows. An image may have been edited, or drawn by another version.
    fn matches_still(&self, job: &Job, still: &Still) -> bool {
        const MIN_LIKENESS: f64 = 19.0;
        let mut drawn = FrameBuffers::new(job, RenderScale::SKETCH);
        let mut image = RgbImage::new(job.width, job.height);
        let pose = self.draw(0.0, 0.0, &mut drawn.work);
        let style = self.world.spec().style;
        drawn.develop(&Grade::new(style, 1.0, Tones::from_references(&job.references)), 0, &mut image);
        roll::turn(&mut image, pose.roll, &mut Vec::new());
        if let Some(mut stylize) = Stylize::new(style, job.width, job.height, self.seed) {
            stylize.apply(&mut image);
        }
        still.likeness(&image) >= MIN_LIKENESS
    }

    /// Draws the frame at `progress`, `time` seconds in; returns the pose of the camera.
    pub(super) fn draw(&self, progress: f32, time: f32, work: &mut Workspace) -> Pose {
        let pose = self.course.pose(&self.world, progress, time);
        match &self.ending {
            None => self.world.draw(pose, progress, time, work),
            // What happened in the first shot, such as a door that opened, has happened.
            Some(ending) => self.world.draw(pose, 1.0, ending.time + time, work),
        }
        pose
    }

    /// Where the world stands in the last frame of a shot.
    pub(super) fn next(&self, job: &Job) -> Ending {
        let (prompt, seed, seconds, fixed) = self.origin.clone();
        let step = 1.0 / job.frame_rate as f32;
        let length = (job.frames_total() - 1) as f32 * step;
        let pose_at = |time: f32| {
            self.course.steady(
                &self.world,
                if length > 0.0 { (time / length).max(0.0) } else { 0.0 },
                time.max(0.0),
            )
        };
        let (before, pose) = (pose_at(length - step), pose_at(length));
        let speed = if length > 0.0 { pose.minus(before).times(1.0 / step) } else { Pose::default() };
        let before_shot = self.ending.as_ref().map_or((0.0, 0), |ending| (ending.time, ending.shots));
        Ending {
            version: Ending::VERSION,
            prompt,
            seed,
            seconds,
            is_fixed: fixed,
            time: before_shot.0 + length,
            shots: before_shot.1 + 1,
            pose,
            speed,
        }
    }

    /// `samples` of the sound track per channel, interleaved; of a continuation those that follow on the shot before.
    pub(super) fn sound(&self, samples: usize) -> Vec<f32> {
        let scape = match &self.world {
            World::Land(scene) => {
                Soundscape::new(&scene.spec, scene.walker.as_ref(), scene.lighthouse.is_some(), self.seed)
            }
            World::Set(scene) => Soundscape::new(&scene.spec, None, false, self.seed),
        };
        match &self.ending {
            None => scape.render(samples, self.seed),
            Some(ending) => scape.render_from(ending.time, ending.seconds, samples, self.seed),
        }
    }
}

fn aspect(job: &Job) -> f32 {
    job.width as f32 / job.height as f32
}

/// The seed of everything that the prompt leaves open: of the job's seed and of the prompt's text, so that two prompts never give the same scene.
pub(super) fn scene_seed(prompt: &str, seed: u64) -> u64 {
    Rng::new(seed, prompt).next()
}
