//! The free variables of a workflow's templates: which axes a shot uses, and which parameters and axes nothing does.

use std::collections::HashSet;

use crate::syntax::{ClipSourceSpec, Entry, Shot, Workflow};
use crate::template::{CAST, has_template, identifiers, identifiers_used};
use crate::yaml::{Yaml, YamlValue};

/// Every identifier in the code of every template: a superset of the variables that are used.
pub(super) fn names(workflow: &Workflow) -> HashSet<&str> {
    let mut names = HashSet::new();
    let params = workflow.all_params().filter_map(|param| param.default.as_ref());
    let films = workflow.films.iter().flat_map(|film| {
        let sounds = film.soundtrack.voices.iter().map(|voice| &voice.file);
        let music = film.soundtrack.music.iter().map(|music| &music.file);
        let clips = film.clips.iter().flatten().flat_map(|clip| {
            let file = match &clip.source {
                ClipSourceSpec::File(file) => Some(file),
                ClipSourceSpec::Shot(_) | ClipSourceSpec::Group(_) | ClipSourceSpec::Card => None,
            };
            file.into_iter().chain(clip.title.as_ref().map(|title| &title.text))
        });
        film.output.iter().chain(&film.matrix).chain(&film.font).chain(music).chain(sounds).chain(clips)
    });
    let of_groups = workflow.groups.iter().flat_map(|group| &group.shot_defaults);
    let shot_defaults = workflow.shot_defaults.iter().chain(of_groups).map(|entry| &**entry);
    let cast = cast_entries(workflow);
    let top = workflow.all_defaults().chain(shot_defaults).chain(&workflow.matrix).chain(films).chain(cast);
    for value in params.chain(top.map(|entry| &entry.value)) {
        add(value, &mut names);
    }
    for shot in &workflow.shots {
        add_shot(shot, &mut names);
    }
    names
}

/// The names that decide the instances of each shot, by its index: those of its templates, of the defaults that it has, and of the characters if
/// it names some.
pub(super) fn of_shots(workflow: &Workflow) -> Vec<HashSet<&str>> {
    let file: Vec<_> = workflow.defaults.iter().map(of_default).collect();
    let groups = workflow.groups.iter().map(|group| group.defaults.iter().map(of_default).collect());
    let groups: Vec<Vec<_>> = groups.collect();
    let mut cast = HashSet::new();
    cast_entries(workflow).for_each(|entry| add(&entry.value, &mut cast));
    let of_shots = workflow.shots.iter().map(|shot| {
        let mut names = HashSet::new();
        add_shot(shot, &mut names);
        let group = shot.group.and_then(|group| groups.get(group)).map_or(&[][..], Vec::as_slice);
        for (index, (key, of_default)) in group.iter().chain(&file).enumerate() {
            let is_replaced = shot.fields.iter().any(|field| field.key.value == *key)
                || index >= group.len() && group.iter().any(|(other, _)| other == key);
            if !is_replaced {
                names.extend(of_default);
            }
        }
        if shot.cast.is_some() || names.contains(CAST) {
            names.extend(&cast);
        }
        names
    });
    of_shots.collect()
}

/// A default with the names that it uses.
fn of_default(entry: &Entry) -> (&str, HashSet<&str>) {
    let mut names = HashSet::new();
    add(&entry.value, &mut names);
    (&entry.key.value, names)
}

fn cast_entries(workflow: &Workflow) -> impl Iterator<Item = &Entry> {
    workflow
        .cast
        .iter()
        .flat_map(|character| character.description.iter().chain(&character.stills).chain(&character.voice))
}

/// Whether a template in a value uses a name.
pub(super) fn mentions(value: &Yaml, name: &str) -> bool {
    match &value.value {
        YamlValue::Text(text) => identifiers_used(text).contains(&name),
        YamlValue::List(items) => items.iter().any(|item| mentions(item, name)),
        YamlValue::Map(entries) => entries.iter().any(|(_, value)| mentions(value, name)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => false,
    }
}

fn add_shot<'w>(shot: &'w Shot, names: &mut HashSet<&'w str>) {
    let Shot { service, references, cast, takes, pick, retry, timeout, repeat_entry, .. } = shot;
    let entries = [&shot.first_frame, &shot.last_frame, &shot.matrix, &shot.salt, &shot.group_entry];
    let shared = [service, references, cast, takes, pick, retry, timeout, repeat_entry];
    let shared = shared.into_iter().flatten().map(|entry| &**entry);
    let lines = shot.dialogue.iter().flat_map(|line| std::iter::once(&line.text).chain(&line.speaker));
    for entry in entries.into_iter().flatten().chain(shared).chain(&shot.fields).chain(lines) {
        add(&entry.value, names);
    }
    if let Some(when) = &shot.when {
        match when.value.text() {
            Some(text) if !has_template(text) => names.extend(identifiers(text)),
            _ => add(&when.value, names),
        }
    }
}

fn add<'w>(value: &'w Yaml, names: &mut HashSet<&'w str>) {
    match &value.value {
        YamlValue::Text(text) => names.extend(identifiers_used(text)),
        YamlValue::List(items) => items.iter().for_each(|item| add(item, names)),
        YamlValue::Map(entries) => entries.iter().for_each(|(_, value)| add(value, names)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => {}
    }
}
