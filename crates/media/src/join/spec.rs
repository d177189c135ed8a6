//! What a film is made of, as its caller says it: clips, transitions, options; and what is known of it when it is joined.

use std::path::PathBuf;
use std::time::Duration;

use super::loudness::Loudness;
use super::progress::{JoinProgress, OnJoinProgress};
use super::soundtrack::Soundtrack;
use super::still::Still;
use crate::{Ffmpeg, FilmTags, Fit, FrameRate, Overlays};

/// One clip of a film.
#[derive(Clone, Debug)]
pub struct JoinClip {
    /// Its frames and its sound.
    pub source: JoinSource,
    /// The first frame that is shown, counted from 0 in the order of presentation.
    pub first: u64,
    /// For how many frames of the film it is shown; `None` for the rest of a video.
    pub frames: Option<u64>,
    /// How fast it is played; above 0. Its sound keeps its pitch.
    pub speed: f64,
    /// How the next clip replaces it; `None` for a cut.
    pub transition: Option<JoinTransition>,
    /// Factor of the amplitude of its sound; 0 leaves it out.
    pub gain: f32,
    /// Whether its sound goes on where the clip before it ended, which decides how the two are crossfaded.
    pub continues: bool,
    /// Whether its colors are changed to those of the clip before it, on whose last frame it begins.
    pub matches_previous: bool,
}

/// What a clip shows.
#[derive(Clone, Debug)]
pub enum JoinSource {
    Video(PathBuf),
    /// An image that stands still.
    Still(Still),
}

impl JoinClip {
    /// All of a video.
    pub fn whole(path: PathBuf) -> Self {
        Self {
            source: JoinSource::Video(path),
            first: 0,
            frames: None,
            speed: 1.0,
            transition: None,
            gain: 1.0,
            continues: false,
            matches_previous: false,
        }
    }
}

/// A transition between two clips, or at the end of the last one. The frames of the first clip go on after the cut, and those of the
/// second begin before it: the clips must have them, or their last or first frame stands still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinTransition {
    /// How it looks.
    pub kind: TransitionKind,
    /// Frames before the cut.
    pub before: u64,
    /// Frames after the cut.
    pub after: u64,
}

/// How a transition looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransitionKind {
    /// One clip fades into the other.
    Dissolve,
    /// To black and from black.
    FadeBlack,
    /// To white and from white.
    FadeWhite,
    /// The next clip is uncovered from the right to the left.
    WipeLeft,
    /// The next clip is uncovered from the left to the right.
    WipeRight,
}

impl TransitionKind {
    /// Whether it goes through a color. Only such a transition can end a film.
    pub(super) fn has_color(self) -> bool {
        matches!(self, Self::FadeBlack | Self::FadeWhite)
    }
}

#[derive(Clone, Debug, Default)]
pub struct JoinOptions {
    /// Columns and rows, both even; `None` for the size that most videos have.
    pub size: Option<(u32, u32)>,
    /// How clips of another shape fill the frame.
    pub fit: Fit,
    /// Frames per second; `None` for the rate that most videos have.
    pub frame_rate: Option<FrameRate>,
    /// Film frames from one key frame to the next; then all frames are encoded. `None` for two seconds where frames are encoded.
    pub key_interval: Option<u32>,
    /// What lies over the film's frames, which are encoded there.
    pub overlays: Option<Overlays>,
    /// The sound that lies over the clips.
    pub soundtrack: Soundtrack,
    /// Metadata of the film. A chapter begins where its clip does.
    pub tags: FilmTags,
    /// The frame that becomes its poster, in its metadata and in the report; after the end, the last one.
    pub poster: Option<u64>,
    /// Is called after each frame.
    pub progress: Option<OnJoinProgress>,
    /// For clips that are not handled natively.
    pub ffmpeg: Ffmpeg,
}

impl JoinOptions {
    pub(super) fn report(&self, done: u64, all: u64) {
        if let Some(progress) = &self.progress {
            progress.call(JoinProgress { done, all });
        }
    }
}

/// Properties of the joined film.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct JoinReport {
    /// How long it plays.
    pub duration: Duration,
    /// Frames that are the clips' own, bit for bit.
    pub copied_frames: u64,
    /// Frames that were encoded.
    pub encoded_frames: u64,
    /// Columns and rows.
    pub size: (u32, u32),
    pub frame_rate: FrameRate,
    /// It has a sound track.
    pub has_audio: bool,
    /// The loudness of its sound; `None` without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loudness: Option<Loudness>,
    /// The clips, by index, that were to match the colors of those before them and differ by more than a drift.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<usize>,
    /// Its poster as JPEG, if one was asked for.
    #[serde(skip)]
    pub poster: Option<Vec<u8>>,
}
