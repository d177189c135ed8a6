//! [`Animatic`]: a shot as what is known of it, and nothing guessed: its prompt set in type over a quiet background, the frames that it was given, the
//! camera move that it names.
//!
//! [`prompt`] reads the prompt; [`palette`] gives the colors of its mood, [`backdrop`] and [`particles`] draw it, [`camera`] moves it, [`still`] lays
//! given frames over it and [`card`] the type; [`sound`] plays what is heard. [`film`] puts a frame together.
//!
//! Invariant: the same job gives the same bytes on every processor ([`numbers`]).

mod backdrop;
mod camera;
mod card;
mod film;
mod ink;
mod numbers;
mod palette;
mod particles;
mod prompt;
mod sound;
mod still;
#[cfg(test)]
mod tests;
mod watermark;

use std::ops::ControlFlow;

use media::{ClipSpec, ClipWriter, Effort, FrameRate, RgbImage};

use self::film::Film;
pub use self::sound::RATE as AUDIO_SAMPLE_RATE;
use crate::{Job, Progress, RenderError, Renderer, Rendering};

/// Draws animatics.
///
/// The type is gone before the last half second, so that a frame that is handed on is clean; a shot with a first frame begins on exactly that.
#[derive(Clone, Copy, Debug, Default)]
pub struct Animatic;

impl Renderer for Animatic {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        check(job)?;
        let frames_total = job.frames_total();
        let mut film = Film::new(job);
        let rate = FrameRate::new(job.frame_rate, 1)
            .ok_or_else(|| RenderError::Job { what: "frame_rate is 0: it must be 1 to 120".to_owned() })?;
        let spec = ClipSpec::new(job.width, job.height, rate).with_effort(Effort::Draft);
        let spec = if job.generate_audio { spec.with_audio(AUDIO_SAMPLE_RATE, 1) } else { spec };
        let mut writer = ClipWriter::new(spec)?;
        if job.generate_audio {
            writer.push_audio(&film.sound())?;
        }
        for frame in 0..frames_total {
            match film.next(frame) {
                Some(image) => writer.push_frame(image)?,
                None => writer.repeat_frame()?,
            }
            if progress(Progress { frames_done: frame + 1, frames_total }).is_break() {
                return Err(RenderError::Cancelled);
            }
        }
        let mp4 = writer.finish()?;
        // Decoded, not as drawn: identical to the last frame that a client extracts from the file.
        let last_frame = media::last_frame_bytes(&mp4)?;
        Ok(Rendering { mp4, last_frame })
    }
}

impl Animatic {
    /// Draws one frame of a job by its index, without sound or encoding; of an index beyond the end the last frame.
    ///
    /// # Errors
    /// [`RenderError::Job`] for sizes and lengths out of bounds.
    pub fn draw_frame(&self, job: &Job, frame: u32) -> Result<RgbImage, RenderError> {
        check(job)?;
        let frame = frame.min(job.frames_total() - 1);
        Ok(Film::new(job).next(frame).cloned().unwrap_or_else(|| RgbImage::new(job.width, job.height)))
    }
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
