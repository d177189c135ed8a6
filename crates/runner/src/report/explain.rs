//! Explanations (`runner explain`) as text.

use std::fmt::Write as _;

use engine::explain::{Explanation, NearestAttempt};
use scheduler::Decision;
use workflow::plan::{PartChange, PartValue};

use crate::clock::utc_time;

/// Characters of context shown around a difference.
const CONTEXT_CHARS: usize = 24;
/// Maximum length of a displayed value, in characters.
const MAX_VALUE_CHARS: usize = 160;
/// Maximum number of names listed.
const MAX_NAMES: usize = 12;

/// Explanations, separated by empty lines; those of shots that are up to date are only counted, unless they were asked for by name.
pub(crate) fn explanations(explanations: &[Explanation], are_named: bool) -> String {
    let is_told = |one: &&Explanation| are_named || one.preview.decision != Decision::Reuse;
    let told: Vec<String> = explanations.iter().filter(is_told).map(shot_text).collect();
    let count = match explanations.len() - told.len() {
        0 => String::new(),
        1 => "1 shot is up to date\n".to_owned(),
        count => format!("{count} shots are up to date\n"),
    };
    told.into_iter().chain(Some(count).filter(|count| !count.is_empty())).collect::<Vec<_>>().join("\n")
}

fn shot_text(explanation: &Explanation) -> String {
    let Explanation { preview, nearest, same, unknown, affects, films } = explanation;
    let mut out = format!("{}: {}", preview.name, preview.decision.as_str());
    let _ = match &preview.key {
        Some(key) => writeln!(out, ", key {key}"),
        None => writeln!(out),
    };
    // The dependencies that it waits for are shown below.
    if let Some(why) = preview.why.as_ref().filter(|_| unknown.is_empty()) {
        let _ = writeln!(out, "  {why}");
    }
    for unknown in unknown {
        let _ = writeln!(
            out,
            "  not known yet: a frame of {}, which has to be rendered first ({})",
            unknown.shot, unknown.part
        );
    }
    match nearest {
        Some(nearest) => {
            changes(nearest, preview.decision, &preview.name, same, !unknown.is_empty(), &mut out);
        }
        None => out.push_str("  no earlier attempt is recorded\n"),
    }
    if !affects.is_empty() {
        let _ = writeln!(out, "  dependents: {}", names(affects));
    }
    for film in films {
        let _ = writeln!(out, "  film: {film}");
    }
    out
}

fn changes(
    nearest: &NearestAttempt,
    decision: Decision,
    name: &str,
    same: &[String],
    incomplete: bool,
    out: &mut String,
) {
    let NearestAttempt { attempt, shot, intended_at, state, changes } = nearest;
    let whose = if shot == name { String::new() } else { format!(" of {shot}") };
    let time = utc_time(*intended_at);
    if changes.is_empty() {
        let subject = if incomplete { "the known part of its key is" } else { "its key is" };
        let _ = writeln!(
            out,
            "  {subject} the same as that of attempt {attempt}{whose}, {time}, which is {state}"
        );
        if !incomplete && matches!(decision, Decision::Execute) {
            let _ = writeln!(out, "  it is rendered again because that attempt has no video");
        }
        return;
    }
    let _ = writeln!(out, "  changed since attempt {attempt}{whose}, {time}, which is {state}:");
    for change in changes {
        let PartChange { name, before, now } = change;
        match (before, now) {
            (Some(before), Some(now)) => {
                let (before, now) = difference(before, now);
                let _ = writeln!(out, "    {name}\n      was {before}\n      now {now}");
            }
            (None, Some(now)) => {
                let _ = writeln!(out, "    {name}\n      new {}", full_text(now));
            }
            (Some(before), None) => {
                let _ = writeln!(out, "    {name}\n      was {}\n      now absent", full_text(before));
            }
            (None, None) => {}
        }
    }
    if !same.is_empty() {
        let _ = writeln!(out, "  unchanged: {}", same.join(", "));
    }
}

fn names(names: &[String]) -> String {
    if names.len() <= MAX_NAMES {
        return names.join(", ");
    }
    format!("{} and {} more", names[..MAX_NAMES].join(", "), names.len() - MAX_NAMES)
}

fn full_text(value: &PartValue) -> String {
    match &value.value {
        Some(text) => quoted(&truncated(&text.chars().collect::<Vec<_>>(), 0, usize::MAX)),
        None => format!("data with hash {}", value.hash),
    }
}

/// Two values, truncated around their difference.
fn difference(before: &PartValue, now: &PartValue) -> (String, String) {
    let (Some(old), Some(new)) = (&before.value, &now.value) else {
        return (full_text(before), full_text(now));
    };
    if old == new {
        // They differ beyond the recorded prefix.
        return (format!("data with hash {}", before.hash), format!("data with hash {}", now.hash));
    }
    let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
    let common = |pairs: &mut dyn Iterator<Item = (&char, &char)>| pairs.take_while(|(a, b)| a == b).count();
    let head = common(&mut old.iter().zip(&new));
    let tail = common(&mut old[head..].iter().rev().zip(new[head..].iter().rev()));
    let excerpt = |text: &[char]| {
        quoted(&truncated(
            text,
            head.saturating_sub(CONTEXT_CHARS),
            text.len().saturating_sub(tail) + CONTEXT_CHARS,
        ))
    };
    (excerpt(&old), excerpt(&new))
}

/// A part of a text, with ellipses where text is left out.
fn truncated(text: &[char], from: usize, to: usize) -> String {
    let to = to.min(text.len());
    let end = to.min(from + MAX_VALUE_CHARS);
    let mut out = String::new();
    if from > 0 {
        out.push('…');
    }
    out.extend(&text[from..end]);
    if end < text.len() {
        out.push('…');
    }
    out
}

/// Quoted text on one line, with control characters escaped.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push('"'),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> PartValue {
        PartValue { hash: "00".to_owned(), value: Some(text.to_owned()) }
    }

    #[test]
    fn long_values_are_cut_around_the_difference() {
        let before =
            "A long stone breakwater at dusk, a white lighthouse at its far end, the sea heaving grey.";
        let now = before.replace("white", "red");
        let (old, new) = difference(&value(before), &value(&now));
        assert_eq!(old, "\"…e breakwater at dusk, a white lighthouse at its far e…\"");
        assert_eq!(new, "\"…e breakwater at dusk, a red lighthouse at its far e…\"");
        assert_eq!(difference(&value("1"), &value("11")), ("\"1\"".to_owned(), "\"11\"".to_owned()));
        assert_eq!(difference(&value(""), &value("\u{1b}[31m")).1, "\"\\u{1b}[31m\"");
        let hidden = PartValue { hash: "ff".to_owned(), value: None };
        assert_eq!(difference(&value("a"), &hidden).1, "data with hash ff");
    }
}
