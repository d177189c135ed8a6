//! A request whose `model` is absent or not in the catalogue.

use std::sync::Arc;

use serde_json::Value;

use super::message::{list, truncate_for_display};
use super::nearest_model::models_nearest_first;
use crate::{Model, Violation};

pub(crate) fn violation(request: &Value, models: &[Arc<Model>]) -> Violation {
    let (pointer, code, message) = match (request.is_object(), request.get("model")) {
        (false, _) => ("", "invalid_type", "the request has to be a JSON object".to_owned()),
        (true, None) => {
            let ids = list(models.iter().map(|model| model.id.as_str()));
            ("/model", "missing_parameter", format!("`model` is missing: give one of {ids}"))
        }
        (true, Some(Value::String(id))) => {
            let ids = models.iter().map(|model| model.id.as_str());
            let ids = list(models_nearest_first(id, ids).into_iter());
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
