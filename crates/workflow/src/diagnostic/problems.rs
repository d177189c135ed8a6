//! Collects the diagnostics of a phase, so that all are reported at once.

use std::collections::HashSet;

use super::{Diagnostic, Severity};
use crate::limits;
use crate::source::Span;

/// The longest help that is repeated, in bytes.
const MAX_REPEATED_HELP: usize = 300;

/// The diagnostics so far, without duplicates.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    diagnostics: Vec<Diagnostic>,
    identities: HashSet<(&'static str, Span, String)>,
    /// Keys that hold a credential: nothing else is reported of them.
    secret_keys: HashSet<Span>,
    /// Codes of warnings that are dropped.
    allowed: HashSet<&'static str>,
    /// Number of errors beyond the limit.
    unlisted: usize,
}

impl Problems {
    pub(crate) fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.code == "secret-in-file" {
            self.secret_keys.insert(diagnostic.primary.span);
        } else if self.secret_keys.contains(&diagnostic.primary.span) {
            return;
        }
        let identity = (diagnostic.code, diagnostic.primary.span, diagnostic.message.clone());
        if self.identities.contains(&identity) {
            return;
        }
        if self.diagnostics.len() >= limits::MAX_DIAGNOSTICS {
            let warning =
                self.diagnostics.iter().rposition(|diagnostic| diagnostic.severity == Severity::Warning);
            match (diagnostic.severity, warning) {
                // A warning never displaces an error.
                (Severity::Warning, _) => return,
                (Severity::Error, Some(index)) => drop(self.diagnostics.remove(index)),
                (Severity::Error, None) => {
                    self.unlisted += 1;
                    return;
                }
            }
        }
        self.identities.insert(identity);
        self.diagnostics.push(diagnostic);
    }

    /// Drops the warnings of a code.
    pub(crate) fn allow(&mut self, code: &'static str) {
        self.allowed.insert(code);
    }

    pub(crate) fn error(&mut self, code: &'static str, span: Span, message: impl AsRef<str>) {
        self.push(Diagnostic::error(code, span, message));
    }

    /// Adds the diagnostics of another file, whose text begins at an offset.
    pub(crate) fn extend_from(&mut self, other: Self, start: usize) {
        self.unlisted += other.unlisted;
        for diagnostic in other.diagnostics {
            self.push(diagnostic.offset_by(start));
        }
    }

    /// Whether there is an error.
    pub(crate) fn any(&self) -> bool {
        self.unlisted > 0 || self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Whether the limit on errors is reached.
    pub(crate) fn full(&self) -> bool {
        self.diagnostics.len() >= limits::MAX_DIAGNOSTICS
            && self.diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// All diagnostics in the order of their spans, and the number of errors beyond the limit.
    pub(crate) fn into_sorted(mut self) -> (Vec<Diagnostic>, usize) {
        let Self { diagnostics, allowed, .. } = &mut self;
        diagnostics.retain(|diagnostic| {
            diagnostic.severity == Severity::Error || !allowed.contains(diagnostic.code)
        });
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span);
        // Lists of what there is are long, and shown once.
        let mut lists = HashSet::new();
        for diagnostic in &mut self.diagnostics {
            let is_list = |help: &String| help.len() > MAX_REPEATED_HELP;
            diagnostic.help =
                diagnostic.help.take().filter(|help| !is_list(help) || lists.insert(help.clone()));
        }
        (self.diagnostics, self.unlisted)
    }
}
