//! Parser errors as diagnostics for the author of the file.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use super::{flow, foreign_signs, indentation, mistakes};
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
        }
        Error::UnknownAnchor { .. } => Diagnostic::error("yaml-syntax", span, "this alias names no anchor")
            .help("text that begins with `*` needs quotes"),
        Error::MultipleDocuments { .. } => Diagnostic::error(
            "yaml-syntax",
            span,
            "a second document begins here",
        )
        .help(
            "a file holds one workflow: remove the `---` line and what follows, or make it a file of its own",
        ),
        Error::NonFiniteFloat { value, .. } => {
            Diagnostic::error("yaml-syntax", span, format!("`{value}` is not a finite number"))
        }
        Error::NullIntoString { .. } => Diagnostic::error("bad-key", span, "a key must be text, not empty"),
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
            if let Some(diagnostic) = common_mistake(&message, span, source) {
                return diagnostic;
            }
            let help = help_for(&message, source.text().get(span.start()..).unwrap_or_default());
            let message = message.split(", use ").next().unwrap_or_default().to_owned();
            let diagnostic = Diagnostic::error("yaml-syntax", span, message);
            match help {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }
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

/// The mistakes that most often lead to a message of the parser, with the line that was probably meant.
fn common_mistake(message: &str, span: Span, source: &Source) -> Option<Diagnostic> {
    let lines: Vec<&str> = source.text().lines().collect();
    let number = source.position(span.start()).line;
    let line = lines.get(number - 1).copied().filter(|line| line.len() <= MAX_QUOTED_LINE)?;
    // The parser may stop at the end of the line before.
    let indented =
        |index: &usize| lines.get(*index).is_some_and(|line| line.trim_start_matches(' ').starts_with('\t'));
    let is_about_tabs = message.contains("found a tab") || message.contains("tabs disallowed");
    if let Some(index) = [number - 1, number].into_iter().find(indented).filter(|_| is_about_tabs) {
        let start = source.offset(Position { line: index + 1, column: 1 });
        let tab = lines[index].find('\t')?;
        let diagnostic = Diagnostic::error(
            "yaml-syntax",
            Span::new(start + tab, start + tab + 1),
            "YAML does not allow tabs in indentation",
        );
        return Some(diagnostic.help("replace each tab with two spaces"));
    }
    if let Some(diagnostic) = foreign_signs::in_line(number, &lines, source) {
        return Some(diagnostic);
    }
    if let Some(diagnostic) = mistakes::in_line(message, number, &lines, span, source) {
        return Some(diagnostic);
    }
    if let Some(diagnostic) = flow::mistake(message, number, &lines, span, source) {
        return Some(diagnostic);
    }
    if let Some(diagnostic) = indentation::mistake(message, number, &lines, span, source) {
        return Some(diagnostic);
    }
    let quote_value = |message: &str| {
        let (before, text) = line.split_once(": ")?;
        let key = before.trim_start().trim_start_matches("- ");
        let is_key = key.chars().all(|c| c.is_alphanumeric() || c == '_');
        let help = format!("put the text in quotes: `{key}: {}`", as_quoted(text.trim()));
        is_key.then(|| Diagnostic::error("yaml-syntax", span, message).help(help))
    };
    if message.contains("mapping values are not allowed") {
        return quote_value("a second `: ` in a line begins a mapping");
    }
    if message.contains("unclosed quote") {
        let quote = source.slice(span).chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
        let span = Span::new(span.start(), span.start() + 1);
        let diagnostic = Diagnostic::error("yaml-syntax", span, "this quote is never closed");
        return Some(diagnostic.help(format!("add `{quote}` where the text ends")));
    }
    if message.contains("trailing content after double-quoted") {
        return quote_value("text after a closing quote");
    }
    if message.contains("quoted scalar") {
        // The quote that was never closed is in the nearest line above with an odd number of them.
        let (index, open) = lines
            .iter()
            .enumerate()
            .take(number)
            .rev()
            .find(|(_, line)| !line.matches('"').count().is_multiple_of(2) && line.contains(": \""))
            .filter(|(_, line)| line.len() <= MAX_QUOTED_LINE)?;
        if let Some(diagnostic) = indentation::quoted_continuation(index, &lines, source) {
            return Some(diagnostic);
        }
        let start = source.offset(Position { line: index + 1, column: 1 }) + open.find(": \"")? + 2;
        let line = open.trim_start().trim_start_matches("- ").trim_end();
        let diagnostic =
            Diagnostic::error("yaml-syntax", Span::new(start, start + 1), "this quote is never closed");
        return Some(diagnostic.help(format!("write `{line}\"`")));
    }
    None
}

/// A text as a YAML scalar in quotes: single ones where it has double ones or a `\\` in it.
pub(super) fn as_quoted(text: &str) -> String {
    if text.contains(['"', '\\']) { format!("'{}'", text.replace('\'', "''")) } else { format!("\"{text}\"") }
}

/// The help for other messages of the parser.
fn help_for(message: &str, source_text: &str) -> Option<&'static str> {
    if message.contains("quoted scalar") {
        Some("is a quote missing at the end of the text above?")
    } else if message.contains("mapping values are not allowed") {
        Some("text that contains `: ` needs quotes")
    } else if source_text.starts_with("{{") {
        Some("a value that begins with `{{` needs quotes: \"{{ name }}\"")
    } else if message.contains("flow") || message.contains("bracket") || message.contains("',' or") {
        Some(
            "in brackets, entries are separated by commas, and text with `: `, `,`, `[` or `{` in it needs quotes",
        )
    } else if source_text.starts_with(['@', '`', '%', ',']) || source_text.starts_with("? ") {
        Some("text that begins with this character needs quotes")
    } else {
        None
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
