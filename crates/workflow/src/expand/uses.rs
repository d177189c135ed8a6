//! Which names the templates of a workflow use.

use std::collections::HashSet;

use crate::syntax::{Shot, Workflow};
use crate::template::{has_template, words, words_used};
use crate::yaml::{Yaml, YamlValue};

/// Every word in the code of every template: more than the names that are used, never less.
pub(super) fn names(workflow: &Workflow) -> HashSet<&str> {
    let mut found = HashSet::new();
    let params = workflow.params.iter().filter_map(|param| param.default.as_ref());
    let films = workflow.films.iter().filter_map(|film| film.output.as_ref());
    let top = workflow.defaults.iter().chain(&workflow.matrix).chain(films);
    for value in params.chain(top.map(|entry| &entry.value)) {
        add(value, &mut found);
    }
    for shot in &workflow.shots {
        of_shot(shot, &mut found);
    }
    found
}

fn of_shot<'w>(shot: &'w Shot, found: &mut HashSet<&'w str>) {
    let words_of_shot = [
        &shot.first_frame,
        &shot.last_frame,
        &shot.references,
        &shot.matrix,
        &shot.takes,
        &shot.pick,
        &shot.salt,
        &shot.retry,
        &shot.timeout,
    ];
    for entry in words_of_shot.into_iter().flatten().chain(&shot.fields) {
        add(&entry.value, found);
    }
    if let Some(when) = &shot.when {
        match when.value.text() {
            Some(text) if !has_template(text) => found.extend(words(text)),
            _ => add(&when.value, found),
        }
    }
}

fn add<'w>(value: &'w Yaml, found: &mut HashSet<&'w str>) {
    match &value.value {
        YamlValue::Text(text) => found.extend(words_used(text)),
        YamlValue::List(items) => items.iter().for_each(|item| add(item, found)),
        YamlValue::Map(entries) => entries.iter().for_each(|(_, value)| add(value, found)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => {}
    }
}
