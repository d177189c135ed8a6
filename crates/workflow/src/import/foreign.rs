//! Files that are no shot lists, and tables in other forms: what they are, instead of shots of their pieces.

use crate::csv::{CsvCell, DELIMITERS};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Lines in which the kind of a file shows.
const MAX_LINES: usize = 40;

/// What a text is, by what it begins with, and what to do with it.
const BEGINNINGS: [(&str, &str, &str); 6] = [
    ("%pdf", "this is a PDF", "save the table in it as CSV"),
    ("<!doctype", "this is a web page", "save the table in it as CSV"),
    ("<html", "this is a web page", "save the table in it as CSV"),
    ("<?xml", "this is XML", "save it as CSV"),
    ("{", "this is JSON", "save it as CSV, with the names of the columns in the first line"),
    ("[", "this is JSON", "save it as CSV, with the names of the columns in the first line"),
];

/// The report of a text that is no shot list.
pub(super) fn other_kind(text: &str) -> Option<Diagnostic> {
    let text_start = text.len() - text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).len();
    let body = &text[text_start..];
    let first = body.lines().next().unwrap_or_default();
    let span = Span::new(text_start, text_start + first.len());
    let error = |message: &str, help: &str| Some(Diagnostic::error("bad-table", span, message).help(help));
    let lower = first.to_lowercase();
    for (beginning, message, help) in BEGINNINGS {
        // A cell may begin with a bracket: then the line goes on with others.
        let is_json =
            !message.ends_with("JSON") || !first.contains([',', ';', '\t']) || lower.contains("\":");
        if lower.starts_with(beginning) && is_json {
            return error(message, help);
        }
    }
    let lines = || body.lines().take(MAX_LINES);
    let has_line = |start: &str| lines().any(|line| line.starts_with(start));
    if has_line("version:") && has_line("shots:") {
        return error(
            "this is a workflow, not a shot list",
            "check it with `runner check`, and run it with `runner run`",
        );
    }
    let is_piped = first.contains('|') && !first.contains([',', ';', '\t']);
    if !is_piped {
        return None;
    }
    error("its columns are separated by `|`", "separate them by commas, semicolons or tabs")
}

/// The report of a row that another delimiter separates than that of the first row: all of it is in one cell.
pub(super) fn other_delimiter(head: &[CsvCell], cells: &[CsvCell]) -> Option<Diagnostic> {
    let [first, rest @ ..] = cells else { return None };
    if head.len() < 2 || rest.iter().any(|cell| !cell.text.is_empty()) {
        return None;
    }
    let delimiter = DELIMITERS
        .into_iter()
        .find(|delimiter| first.text.bytes().filter(|byte| byte == delimiter).count() == head.len() - 1)?;
    // A sentence has spaces after its commas.
    let parts = first.text.split(char::from(delimiter));
    if rest.len() + 1 == head.len() || parts.skip(1).any(|part| part.starts_with(' ')) {
        return None;
    }
    let name = if delimiter == b'\t' { "a tab".to_owned() } else { format!("`{}`", char::from(delimiter)) };
    let message = format!("{name} separates the cells here, and another character the names of the columns");
    Some(Diagnostic::error("bad-table", first.span, message).help("use the same character in all lines"))
}
