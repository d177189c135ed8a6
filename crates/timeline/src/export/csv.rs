//! A table of the film's clips as CSV (RFC 4180).

use super::{ExportContext, kind_name};
use crate::model::{Item, Timeline};

const HEADER: [&str; 23] = [
    "position",
    "shot",
    "instance",
    "file",
    "in",
    "out",
    "clip_rate",
    "film_in",
    "film_out",
    "film_in_timecode",
    "film_out_timecode",
    "transition",
    "transition_frames",
    "gain_db",
    "mute",
    "speed",
    "take",
    "seed",
    "model",
    "task",
    "key",
    "title",
    "prompt",
];

/// The film as a table, a row per clip.
///
/// `in` and `out` are frames of the clip at `clip_rate`, `film_in` and `film_out` those of the film; each `out` is exclusive. A text that a
/// spreadsheet would take for a formula is preceded by an apostrophe.
#[must_use]
pub fn csv(timeline: &Timeline, context: &ExportContext) -> String {
    let mut text = csv_row(&HEADER.map(str::to_owned));
    for (index, item) in timeline.items.iter().enumerate() {
        text.push_str(&csv_row(&row(index, item, timeline, context)));
    }
    text
}

fn row(index: usize, item: &Item, timeline: &Timeline, context: &ExportContext) -> [String; 23] {
    let info = context.info(item);
    let text = |value: &Option<String>| value.as_deref().map(inert_text).unwrap_or_default();
    [
        (index + 1).to_string(),
        inert_text(&info.shot),
        inert_text(&item.source.name),
        inert_text(&context.file(item)),
        item.first.to_string(),
        (item.first + item.clip_frames).to_string(),
        item.source.frame_rate.to_string(),
        item.start.to_string(),
        item.end().to_string(),
        timeline.timecode(item.start).to_string(),
        timeline.timecode(item.end()).to_string(),
        item.transition.map_or("cut", |transition| kind_name(transition.kind)).to_owned(),
        item.transition.map(|transition| transition.frames().to_string()).unwrap_or_default(),
        item.gain.as_f64().to_string(),
        item.mute.to_string(),
        item.speed.to_string(),
        info.take.map(|take| take.to_string()).unwrap_or_default(),
        info.seed.map(|seed| seed.to_string()).unwrap_or_default(),
        text(&info.model),
        text(&info.task),
        text(&info.key),
        text(&info.title),
        text(&info.prompt),
    ]
}

/// A row of a table with its line end (RFC 4180).
#[must_use]
pub fn csv_row(cells: &[String]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| quoted(cell)).collect();
    format!("{}\r\n", cells.join(","))
}

/// Text that no spreadsheet evaluates: one that begins as a formula does gets an apostrophe in front.
#[must_use]
pub fn inert_text(text: &str) -> String {
    let first = text.trim_start_matches([' ', '\u{a0}', '\u{feff}']).chars().next();
    match first {
        Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '|' | '%' | '＝' | '＋' | '－' | '＠') => {
            format!("'{text}")
        }
        _ => text.to_owned(),
    }
}

fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\r', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
