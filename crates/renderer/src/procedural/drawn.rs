//! The size that frames are drawn at, and their buffers.

use media::RgbImage;

use super::color_grading::Grade;
use super::scene::Workspace;
use super::upscale::Upscale;
use crate::animatic::Look;
use crate::{Job, Quality};

/// Larger pictures are drawn with at most this many pixels and upscaled.
const MAX_DRAWN_PIXELS: f64 = 1_000_000.0;

/// The buffers that a frame is drawn in, at its size or smaller.
pub(super) struct Drawn {
    pub(super) work: Workspace,
    small: Option<(RgbImage, Upscale)>,
}

impl Drawn {
    /// For pictures drawn with this share of their pixels.
    pub(super) fn new(job: &Job, share: f64) -> Self {
        let (width, height) = drawn_size(job, share);
        Self {
            work: Workspace::new(width as usize, height as usize),
            small: ((width, height) != (job.width, job.height)).then(|| {
                (RgbImage::new(width, height), Upscale::new((width, height), (job.width, job.height)))
            }),
        }
    }

    pub(super) fn develop(&mut self, grade: &Grade, frame: u32, picture: &mut RgbImage) {
        match &mut self.small {
            None => grade.develop(&self.work.canvas, &self.work.bloom, frame, picture),
            Some((small, upscale)) => {
                grade.develop(&self.work.canvas, &self.work.bloom, frame, small);
                upscale.enlarge(small, picture);
            }
        }
    }
}

/// The share of the pixels that frames are drawn with.
pub(super) fn drawn_share(job: &Job, look: Look) -> f64 {
    match (look, job.quality) {
        (Look::Scene, Quality::Standard) => 1.0,
        (Look::Animatic, Quality::Standard) => 0.5,
        (_, Quality::Fast) => 0.25,
    }
}

/// The size that a job is drawn at before upscaling: even, with the aspect ratio of the job.
fn drawn_size(job: &Job, share: f64) -> (u32, u32) {
    let pixels = f64::from(job.width) * f64::from(job.height);
    let limit =
        if share < 1.0 { (pixels * share).clamp(20_000.0, MAX_DRAWN_PIXELS * 0.5) } else { MAX_DRAWN_PIXELS };
    if pixels <= limit {
        return (job.width, job.height);
    }
    let scale = (limit / pixels).sqrt();
    let even = |side: u32| ((f64::from(side) * scale * 0.5).round() as u32 * 2).clamp(16, side);
    (even(job.width), even(job.height))
}
