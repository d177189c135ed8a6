//! Diagnostics: errors and warnings as data, with a code, a message, labelled spans and help.

mod codes;
mod problems;
mod redact;
mod render;
mod text;

use std::fmt;

use serde::Serialize;

pub(crate) use self::codes::warning_codes;
pub use self::codes::{CODES, Code, allowable};
pub(crate) use self::problems::Problems;
pub use self::render::render;
pub(crate) use self::text::{
    did_you_mean, did_you_mean_model, grouped, nearest, nearest_own, quoted_list, shortened, visible,
};
use crate::source::{Source, Span};

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file has no plan.
    Error,
    /// Valid, and most likely a mistake.
    Warning,
}

/// A span with a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    /// The text beside it; may be empty.
    pub text: String,
}

/// An error or a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "a diagnostic has to be reported"]
pub struct Diagnostic {
    /// Its code, one of [`CODES`].
    pub code: &'static str,
    pub severity: Severity,
    /// The message: a lower-case fragment on one line, without control characters.
    pub message: String,
    /// The span of the problem.
    pub primary: Label,
    /// Other spans that are involved.
    pub others: Vec<Label>,
    /// The help, where it is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a span.
    pub fn error(code: &'static str, span: Span, message: impl AsRef<str>) -> Self {
        debug_assert!(Code::find(code).is_some(), "`{code}` is missing among the codes");
        Self {
            code,
            severity: Severity::Error,
            message: visible(message.as_ref()),
            primary: Label { span, text: String::new() },
            others: Vec::new(),
            help: None,
        }
    }

    /// A warning at a span.
    pub fn warning(code: &'static str, span: Span, message: impl AsRef<str>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// The diagnostic with its spans offset, for a file that is one of several in a source.
    pub(crate) fn offset_by(mut self, by: usize) -> Self {
        for label in std::iter::once(&mut self.primary).chain(&mut self.others) {
            label.span = label.span.offset_by(by);
        }
        self
    }

    /// Labels the primary span.
    pub fn label(mut self, text: impl AsRef<str>) -> Self {
        self.primary.text = visible(text.as_ref());
        self
    }

    /// Adds a labelled span.
    pub fn other(mut self, span: Span, text: impl AsRef<str>) -> Self {
        self.others.push(Label { span, text: visible(text.as_ref()) });
        self
    }

    pub fn help(mut self, text: impl AsRef<str>) -> Self {
        self.help = Some(visible(text.as_ref()));
        self
    }
}

/// The diagnostics of a file.
#[derive(Clone, Debug)]
pub struct Report {
    pub source: Source,
    /// Its problems, in the order of their spans.
    pub diagnostics: Vec<Diagnostic>,
    /// How many errors are not listed.
    pub unlisted: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonDiagnostic {
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    /// The file as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    pub help: Option<String>,
    /// All spans that are involved, the primary one first.
    pub spans: Vec<JsonSpan>,
}

/// A span in JSON. Lines and columns count from 1, columns in characters; the end is exclusive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonSpan {
    /// The file as the user named it.
    pub file: String,
    /// The line of the beginning.
    pub line: usize,
    /// The column of the beginning.
    pub column: usize,
    /// The line of the end.
    pub end_line: usize,
    /// The column of the end.
    pub end_column: usize,
    /// Whether it is the span of the problem; others are related.
    pub primary: bool,
    pub label: Option<String>,
}

impl JsonSpan {
    fn new(label: &Label, primary: bool, source: &Source) -> Self {
        let (start, end) = (source.position(label.span.start()), source.position(label.span.end()));
        Self {
            file: source.name_at(label.span.start()).to_owned(),
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            primary,
            label: (!label.text.is_empty()).then(|| redact::redacted(&label.text, source)),
        }
    }
}

impl Report {
    /// How many errors there are, unlisted ones included.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
            + self.unlisted
    }

    /// How many warnings there are.
    pub fn warnings(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).count()
    }

    /// As text with source snippets; `ansi` adds terminal colors.
    pub fn render(&self, ansi: bool) -> String {
        render::render_with_rest(&self.diagnostics, self.unlisted, &self.source, ansi)
    }

    /// As JSON: one object per diagnostic.
    pub fn to_json(&self) -> Vec<JsonDiagnostic> {
        self.diagnostics
            .iter()
            .map(|diagnostic| {
                let position = self.source.position(diagnostic.primary.span.start());
                JsonDiagnostic {
                    code: diagnostic.code,
                    severity: diagnostic.severity,
                    message: redact::redacted(&diagnostic.message, &self.source),
                    file: self.source.name_at(diagnostic.primary.span.start()).to_owned(),
                    line: position.line,
                    column: position.column,
                    help: diagnostic.help.as_deref().map(|help| redact::redacted(help, &self.source)),
                    spans: std::iter::once(JsonSpan::new(&diagnostic.primary, true, &self.source))
                        .chain(
                            diagnostic.others.iter().map(|label| JsonSpan::new(label, false, &self.source)),
                        )
                        .collect(),
                }
            })
            .collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Report {}
