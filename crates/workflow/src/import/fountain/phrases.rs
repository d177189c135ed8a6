//! Parts of a screenplay as parts of prompts and notes.

use std::fmt::Write as _;

use super::super::shots::{one_line, sentence};
use super::parse::{Part, Speech};

/// Notes as one text.
pub(super) fn joined(notes: &[String]) -> String {
    notes.iter().fold(String::new(), |mut text, note| {
        if !text.is_empty() {
            text.push_str(if text.ends_with(['.', '!', '?', '…', '。']) { " " } else { "; " });
        }
        text.push_str(note);
        text
    })
}

/// A speech as a part of a prompt: `Mara (whispering): “Who is there?”`.
pub(super) fn spoken(speaker: &str, speech: &Speech) -> String {
    let mut out = String::new();
    let notes = speech.extensions.iter().filter(|extension| !extension.to_lowercase().starts_with("cont"));
    let mut notes: Vec<String> = notes.cloned().collect();
    for part in &speech.parts {
        match part {
            Part::Parenthetical(text) => notes.push(one_line(text)),
            Part::Line(text) => {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(if speaker.is_empty() { "Sung" } else { speaker });
                if !notes.is_empty() {
                    let _ = write!(out, " ({})", notes.join(", "));
                    notes.clear();
                }
                let _ = write!(out, ": “{}”", one_line(text));
            }
        }
    }
    out
}

/// A scene heading as a part of a prompt: `INT. MARA'S ROOM - NIGHT` is `Interior, Mara's Room, Night.`
pub(super) fn setting(heading: &str) -> String {
    let heading = one_line(heading);
    let prefixes = [
        ("INT./EXT", "Interior and exterior"),
        ("INT/EXT", "Interior and exterior"),
        ("EXT./INT", "Interior and exterior"),
        ("EXT/INT", "Interior and exterior"),
        ("I/E", "Interior and exterior"),
        ("INT", "Interior"),
        ("EXT", "Exterior"),
        ("EST", "Establishing shot"),
    ];
    let split = prefixes.into_iter().find_map(|(prefix, long)| {
        let head = heading.get(..prefix.len())?;
        let rest = heading.get(prefix.len()..)?;
        (head.eq_ignore_ascii_case(prefix) && rest.starts_with(['.', ' '])).then_some((long, rest))
    });
    let (first, rest) = split.unwrap_or(("", heading.as_str()));
    let rest = rest.trim_start_matches(['.', ' ']);
    let parts = rest.split(" - ").flat_map(|part| part.split(" – ")).flat_map(|part| part.split(" — "));
    let parts = parts.map(|part| capitalized(part.trim()));
    let all = std::iter::once(first.to_owned()).chain(parts).filter(|part| !part.is_empty());
    sentence(&all.collect::<Vec<_>>().join(", "))
}

/// Text in capitals with capitals at the beginnings of its words only.
fn capitalized(text: &str) -> String {
    if text.chars().any(char::is_lowercase) {
        return text.to_owned();
    }
    let word = |word: &str| {
        let mut chars = word.chars();
        let first = chars.next().into_iter();
        first.chain(chars.flat_map(char::to_lowercase)).collect::<String>()
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// Letters of a text; ideographs and syllables count as several.
pub(super) fn weight(text: &str) -> usize {
    text.chars().map(|c| if c >= '\u{2e80}' { 3 } else { 1 }).sum()
}
