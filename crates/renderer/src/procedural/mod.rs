//! [`Procedural`]: renders scenes on the CPU from nothing but the job.
//!
//! Pipeline: [`prompt`] parses the prompt into a brief, [`scene_spec`] resolves what it leaves open from the seed, [`layout`]
//! lays out objects and camera, [`scene`] builds the world and draws each frame ([`terrain`] and [`relief`] for the land,
//! [`raymarch`] for visibility, [`ground`], [`water`] and [`sky`] for shading, then the objects), [`color_grading`] turns
//! linear light into 8-bit RGB. [`audio`] synthesizes the sound track from the same spec.

mod adaptive_shading;
mod audio;
mod beam;
mod bloom;
mod boats_and_birds;
mod breakwater;
mod camera;
mod canvas;
mod city;
mod color_grading;
mod figure;
mod flora;
mod frame_context;
mod ground;
mod layout;
mod light;
mod lighthouse;
mod math;
mod noise;
mod prompt;
mod puppet;
mod raymarch;
mod relief;
mod roll;
mod scene;
mod scene_spec;
mod set_scene;
mod sky;
mod stylise;
mod surface;
mod terrain;
mod transition;
mod upscale;
mod water;
mod watermark;
mod weather;

use std::ops::ControlFlow;

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};

use self::audio::{RATE, Soundscape};
use self::color_grading::{Grade, Tones};
use self::noise::Rng;
use self::prompt::SceneBrief;
use self::scene::{Scene, Workspace};
use self::scene_spec::SceneSpec;
use self::set_scene::SetScene;
use self::stylise::Stylise;
use self::transition::Still;
use self::upscale::Upscale;
use crate::animatic::{Look, Panel, Shot};
use crate::{Job, Progress, PromptReading, Quality, RenderError, Renderer, Rendering};

pub use self::audio::RATE as AUDIO_SAMPLE_RATE;
pub(crate) use self::prompt::Move;
pub(crate) use self::transition::cover;

#[cfg(test)]
mod camera_tests;
#[cfg(test)]
mod tests;

/// The procedural renderer.
///
/// Invariant: deterministic; the same build renders the same job to the same bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Procedural;

/// Larger pictures are drawn with at most this many pixels and upscaled.
const MAX_DRAWN_PIXELS: f64 = 1_000_000.0;
/// The dissolve from a first frame, or to a last frame: seconds, and at most this share of the duration.
const DISSOLVE_SECONDS: f32 = 1.2;
const MAX_DISSOLVE: f32 = 0.45;

impl Renderer for Procedural {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        render(job, Look::Scene, progress)
    }

    fn read_prompt(&self, prompt: &str) -> Option<PromptReading> {
        Some(prompt::reading(prompt))
    }
}

/// Renders a job with a look.
pub(crate) fn render(
    job: &Job,
    look: Look,
    progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
) -> Result<Rendering, RenderError> {
    check(job)?;
    let frames_total = job.frames_total();
    let mut film = Film::new(job, look);
    let rate = FrameRate::new(job.frame_rate, 1)
        .ok_or_else(|| RenderError::Job { what: "frame_rate is 0: it must be 1 to 120".to_owned() })?;
    let spec = ClipSpec::new(job.width, job.height, rate);
    let spec = if job.generate_audio { spec.with_audio(RATE, 2) } else { spec };
    let mut writer = ClipWriter::new(spec)?;
    if job.generate_audio {
        writer.push_audio(&film.sound(frames_total))?;
    }
    let mut frames_done = 0;
    film.pictures(frames_total, &mut |picture| {
        writer.push_frame(picture)?;
        frames_done += 1;
        if progress(Progress { frames_done, frames_total }).is_break() {
            return Err(RenderError::Cancelled);
        }
        Ok(())
    })?;
    let mp4 = writer.finish()?;
    // Decoded, not as drawn: identical to the last frame that a client extracts from the file.
    let last_frame = media::last_frame_bytes(&mp4)?;
    Ok(Rendering { mp4, last_frame })
}

