//! Diagnostics as text: title, location, snippet, help, and a count at the end.

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::redact::redacted;
use super::text::is_invisible;
use super::{Diagnostic, Severity};
use crate::source::{Source, Span};

/// Lines of context before and after a span.
const CONTEXT_LINES: usize = 1;
/// Lines that are passed to the snippet renderer at once.
const WINDOW_LINES: usize = 4_000;
/// Bytes of a line that are shown around a span; longer lines are cropped.
const LINE_BYTES: usize = 4_000;

/// Renders the diagnostics of a file with source snippets; `ansi` adds terminal colors.
pub fn render(diagnostics: &[Diagnostic], source: &Source, ansi: bool) -> String {
    render_with_rest(diagnostics, 0, source, ansi)
}

pub(super) fn render_with_rest(
    diagnostics: &[Diagnostic],
    unlisted: usize,
    source: &Source,
    ansi: bool,
) -> String {
    let renderer = if ansi { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.decor_style(DecorStyle::Ascii);
    let mut out = String::new();
    for diagnostic in diagnostics {
        out.push_str(&renderer.render(&[group(diagnostic, source)]));
        out.push_str("\n\n");
    }
    if !diagnostics.is_empty() {
        out.push_str(&summary(diagnostics, unlisted, source));
        out.push('\n');
    }
    out
}

fn group<'a>(diagnostic: &'a Diagnostic, source: &'a Source) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut labels = vec![(AnnotationKind::Primary, &diagnostic.primary)];
    labels.extend(diagnostic.others.iter().map(|label| (AnnotationKind::Context, label)));

    let mut group = level.primary_title(redacted(&diagnostic.message, source)).id(diagnostic.code).elements(
        windows(source, &labels.iter().map(|(_, label)| label.span).collect::<Vec<_>>()).into_iter().map(
            |window| {
                let mut snippet =
                    Snippet::source(window.text).line_start(window.first_line).path(window.file).fold(true);
                for (index, span) in window.spans {
                    let (kind, label) = labels[index];
                    let text = (!label.text.is_empty()).then(|| redacted(&label.text, source));
                    snippet = snippet.annotation(kind.span(span).label(text));
                }
                snippet
            },
        ),
    );
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(redacted(help, source)));
    }
    group
}

/// Consecutive lines of the source, with the labels in them.
struct Window<'a> {
    file: &'a str,
    text: String,
    first_line: usize,
    /// Index of the label, and its range within `text`.
    spans: Vec<(usize, std::ops::Range<usize>)>,
}

/// Windows file by file: one around all spans that are near each other, otherwise one for each.
fn windows<'a>(source: &'a Source, spans: &[Span]) -> Vec<Window<'a>> {
    let mut files: Vec<(&Source, Vec<(usize, Span)>)> = Vec::new();
    for (index, span) in spans.iter().enumerate() {
        let (file, start) = source.file_at(span.start());
        let span = Span::new(start, start + (span.end() - span.start()));
        match files.iter_mut().find(|(existing, _)| std::ptr::eq(*existing, file)) {
            Some((_, file_spans)) => file_spans.push((index, span)),
            None => files.push((file, vec![(index, span)])),
        }
    }
    files.into_iter().flat_map(|(file, spans)| windows_of(file, &spans)).collect()
}

fn windows_of<'a>(source: &'a Source, spans: &[(usize, Span)]) -> Vec<Window<'a>> {
    let line = |offset: usize| source.position(offset.min(source.text().len())).line;
    let lines: Vec<(usize, usize)> = spans
        .iter()
        .map(|(_, span)| (line(span.start()), line(span.end().max(span.start() + 1) - 1)))
        .collect();
    let first = lines.iter().map(|(first, _)| *first).min().unwrap_or(1);
    let last = lines.iter().map(|(_, last)| *last).max().unwrap_or(1);
    if last - first <= WINDOW_LINES {
        return vec![window(source, first, last, spans.iter().copied())];
    }
    spans
        .iter()
        .zip(lines)
        .map(|(label, (first, last))| {
            window(source, first, last.min(first + WINDOW_LINES), std::iter::once(*label))
        })
        .collect()
}

fn window(
    source: &Source,
    first: usize,
    last: usize,
    labels: impl Iterator<Item = (usize, Span)>,
) -> Window<'_> {
    let first_line = first.saturating_sub(CONTEXT_LINES).max(1);
    let last_line = (last + CONTEXT_LINES).min(source.line_count());
    let labels: Vec<(usize, Span)> = labels.collect();
    let mut text = String::new();
    let mut shown_lines: Vec<(usize, usize, usize)> = Vec::new();
    for line in first_line..=last_line {
        let start = source.line_start(line);
        let end = source.line_start(line + 1);
        let (start, end) = crop(source, start, end, &labels);
        shown_lines.push((start, end, text.len()));
        show(source, start, end, &mut text);
        // The renderer knows no lines that end with CR alone.
        if line < last_line && text.ends_with('\r') {
            text.pop();
        }
        if !text.ends_with('\n') && line < last_line {
            text.push('\n');
        }
    }
    let moved = |offset: usize| {
        let line = shown_lines.iter().rev().find(|(start, _, _)| *start <= offset);
        line.map_or(0, |(start, end, shown)| shown + (offset.min(*end) - start))
    };
    let spans = labels
        .iter()
        .map(|(index, span)| {
            let start = moved(source.floor(span.start()));
            (*index, start..moved(source.floor(span.end())).max(start))
        })
        .collect();
    Window { file: source.name(), text, first_line, spans }
}

/// The part of an over-long line around the first label in it, or its start.
fn crop(source: &Source, start: usize, end: usize, labels: &[(usize, Span)]) -> (usize, usize) {
    if end - start <= LINE_BYTES {
        return (start, end);
    }
    let centre = labels
        .iter()
        .map(|(_, span)| span.start())
        .find(|offset| (start..end).contains(offset))
        .unwrap_or(start);
    let from = source.floor(centre.saturating_sub(LINE_BYTES / 2).max(start));
    (from, source.floor((from + LINE_BYTES).min(end)))
}

/// Appends a part of the source as it may be shown: every character keeps its length in bytes, and credentials are masked.
fn show(source: &Source, start: usize, end: usize, out: &mut String) {
    let secrets = source.secrets();
    for (offset, c) in source.slice(Span::new(start, end)).char_indices() {
        let offset = start + offset;
        if !matches!(c, '\n' | '\r') && secrets.iter().any(|secret| secret.contains(&offset)) {
            out.extend(std::iter::repeat_n('*', c.len_utf8()));
        } else {
            out.push(display_char(c));
        }
    }
}

/// Replaces characters that a terminal would interpret by others of the same length in bytes.
fn display_char(c: char) -> char {
    match c {
        '\n' | '\t' => c,
        '\r' => ' ',
        c if c.is_control() || is_invisible(c) => match c.len_utf8() {
            1 => '?',
            2 => '\u{bf}',
            _ => '\u{fffd}',
        },
        c => c,
    }
}

fn summary(diagnostics: &[Diagnostic], unlisted: usize, source: &Source) -> String {
    let count = |severity| diagnostics.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let (errors, warnings) = (count(Severity::Error) + unlisted, count(Severity::Warning));
    let mut parts = Vec::new();
    if errors > 0 {
        parts.push(plural(errors, "error"));
    }
    if warnings > 0 {
        parts.push(plural(warnings, "warning"));
    }
    let listed = if unlisted > 0 { format!(" ({unlisted} not listed)") } else { String::new() };
    format!("{}: {}{listed}", super::visible(source.name()), parts.join(", "))
}
