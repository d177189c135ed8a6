//! The frames and the sound of a rendering.

use media::RgbImage;

use super::audio::{self, RATE};
use super::cadence::Cadence;
use super::color_grading::{Grade, Tones};
use super::frame_buffers::{FrameBuffers, RenderScale};
use super::prompt::{self, SceneBrief};
use super::scene_spec::SceneSpec;
use super::stage::{Stage, scene_seed};
use super::stylize::Stylize;
use super::terrain::Detail;
use super::transition::Still;
use super::{roll, watermark};
use crate::animatic::{Look, Panel, Shot};
use crate::{Job, Quality, RenderError};

/// The dissolve from a first frame, or to a last frame: seconds, and at most this share of the duration.
const DISSOLVE_SECONDS: f32 = 1.2;
const MAX_DISSOLVE: f32 = 0.45;

/// One of the frames of a film in order, or a cut between two.
pub(super) enum FilmFrame<'a> {
    Painted(&'a RgbImage),
    /// A frame between the drawn ones before and after it.
    Between,
    /// The next frame begins a group of pictures.
    Cut,
}

/// The frames of a rendering.
pub(super) struct Film<'a> {
    job: &'a Job,
    stage: Stage,
    stylize: Option<Stylize>,
    /// A buffer for cameras that roll.
    turned: Vec<u8>,
    grade: Grade,
    canvas: FrameBuffers,
    first: Option<Still>,
    last: Option<Still>,
    panel: Option<Panel>,
    cadence: Cadence,
    /// The frame that is drawn as finely as a scene although the others are not: the last one, which the next shot begins with.
    full_detail_frame: Option<u32>,
}

impl<'a> Film<'a> {
    pub(super) fn new(job: &'a Job, look: Look) -> Self {
        let brief = SceneBrief::read(&job.prompt);
        let own_seed = scene_seed(&job.prompt, job.seed);
        let own = SceneSpec::resolve(&brief, job.camera_fixed, job.seconds as f32, own_seed);
        let movement = if job.camera_fixed { Some(prompt::Move::Static) } else { brief.movement };
        let still =
            |image: &RgbImage, stream| Still::new(image, job.width, job.height, movement, own_seed ^ stream);
        let first = job.first_frame.as_ref().map(|image| still(image, 1));
        let is_sketch = look == Look::Animatic || job.quality == Quality::Fast;
        let detail = if is_sketch { Detail::Sketch } else { Detail::Full };
        let continued =
            first.as_ref().and_then(|still| Stage::continued(job, &own, movement.is_some(), still, detail));
        let stage = continued.unwrap_or_else(|| Stage::own(job, own, own_seed, detail));
        let style = stage.world.spec().style;
        let shown = stage.movement;
        let grade = Grade::new(style, 1.0, Tones::from_references(&job.references));
        let frames_last = job.frames_total() - 1;
        let cadence = Cadence::new(job, look, stage.world.spec());
        let resolution = RenderScale::new(job, look, stage.world.spec());
        Self {
            turned: Vec::new(),
            stylize: Stylize::new(style, job.width, job.height, stage.seed),
            stage,
            grade,
            canvas: FrameBuffers::new(job, resolution),
            full_detail_frame: is_sketch.then_some(frames_last),
            first,
            last: job.last_frame.as_ref().map(|image| still(image, 2)),
            panel: (look == Look::Animatic).then(|| Panel::new(job, Shot { movement: shown })).flatten(),
            cadence,
            job,
        }
    }

    /// The note on the last frame: where the world stands in it. `None` where it is a given image.
    pub(super) fn ending(&self) -> Option<String> {
        self.last.is_none().then(|| self.stage.next(self.job)).map(|ending| ending.write())
    }

    /// Channels of the sound track: one for sketches, because AAC with two is a seventh of their cost.
    pub(super) fn channels(&self) -> u16 {
        if self.full_detail_frame.is_some() { 1 } else { 2 }
    }

    /// The sound track, exactly as long as the video, with interleaved [`Film::channels`].
    pub(super) fn sound(&self, frames_total: u32) -> Vec<f32> {
        let samples = u64::from(frames_total) * u64::from(RATE) / u64::from(self.job.frame_rate);
        let mut sound = self.stage.sound(samples as usize);
        if let Some(reference) = &self.job.reference_audio {
            audio::reference::lay(&mut sound, reference);
        }
        if self.channels() == 1 {
            let (pairs, _) = sound.as_chunks();
            return pairs.iter().map(|[left, right]| 0.5 * (left + right)).collect();
        }
        sound
    }

    /// Shows every frame in order. `show` returns whether the next drawn frame is to begin a group of pictures.
    pub(super) fn frames(
        &mut self,
        show: &mut dyn FnMut(FilmFrame<'_>) -> Result<bool, RenderError>,
    ) -> Result<(), RenderError> {
        let frames_total = self.job.frames_total();
        let mut image = RgbImage::new(self.job.width, self.job.height);
        self.draw(0, frames_total, &mut image);
        let mut is_full = show(FilmFrame::Painted(&image))?;
        let mut frame = 0;
        while frame + 1 < frames_total {
            let span = self.cadence.span(frame, is_full);
            (1..span.frames).try_for_each(|_| show(FilmFrame::Between).map(drop))?;
            if span.is_cut {
                show(FilmFrame::Cut)?;
            }
            frame += span.frames;
            self.draw(frame, frames_total, &mut image);
            is_full = show(FilmFrame::Painted(&image))?;
        }
        Ok(())
    }

    /// The same with every frame drawn.
    pub(super) fn at_every_frame(mut self) -> Self {
        self.cadence = self.cadence.at_every_frame();
        self
    }

    /// Frames from one drawn frame to the next.
    pub(super) fn cadence(&self) -> u32 {
        self.cadence.every()
    }

    pub(super) fn draw(&mut self, frame: u32, frames_total: u32, image: &mut RgbImage) {
        let progress = if frames_total > 1 { frame as f32 / (frames_total - 1) as f32 } else { 0.0 };
        let dissolve = (DISSOLVE_SECONDS / self.job.seconds as f32).min(MAX_DISSOLVE);
        let is_continued = self.stage.ending.is_some();
        // Between two given images there is no third place.
        let is_between = self.first.is_some() && self.last.is_some() && !is_continued;
        let gone = match &self.first {
            None => 1.0,
            Some(_) if is_continued => {
                if frame > 0 {
                    1.0
                } else {
                    0.0
                }
            }
            Some(_) if is_between => progress,
            Some(_) => progress / dissolve,
        };
        let left = self.last.as_ref().map_or(1.0, |_| (1.0 - progress) / dissolve);
        if let (Some(last), true) = (&self.last, is_between) {
            last.fill(image, 1.0 - progress);
        } else if gone > 0.0 && left > 0.0 {
            let time = frame as f32 / self.job.frame_rate as f32;
            if self.full_detail_frame == Some(frame) {
                self.canvas = FrameBuffers::new(self.job, RenderScale::of_scene(self.stage.world.spec()));
            }
            let pose = self.stage.draw(progress, time, &mut self.canvas.work);
            self.canvas.develop(&self.grade, frame, image);
            roll::turn(image, pose.roll, &mut self.turned);
            if let Some(stylize) = &mut self.stylize {
                stylize.apply(image);
            }
        }
        if let Some(still) = &self.first {
            still.lay(image, gone);
        }
        if let (Some(still), false) = (&self.last, is_between) {
            still.lay(image, left);
        }
        if self.job.watermark {
            watermark::stamp(image);
        }
        if let Some(panel) = &self.panel {
            panel.lay(frame, image);
        }
    }
}
