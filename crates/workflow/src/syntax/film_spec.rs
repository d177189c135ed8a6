//! A film as the file describes it: its clips, titles, soundtrack and poster, each value with its span.

use super::{Entry, ShotRef};
use crate::plan::{Clip, ClipSource, Fit, Subtitles, Title, TitleStyle, Transition};
use crate::source::Spanned;
use crate::units::{Decibels, EditTime, FrameRate, Loudness, Speed};
use crate::yaml::Key;

/// A film as the file describes it.
#[derive(Clone, Debug)]
pub struct FilmSpec {
    /// The key `film`, or the first key of one of several `films`.
    pub key: Key,
    /// The film's file name.
    pub output: Option<Entry>,
    /// The matrix that it is made once for each cell of.
    pub matrix: Option<Entry>,
    /// Columns and rows.
    pub size: Option<Spanned<(u32, u32)>>,
    /// Frames per second.
    pub frame_rate: Option<Spanned<FrameRate>>,
    /// How frames of another shape fill the film's frame.
    pub fit: Fit,
    /// The font of its titles and of subtitles that are drawn.
    pub font: Option<Entry>,
    /// Its subtitles, with the span of the key.
    pub subtitles: Option<Spanned<Subtitles>>,
    /// Whether clips get the colors of those that they continue.
    pub color_match: bool,
    /// The frame that stands for it.
    pub poster: Option<PosterSpec>,
    /// The sound that lies over its clips.
    pub soundtrack: SoundtrackSpec,
    /// The clips in order; all shots where the key is absent.
    pub clips: Option<Vec<ClipSpec>>,
}

/// The frame that stands for a film, as the file describes it.
#[derive(Clone, Debug)]
pub enum PosterSpec {
    /// The one at this time.
    At(Spanned<EditTime>),
    /// The one in the middle of a shot.
    Shot(Spanned<ShotRef>),
}

/// The sound that lies over a film, as the file describes it.
#[derive(Clone, Debug, Default)]
pub struct SoundtrackSpec {
    /// Music under the whole film.
    pub music: Option<MusicSpec>,
    pub voices: Vec<VoiceSpec>,
    /// The loudness of the whole film.
    pub loudness: Option<Spanned<Loudness>>,
}

/// Music under a film as the file describes it.
#[derive(Clone, Debug)]
pub struct MusicSpec {
    pub file: Entry,
    /// The change of its level.
    pub gain: Option<Spanned<Decibels>>,
    /// Where in the file it begins.
    pub start: Option<Spanned<EditTime>>,
    /// Whether it begins again until the film ends.
    pub repeat: bool,
    /// How long it fades in.
    pub fade_in: Option<Spanned<EditTime>>,
    /// How long it fades out.
    pub fade_out: Option<Spanned<EditTime>>,
    /// How much quieter it is while somebody speaks.
    pub duck: Option<Spanned<Decibels>>,
}

/// A voice over a film as the file describes it.
#[derive(Clone, Debug)]
pub struct VoiceSpec {
    pub file: Entry,
    /// The shot with which it begins.
    pub at: Option<Spanned<ShotRef>>,
    /// How much later it begins.
    pub delay: Option<Spanned<EditTime>>,
    /// The change of its level.
    pub gain: Option<Spanned<Decibels>>,
}

/// A clip of a film as the file describes it.
#[derive(Clone, Debug)]
pub struct ClipSpec {
    pub source: ClipSourceSpec,
    /// The position at which it begins.
    pub start: Option<Spanned<EditTime>>,
    /// The position before which it ends.
    pub end: Option<Spanned<EditTime>>,
    /// How long it is shown.
    pub length: Option<Spanned<EditTime>>,
    /// How fast it is played.
    pub speed: Option<Spanned<Speed>>,
    /// What is written over it.
    pub title: Option<TitleSpec>,
    /// How the next clip replaces it.
    pub transition: Option<Spanned<Transition>>,
    /// The change of its sound's level.
    pub gain: Option<Spanned<Decibels>>,
    /// Whether its sound is left out.
    pub mute: bool,
}

/// What a clip of a film shows.
#[derive(Clone, Debug)]
pub enum ClipSourceSpec {
    Shot(Spanned<ShotRef>),
    /// All shots of the group with this name.
    Group(Spanned<String>),
    /// A video or an image of one's own.
    File(Entry),
    /// Nothing but its title.
    Card,
}

/// A title as the file describes it.
#[derive(Clone, Debug)]
pub struct TitleSpec {
    pub text: Entry,
    /// Where it stands; by default a card's stands in the middle, and others in the lower third.
    pub style: Option<TitleStyle>,
}

impl ClipSpec {
    /// The whole of a shot.
    pub fn whole(shot: Spanned<ShotRef>) -> Self {
        Self {
            source: ClipSourceSpec::Shot(shot),
            start: None,
            end: None,
            length: None,
            speed: None,
            title: None,
            transition: None,
            gain: None,
            mute: false,
        }
    }

    /// The shot that is shown, if it shows one.
    pub fn shot(&self) -> Option<&Spanned<ShotRef>> {
        match &self.source {
            ClipSourceSpec::Shot(shot) => Some(shot),
            ClipSourceSpec::Group(_) | ClipSourceSpec::File(_) | ClipSourceSpec::Card => None,
        }
    }

    /// The group that is shown, if it shows one.
    pub fn group(&self) -> Option<&Spanned<String>> {
        match &self.source {
            ClipSourceSpec::Group(group) => Some(group),
            ClipSourceSpec::Shot(_) | ClipSourceSpec::File(_) | ClipSourceSpec::Card => None,
        }
    }

    /// The clip with this content.
    pub fn with_source(&self, source: ClipSource, title: Option<Title>) -> Clip {
        Clip {
            source,
            title,
            start: self.start.as_ref().map(|time| time.value),
            end: self.end.as_ref().map(|time| time.value),
            length: self.length.as_ref().map(|time| time.value),
            speed: self.speed.as_ref().map(|speed| speed.value).unwrap_or_default(),
            transition: self.transition.as_ref().map(|transition| transition.value),
            gain: self.gain.as_ref().map(|gain| gain.value).unwrap_or_default(),
            mute: self.mute,
        }
    }
}
