//! Collects problems while a phase goes on, so that all are listed at once.

use std::collections::HashSet;

use super::{Diagnostic, Severity};
use crate::bounds;
use crate::source::Span;

/// The problems found so far. The same problem at the same place is kept once.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: Vec<Diagnostic>,
    seen: HashSet<(&'static str, Span, String)>,
    unlisted: usize,
}

impl Problems {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        let identity = (diagnostic.code, diagnostic.primary.span, diagnostic.message.clone());
        if self.seen.contains(&identity) {
            return;
        }
        if self.found.len() >= bounds::DIAGNOSTICS {
            self.unlisted += 1;
            return;
        }
        self.seen.insert(identity);
        self.found.push(diagnostic);
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Span, message: impl AsRef<str>) {
        self.push(Diagnostic::error(code, span, message));
    }

    /// Whether anything was found that keeps the file from being run.
    pub(crate) fn any(&self) -> bool {
        self.unlisted > 0 || self.found.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether so much was found that looking further is of no use.
    pub(crate) fn full(&self) -> bool {
        self.found.len() >= bounds::DIAGNOSTICS
    }

    /// All of them in the order of their places, and how many more there were.
    pub(crate) fn into_sorted(mut self) -> (Vec<Diagnostic>, usize) {
        self.found.sort_by_key(|diagnostic| diagnostic.primary.span);
        (self.found, self.unlisted)
    }
}
