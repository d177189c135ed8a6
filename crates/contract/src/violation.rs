//! A violation of the contract by a request or a response.

use std::fmt;

use serde::Serialize;

/// A value that the contract rejects.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// JSON pointer of the value to change, such as `/seconds`. For a missing member, the pointer where it should be.
    pub pointer: String,
    /// The parameter, as an error body names it (spec 7), such as `seconds` or `metadata.content[0].role`.
    pub param: Option<String>,
    /// The error code, such as `invalid_duration`.
    pub code: String,
    /// What is wrong and what would be right: a lower-case fragment with the names of fields in backquotes.
    pub message: String,
    /// The section of docs/spec.md, such as `2.2 rule 1`.
    pub spec_section: String,
    /// The cross-field rule that is broken, as `component/rule`; absent when a single field is wrong.
    pub rule: Option<String>,
    /// JSON pointers of the other values involved.
    pub related: Vec<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, section {})", self.message, self.code, self.spec_section)
    }
}
