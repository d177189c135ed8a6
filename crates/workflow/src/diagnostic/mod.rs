//! What is wrong with a workflow file, as data: a code, a message, the places, and what would be right.

mod codes;
mod problems;
mod render;
mod text;

use std::fmt;

use serde::Serialize;

pub use self::codes::CODES;
pub(crate) use self::problems::Problems;
pub use self::render::render;
pub(crate) use self::text::{did_you_mean, grouped, nearest, quoted_list, visible};
use crate::source::{Source, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The file cannot be run.
    Error,
    /// Legal, but surely not wanted.
    Warning,
}

/// A place, and what there is to say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is said beside it; may be empty.
    pub text: String,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable name of the kind of problem, one of [`CODES`].
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong: a lower-case fragment, on one line, free of control characters.
    pub message: String,
    /// Where it is.
    pub primary: Label,
    /// The other places involved.
    pub others: Vec<Label>,
    /// What would be right, where that is known.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    #[must_use]
    pub fn error(code: &'static str, span: Span, message: impl AsRef<str>) -> Self {
        debug_assert!(CODES.iter().any(|(known, _)| *known == code), "`{code}` is missing among the codes");
        Self {
            code,
            severity: Severity::Error,
            message: visible(message.as_ref()),
            primary: Label { span, text: String::new() },
            others: Vec::new(),
            help: None,
        }
    }

    /// A warning at a place.
    #[must_use]
    pub fn warning(code: &'static str, span: Span, message: impl AsRef<str>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// The same with all places further on, where a file is one of several.
    pub(crate) fn offset_by(mut self, by: usize) -> Self {
        for label in std::iter::once(&mut self.primary).chain(&mut self.others) {
            label.span = label.span.offset_by(by);
        }
        self
    }

    /// Says something beside the primary place.
    #[must_use]
    pub fn label(mut self, text: impl AsRef<str>) -> Self {
        self.primary.text = visible(text.as_ref());
        self
    }

    /// Adds another place that is involved.
    #[must_use]
    pub fn other(mut self, span: Span, text: impl AsRef<str>) -> Self {
        self.others.push(Label { span, text: visible(text.as_ref()) });
        self
    }

    /// Says what would be right.
    #[must_use]
    pub fn help(mut self, text: impl AsRef<str>) -> Self {
        self.help = Some(visible(text.as_ref()));
        self
    }
}

/// All that is wrong with one file.
#[derive(Clone, Debug)]
pub struct Report {
    /// The file.
    pub source: Source,
    /// Its problems, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// How many more there were than are listed.
    pub unlisted: usize,
}

/// One problem as machines read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonDiagnostic {
    /// See [`Diagnostic::code`].
    pub code: &'static str,
    /// See [`Diagnostic::severity`].
    pub severity: Severity,
    /// See [`Diagnostic::message`].
    pub message: String,
    /// The file as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// See [`Diagnostic::help`].
    pub help: Option<String>,
    /// All places that are involved, the primary one first.
    pub spans: Vec<JsonSpan>,
}

/// A place as machines read it. Lines and columns are counted from 1, columns in characters; the end is behind the last one.
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
    /// Whether it is where the problem is; the others only have to do with it.
    pub primary: bool,
    /// What is said about it.
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
            label: (!label.text.is_empty()).then(|| label.text.clone()),
        }
    }
}

impl Report {
    /// How many errors there are, unlisted ones included.
    #[must_use]
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
            + self.unlisted
    }

    /// How many warnings there are.
    #[must_use]
    pub fn warnings(&self) -> usize {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Warning).count()
    }

    /// For people, in the manner of rustc; `ansi` colours it for a terminal.
    #[must_use]
    pub fn render(&self, ansi: bool) -> String {
        render::render_with_rest(&self.diagnostics, self.unlisted, &self.source, ansi)
    }

    /// For machines: one record a problem.
    #[must_use]
    pub fn to_json(&self) -> Vec<JsonDiagnostic> {
        self.diagnostics
            .iter()
            .map(|diagnostic| {
                let position = self.source.position(diagnostic.primary.span.start());
                JsonDiagnostic {
                    code: diagnostic.code,
                    severity: diagnostic.severity,
                    message: diagnostic.message.clone(),
                    file: self.source.name_at(diagnostic.primary.span.start()).to_owned(),
                    line: position.line,
                    column: position.column,
                    help: diagnostic.help.clone(),
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
