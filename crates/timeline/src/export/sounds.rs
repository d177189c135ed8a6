//! Music and voices of a film as clips of its own sound tracks.

use std::path::Path;
use std::time::Duration;

use workflow::plan::{FilmFile, Soundtrack};
use workflow::units::{Decibels, EditTime, FrameRate};

use crate::model::Timeline;

/// Parts of music that repeats, at most: a sound of a second under eight hours of film.
const MAX_REPEATS: u64 = 30_000;

/// What a sound is for. Editors keep each kind on tracks of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SoundRole {
    /// Under the whole film.
    Music,
    /// Over the clips of some shots.
    Voice,
}

impl SoundRole {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Music => "music",
            Self::Voice => "voice",
        }
    }
}

/// A part of a sound file on the film's clock.
#[derive(Clone, Debug, PartialEq)]
pub struct SoundClip {
    /// What it is for.
    pub role: SoundRole,
    /// The file relative to the folder of the exported file, with `/` between the steps.
    pub file: String,
    /// The same as an absolute path, where the exported file is to refer to it by that.
    pub absolute: Option<String>,
    /// The film's frame at which it begins.
    pub start: u64,
    /// How many of the film's frames it lasts.
    pub frames: u64,
    /// Where it begins in the file, in the film's frames.
    pub first: u64,
    /// How long the whole file is, in the film's frames.
    pub available: u64,
    /// The change of its level.
    pub gain: Decibels,
}

impl SoundClip {
    /// The film's frame before which it ends.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.frames)
    }
}

/// Where a sound file is, and how long it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SoundFile {
    /// As in [`SoundClip::file`].
    pub file: String,
    /// As in [`SoundClip::absolute`].
    pub absolute: Option<String>,
    /// How long it plays.
    pub duration: Duration,
}

/// The sounds of a film, music first, as it is joined: music ends with its file or the film, or begins again; a voice begins with its clip and ends
/// with its file. `file` finds a sound file by its path from the workflow's folder.
///
/// # Errors
/// As `file`.
pub fn sounds<E>(
    soundtrack: &Soundtrack,
    timeline: &Timeline,
    file: impl Fn(&Path) -> Result<SoundFile, E>,
) -> Result<Vec<SoundClip>, E> {
    let rate = timeline.frame_rate;
    let frames =
        |time: Option<EditTime>| time.map_or(0, |time| u64::try_from(time.frames(rate)).unwrap_or(0));
    let mut clips = Vec::new();
    let mut add = |role, FilmFile { path, .. }: &FilmFile, (start, first, gain, repeat)| {
        let SoundFile { file, absolute, duration } = file(path)?;
        let available = whole_frames(duration, rate);
        let part = available.saturating_sub(first);
        let mut position: u64 = start;
        for _ in 0..if repeat { MAX_REPEATS } else { 1 } {
            let frames = part.min(timeline.frames.saturating_sub(position));
            if frames == 0 {
                break;
            }
            let (file, absolute) = (file.clone(), absolute.clone());
            clips.push(SoundClip { role, file, absolute, start: position, frames, first, available, gain });
            position += frames;
        }
        Ok(())
    };
    if let Some(music) = &soundtrack.music {
        add(SoundRole::Music, &music.file, (0, frames(music.start), music.gain, music.repeat))?;
    }
    for voice in &soundtrack.voices {
        let start = timeline.items.get(voice.clip).map_or(0, |item| item.start) + frames(voice.delay);
        add(SoundRole::Voice, &voice.file, (start, 0, voice.gain, false))?;
    }
    Ok(clips)
}

/// The sounds on as few tracks as possible: sounds of a track have one role and do not overlap. In the order of their first sounds.
pub(super) fn tracks(sounds: &[SoundClip]) -> Vec<Vec<&SoundClip>> {
    let mut tracks: Vec<Vec<&SoundClip>> = Vec::new();
    let mut sorted: Vec<&SoundClip> = sounds.iter().collect();
    sorted.sort_by_key(|sound| (sound.role == SoundRole::Voice, sound.start));
    for sound in sorted {
        let fits = |track: &&mut Vec<&SoundClip>| {
            track.last().is_some_and(|last| last.role == sound.role && last.end() <= sound.start)
        };
        match tracks.iter_mut().find(fits) {
            Some(track) => track.push(sound),
            None => tracks.push(vec![sound]),
        }
    }
    tracks
}

/// The whole frames of a time.
fn whole_frames(time: Duration, rate: FrameRate) -> u64 {
    let frames =
        time.as_micros() * u128::from(rate.numerator()) / (u128::from(rate.denominator()) * 1_000_000);
    u64::try_from(frames).unwrap_or(u64::MAX)
}
