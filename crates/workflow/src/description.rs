//! Reads the description of a service: an OpenAPI document with the extensions that openapi.yaml explains.

use std::sync::Arc;

use contract::{Contract, SpecError};
use serde_json::Value;

use crate::advice;
use crate::diagnostic::{Diagnostic, Problems, Report};
use crate::text_file::read_text;
use crate::yaml::Yaml;

/// A description with the problems that were found in it.
#[derive(Clone, Debug)]
pub struct DescriptionOutcome {
    /// The description, where the file has no errors.
    pub contract: Option<Arc<Contract>>,
    /// What is in the file, where it can be read.
    pub document: Option<Value>,
    pub report: Report,
}

/// Reads and checks a description in YAML or JSON.
pub fn check(bytes: &[u8], file_name: &str) -> DescriptionOutcome {
    let mut problems = Problems::default();
    let source = read_text(bytes, file_name, &mut problems);
    let tree = if problems.any() { None } else { advice::read(&source, &mut problems) };
    let tree = if problems.any() { None } else { tree };
    let document = tree.as_ref().map(Yaml::to_json);
    let contract = tree.and_then(|tree| match Contract::from_document(tree.to_json()) {
        Ok(contract) => Some(Arc::new(contract)),
        Err(error) => {
            problems.push(diagnostic(error, &tree));
            None
        }
    });
    let (diagnostics, unlisted) = problems.into_sorted();
    DescriptionOutcome { contract, document, report: Report { source, diagnostics, unlisted } }
}

fn diagnostic(error: SpecError, tree: &Yaml) -> Diagnostic {
    let (_, span) = tree.descend(error.pointer.split('/').skip(1));
    let place = if error.pointer.is_empty() { String::new() } else { format!("at {}: ", error.pointer) };
    Diagnostic::error("bad-description", span, format!("{place}{}", error.problem)).help(error.help)
}
