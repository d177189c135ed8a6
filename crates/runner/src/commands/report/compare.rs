//! What has changed between two states of a workflow's clips and films.

use std::collections::HashMap;

use scheduler::{StatusKind, Timestamp};
use serde::Serialize;
use serde_json::Value;
use viewer::{Clip, Film, Manifest};
use workflow::units::VideoDuration;

use super::{amount, film_state_name, took, total_cost};

/// The most members of a request of which changes are listed, per clip.
const MAX_MEMBERS: usize = 40;

/// Two states, and the differences. Version 3 of a documented format (docs/view.md).
#[derive(Debug, Serialize)]
pub(super) struct Comparison {
    version: u32,
    pub(super) before: StateTotals,
    pub(super) after: StateTotals,
    /// Clips that are as they were.
    pub(super) unchanged: usize,
    /// Clips that differ, in the order of the later state; then those that it does not have.
    pub(super) clips: Vec<Difference>,
    /// Films that differ, likewise.
    pub(super) films: Vec<Difference>,
}

/// One state in numbers.
#[derive(Debug, Serialize)]
pub(super) struct StateTotals {
    pub(super) workflow: String,
    /// When it was written, in milliseconds since the Unix epoch.
    pub(super) created_at: Timestamp,
    pub(super) clips: usize,
    pub(super) done: usize,
    /// Of the clips that are done.
    pub(super) seconds: VideoDuration,
    /// What was reserved for the latest tasks; `None` without prices.
    pub(super) cost: Option<String>,
}

/// A clip or a film that differs.
#[derive(Debug, Serialize)]
pub(super) struct Difference {
    pub(super) name: String,
    pub(super) change: Change,
    pub(super) properties: Vec<PropertyChange>,
}

/// How it differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Change {
    Added,
    Removed,
    Changed,
}

impl Change {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }
}

/// A property that differs; `None` where a state does not have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct PropertyChange {
    pub(super) name: String,
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
}

/// Compares an earlier state with a later one.
pub(super) fn compare(before: &Manifest, after: &Manifest) -> Comparison {
    let clips =
        differences((before, &before.clips), (after, &after.clips), |clip| clip.id.as_str(), clip_properties);
    let films = differences(
        (before, &before.films),
        (after, &after.films),
        |film| film.name.as_str(),
        |_, film| film_properties(film),
    );
    let changed = clips.iter().filter(|clip| clip.change != Change::Removed).count();
    Comparison {
        version: 3,
        before: totals(before),
        after: totals(after),
        unchanged: after.clips.len().saturating_sub(changed),
        clips,
        films,
    }
}

fn totals(manifest: &Manifest) -> StateTotals {
    let done = || manifest.clips.iter().filter(|clip| clip.state == StatusKind::Done);
    StateTotals {
        workflow: manifest.workflow.name.clone(),
        created_at: manifest.created_at,
        clips: manifest.clips.len(),
        done: done().count(),
        seconds: done().filter_map(|clip| clip.seconds).sum(),
        cost: total_cost(manifest).map(|cost| amount(manifest, cost)),
    }
}

/// Names and values, in the order in which they are reported.
type Properties = Vec<(String, Option<String>)>;

fn differences<T>(
    (before, earlier): (&Manifest, &[T]),
    (after, later): (&Manifest, &[T]),
    name: impl Fn(&T) -> &str,
    properties: impl Fn(&Manifest, &T) -> Properties,
) -> Vec<Difference> {
    let mut rest: HashMap<&str, &T> = earlier.iter().map(|item| (name(item), item)).collect();
    let difference =
        |item: &T, change, properties| Difference { name: name(item).to_owned(), change, properties };
    let mut differences = Vec::new();
    for item in later {
        match rest.remove(name(item)) {
            None => {
                let changes = changes(Vec::new(), properties(after, item));
                differences.push(difference(item, Change::Added, changes));
            }
            Some(earlier) => {
                let changes = changes(properties(before, earlier), properties(after, item));
                if !changes.is_empty() {
                    differences.push(difference(item, Change::Changed, changes));
                }
            }
        }
    }
    // In the order of the earlier state.
    for item in earlier.iter().filter(|item| rest.contains_key(name(item))) {
        differences.push(difference(item, Change::Removed, changes(properties(before, item), Vec::new())));
    }
    differences
}

/// The properties that differ.
fn changes(before: Properties, after: Properties) -> Vec<PropertyChange> {
    let mut earlier: HashMap<String, Option<String>> = before.iter().cloned().collect();
    let mut changes: Vec<PropertyChange> = Vec::new();
    for (name, after) in after {
        let before = earlier.remove(&name).flatten();
        changes.push(PropertyChange { name, before, after });
    }
    for (name, _) in before {
        if let Some(before) = earlier.remove(&name) {
            changes.push(PropertyChange { name, before, after: None });
        }
    }
    changes.retain(|change| change.before != change.after);
    changes
}

fn clip_properties(manifest: &Manifest, clip: &Clip) -> Properties {
    let number = |value: Option<f64>| value.map(|value| format!("{value:.1}"));
    let seconds = |value: Option<f64>| number(value).map(|value| format!("{value} s"));
    let cost = clip.total_cost().filter(|_| manifest.currency.is_some()).map(|cost| amount(manifest, cost));
    // The beginning is enough to see that it is another video.
    let video = clip.sha256.as_ref().map(|sha256| sha256.chars().take(12).collect());
    let fixed: [(&str, Option<String>); 11] = [
        ("state", Some(clip.state.as_str().to_owned())),
        ("prompt", clip.prompt.clone()),
        ("model", Some(clip.model.clone())),
        ("seed", clip.seed.map(|seed| seed.to_string())),
        ("dialogue", clip.dialogue.clone()),
        ("video", video),
        ("seconds", seconds(clip.seconds.map(VideoDuration::as_secs_f64))),
        ("picked", clip.is_picked.then(|| "yes".to_owned())),
        ("attempts", Some(clip.attempts.len().to_string())),
        ("took", seconds(took(clip).map(|took| took.as_secs_f64()))),
        ("cost", cost),
    ];
    let mut properties: Properties =
        fixed.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    let mut members = Vec::new();
    request_members(&clip.request, "request", &mut members);
    properties.extend(members);
    properties
}

/// The values of a request by their paths, besides those that are properties of the clip.
fn request_members(value: &Value, path: &str, members: &mut Properties) {
    if members.len() >= MAX_MEMBERS || matches!(path, "request.prompt" | "request.model" | "request.seed") {
        return;
    }
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                request_members(value, &format!("{path}.{name}"), members);
            }
        }
        Value::Array(array) => {
            for (index, value) in array.iter().enumerate() {
                request_members(value, &format!("{path}[{index}]"), members);
            }
        }
        Value::Null => {}
        Value::String(text) => members.push((path.to_owned(), Some(text.clone()))),
        Value::Bool(_) | Value::Number(_) => members.push((path.to_owned(), Some(value.to_string()))),
    }
}

fn film_properties(film: &Film) -> Properties {
    let cuts: Vec<&str> = film.cuts.iter().map(|cut| cut.clip.as_str()).collect();
    vec![
        ("state".to_owned(), Some(film_state_name(film.state).to_owned())),
        ("seconds".to_owned(), film.seconds.map(|seconds| format!("{:.1} s", seconds.as_secs_f64()))),
        ("clips".to_owned(), Some(cuts.join(", "))),
    ]
}
