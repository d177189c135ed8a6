//! Parser errors as diagnostics for the author of the file.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::mistakes::is_key;
use super::parse_failure::{ParseFailure, entry_of, key_before};
use super::{
    aliases, block_texts, escapes, flow, foreign_signs, indentation, items, missing_colons, mistakes,
    parse_failure, pasted_text, tabs, unclosed_quotes,
};
use crate::diagnostic::{Diagnostic, grouped};
use crate::limits;
use crate::source::{Position, Source, Span};

pub(super) fn is_duplicate_key(error: &Error) -> bool {
    matches!(error.without_snippet(), Error::DuplicateMappingKey { .. })
}

pub(super) fn explain(error: &Error, source: &Source) -> Diagnostic {
    let error = error.without_snippet();
    let span = error_span(error, source);
    // Inside an alias, the span is the alias's; the inner error has the cause.
    let error = if let Error::AliasError { error, .. } = error { error.without_snippet() } else { error };
    match error {
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or_default();
            Diagnostic::error("duplicate-key", span, format!("the key `{key}` is duplicate"))
                .help("keep one of the two")
        }
        Error::Budget { breach, .. } => limit(span, &breached(breach)),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. } => {
            limit(span, "the aliases of this file expand to too many values")
        }
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            Diagnostic::error("yaml-syntax", span, "an anchor may not contain itself")
                .help("remove this alias, or move it out of what its anchor names")
        }
        Error::UnknownAnchor { .. } => aliases::unknown(span, source),
        Error::MultipleDocuments { .. } => {
            Diagnostic::error("yaml-syntax", span, "a second document begins here")
                .help(pasted_text::other_document(source))
        }
        Error::NonFiniteFloat { value, .. } => {
            Diagnostic::error("yaml-syntax", span, format!("`{value}` is not a finite number"))
                .help(format!("write a number; if it is text, put it in quotes: `\"{value}\"`"))
        }
        Error::NullIntoString { .. } => Diagnostic::error("bad-key", span, "a key must be text, not empty")
            .help("write the name of the key; one such as `~` or `null` is put in quotes"),
        Error::Unexpected { expected, .. }
            if expected.contains("string scalar")
                && source.text().get(..span.end()).is_some_and(|before| before.ends_with("{{")) =>
        {
            Diagnostic::error("yaml-syntax", span, "a value that begins with `{{` needs quotes")
                .help("write \"{{ name }}\"")
        }
        Error::Unexpected { expected, .. } if expected.contains("string scalar") => {
            Diagnostic::error("bad-key", span, "a key must be text, not a list or a mapping")
                .help("quote text that begins with `[`, `{` or `{{`: a template is written as \"{{ name }}\"")
        }
        other => {
            let message = wording(other);
            if let Some(diagnostic) = likely_mistake(&message, span, source) {
                return diagnostic;
            }
            let help = help_for(&message, source.text().get(span.start()..).unwrap_or_default());
            let message = message.split(", use ").next().unwrap_or_default().to_owned();
            Diagnostic::error("yaml-syntax", span, message).help(help)
        }
    }
}

fn limit(span: Span, message: &str) -> Diagnostic {
    Diagnostic::error("yaml-limit", span, message).help(format!(
        "a workflow has at most {} values, those inside aliases counted where they are used, {} levels of nesting and \
         {} aliases",
        grouped(limits::MAX_YAML_NODES as u128),
        limits::MAX_YAML_DEPTH,
        grouped(limits::MAX_YAML_ALIASES as u128)
    ))
}

fn breached(breach: &BudgetBreach) -> String {
    match breach {
        BudgetBreach::Depth { .. } => "this file nests too deeply".to_owned(),
        BudgetBreach::Nodes { .. } | BudgetBreach::Events { .. } => {
            "this file has too many values".to_owned()
        }
        BudgetBreach::Aliases { .. } => "this file has too many aliases".to_owned(),
        BudgetBreach::Anchors { .. }
        | BudgetBreach::RecordedAnchorEvents { .. }
        | BudgetBreach::RecordedAnchorBytes { .. } => "this file has too many anchors".to_owned(),
        BudgetBreach::ScalarBytes { .. } => "this file has too much text".to_owned(),
        other => format!("this file exceeds a limit: {other:?}"),
    }
}

/// Maximum length of a line that help repeats, in bytes.
const MAX_QUOTED_LINE: usize = 400;

