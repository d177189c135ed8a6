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
        // Not pixel by pixel: tests are not optimized.
        let pixels = color(job).repeat(job.width as usize * job.height as usize);
        let frame = RgbImage::from_pixels(job.width, job.height, pixels).expect("an image of its size");
        let frames_total = (job.seconds * f64::from(frame_rate)).round() as u32;
        for frames_done in 1..=frames_total {
            // A whole frame each second, as points to seek to; those between repeat it, which costs no time.
            if (frames_done - 1).is_multiple_of(frame_rate) {
                writer.push_frame(&frame).expect("a frame of the right size");
            } else {
                writer.repeat_frame().expect("a frame that can be repeated");
            }
            if progress(Progress { frames_done, frames_total }).is_break() {
                return Err(RenderError::Cancelled);
            }
        }
        Ok(Rendering { mp4: writer.finish().expect("a clip"), last_frame: frame })
    }
}

/// The gray that the prompt ends with, such as `gray 120`, or a color of three independent components. With one component, two seeds in about fifty had the same frames once they were encoded, and a
/// rerun was then no change for the shots that continue it.
fn color(job: &Job) -> [u8; 3] {
    if let Some(gray) = job.prompt.rsplit_once("gray ").and_then(|(_, level)| level.parse().ok()) {
        return [gray; 3];
    }
    // FNV-1a (Fowler, Noll, Vo), 64 bits.
    let seed = job.seed.to_le_bytes();
    let hash = job.prompt.bytes().chain(seed).fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    [(hash >> 24) as u8, (hash >> 40) as u8, (hash >> 56) as u8]
}
