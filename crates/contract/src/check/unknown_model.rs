//! A request whose `model` is absent or not in the catalogue.

use serde_json::Value;

use super::message::{list, truncate_for_display};
use crate::{Model, Violation};

pub(crate) fn violation(request: &Value, models: &[Model]) -> Violation {
    let (pointer, code, message) = match (request.is_object(), request.get("model")) {
        (false, _) => ("", "invalid_type", "the request has to be a JSON object".to_owned()),
        (true, None) => {
            let ids = list(models.iter().map(|model| model.id.as_str()));
            ("/model", "missing_parameter", format!("`model` is missing: give one of {ids}"))
        }
        (true, Some(Value::String(id))) => {
            let ids = nearest_first(id, models);
            (
                "/model",
                "unknown_model",
                format!("`model` cannot be {}: give one of {ids}", truncate_for_display(&id.as_str().into())),
            )
        }
        (true, Some(value)) => {
            let ids = list(models.iter().map(|model| model.id.as_str()));
            (
                "/model",
                "invalid_type",
                format!("`model` has to be a string, not {}: give one of {ids}", truncate_for_display(value)),
            )
        }
    };
    Violation {
        pointer: pointer.to_owned(),
        param: (!pointer.is_empty()).then(|| "model".to_owned()),
        code: code.to_owned(),
        message,
        spec_section: "2.1".to_owned(),
        rule: None,
        related: Vec::new(),
    }
}

fn nearest_first(id: &str, models: &[Model]) -> String {
    // The comparison is quadratic in the length, and the input is untrusted.
    let head: String = id.chars().take(64).collect();
    let mut ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
    ids.sort_by(|a, b| strsim::jaro_winkler(&head, b).total_cmp(&strsim::jaro_winkler(&head, a)));
    list(ids.into_iter())
}