/// Those that look for a mistake in what the parser refused, in this order: first those whose mistakes show by themselves.
const MISTAKES: [fn(&ParseFailure<'_>) -> Option<Diagnostic>; 13] = [
    pasted_text::mistake,
    tabs::mistake,
    escapes::mistake,
    foreign_signs::mistake,
    items::mistake,
    missing_colons::mistake,
    aliases::mistake,
    unclosed_quotes::mistake,
    block_texts::mistake,
    mistakes::in_line,
    flow::mistake,
    indentation::mistake,
    quoted_value,
];

/// The mistake that led to a message of the parser, with what was probably meant.
fn likely_mistake(message: &str, span: Span, source: &Source) -> Option<Diagnostic> {
    let lines = parse_failure::lines_of(source);
    // The parser may stop behind the last line.
    let number = source.position(span.start()).line.min(lines.len());
    lines.get(number.checked_sub(1)?).filter(|line| line.len() <= MAX_QUOTED_LINE)?;
    let failure = ParseFailure { message, span, number, lines: &lines, source };
    MISTAKES.iter().find_map(|mistake| mistake(&failure))
}

/// A value that needs quotes as a whole.
fn quoted_value(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let ParseFailure { span, source, .. } = *failure;
    let text = source.text();
    let error = |message: &str, key: &str, value: &str| {
        let help = format!("put the text in quotes: `{key}: {}`", as_quoted(value));
        Some(Diagnostic::error("yaml-syntax", span, message).help(help))
    };
    let value = text.get(span.start()..)?.lines().next()?.trim_end();
    if let Some(sign) = value.chars().next().filter(|sign| matches!(sign, '@' | '`' | '%' | ','))
        && let Some(key) = key_before(text, span.start())
    {
        return error(&format!("text that begins with `{sign}` needs quotes"), key, value);
    }
    let message = if failure.message.contains("mapping values are not allowed") {
        "a second `: ` in a line begins a mapping"
    } else if failure.message.contains("trailing content after double-quoted") {
        "text after a closing quote"
    } else {
        return None;
    };
    let (key, text) = entry_of(failure.lines[failure.number - 1]).split_once(": ")?;
    if is_key(key) { error(message, key, text.trim()) } else { None }
}

/// A text as a YAML scalar in quotes: single ones where it has double ones or a `\\` in it.
pub(crate) fn as_quoted(text: &str) -> String {
    if text.contains(['"', '\\']) { format!("'{}'", text.replace('\'', "''")) } else { format!("\"{text}\"") }
}

/// The help for other messages of the parser.
fn help_for(message: &str, source_text: &str) -> &'static str {
    if message.contains("quoted scalar") {
        "is a quote missing at the end of the text above?"
    } else if message.contains("mapping values are not allowed") {
        "text that contains `: ` needs quotes"
    } else if source_text.starts_with("{{") {
        "a value that begins with `{{` needs quotes: \"{{ name }}\""
    } else if message.contains("flow") || message.contains("bracket") || message.contains("',' or") {
        "in brackets, entries are separated by commas, and text with `: `, `,`, `[` or `{` in it needs quotes"
    } else if source_text.starts_with(['@', '`', '%', ',']) || source_text.starts_with("? ") {
        "text that begins with this character needs quotes"
    } else if message.contains("merge value") {
        "`<<` takes an alias of a mapping: `<<: *night`, with `x-night: &night {seed: 1}` above it"
    } else if message.contains("comments must be separated") {
        "write a blank before the `#`; text with a `#` in it is put in quotes as a whole"
    } else if message.contains("unexpected character: `\\u{") {
        "remove this character, which is not visible; within double quotes it is written as an escape such as `\\x1b`"
    } else if message.contains("recursion limit") {
        "nest lists and mappings less deeply"
    } else if message.contains("document start") {
        "remove the lines that begin with `%`; nothing else is needed above a workflow"
    } else if message.to_ascii_lowercase().contains("eof") {
        "the file ends within a value: close its brackets and quotes"
    } else {
        "a line is `key: value` or an item `- value`, indented like the lines beside it; other text is put in quotes, or below `key: >-`"
    }
}

/// The message without the location, which the snippet shows.
fn wording(error: &Error) -> String {
    let text = match error {
        Error::Message { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    let text = text.split(" at line ").next().unwrap_or_default();
    text.trim().to_owned()
}

fn error_span(error: &Error, source: &Source) -> Span {
    let Some(location) = error.locations().map(|locations| locations.defined_location) else {
        return Span::default();
    };
    let start = location.span().byte_offset().map_or_else(
        || {
            source.offset(Position {
                line: usize::try_from(location.line()).unwrap_or(1),
                column: usize::try_from(location.column()).unwrap_or(1),
            })
        },
        |offset| offset as usize,
    );
    let length = location.span().byte_len().unwrap_or(1) as usize;
    let start = source.floor(start);
    let mut end = source.floor(start.saturating_add(length.clamp(1, limits::MAX_FILE_BYTES)));
    if end <= start {
        end = source
            .text()
            .get(start..)
            .and_then(|rest| rest.chars().next())
            .map_or(start, |c| start + c.len_utf8());
    }
    // A parser that stops at a line's end points past it; the line's last character shows it better.
    Span::new(start, end)
}
