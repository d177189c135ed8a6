//! Reads `cast`: characters by their names.

use super::keys::{cast as keys, workflow};
use super::mapping::Mapping;
use super::value::report_wrong_type;
use super::{Character, Entry, bad_identifier};
use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::yaml::{Key, Yaml, YamlValue};

/// The characters of a file. `is_included` says that they come from an included file.
pub(super) fn read(file: &Mapping<'_>, is_included: bool, problems: &mut Problems) -> Vec<Character> {
    let Some((key, value)) = file.get(&workflow::CAST).filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    match &value.value {
        YamlValue::Map(entries) if entries.len() > limits::MAX_CHARACTERS => {
            let message = format!("`cast` has more than {} characters", limits::MAX_CHARACTERS);
            problems.push(
                Diagnostic::error("bad-cast", key.span, message).help("remove those that no shot shows"),
            );
            Vec::new()
        }
        YamlValue::Map(entries) => {
            entries.iter().filter_map(|(key, value)| character(key, value, is_included, problems)).collect()
        }
        _ => {
            report_wrong_type(&workflow::CAST, value, key.span, problems);
            Vec::new()
        }
    }
}

fn character(key: &Key, value: &Yaml, is_included: bool, problems: &mut Problems) -> Option<Character> {
    if let Some(wrong) = bad_identifier(key) {
        problems.push(wrong);
        return None;
    }
    if let YamlValue::Text(_) = &value.value {
        let description = Entry { key: key.clone(), value: value.clone() };
        let description = Some(description);
        return Some(Character { key: key.clone(), description, stills: None, voice: None, is_included });
    }
    if !matches!(value.value, YamlValue::Map(_)) {
        let message = format!("the character `{}` must be text or a mapping", key.value);
        problems.push(
            Diagnostic::error("wrong-type", value.span.or(key.span), message)
                .label(format!("this is {}", value.kind()))
                .help(keys::CHARACTER.help()),
        );
        return None;
    }
    let map = Mapping::read(value, &keys::CHARACTER, key.span, problems)?;
    map.text(&keys::NOTE, problems);
    let entry = |key| map.entry(key).filter(|entry| !entry.value.is_null());
    let (description, stills, voice) = (entry(&keys::DESCRIPTION), entry(&keys::STILLS), entry(&keys::VOICE));
    if description.is_none() && stills.is_none() && voice.is_none() && map.others().next().is_none() {
        let message = format!("nothing is known of `{}`", key.value);
        problems.push(Diagnostic::error("missing-key", key.span, message).help(format!(
            "add `{}` or `{}`",
            keys::DESCRIPTION.example(),
            keys::STILLS.example()
        )));
    }
    Some(Character { key: key.clone(), description, stills, voice, is_included })
}
