//! Reads a shot: the keys of the runner apart from the request fields, which the contract validates later.

use std::sync::Arc;

use super::keys::shot as keys;
use super::mapping::Mapping;
use super::shot_ref::{self, name};
use super::{Continues, Entry, Shot, dialogue, plain_name, value};
use crate::diagnostic::{Diagnostic, Problems};
use crate::letters::{name_slug, normalized};
use crate::source::Spanned;
use crate::yaml::Yaml;

/// The shot in an item of the list; `None` if it has no usable id.
pub(super) fn read(item: &Yaml, problems: &mut Problems) -> Option<Shot> {
    let map = Mapping::read(item, &keys::SHOT, item.span, problems)?;
    let id = id(&map, problems);
    let continues = map.get(&keys::CONTINUES).and_then(|(key, value)| {
        let shot = shot_ref::shot_ref(&keys::CONTINUES, key.span, value, problems)?;
        Some(Continues { key: key.clone(), shot })
    });
    let needs = map
        .get(&keys::NEEDS)
        .map(|(key, value)| shot_ref::shot_refs(&keys::NEEDS, key.span, value, problems));
    let mut first_frame = map.entry(&keys::FIRST_FRAME);
    if let (Some(continues), Some(entry)) = (&continues, &first_frame) {
        problems.push(
            Diagnostic::error("two-first-frames", entry.key.span, "this shot has two first frames")
                .label("one is set here")
                .other(continues.key.span, "the other is the last frame of the shot named here")
                .help("keep `continues` or `first_frame`"),
        );
        first_frame = None;
    }
    let fields = map.others().map(|(key, value)| Entry { key: key.clone(), value: value.clone() });
    Some(Shot {
        note: note(&map, problems),
        group_entry: map.entry(&keys::GROUP),
        group_name: None,
        group: None,
        service: map.entry(&keys::SERVICE).map(Arc::new),
        dialogue: dialogue::read(&map, problems),
        continues,
        first_frame,
        last_frame: map.entry(&keys::LAST_FRAME),
        references: map.entry(&keys::REFERENCES).map(Arc::new),
        cast: map.entry(&keys::CAST).map(Arc::new),
        matrix: map.entry(&keys::MATRIX),
        repeat_entry: map.entry(&keys::REPEAT).map(Arc::new),
        repeat: None,
        step: None,
        takes: map.entry(&keys::TAKES).map(Arc::new),
        pick: map.entry(&keys::PICK).map(Arc::new),
        needs: needs.unwrap_or_default(),
        when: map.entry(&keys::WHEN),
        salt: map.entry(&keys::SALT),
        retry: map.entry(&keys::RETRY).map(Arc::new),
        timeout: map.entry(&keys::TIMEOUT).map(Arc::new),
        fields: fields.collect(),
        id: id?,
    })
}

/// The note; an empty one removes the note in `defaults`.
fn note(map: &Mapping<'_>, problems: &mut Problems) -> Option<Spanned<Arc<str>>> {
    let (key, value) = map.get(&keys::NOTE)?;
    if value.is_null() {
        return Some(Spanned::new("".into(), key.span));
    }
    let text = value::expect_text(value, &keys::NOTE, key.span, problems)?;
    Some(Spanned::new(text.value.into(), text.span))
}

fn id(map: &Mapping<'_>, problems: &mut Problems) -> Option<Spanned<String>> {
    let (key, value) = map.get(&keys::ID)?;
    let id = name(value, &keys::ID, key, problems)?;
    let id = Spanned::new(normalized(&id.value).into_owned(), id.span);
    if let Err(message) = plain_name(&id.value) {
        let diagnostic = Diagnostic::error("bad-name", id.span.or(key.span), message);
        let suggestion = name_slug(&id.value);
        problems.push(if plain_name(&suggestion).is_ok() {
            diagnostic.help(format!("write `id: {suggestion}`"))
        } else {
            diagnostic
        });
        return None;
    }
    Some(id)
}
