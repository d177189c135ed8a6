//! Characters as JSON Schema.

use schemars::SchemaGenerator;
use serde_json::{Value, json};

use super::shapes::{Definition, object, reference};
use crate::limits;
use crate::syntax::keys::cast::CHARACTER;
use crate::syntax::{Character, RESERVED};

impl Definition for Character {
    const NAME: &'static str = "Character";

    fn schema(generator: &mut SchemaGenerator) -> Value {
        let mut schema = object(&CHARACTER, generator);
        schema["description"] = json!("A character of the cast.");
        schema
    }
}

/// Names with characters.
pub(super) fn characters(generator: &mut SchemaGenerator) -> Value {
    json!({
        "type": "object",
        "maxProperties": limits::MAX_CHARACTERS,
        "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "not": { "enum": RESERVED } },
        "additionalProperties": { "anyOf": [{ "type": "string" }, reference::<Character>(generator)] },
    })
}
