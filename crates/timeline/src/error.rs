//! Why a film cannot be resolved.

use std::fmt;

use workflow::units::{EditTime, Speed};

/// A film that cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// There is no clip.
    #[error("film `{film}` has no clips: list some under `shots`")]
    Empty {
        /// The film's file name.
        film: String,
    },
    /// Clips cannot be edited as the film says. All of them are listed.
    #[error("film `{film}` cannot be edited: {}", list(.problems))]
    Clips {
        /// The film's file name.
        film: String,
        /// In the order of the film; at least one.
        problems: Vec<Problem>,
    },
}

fn count(frames: u64) -> String {
    if frames == 1 { "1 frame".to_owned() } else { format!("{frames} frames") }
}

fn list(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What is wrong with a clip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The clip's position in the film, from 1.
    pub position: usize,
    /// The name of its instance; empty if unknown.
    pub clip: String,
    pub kind: ProblemKind,
}

/// What can be wrong with a clip. Frames of the clip are counted at its own rate, those of the film at the film's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The caller passed no facts about it.
    NoFacts,
    /// Its file has no frames.
    NoFrames,
    /// `in` is not in the clip.
    InOutside {
        /// As the film says.
        at: EditTime,
        /// The clip's number of frames.
        frames: u64,
    },
    /// `out` is not in the clip.
    OutOutside {
        /// As the film says.
        at: EditTime,
        /// The clip's number of frames.
        frames: u64,
    },
    /// `out` is not after `in`.
    Nothing {
        /// The first frame.
        start: u64,
        /// The frame before which it ends.
        end: u64,
    },
    /// `length` is not above zero.
    LengthNotPositive {
        /// As the film says.
        length: EditTime,
    },
    /// `length` goes beyond the clip.
    LengthOutside {
        /// As the film says.
        length: EditTime,
        /// The number of frames from `in` to the clip's end.
        frames: u64,
    },
    /// `length` goes beyond the clip as it is played.
    LengthOutsideAtSpeed {
        /// As the film says.
        length: EditTime,
        /// How fast the clip is played.
        speed: Speed,
        /// The film frames from `in` to the clip's end.
        frames: u64,
    },
    /// It stands still, and its length is not stated or less than a frame.
    NoLength,
    /// Both `out` and `length` are set.
    OutAndLength,
    /// What remains of it is less than a frame of the film.
    TooShort,
    /// The transition's length is below zero.
    TransitionNegative {
        /// As the film says.
        length: EditTime,
    },
    /// A dissolve or wipe that has no next clip.
    NoNextClip,
    /// The clip is too short for its transitions: that into it and that out of it.
    TransitionsTooLong {
        /// The film frames of it that the transition at its beginning takes.
        head: u64,
        /// The film frames of it that the transition at its end takes.
        tail: u64,
        /// The film frames that it has for both, handles included.
        frames: u64,
    },
}

impl ProblemKind {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Self::NoFacts => "render the clip first".to_owned(),
            Self::NoFrames => "render the clip again".to_owned(),
            Self::InOutside { frames, .. } => {
                format!("use a position from `0f` to `{}f`", frames.saturating_sub(1))
            }
            Self::OutOutside { frames, .. } => format!("use a position from `1f` to `{frames}f`"),
            Self::Nothing { .. } => "let `out` be after `in`".to_owned(),
            Self::LengthNotPositive { .. } => "use at least `1f`".to_owned(),
            Self::LengthOutside { frames: longest, .. }
            | Self::LengthOutsideAtSpeed { frames: longest, .. } => format!("use at most `{longest}f`"),
            Self::NoLength => "give it a `length` such as `2s`".to_owned(),
            Self::OutAndLength => "keep one of them".to_owned(),
            Self::TooShort => "show more of the clip".to_owned(),
            Self::TransitionNegative { .. } => "use a length from `0f` on".to_owned(),
            Self::NoNextClip => "use a fade, or leave the transition out".to_owned(),
            Self::TransitionsTooLong { head, tail, .. } if *head > 0 && *tail > 0 => {
                "shorten the transitions before and after it, or show more of the clip".to_owned()
            }
            Self::TransitionsTooLong { head, .. } if *head > 0 => {
                "shorten the transition before it, or show more of the clip".to_owned()
            }
            Self::TransitionsTooLong { .. } => {
                "shorten the transition after it, or show more of the clip".to_owned()
            }
        }
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFacts => f.write_str("its video is unknown"),
            Self::NoFrames => f.write_str("its video has no frames"),
            Self::InOutside { at, frames } => {
                write!(f, "`in: {at}` is outside of the clip, which has {}", count(*frames))
            }
            Self::OutOutside { at, frames } => {
                write!(f, "`out: {at}` is outside of the clip, which has {}", count(*frames))
            }
            Self::Nothing { start, end } => write!(f, "it begins at frame {start} and ends at {end}"),
            Self::LengthNotPositive { length } => write!(f, "its `length` is {length}"),
            Self::LengthOutside { length, frames } => {
                write!(
                    f,
                    "`length: {length}` goes beyond the clip, which has {} from `in` on",
                    count(*frames)
                )
            }
            Self::LengthOutsideAtSpeed { length, speed, frames } => write!(
                f,
                "`length: {length}` goes beyond the clip, which lasts {frames} frames from `in` on at speed {speed}"
            ),
            Self::NoLength => f.write_str("it stands still, and has no length"),
            Self::OutAndLength => f.write_str("it has both `out` and `length`"),
            Self::TooShort => f.write_str("it is shorter than a frame of the film"),
            Self::TransitionNegative { length } => write!(f, "its transition has a length of {length}"),
            Self::NoNextClip => f.write_str("its transition needs a next clip, and it is the last"),
            Self::TransitionsTooLong { head, tail, frames } => {
                write!(f, "its transitions take {} frames, and it has {frames}", head.saturating_add(*tail))
            }
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clip {}", self.position)?;
        if !self.clip.is_empty() {
            write!(f, " (`{}`)", self.clip)?;
        }
        write!(f, ": {} ({})", self.kind, self.kind.help())
    }
}
