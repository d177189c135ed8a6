//! A comparison as Markdown and as a table.

use std::fmt::Write as _;

use scheduler::Timestamp;
use similar::{ChangeTag, TextDiff};
use timeline::export::{csv_row, inert_text};

use super::compare::{Comparison, Difference, PropertyChange, StateTotals};
use super::markdown::cell;
use super::printable;

/// The comparison as Markdown, with the words of prompts that differ marked.
pub(super) fn markdown(comparison: &Comparison) -> String {
    let (before, after) = (&comparison.before, &comparison.after);
    let mut out = format!("# {}: changes\n\n", cell(&after.workflow));
    let _ = writeln!(out, "| | before | after |\n|---|--:|--:|");
    let mut row = |name: &str, value: &dyn Fn(&StateTotals) -> String| {
        let _ = writeln!(out, "| {name} | {} | {} |", cell(&value(before)), cell(&value(after)));
    };
    if before.workflow != after.workflow {
        row("workflow", &|totals| totals.workflow.clone());
    }
    row("state of", &|totals| time(totals.created_at));
    row("clips done", &|totals| format!("{} of {}", totals.done, totals.clips));
    row("seconds of video", &|totals| format!("{:.1}", totals.seconds.as_secs_f64()));
    if before.cost.is_some() || after.cost.is_some() {
        row("cost at most", &|totals| totals.cost.clone().unwrap_or_default());
    }
    let _ = writeln!(out, "\n{}", summary(comparison));
    for (title, differences) in [("Clips", &comparison.clips), ("Films", &comparison.films)] {
        if !differences.is_empty() {
            let _ = writeln!(out, "\n## {title}");
        }
        for difference in differences {
            section(difference, &mut out);
        }
    }
    out
}

/// How many clips differ.
fn summary(comparison: &Comparison) -> String {
    use super::compare::Change::{Added, Changed, Removed};
    let count = |change| comparison.clips.iter().filter(|clip| clip.change == change).count();
    let counts: Vec<String> = [Changed, Added, Removed]
        .into_iter()
        .map(|change| (count(change), change))
        .filter(|(count, _)| *count > 0)
        .map(|(count, change)| format!("{count} {}", change.name()))
        .chain((comparison.unchanged > 0).then(|| format!("{} unchanged", comparison.unchanged)))
        .collect();
    if counts.is_empty() { "No clips.".to_owned() } else { format!("Clips: {}.", counts.join(", ")) }
}

fn section(difference: &Difference, out: &mut String) {
    let _ = writeln!(out, "\n### {} ({})\n", cell(&difference.name), difference.change.name());
    let _ = writeln!(out, "| | before | after |\n|---|---|---|");
    for change in &difference.properties {
        let (before, after) = values(change);
        let _ = writeln!(out, "| {} | {before} | {after} |", cell(&change.name));
    }
}

/// Both values; where both are texts of several words, those that differ are marked.
fn values(changed: &PropertyChange) -> (String, String) {
    let plain = |value: &Option<String>| value.as_deref().map(cell).unwrap_or_default();
    let (Some(before), Some(after)) = (&changed.before, &changed.after) else {
        return (plain(&changed.before), plain(&changed.after));
    };
    if !before.contains(' ') || !after.contains(' ') || changed.name != "prompt" {
        return (cell(before), cell(after));
    }
    let diff = TextDiff::from_words(before.as_str(), after.as_str());
    let (mut earlier, mut later) = (String::new(), String::new());
    for change in diff.iter_all_changes() {
        let text = cell(change.value());
        let is_blank = change.value().trim().is_empty();
        match change.tag() {
            ChangeTag::Equal => {
                earlier.push_str(&text);
                later.push_str(&text);
            }
            ChangeTag::Delete if is_blank => earlier.push_str(&text),
            ChangeTag::Insert if is_blank => later.push_str(&text),
            ChangeTag::Delete => {
                let _ = write!(earlier, "~~{text}~~");
            }
            ChangeTag::Insert => {
                let _ = write!(later, "**{text}**");
            }
        }
    }
    (earlier, later)
}

/// The comparison as a table in CSV (RFC 4180), a row per property that differs.
pub(super) fn table(comparison: &Comparison) -> String {
    let mut out = csv_row(&["kind", "name", "change", "property", "before", "after"].map(str::to_owned));
    for (kind, differences) in [("clip", &comparison.clips), ("film", &comparison.films)] {
        for difference in differences {
            for change in &difference.properties {
                let value = |value: &Option<String>| {
                    value.as_deref().map(|text| inert_text(&printable(text))).unwrap_or_default()
                };
                out.push_str(&csv_row(&[
                    kind.to_owned(),
                    inert_text(&difference.name),
                    difference.change.name().to_owned(),
                    inert_text(&change.name),
                    value(&change.before),
                    value(&change.after),
                ]));
            }
        }
    }
    out
}

/// A time of the manifest, in UTC.
fn time(time: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(time.0)
        .map(|time| time.strftime("%Y-%m-%d %H:%M UTC").to_string())
        .unwrap_or_default()
}
