//! Collects problems while a phase goes on, so that all are listed at once.

use std::collections::HashSet;

use super::{Diagnostic, Severity};
use crate::limits;
use crate::source::Span;

/// The problems found so far. The same problem at the same place is kept once.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Diagnostic>,
    seen: HashSet<(&'static str, Span, String)>,
    /// How many errors there were beyond those that are kept.
    unlisted: usize,
}

impl Problems {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let identity = (diagnostic.code, diagnostic.primary.span, diagnostic.message.clone());
        if self.seen.contains(&identity) {
            return;
        }
        if self.found.len() >= limits::MAX_DIAGNOSTICS {
            let warning = self.found.iter().rposition(|found| found.severity == Severity::Warning);
            match (diagnostic.severity, warning) {
                // Nothing that keeps a file from being run gives way to what does not.
                (Severity::Warning, _) => return,
                (Severity::Error, Some(at)) => drop(self.found.remove(at)),
                (Severity::Error, None) => {
                    self.unlisted += 1;
                    return;
                }
            }
        }
        self.seen.insert(identity);
        self.found.push(diagnostic);
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Span, message: impl AsRef<str>) {
        self.push(Diagnostic::error(code, span, message));
    }

    /// Takes over what was found in another file, whose text begins at an offset.
    pub(crate) fn extend_from(&mut self, other: Self, start: usize) {
        self.unlisted += other.unlisted;
        for diagnostic in other.found {
            self.push(diagnostic.offset_by(start));
        }
    }

    /// Whether anything was found that keeps the file from being run.
    pub(crate) fn any(&self) -> bool {
        self.unlisted > 0 || self.found.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether so many errors were found that looking further is of no use.
    pub(crate) fn full(&self) -> bool {
        self.found.len() >= limits::MAX_DIAGNOSTICS
            && self.found.iter().all(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// All of them in the order of their places, and how many more there were.
    pub(crate) fn into_sorted(mut self) -> (Vec<Diagnostic>, usize) {
        self.found.sort_by_key(|diagnostic| diagnostic.primary.span);
        (self.found, self.unlisted)
    }
}
