//! The sound that lies over the clips of a film.

use serde::{Deserialize, Serialize};

use super::FilmFile;
use crate::units::{Decibels, EditTime, Loudness};

/// Music, voices and loudness of a film.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Soundtrack {
    /// Music under the whole film.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub music: Option<Music>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub voices: Vec<Voice>,
    /// The loudness of the whole film; `None` leaves it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loudness: Option<Loudness>,
}

/// Music under a film, from its beginning on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Music {
    pub file: FilmFile,
    /// The change of its level.
    #[serde(default, skip_serializing_if = "Decibels::is_zero")]
    pub gain: Decibels,
    /// The position in the file at which it begins; frames are the film's.
    #[serde(rename = "in", default, skip_serializing_if = "Option::is_none")]
    pub start: Option<EditTime>,
    /// Whether it begins again until the film ends.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeat: bool,
    /// How long it fades in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fade_in: Option<EditTime>,
    /// How long it fades out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fade_out: Option<EditTime>,
    /// How much quieter it is while somebody speaks; not negative.
    #[serde(default, skip_serializing_if = "Decibels::is_zero")]
    pub duck: Decibels,
}

/// A voice over a film.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voice {
    pub file: FilmFile,
    /// The clip of the film with which it begins, from 0; the film's beginning is that of clip 0.
    pub clip: usize,
    /// How much later it begins; frames are the film's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<EditTime>,
    /// The change of its level.
    #[serde(default, skip_serializing_if = "Decibels::is_zero")]
    pub gain: Decibels,
}

impl Soundtrack {
    /// Whether the film has only the sound of its clips.
    pub fn is_empty(&self) -> bool {
        self == &Self::default()
    }

    /// The files that it is made of.
    pub fn files(&self) -> impl Iterator<Item = &FilmFile> {
        self.music.iter().map(|music| &music.file).chain(self.voices.iter().map(|voice| &voice.file))
    }
}
