//! `retry: 3`, or `retry: {attempts: 3, on: [transient, corrupt]}`: how often a shot may be attempted, and after which failures.

use crate::diagnostic::{Diagnostic, Problems, did_you_mean, visible};
use crate::plan::{RetryKinds, RetryOn};
use crate::syntax::keys::{retry as keys, shot};
use crate::syntax::{self, Entry, Mapping};
use crate::yaml::{Yaml, YamlValue};

/// The retry policy of a shot.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetryPolicy {
    pub(super) attempts: u32,
    pub(super) on: RetryKinds,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts: 1, on: RetryKinds::default() }
    }
}

/// Failures that `retry` may not name, each with the reason.
const NOT_RETRIED: &[(&str, &str)] = &[
    ("indeterminate", INDETERMINATE),
    ("ambiguous", INDETERMINATE),
    ("lost", INDETERMINATE),
    ("input-moderated", "moderation refuses the same prompt and the same images again: change them"),
    ("invalid", "the service refuses the same request again: change it"),
    ("quota", "no attempt succeeds before the account is in order: the run ends and says so"),
    ("rate-limited", "nothing was accepted, and the run comes back by itself without paying: leave it out"),
    ("unauthorized", "no attempt succeeds with this key: the run ends and says so"),
];
const INDETERMINATE: &str =
    "the task may exist, and would be paid for twice: `runner resolve` accounts for it";

/// Reads the value of `retry`.
pub(super) fn read(value: &Yaml, entry: &Entry, problems: &mut Problems) -> Option<RetryPolicy> {
    let once_or_more = |attempts| RetryPolicy { attempts, ..RetryPolicy::default() };
    if !matches!(value.value, YamlValue::Map(_)) {
        let attempts = syntax::expect_count(value, &shot::RETRY, entry.key.span, problems);
        return attempts.map(once_or_more);
    }
    let map = Mapping::read(value, &keys::RETRY, entry.key.span, problems)?;
    let attempts = map.count(&keys::ATTEMPTS, problems);
    let on = match map.get(&keys::ON) {
        Some((_, value)) => kinds(value, entry, problems),
        None => Some(RetryKinds::default()),
    };
    let is_known = map.others().next().is_none();
    Some(RetryPolicy { attempts: attempts?.value, on: on? }).filter(|_| is_known)
}

fn kinds(value: &Yaml, entry: &Entry, problems: &mut Problems) -> Option<RetryKinds> {
    let items = syntax::one_or_many(value);
    if items.is_empty() {
        problems.push(
            Diagnostic::error("wrong-type", value.span.or(entry.key.span), "`on` is empty").help(listed()),
        );
        return None;
    }
    // All wrong items are reported at once.
    let read: Vec<Option<RetryOn>> = items.iter().map(|item| kind(item, entry, problems)).collect();
    read.into_iter().collect()
}

fn kind(value: &Yaml, entry: &Entry, problems: &mut Problems) -> Option<RetryOn> {
    let failure = syntax::expect_text(value, &keys::ON, entry.key.span, problems)?;
    if let Some(kind) = RetryOn::ALL.into_iter().find(|kind| kind.as_str() == failure.value) {
        return Some(kind);
    }
    let diagnostic = match NOT_RETRIED.iter().find(|(name, _)| *name == failure.value) {
        Some((name, why)) => {
            Diagnostic::error("unsafe-retry", failure.span, format!("`{name}` is never retried")).help(*why)
        }
        None => Diagnostic::error(
            "unknown-key",
            failure.span,
            format!("there is no failure `{}` to retry on", visible(&failure.value)),
        )
        .help(did_you_mean(&failure.value, RetryOn::ALL.map(RetryOn::as_str)).unwrap_or_else(listed)),
    };
    problems.push(diagnostic);
    None
}

fn listed() -> String {
    format!("one or several of {}", RetryOn::ALL.map(RetryOn::as_str).join(", "))
}
