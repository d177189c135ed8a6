//! A fast renderer for tests: one color per video, from the prompt and the seed.

use std::ops::ControlFlow;

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};
use renderer::{Job, Progress, RenderError, Renderer, Rendering};

/// Frames per second: fewer are encoded faster.
const MAX_FRAME_RATE: u32 = 8;

pub(crate) struct Stub;

impl Renderer for Stub {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        let frame_rate = job.frame_rate.min(MAX_FRAME_RATE);
        let rate = FrameRate::new(frame_rate, 1).expect("a frame rate");
        let mut writer =
            ClipWriter::new(ClipSpec::new(job.width, job.height, rate)).expect("a size that can be encoded");
        let colour =
            job.prompt.bytes().fold(job.seed as u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
        let mut frame = RgbImage::new(job.width, job.height);
        frame.pixels_mut().fill(colour);
        let frames_total = (job.seconds * f64::from(frame_rate)).round() as u32;
        for frames_done in 1..=frames_total {
            writer.push_frame(&frame).expect("a frame of the right size");
            if progress(Progress { frames_done, frames_total }).is_break() {
                return Err(RenderError::Cancelled);
            }
        }
        Ok(Rendering { mp4: writer.finish().expect("a clip"), last_frame: frame })
    }
}
