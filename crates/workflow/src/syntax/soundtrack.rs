//! Reads the sound that lies over a film: music, voices and loudness.

use super::clip::{length, parsed};
use super::keys::{film, soundtrack as keys};
use super::mapping::Mapping;
use super::shot_ref::shot_ref;
use super::value::report_wrong_type;
use super::{Entry, MusicSpec, SoundtrackSpec, VoiceSpec};
use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::source::Spanned;
use crate::units::{Decibels, Loudness};
use crate::yaml::{Key, Yaml, YamlValue};

/// The sound of a film.
pub(super) fn read(map: &Mapping<'_>, problems: &mut Problems) -> SoundtrackSpec {
    let music = map.get(&film::MUSIC).filter(|(_, value)| !value.is_null());
    SoundtrackSpec {
        music: music.and_then(|(key, value)| self::music(key, value, problems)),
        voices: voices(map, problems),
        loudness: loudness(map, problems),
    }
}

fn music(key: &Key, value: &Yaml, problems: &mut Problems) -> Option<MusicSpec> {
    if let YamlValue::Text(_) = value.value {
        let file = Entry { key: key.clone(), value: value.clone() };
        return Some(MusicSpec {
            file,
            gain: None,
            start: None,
            repeat: false,
            fade_in: None,
            fade_out: None,
            duck: None,
        });
    }
    let map = Mapping::read(value, &keys::MUSIC, key.span, problems)?;
    let duck: Option<Spanned<Decibels>> = parsed(&map, &keys::DUCK, problems);
    if let Some(duck) = duck.as_ref().filter(|duck| duck.value.as_f64() < 0.0) {
        let message = "`duck` says by how much the music gets quieter, and is not negative";
        let help = format!("write `duck: {}dB`", -duck.value.as_f64());
        problems.push(Diagnostic::error("bad-film", duck.span, message).help(help));
    }
    let mut length = |key| self::length(&map, key, "bad-film", problems);
    let (start, fade_in, fade_out) =
        (length(&keys::MUSIC_IN), length(&keys::FADE_IN), length(&keys::FADE_OUT));
    Some(MusicSpec {
        file: map.entry(&keys::MUSIC_FILE)?,
        gain: parsed(&map, &keys::GAIN, problems),
        start,
        repeat: map.flag(&keys::REPEAT, problems).unwrap_or_default(),
        fade_in,
        fade_out,
        duck,
    })
}

fn voices(map: &Mapping<'_>, problems: &mut Problems) -> Vec<VoiceSpec> {
    let Some((key, value)) = map.get(&film::VOICE).filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    match &value.value {
        YamlValue::List(items) if items.len() > limits::MAX_VOICES => {
            let message = format!("the film has more than {} voices", limits::MAX_VOICES);
            let help = "join them in a sound editor";
            problems.push(Diagnostic::error("bad-film", key.span, message).help(help));
            Vec::new()
        }
        YamlValue::List(items) => items.iter().filter_map(|item| voice(key, item, problems)).collect(),
        _ => voice(key, value, problems).into_iter().collect(),
    }
}

fn voice(key: &Key, value: &Yaml, problems: &mut Problems) -> Option<VoiceSpec> {
    match &value.value {
        YamlValue::Text(_) => {
            let file = Entry { key: key.clone(), value: value.clone() };
            Some(VoiceSpec { file, at: None, delay: None, gain: None })
        }
        YamlValue::Map(_) => {
            let map = Mapping::read(value, &keys::VOICE, key.span, problems)?;
            let reference = map
                .get(&keys::AT)
                .and_then(|(written, shot)| shot_ref(&keys::AT, written.span, shot, problems));
            Some(VoiceSpec {
                file: map.entry(&keys::VOICE_FILE)?,
                at: reference,
                delay: length(&map, &keys::DELAY, "bad-film", problems),
                gain: parsed(&map, &keys::GAIN, problems),
            })
        }
        _ => {
            report_wrong_type(&film::VOICE, value, key.span, problems);
            None
        }
    }
}

fn loudness(map: &Mapping<'_>, problems: &mut Problems) -> Option<Spanned<Loudness>> {
    parsed(map, &film::LOUDNESS, problems)
}
