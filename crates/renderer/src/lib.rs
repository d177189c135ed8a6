//! Renderers of the service: video with sound from a prompt and reference media.
//!
//! [`Renderer`] is the interface: a [`Job`] in, an MP4 out. [`Animatic`] draws on the CPU what is known of a shot; [`ExternalRenderer`] runs an
//! external program.

use std::{ops::ControlFlow, path::PathBuf};

use media::{AudioBuffer, RgbImage};

mod animatic;
mod external;

pub use self::{
    animatic::{AUDIO_SAMPLE_RATE, Animatic},
    external::{ExternalRenderer, ExternalRendererError, WORKING_DIR},
};

/// What to render: the request of a task, with all media fetched and decoded.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a field of the request")]
pub struct Job {
    pub prompt: String,
    /// The model that the request names; shown, without any other effect.
    pub model: String,
    /// Pixels; even, 16 to 4096.
    pub width: u32,
    /// Pixels; even, 16 to 4096.
    pub height: u32,
    /// Frames per second, 1 to 120; the service uses 24.
    pub frame_rate: u32,
    /// Duration in seconds, above 0 and at most 60; the contract allows at most 15 (spec 8).
    pub seconds: f64,
    /// The same job with the same seed renders to the same bytes.
    pub seed: u64,
    /// The first frame (spec 2.3 `first_frame`, spec 2.4 `image`).
    pub first_frame: Option<RgbImage>,
    /// The last frame (spec 2.3 `last_frame`).
    pub last_frame: Option<RgbImage>,
    /// Images to be shown in small (spec 2.3 `reference_image`), and the first and the last frame of each reference video after them.
    pub references: Vec<RgbImage>,
    /// The files of reference videos (spec 2.3 `reference_video`).
    pub reference_videos: Vec<PathBuf>,
    /// Audio to mix into the sound track (spec 2.3 `reference_audio`): 48 kHz, stereo.
    pub reference_audio: Option<AudioBuffer>,
    /// Whether to render a sound track (spec 2.2 `generate_audio`).
    pub generate_audio: bool,
    /// Whether the camera is static, whatever the prompt says (spec 2.2 `camera_fixed`).
    pub camera_fixed: bool,
    /// Whether to draw a watermark (spec 2.2 `watermark`).
    pub watermark: bool,
    /// Whether a fast model is asked for (spec 2.1); the animatic of it is the same.
    pub fast: bool,
}

impl Job {
    /// A silent clip of a prompt alone: of this size in pixels and these seconds, 24 frames per second, with seed 1.
    pub fn new(prompt: &str, (width, height): (u32, u32), seconds: f64) -> Self {
        Self {
            prompt: prompt.to_owned(),
            model: String::new(),
            width,
            height,
            frame_rate: 24,
            seconds,
            seed: 1,
            first_frame: None,
            last_frame: None,
            references: Vec::new(),
            reference_videos: Vec::new(),
            reference_audio: None,
            generate_audio: false,
            camera_fixed: false,
            watermark: false,
            fast: false,
        }
    }

    /// The number of frames, at least one.
    pub fn frames_total(&self) -> u32 {
        (self.seconds * f64::from(self.frame_rate)).round().max(1.0) as u32
    }
}

/// The progress of a rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Frames drawn and encoded so far.
    pub frames_done: u32,
    /// Frames of the whole video; constant during a rendering, at least 1.
    pub frames_total: u32,
}

#[derive(Clone, Debug)]
pub struct Rendering {
    /// The MP4 file: H.264 High, AAC-LC if audio was requested, with the index (`moov`) in front.
    pub mp4: Vec<u8>,
    /// The last frame, decoded from `mp4`: identical to what a client extracts, so that chained shots start on it exactly.
    pub last_frame: RgbImage,
}

/// Why a rendering failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The progress callback requested cancellation.
    #[error("the rendering was cancelled")]
    Cancelled,
    /// The job has values that the renderer does not accept; nothing was rendered.
    #[error("the job cannot be rendered: {what}")]
    Job {
        /// The invalid value and the valid ones.
        what: String,
    },
    /// This task cannot be rendered; the error is reported in the task.
    #[error("{message}")]
    Task {
        /// The task's `error.code` (spec 2.5).
        code: &'static str,
        /// The task's `error.message` (spec 2.5).
        message: String,
    },
    /// Encoding the frames or decoding the last one failed.
    #[error("the frames could not be encoded")]
    Media(#[from] media::MediaError),
}

/// Renders jobs. Synchronous and single-threaded: the caller runs one rendering per core.
pub trait Renderer: Send + Sync {
    /// Renders `job`, calling `progress` after every frame.
    ///
    /// # Errors
    /// [`RenderError::Cancelled`] as soon as `progress` returns `Break`; [`RenderError::Job`] for sizes and lengths out of
    /// bounds; [`RenderError::Media`] when encoding fails.
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError>;
}
