//! Errors of a document: pointer, problem and help.

use std::fmt;

/// An inconsistency in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// JSON pointer into the document, such as `/components/schemas/Task`; empty for the whole. For a compiled rule the last
    /// segment is its id instead of its index.
    pub pointer: String,
    pub problem: String,
    /// What to do about it.
    pub help: String,
}

impl SpecError {
    pub(crate) fn new(
        pointer: impl Into<String>,
        problem: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { pointer: pointer.into(), problem: problem.into(), help: help.into() }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = if self.pointer.is_empty() { "its top level" } else { &self.pointer };
        write!(f, "at {pointer}: {}; {}", self.problem, self.help)
    }
}

impl std::error::Error for SpecError {}
