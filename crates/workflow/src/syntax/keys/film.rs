//! The keys of a film and of its clips.

use super::{Shape, names_of, object};
use crate::limits;
use crate::plan::{Fit, TitleStyle, TransitionKind};

object! { FILM = "film":
    OUTPUT = "output": Shape::OutputName,
    MATRIX = "matrix": Shape::Matrix,
    SIZE = "size": Shape::FrameSize,
    FIT = "fit": Shape::Choice(|| names_of(&FITS)),
    FRAME_RATE = "frame_rate": Shape::FrameRate,
    COLOR_MATCH = "color_match": Shape::Flag,
    FONT = "font": Shape::FileName,
    SUBTITLES = "subtitles": Shape::Subtitles,
    MUSIC = "music": Shape::Music,
    VOICE = "voice": Shape::Voices,
    LOUDNESS = "loudness": Shape::Loudness,
    POSTER = "poster": Shape::Poster,
    SHOTS = "shots": Shape::Clips,
}

// A clip of a film, where it is edited.
object! { CLIP = "clip":
    SHOT = "shot": Shape::ShotRef,
    CLIP_GROUP = "group": Shape::Id,
    CLIP_FILE = "file": Shape::FileName,
    TITLE = "title": Shape::Prose,
    STYLE = "style": Shape::Choice(|| names_of(&STYLES)),
    IN = "in": Shape::EditPosition,
    OUT = "out": Shape::EditPosition,
    LENGTH = "length": Shape::EditLength,
    SECONDS = "seconds": Shape::Seconds { max: limits::MAX_CLIP_SECONDS },
    SPEED = "speed": Shape::Speed,
    TRANSITION = "transition": Shape::Transition,
    GAIN = "gain": Shape::Decibels,
    MUTE = "mute": Shape::Flag,
}

/// The values of [`FIT`].
pub(crate) const FITS: [(&str, Fit); 3] =
    [("letterbox", Fit::Letterbox), ("crop", Fit::Crop), ("blur", Fit::Blur)];

/// The values of [`STYLE`].
pub(crate) const STYLES: [(&str, TitleStyle); 2] =
    [("card", TitleStyle::Card), ("lower-third", TitleStyle::LowerThird)];

/// The values of [`FADE`].
pub(crate) const COLORS: [(&str, TransitionKind); 2] =
    [("black", TransitionKind::FadeBlack), ("white", TransitionKind::FadeWhite)];

/// The values of [`WIPE`].
pub(crate) const DIRECTIONS: [(&str, TransitionKind); 2] =
    [("left", TransitionKind::WipeLeft), ("right", TransitionKind::WipeRight)];

/// The value of [`FROM`].
pub(crate) const DIALOGUE: &str = "dialogue";

object! { TRANSITION_KINDS = "transition":
    DISSOLVE = "dissolve": Shape::EditLength,
    FADE = "fade": Shape::Choice(|| names_of(&COLORS)),
    WIPE = "wipe": Shape::Choice(|| names_of(&DIRECTIONS)),
    TRANSITION_LENGTH = "length": Shape::EditLength,
}

object! { SUBTITLE_KEYS = "subtitles":
    FROM = "from": Shape::Choice(|| vec![DIALOGUE]),
    BURN = "burn": Shape::Flag,
}