impl Procedural {
    /// Draws the frames of `job` without sound or encoding, for benchmarks.
    ///
    /// # Errors
    /// [`RenderError::Job`] for sizes and lengths out of bounds, and the errors of `show`.
    pub fn draw(
        &self,
        job: &Job,
        show: &mut dyn FnMut(&RgbImage) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        check(job)?;
        Film::new(job, Look::Scene).pictures(job.frames_total(), show)
    }
}

/// Draws one frame of a job with a look, without encoding.
pub(crate) fn draw_frame(job: &Job, look: Look, frame: u32) -> Result<RgbImage, RenderError> {
    check(job)?;
    let frames_total = job.frames_total();
    let mut picture = RgbImage::new(job.width, job.height);
    Film::new(job, look).picture(frame.min(frames_total - 1), frames_total, &mut picture);
    Ok(picture)
}

fn check(job: &Job) -> Result<(), RenderError> {
    let refuse = |what: String| Err(RenderError::Job { what });
    for (name, side) in [("width", job.width), ("height", job.height)] {
        if side % 2 != 0 || !(16..=4096).contains(&side) {
            return refuse(format!("{name} is {side}: it must be even and between 16 and 4096"));
        }
    }
    if !(1..=120).contains(&job.frame_rate) {
        return refuse(format!("frame_rate is {}: it must be 1 to 120", job.frame_rate));
    }
    if !(job.seconds > 0.0 && job.seconds <= 60.0) {
        return refuse(format!("seconds is {}: it must be more than 0 and at most 60", job.seconds));
    }
    Ok(())
}

/// What is in front of the camera.
enum World {
    Land(Box<Scene>),
    Set(Box<SetScene>),
}

impl World {
    fn build(spec: SceneSpec, aspect: f32, seconds: f32, seed: u64) -> Self {
        match spec.set {
            Some(set) => Self::Set(Box::new(SetScene::build(spec, set, aspect, seconds, seed))),
            None => Self::Land(Box::new(Scene::build(spec, aspect, seconds, seed))),
        }
    }

    /// Radians by which the camera is turned around its axis.
    fn roll(&self, progress: f32, time: f32) -> f32 {
        let rig = match self {
            Self::Land(scene) => &scene.rig,
            Self::Set(scene) => &scene.rig,
        };
        rig.pose(progress, time).roll
    }

    fn draw(&self, progress: f32, time: f32, work: &mut Workspace) {
        match self {
            Self::Land(scene) => scene.draw(progress, time, work),
            Self::Set(scene) => scene.draw(progress, time, work),
        }
    }
}

/// The frames of a rendering.
struct Film<'a> {
    job: &'a Job,
    seed: u64,
    world: World,
    stylise: Option<Stylise>,
    /// A buffer for cameras that roll.
    turned: Vec<u8>,
    grade: Grade,
    work: Workspace,
    small: Option<(RgbImage, Upscale)>,
    first: Option<Still>,
    last: Option<Still>,
    panel: Option<Panel>,
}

impl<'a> Film<'a> {
    fn new(job: &'a Job, look: Look) -> Self {
        let brief = SceneBrief::read(&job.prompt);
        let seed = scene_seed(job);
        let spec = SceneSpec::resolve(&brief, job.camera_fixed, job.seconds as f32, seed);
        let movement = if job.camera_fixed { Some(prompt::Move::Static) } else { brief.movement };
        let still =
            |image: &RgbImage, stream| Still::new(image, job.width, job.height, movement, seed ^ stream);
        let (width, height) = drawn_size(job);
        let grade = Grade::new(spec.style, 1.0, Tones::from_references(&job.references));
        let shown = spec.movement;
        Self {
            turned: Vec::new(),
            stylise: Stylise::new(spec.style, job.width, job.height, seed),
            world: World::build(spec, job.width as f32 / job.height as f32, job.seconds as f32, seed),
            seed,
            grade,
            work: Workspace::new(width as usize, height as usize),
            small: ((width, height) != (job.width, job.height)).then(|| {
                (RgbImage::new(width, height), Upscale::new((width, height), (job.width, job.height)))
            }),
            first: job.first_frame.as_ref().map(|image| still(image, 1)),
            last: job.last_frame.as_ref().map(|image| still(image, 2)),
            panel: (look == Look::Animatic).then(|| Panel::new(job, Shot { movement: shown })).flatten(),
            job,
        }
    }

