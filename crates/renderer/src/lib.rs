//! Pictures and sound from words: the renderer behind the service.
//!
//! [`Renderer`] is the whole interface: a [`Job`] in, an MP4 out. [`Procedural`] is the one that needs nothing but the
//! processor; [`Command`] runs a program of somebody's own.

use std::{ops::ControlFlow, path::PathBuf};

use media::{AudioBuffer, RgbImage};

mod command;
mod procedural;

pub use self::{
    command::{Command, CommandError, WORKING_FOLDER},
    procedural::{AUDIO_SAMPLE_RATE, Procedural},
};

/// What to render: a task's request with every reference already fetched and decoded.
#[derive(Clone, Debug)]
pub struct Job {
    /// The words; they choose place, hour, weather, subjects, look and camera move.
    pub prompt: String,
    /// Pixels; even, 16 to 4096.
    pub width: u32,
    /// Pixels; even, 16 to 4096.
    pub height: u32,
    /// Frames per second, 1 to 120; the service uses 24.
    pub frame_rate: u32,
    /// Length in seconds, more than 0 and at most 60; the contract's own limit is 15 (spec 8).
    pub seconds: f64,
    /// The same job with the same seed gives the same bytes.
    pub seed: u64,
    /// The picture the video starts on (spec 2.3 `first_frame`, spec 2.4 `image`).
    pub first_frame: Option<RgbImage>,
    /// The picture the video lands on (spec 2.3 `last_frame`).
    pub last_frame: Option<RgbImage>,
    /// Pictures whose colors set palette and light (spec 2.3 `reference_image`).
    pub references: Vec<RgbImage>,
    /// The files of reference videos (spec 2.3 `reference_video`); their first and last pictures are among `references`.
    pub reference_videos: Vec<PathBuf>,
    /// Sound to be heard in the video's own (spec 2.3 `reference_audio`): 48 kHz, stereo.
    pub reference_audio: Option<AudioBuffer>,
    /// Whether the file gets a sound track (spec 2.2 `generate_audio`).
    pub generate_audio: bool,
    /// Whether the camera stands still; the world goes on moving (spec 2.2 `camera_fixed`).
    pub camera_fixed: bool,
    /// Whether a small mark is drawn in the corner (spec 2.2 `watermark`).
    pub watermark: bool,
    /// How much work to put in (spec 2.1 standard and fast models).
    pub quality: Quality,
}

impl Job {
    /// How many frames the video has: its length at its rate, at least one.
    #[must_use]
    pub fn frames_total(&self) -> u32 {
        (self.seconds * f64::from(self.frame_rate)).round().max(1.0) as u32
    }
}

/// How much work goes into a frame (spec 2.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quality {
    /// The full picture.
    #[default]
    Standard,
    /// Drawn smaller and enlarged: about twice as fast, softer.
    Fast,
}

/// How far a rendering has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Frames drawn and encoded so far.
    pub frames_done: u32,
    /// Frames of the whole video; constant during a rendering, at least 1.
    pub frames_total: u32,
}

/// A finished video.
#[derive(Clone, Debug)]
pub struct Rendering {
    /// The whole file: H.264 High, with AAC-LC when sound was asked for, index first.
    pub mp4: Vec<u8>,
    /// The last frame as decoded from `mp4`: equal to what a client extracts, so that a chained shot starts on it exactly.
    pub last_frame: RgbImage,
}

/// Why there is no video.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RenderError {
    /// The progress callback asked to stop.
    #[error("the rendering was cancelled")]
    Cancelled,
    /// The job is outside what a renderer accepts; nothing was drawn.
    #[error("the job cannot be rendered: {what}")]
    Job {
        /// Which value is wrong and what would be right.
        what: String,
    },
    /// The task cannot have a video, for a reason of the task's own.
    #[error("{message}")]
    Task {
        /// The task's `error.code` (spec 2.5).
        code: &'static str,
        /// What to tell whoever submitted it.
        message: String,
    },
    /// The frames could not be written as a file, or not read back.
    #[error("the frames could not be made into a file")]
    Media(#[from] media::MediaError),
}

/// Turns a job into a video. Synchronous and single-threaded: the caller runs one per core.
pub trait Renderer: Send + Sync {
    /// Renders `job`, calling `progress` after every frame.
    ///
    /// # Errors
    /// [`RenderError::Cancelled`] as soon as `progress` answers `Break`; [`RenderError::Job`] for sizes and lengths out of
    /// bounds; [`RenderError::Media`] when encoding fails.
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError>;
}
