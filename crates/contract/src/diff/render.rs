//! Rendering of a diff as text.

use std::fmt::Write as _;

use super::{Change, Diff, Direction, Effect, Verdict};

/// Each effect with its heading and its name in the totals.
const EFFECTS: [(Effect, &str, &str); 3] = [
    (Effect::Breaks, "breaks callers", "breaking"),
    (Effect::Notice, "to be noticed", "to be noticed"),
    (Effect::Harmless, "harmless", "harmless"),
];

impl Direction {
    fn as_str(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Narrowed => "narrowed",
            Self::Widened => "widened",
            Self::Changed => "changed",
        }
    }
}

/// The first line: the versions, and the number of changes by effect.
fn head(diff: &Diff) -> String {
    let versions = if diff.old_version == diff.new_version {
        format!("{} as before", diff.new_version)
    } else {
        format!("{} to {}", diff.old_version, diff.new_version)
    };
    if diff.changes.is_empty() {
        return format!("version {versions}: nothing changed for callers");
    }
    let counts: Vec<String> = EFFECTS
        .iter()
        .map(|(effect, _, words)| (with_effect(diff, *effect).count(), words))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| format!("{count} {words}"))
        .collect();
    let all = diff.changes.len();
    format!(
        "version {versions}: {all} {}, {}",
        if all == 1 { "change" } else { "changes" },
        counts.join(", ")
    )
}

fn with_effect(diff: &Diff, effect: Effect) -> impl Iterator<Item = &Change> {
    diff.changes.iter().filter(move |change| change.effect == effect)
}

fn location(change: &Change) -> String {
    match change.used_by.as_slice() {
        [] => change.location.clone(),
        users => format!("{} ({})", change.location, users.join(", ")),
    }
}

pub(super) fn text(diff: &Diff) -> String {
    let mut out = head(diff);
    out.push('\n');
    for (effect, words, _) in EFFECTS {
        for (nth, change) in with_effect(diff, effect).enumerate() {
            if nth == 0 {
                let _ = writeln!(out, "\n{words}");
            }
            let (verdict, direction) = (change.verdict.as_str(), change.direction.as_str());
            let _ = writeln!(out, "  {verdict:<8}  {direction:<8}  {}: {}", location(change), change.summary);
        }
    }
    out
}
