//! The keys of the sound that lies over a film.

use super::{KeySpec, ObjectSpec, Shape};

pub(crate) const MUSIC_FILE: KeySpec =
    KeySpec::new("file", Shape::FileName, "a sound file in the workflow's folder", "file: score.wav")
        .required()
        .templated();
pub(crate) const GAIN: KeySpec =
    KeySpec::new("gain", Shape::Decibels, "the change of its level", "gain: -12dB");
pub(crate) const MUSIC_IN: KeySpec = KeySpec::new(
    "in",
    Shape::EditLength,
    "where in the file it begins; default: at the file's beginning",
    "in: 3s",
);
pub(crate) const REPEAT: KeySpec =
    KeySpec::new("repeat", Shape::Flag, "begins it again until the film ends", "repeat: true");
pub(crate) const FADE_IN: KeySpec =
    KeySpec::new("fade_in", Shape::EditLength, "how long it fades in", "fade_in: 1s");
pub(crate) const FADE_OUT: KeySpec = KeySpec::new(
    "fade_out",
    Shape::EditLength,
    "how long it fades out, at the film's end or where it ends before",
    "fade_out: 2s",
);
pub(crate) const DUCK: KeySpec = KeySpec::new(
    "duck",
    Shape::Attenuation,
    "how much quieter it is while somebody speaks: in a `voice`, or in the `dialogue` of a shot",
    "duck: 8dB",
);

/// Music under a film.
pub(crate) const MUSIC: ObjectSpec = ObjectSpec {
    noun: "`music`",
    keys: &[&MUSIC_FILE, &GAIN, &MUSIC_IN, &REPEAT, &FADE_IN, &FADE_OUT, &DUCK],
    help: "write the name of a sound file, or `{file: score.wav, gain: -12dB}`",
    is_open: false,
};

pub(crate) const VOICE_FILE: KeySpec =
    KeySpec::new("file", Shape::FileName, "a sound file in the workflow's folder", "file: vo/01.wav")
        .required()
        .templated();
pub(crate) const AT: KeySpec = KeySpec::new(
    "at",
    Shape::ShotRef,
    "the shot with which it begins, where the film shows it first; default: at the film's beginning",
    "at: lamp",
);
pub(crate) const DELAY: KeySpec =
    KeySpec::new("delay", Shape::EditLength, "how much later it begins", "delay: 0.5s");

/// A voice over a film.
pub(crate) const VOICE: ObjectSpec = ObjectSpec {
    noun: "voice",
    keys: &[&VOICE_FILE, &AT, &DELAY, &GAIN],
    help: "write the name of a sound file, or `{file: vo/01.wav, at: lamp}`",
    is_open: false,
};
