//! Reads `groups`: shots with parameters and defaults of their own, such as the acts of a film.

use super::keys::{group as keys, workflow};
use super::mapping::Mapping;
use super::value::report_wrong_type;
use super::{ClipSpec, Group, Workflow, file_parts, plain_name};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::letters::normalized;
use crate::limits;
use crate::source::Spanned;
use crate::yaml::{Key, Yaml, YamlValue};

/// The groups of a file. `is_included` says that they come from an included file.
pub(super) fn read(file: &Mapping<'_>, is_included: bool, problems: &mut Problems) -> Vec<Group> {
    let Some((key, value)) = file.get(&workflow::GROUPS).filter(|(_, value)| !value.is_null()) else {
        return Vec::new();
    };
    match &value.value {
        YamlValue::Map(entries) if entries.len() > limits::MAX_GROUPS => {
            let message = format!("`groups` has more than {} groups", limits::MAX_GROUPS);
            problems.push(
                Diagnostic::error("bad-group", key.span, message)
                    .help("write what they share into `defaults`"),
            );
            Vec::new()
        }
        YamlValue::Map(entries) => {
            entries.iter().filter_map(|(key, value)| group(key, value, is_included, problems)).collect()
        }
        _ => {
            report_wrong_type(&workflow::GROUPS, value, key.span, problems);
            Vec::new()
        }
    }
}

fn group(key: &Key, value: &Yaml, is_included: bool, problems: &mut Problems) -> Option<Group> {
    let key = Spanned::new(normalized(&key.value).into_owned(), key.span);
    if let Err(message) = plain_name(&key.value) {
        problems.error("bad-name", key.span, message);
        return None;
    }
    let map = Mapping::read(value, &keys::GROUP, key.span, problems)?;
    map.text(&keys::NOTE, problems);
    Some(Group {
        params: file_parts::params_of(&map, &keys::PARAMS, is_included, problems),
        defaults: file_parts::defaults(&map, &keys::DEFAULTS, problems),
        shot_defaults: Vec::new(),
        key,
    })
}

/// Finds the groups that shots and films name.
pub(crate) fn resolve(workflow: &mut Workflow, problems: &mut Problems) {
    let groups = &workflow.groups;
    for shot in &mut workflow.shots {
        let Some(named) = &shot.group_name else { continue };
        shot.group = groups.iter().position(|group| group.key.value == named.value);
        if shot.group.is_none() {
            problems.push(unknown(named, groups));
        }
    }
    let shown = workflow.films.iter().flat_map(|film| film.clips.iter().flatten());
    for named in shown.filter_map(ClipSpec::group) {
        if !groups.iter().any(|group| group.key.value == named.value) {
            problems.push(unknown(named, groups));
        } else if workflow.shots_of(&named.value).next().is_none() {
            let message = format!("no shot is in the group `{}`", named.value);
            let help = format!("write `group: {}` in its shots, or remove it here", named.value);
            problems.push(Diagnostic::error("bad-film", named.span, message).help(help));
        }
    }
}

fn unknown(named: &Spanned<String>, groups: &[Group]) -> Diagnostic {
    let names = || groups.iter().map(|group| group.key.value.as_str());
    let help = did_you_mean(&named.value, names()).unwrap_or_else(|| match groups {
        [] => format!("add it: `groups: {{{}: {{}}}}`", named.value),
        _ => format!("the groups are {}", quoted_list(names(), 12)),
    });
    let message = format!("there is no group `{}`", named.value);
    Diagnostic::error("unknown-group", named.span, message).help(help)
}
