//! Reads the dialogue of a shot: text, or a list of lines with speakers and times.

use super::clip::{length, parsed};
use super::keys::{dialogue as keys, shot};
use super::mapping::Mapping;
use super::value::report_wrong_type;
use super::{Entry, LineSpec};
use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::source::{Span, Spanned};
use crate::units::EditTime;
use crate::yaml::{Key, Yaml, YamlValue};

/// The lines of a shot.
pub(super) fn read(map: &Mapping<'_>, problems: &mut Problems) -> Vec<LineSpec> {
    let Some((key, value)) = map.get(&shot::DIALOGUE).filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    match &value.value {
        YamlValue::List(items) if items.len() > limits::MAX_DIALOGUE_LINES => {
            let message = format!("`dialogue` has more than {} lines", limits::MAX_DIALOGUE_LINES);
            problems.push(
                Diagnostic::error("bad-dialogue", key.span, message)
                    .help("split the shot, or shorten its dialogue"),
            );
            Vec::new()
        }
        YamlValue::List(items) => items.iter().filter_map(|item| line(key, item, problems)).collect(),
        _ => line(key, value, problems).into_iter().collect(),
    }
}

fn line(key: &Key, value: &Yaml, problems: &mut Problems) -> Option<LineSpec> {
    match &value.value {
        YamlValue::Text(_) | YamlValue::Number(_) => {
            let text = Entry { key: key.clone(), value: value.clone() };
            Some(LineSpec { text, speaker: None, at: None, length: None })
        }
        YamlValue::Map(_) => mapping(key.span, value, problems),
        _ => {
            report_wrong_type(&shot::DIALOGUE, value, key.span, problems);
            None
        }
    }
}

fn mapping(fallback: Span, value: &Yaml, problems: &mut Problems) -> Option<LineSpec> {
    let map = Mapping::read(value, &keys::LINE, fallback, problems)?;
    let time: Option<Spanned<EditTime>> = parsed(&map, &keys::AT, problems);
    let time = time.filter(|time| {
        if time.value.is_negative() {
            let message = "`at` counts from the beginning of the shot's video, and is not negative";
            problems.push(Diagnostic::error("bad-dialogue", time.span, message).help("write `at: 0.5s`"));
        }
        !time.value.is_negative()
    });
    let length = length(&map, &keys::LENGTH, "bad-dialogue", problems);
    Some(LineSpec { text: map.entry(&keys::TEXT)?, speaker: map.entry(&keys::SPEAKER), at: time, length })
}
