//! `retry: 3`, or `retry: {attempts: 3, on: [transient, corrupt]}`: how often a shot may be attempted, and after which failures.

use crate::diagnostic::{Diagnostic, Problems, did_you_mean, visible};
use crate::limits;
use crate::plan::{RetryKinds, RetryOn};
use crate::syntax::{self, Entry};
use crate::yaml::{Yaml, YamlValue};

/// The retry policy of a shot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retry {
    pub(super) attempts: u32,
    pub(super) on: RetryKinds,
}

impl Default for Retry {
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
pub(super) fn read(value: &Yaml, entry: &Entry, problems: &mut Problems) -> Option<Retry> {
    let attempts = |value: &Yaml, what: &str, problems: &mut Problems| {
        syntax::expect_count(value, what, limits::MAX_ATTEMPTS, entry.key.span, problems)
    };
    let YamlValue::Map(entries) = &value.value else {
        return attempts(value, "retry", problems).map(|attempts| Retry { attempts, ..Retry::default() });
    };
    let unknown = entries.iter().find(|(key, _)| !["attempts", "on"].contains(&key.value.as_str()));
    let find = |name: &str| entries.iter().find(|(key, _)| key.value == name).map(|(_, value)| value);
    let (None, Some(number)) = (unknown, find("attempts")) else {
        problems.push(
            Diagnostic::error(
                "unknown-key",
                unknown.map_or(entry.key.span, |(key, _)| key.span),
                "`retry` is a number of attempts, and the failures after which there is another",
            )
            .help("write `retry: 3` or `retry: {attempts: 3, on: [transient, corrupt]}`"),
        );
        return None;
    };
    let attempts = attempts(number, "attempts", problems);
    let on = match find("on") {
        Some(value) => kinds(value, entry, problems),
        None => Some(RetryKinds::default()),
    };
    Some(Retry { attempts: attempts?, on: on? })
}

fn kinds(value: &Yaml, entry: &Entry, problems: &mut Problems) -> Option<RetryKinds> {
    let items = syntax::one_or_many(value);
    if items.is_empty() {
        problems.push(
            Diagnostic::error("wrong-type", value.span.or(entry.key.span), "`on` names at least one failure")
                .help(listed()),
        );
        return None;
    }
    // All wrong items are reported at once.
    let read: Vec<Option<RetryOn>> = items.iter().map(|item| kind(item, entry, problems)).collect();
    read.into_iter().collect()
}

fn kind(value: &Yaml, entry: &Entry, problems: &mut Problems) -> Option<RetryOn> {
    let as_str = syntax::expect_text(value, "on", entry.key.span, problems)?;
    if let Some(kind) = RetryOn::ALL.into_iter().find(|kind| kind.as_str() == as_str.value) {
        return Some(kind);
    }
    let diagnostic = match NOT_RETRIED.iter().find(|(name, _)| *name == as_str.value) {
        Some((name, why)) => {
            Diagnostic::error("unsafe-retry", as_str.span, format!("`{name}` is never retried")).help(*why)
        }
        None => Diagnostic::error(
            "unknown-key",
            as_str.span,
            format!("there is no failure `{}` to retry on", visible(&as_str.value)),
        )
        .help(did_you_mean(&as_str.value, RetryOn::ALL.map(RetryOn::as_str)).unwrap_or_else(listed)),
    };
    problems.push(diagnostic);
    None
}

fn listed() -> String {
    format!("one or several of {}", RetryOn::ALL.map(RetryOn::as_str).join(", "))
}
