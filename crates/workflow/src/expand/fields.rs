//! The fields of requests as the file sets them.

use crate::syntax::{Entry, Shot, Workflow};
use crate::template::has_template;
use crate::yaml::{Yaml, YamlValue};

/// The entry that sets a field, and whether it is in `defaults`: the shot's own overrides the default, that of its group the file's.
pub(super) fn entry<'w>(workflow: &'w Workflow, shot: &'w Shot, name: &str) -> Option<(&'w Entry, bool)> {
    entry_of(workflow, shot, &[name])
}

/// The same of a field that has several names.
pub(super) fn entry_of<'w>(
    workflow: &'w Workflow,
    shot: &'w Shot,
    names: &[&str],
) -> Option<(&'w Entry, bool)> {
    let find = |entries: &'w [Entry]| entries.iter().find(|entry| names.contains(&entry.key.value.as_str()));
    let of_group = || workflow.group_of(shot).and_then(|group| find(&group.defaults));
    match find(&shot.fields) {
        Some(entry) => Some((entry, false)),
        None => of_group().or_else(|| find(&workflow.defaults)).map(|entry| (entry, true)),
    }
}

/// Whether a value contains no template.
pub(super) fn is_literal(value: &Yaml) -> bool {
    match &value.value {
        YamlValue::Text(text) => !has_template(text),
        YamlValue::List(items) => items.iter().all(is_literal),
        YamlValue::Map(entries) => entries.iter().all(|(_, value)| is_literal(value)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => true,
    }
}

/// Whether what a template came to leaves out the key, or the item of a list, that it stands for: `null`, or text without a letter.
pub(super) fn is_left_out(value: &Yaml) -> bool {
    value.is_null() || value.text().is_some_and(|text| text.trim().is_empty())
}
