//! Changes as people read them.

use std::fmt::Write as _;

use super::{Change, Diff, Effect, Side, Verdict};

/// Each effect as a heading, and as it is counted.
const EFFECTS: [(Effect, &str, &str); 3] = [
    (Effect::Breaks, "breaks callers", "breaking"),
    (Effect::Notice, "to be noticed", "to be noticed"),
    (Effect::Harmless, "harmless", "harmless"),
];

impl Side {
    fn word(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Response => "response",
        }
    }
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Narrowed => "narrowed",
            Self::Widened => "widened",
            Self::Changed => "changed",
        }
    }
}

/// The head of either form: the versions, and how many changes there are of which effect.
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
        .map(|(effect, _, words)| (of(diff, *effect).count(), words))
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

fn of(diff: &Diff, effect: Effect) -> impl Iterator<Item = &Change> {
    diff.changes.iter().filter(move |change| change.effect == effect)
}

fn place(change: &Change) -> String {
    match change.used_by.as_slice() {
        [] => change.at.clone(),
        users => format!("{} ({})", change.at, users.join(", ")),
    }
}

pub(super) fn text(diff: &Diff) -> String {
    let mut out = head(diff);
    out.push('\n');
    for (effect, words, _) in EFFECTS {
        for (nth, change) in of(diff, effect).enumerate() {
            if nth == 0 {
                let _ = writeln!(out, "\n{words}");
            }
            let (verdict, side) = (change.verdict.word(), change.side.word());
            let _ = writeln!(out, "  {verdict:<8}  {side:<8}  {}: {}", place(change), change.what);
        }
    }
    out
}

pub(super) fn markdown(diff: &Diff) -> String {
    let mut out = format!("## The contract: {}\n", head(diff));
    for (effect, words, _) in EFFECTS {
        for (nth, change) in of(diff, effect).enumerate() {
            if nth == 0 {
                let _ =
                    write!(out, "\n### {words}\n\n| verdict | side | where | what |\n|---|---|---|---|\n");
            }
            let (verdict, side) = (change.verdict.word(), change.side.word());
            let _ =
                writeln!(out, "| {verdict} | {side} | {} | {} |", cell(&place(change)), cell(&change.what));
        }
    }
    out
}

/// Text as it may stand in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace(['\n', '\r'], " ")
}
