//! [`Procedural`]: renders scenes on the CPU from nothing but the job.
//!
//! Pipeline: [`prompt`] parses the prompt into a brief, [`scene_spec`] resolves what it leaves open from the seed, [`stage`] makes the world or takes
//! that of the shot before ([`continuation`]), [`layout`] lays out objects and camera, [`scene`] builds the world and draws each frame ([`terrain`] and [`relief`] for the land,
//! [`raymarch`] for visibility, [`ground`], [`water`] and [`sky`] for shading, then the objects), [`color_grading`] turns
//! linear light into 8-bit RGB. [`audio`] synthesizes the sound track from the same spec.

mod adaptive_shading;
mod audio;
mod beam;
mod bloom;
mod boats_and_birds;
mod breakwater;
mod cadence;
mod camera;
mod canvas;
mod city;
mod color_grading;
mod compositing;
mod continuation;
mod facade;
mod figure;
mod film;
mod flora;
mod frame_buffers;
mod frame_context;
mod grain;
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
mod stage;
mod stylize;
mod surface;
mod terrain;
mod transition;
mod upscale;
mod water;
mod watermark;
mod wave_layer;
mod weather;
mod world;

use std::ops::ControlFlow;

use media::{ClipSpec, ClipWriter, Effort, FrameRate, RgbImage};

use self::audio::RATE;
use self::film::{Film, FilmFrame};
use crate::animatic::Look;
use crate::{Job, Progress, PromptReading, RenderError, Renderer, Rendering};

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
    let spec = ClipSpec::new(job.width, job.height, rate).with_effort(Effort::Draft);
    let spec = if job.generate_audio { spec.with_audio(RATE, film.channels()) } else { spec };
    let mut writer = ClipWriter::new(spec)?;
    if job.generate_audio {
        writer.push_audio(&film.sound(frames_total))?;
    }
    let mut frames_done = 0;
    let between = film.cadence() - 1;
    film.frames(&mut |shown| {
        match shown {
            FilmFrame::Painted(image) => writer.push_frame(image)?,
            FilmFrame::Between => writer.interpolate_frame()?,
            FilmFrame::Cut => {
                writer.cut()?;
                return Ok(false);
            }
        }
        frames_done += 1;
        if progress(Progress { frames_done, frames_total }).is_break() {
            return Err(RenderError::Cancelled);
        }
        Ok(writer.is_group_full(between))
    })?;
    let mp4 = writer.finish()?;
    // Decoded, not as drawn: identical to the last frame that a client extracts from the file.
    let mut last_frame = media::last_frame_bytes(&mp4)?;
    last_frame.set_note(film.ending());
    Ok(Rendering { mp4, last_frame })
}

impl Procedural {
    /// Draws every frame of `job` at its moment, without sound or encoding; those too that are interpolated in a rendering.
    ///
    /// # Errors
    /// [`RenderError::Job`] for sizes and lengths out of bounds, and the errors of `show`.
    pub fn draw(
        &self,
        job: &Job,
        show: &mut dyn FnMut(&RgbImage) -> Result<(), RenderError>,
    ) -> Result<(), RenderError> {
        check(job)?;
        show_drawn(&mut Film::new(job, Look::Scene).at_every_frame(), show)
    }
}

/// Draws the frames of a job with a look, without those that are interpolated.
pub(crate) fn draw(
    job: &Job,
    look: Look,
    show: &mut dyn FnMut(&RgbImage) -> Result<(), RenderError>,
) -> Result<(), RenderError> {
    check(job)?;
    show_drawn(&mut Film::new(job, look), show)
}

fn show_drawn(
    film: &mut Film<'_>,
    show: &mut dyn FnMut(&RgbImage) -> Result<(), RenderError>,
) -> Result<(), RenderError> {
    film.frames(&mut |shown| {
        if let FilmFrame::Painted(image) = shown {
            show(image)?;
        }
        Ok(false)
    })
}

/// Draws one frame of a job with a look, without encoding.
pub(crate) fn draw_frame(job: &Job, look: Look, frame: u32) -> Result<RgbImage, RenderError> {
    check(job)?;
    let frames_total = job.frames_total();
    let mut image = RgbImage::new(job.width, job.height);
    Film::new(job, look).draw(frame.min(frames_total - 1), frames_total, &mut image);
    Ok(image)
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