    /// The sound track, exactly as long as the video.
    fn sound(&self, frames_total: u32) -> Vec<f32> {
        let samples = u64::from(frames_total) * u64::from(RATE) / u64::from(self.job.frame_rate);
        let scape = match &self.world {
            World::Land(scene) => {
                Soundscape::new(&scene.spec, scene.walker.as_ref(), scene.lighthouse.is_some(), self.seed)
            }
            World::Set(scene) => Soundscape::new(&scene.spec, None, false, self.seed),
        };
        let mut sound = scape.render(samples as usize, self.seed);
        if let Some(reference) = &self.job.reference_audio {
            audio::reference::lay(&mut sound, reference);
        }
        sound
    }

    fn pictures(
        &mut self,
        frames_total: u32,
        show: &mut dyn FnMut(&RgbImage) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        let mut picture = RgbImage::new(self.job.width, self.job.height);
        (0..frames_total).try_for_each(|frame| {
            self.picture(frame, frames_total, &mut picture);
            show(&picture)
        })
    }

    fn picture(&mut self, frame: u32, frames_total: u32, picture: &mut RgbImage) {
        let progress = if frames_total > 1 { frame as f32 / (frames_total - 1) as f32 } else { 0.0 };
        let dissolve = (DISSOLVE_SECONDS / self.job.seconds as f32).min(MAX_DISSOLVE);
        let gone = self.first.as_ref().map_or(1.0, |_| progress / dissolve);
        let left = self.last.as_ref().map_or(1.0, |_| (1.0 - progress) / dissolve);
        if gone > 0.0 && left > 0.0 {
            let time = frame as f32 / self.job.frame_rate as f32;
            self.world.draw(progress, time, &mut self.work);
            match &mut self.small {
                None => self.grade.develop(&self.work.canvas, &self.work.bloom, frame, picture),
                Some((small, upscale)) => {
                    self.grade.develop(&self.work.canvas, &self.work.bloom, frame, small);
                    upscale.enlarge(small, picture);
                }
            }
            roll::turn(picture, self.world.roll(progress, time), &mut self.turned);
            if let Some(stylise) = &mut self.stylise {
                stylise.apply(picture);
            }
        }
        if let Some(still) = &self.first {
            still.lay(picture, gone);
        }
        if let Some(still) = &self.last {
            still.lay(picture, left);
        }
        if self.job.watermark {
            watermark::stamp(picture);
        }
        if let Some(panel) = &self.panel {
            panel.lay(frame, picture);
        }
    }
}

/// The seed of everything that the prompt leaves open: of the job's seed and of the prompt's text, so that two prompts never give the same scene.
fn scene_seed(job: &Job) -> u64 {
    Rng::new(job.seed, &job.prompt).next()
}

/// The size that a job is drawn at before upscaling: even, with the aspect ratio of the job.
fn drawn_size(job: &Job) -> (u32, u32) {
    let pixels = f64::from(job.width) * f64::from(job.height);
    let limit = match job.quality {
        Quality::Standard => MAX_DRAWN_PIXELS,
        Quality::Fast => (pixels * 0.5).clamp(20_000.0, MAX_DRAWN_PIXELS * 0.5),
    };
    if pixels <= limit {
        return (job.width, job.height);
    }
    let scale = (limit / pixels).sqrt();
    let even = |side: u32| ((f64::from(side) * scale * 0.5).round() as u32 * 2).clamp(16, side);
    (even(job.width), even(job.height))
}
