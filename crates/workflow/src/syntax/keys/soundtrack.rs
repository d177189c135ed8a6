//! The keys of the sound that lies over a film.

use super::{Shape, object};

object! { MUSIC = "music":
    MUSIC_FILE = "file": Shape::FileName,
    GAIN = "gain": Shape::Decibels,
    MUSIC_IN = "in": Shape::EditLength,
    REPEAT = "repeat": Shape::Flag,
    FADE_IN = "fade_in": Shape::EditLength,
    FADE_OUT = "fade_out": Shape::EditLength,
    DUCK = "duck": Shape::Attenuation,
}

object! { VOICE = "voice":
    VOICE_FILE = "file": Shape::FileName,
    AT = "at": Shape::ShotRef,
    DELAY = "delay": Shape::EditLength,
    GAIN,
}
