//! What is wrong with a document: the place in it, the problem, and the remedy.

use std::fmt;

/// A document that does not hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecError {
    /// JSON pointer of the place in the document, such as `/components/schemas/Task`; empty for the whole. A compiled rule
    /// goes by its id instead of its position.
    pub place: String,
    /// What is wrong there.
    pub problem: String,
    /// What to do about it.
    pub remedy: String,
}

impl SpecError {
    pub(crate) fn new(
        place: impl Into<String>,
        problem: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { place: place.into(), problem: problem.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.place.is_empty() { "its top level" } else { &self.place };
        write!(f, "openapi.yaml, at {place}: {}; {}", self.problem, self.remedy)
    }
}

impl std::error::Error for SpecError {}
