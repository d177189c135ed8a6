//! The checks of one component: its schema, and the rules of everything inside it.

use std::collections::BTreeMap;

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::{Map, Value, json};

use super::{
    MAX_VIOLATIONS,
    deferred::Deferred,
    message::{describe, is_about_the_value, param_of},
    rules::{self, RuleCheck},
};
use crate::{Rule, SpecError, Violation, spec::escape};

/// A component; its schemas are compiled when they are first asked.
#[derive(Debug)]
pub(crate) struct ComponentCheck {
    name: String,
    /// The components as JSON Schemas under `$defs`, extensions included.
    schema: Value,
    validator: Deferred,
    rules: Vec<RuleCheck>,
    /// The fields, where the component is nothing but its fields: see [`ComponentCheck::field`].
    fields: Option<BTreeMap<String, Deferred>>,
}

/// What a component may say beside its fields without judging the object as a whole.
const SAYS_NO_MORE: [&str; 8] =
    ["type", "properties", "required", "description", "title", "examples", "deprecated", "$comment"];

impl ComponentCheck {
    pub(crate) fn new(
        definitions: &Map<String, Value>,
        name: &str,
        all_rules: &BTreeMap<String, Vec<Rule>>,
    ) -> Self {
        let place = format!("/components/schemas/{}", escape(name));
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        Self {
            name: name.to_owned(),
            schema: json!({ "$ref": format!("#/$defs/{name}"), "$defs": definitions }),
            validator: Deferred::with_definitions(reference, definitions, place.clone()),
            rules: rules::of(definitions, name, all_rules),
            fields: definitions.get(name).and_then(|schema| fields_alone(schema, definitions, &place)),
        }
    }

    /// Compiles all schemas, to find out whether that can be done.
    pub(crate) fn force(&self) -> Result<(), SpecError> {
        self.validator.force()?;
        self.rules.iter().try_for_each(RuleCheck::force)?;
        self.fields.iter().flat_map(BTreeMap::values).try_for_each(Deferred::force)
    }

    /// Whether a value is acceptable in a field, whatever the other fields are; `None` where that cannot be said by itself.
    ///
    /// Invariant: an object is acceptable to the schema exactly when each of its fields is and none of [`Self::required`]
    /// is missing. That holds where the schema has no keywords but [`SAYS_NO_MORE`]; with any other there are no `fields`.
    pub(crate) fn field(&self, name: &str, value: &Value) -> Option<bool> {
        let field = self.fields.as_ref()?.get(name);
        Some(field.is_none_or(|field| field.is_valid(value)))
    }

    /// The fields that an object has to have.
    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        let required = self.schema["$defs"][&self.name]["required"].as_array();
        required.into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn rules(&self) -> &[RuleCheck] {
        &self.rules
    }

    pub(crate) fn violations(&self, instance: &Value) -> Vec<Violation> {
        let mut found = Vec::new();
        // Most of what is checked is in order, and to know that much is several times faster than to collect errors.
        if !self.validator.is_valid(instance) {
            found = self.of_single_fields(instance);
        }
        let left = MAX_VIOLATIONS - found.len();
        found.extend(self.rules.iter().flat_map(|rule| rule.violations(instance)).take(left));
        found
    }

    fn of_single_fields(&self, instance: &Value) -> Vec<Violation> {
        let mut found: Vec<Violation> = Vec::new();
        for error in self.validator.validator().iter_errors(instance).take(MAX_VIOLATIONS) {
            let violation = self.violation(&error);
            // A value of the wrong type also fails what its type would have to fulfil.
            if !found.iter().any(|other| other.pointer == violation.pointer) {
                found.push(violation);
            }
        }
        found.sort_by_cached_key(|violation| self.rank(&violation.pointer));
        found
    }

    /// Fields are reported in the document's order.
    fn rank(&self, pointer: &str) -> usize {
        let top = pointer.split('/').nth(1).unwrap_or_default();
        let properties = &self.schema["$defs"][&self.name]["properties"];
        let place = properties.as_object().and_then(|all| all.keys().position(|name| name == top));
        place.unwrap_or(usize::MAX)
    }

    fn violation(&self, error: &ValidationError<'_>) -> Violation {
        let mut pointer = error.instance_path().as_str().to_owned();
        if let ValidationErrorKind::Required { property } = error.kind() {
            pointer.push('/');
            pointer.push_str(&escape(property.as_str().unwrap_or_default()));
        }
        let around = self.around(error.evaluation_path().as_str());
        let param = param_of(&pointer);
        let name = param.as_ref().map_or_else(|| "the body".to_owned(), |param| format!("`{param}`"));
        let (code, message) = describe(error, &name, around.field);
        let own = around.own_error.filter(|_| is_about_the_value(error.kind()));
        let of_own = |key: &str| own.and_then(|own| own.get(key)?.as_str()).map(str::to_owned);
        Violation {
            param: of_own("param").or(param),
            code: of_own("code").unwrap_or_else(|| code.to_owned()),
            message: of_own("message")
                .map_or(message, |text| format!("{text}, not {}", super::message::echo(error.instance()))),
            section: around.section.unwrap_or_default().to_owned(),
            rule: None,
            others: Vec::new(),
            pointer,
        }
    }

    /// What the schemas on the way to a keyword say about errors there. The way leads through references, as `/$ref`.
    fn around(&self, keyword: &str) -> Around<'_> {
        let mut around = Around::default();
        let mut here = &self.schema;
        for part in keyword.split('/').skip(1) {
            around.enter(here);
            let key = part.replace("~1", "/").replace("~0", "~");
            let next = match here {
                Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
                other => other.get(&key),
            };
            let target = next.filter(|_| key == "$ref").and_then(Value::as_str);
            if target.is_none() {
                around.leave_for(&key);
            }
            let next = target.map_or(next, |target| self.schema.pointer(target.trim_start_matches('#')));
            let Some(next) = next else { break };
            here = next;
        }
        around
    }
}

/// An object's fields, where nothing but they and their presence decides about the object.
fn fields_alone(
    schema: &Value,
    definitions: &Map<String, Value>,
    place: &str,
) -> Option<BTreeMap<String, Deferred>> {
    let schema = schema.as_object()?;
    let known = |keyword: &String| SAYS_NO_MORE.contains(&keyword.as_str()) || keyword.starts_with("x-");
    if schema.get("type") != Some(&json!("object")) || !schema.keys().all(known) {
        return None;
    }
    let field = |(name, schema): (&String, &Value)| {
        let place = format!("{place}/properties/{}", escape(name));
        (name.clone(), Deferred::with_definitions(schema.clone(), definitions, place))
    };
    Some(schema.get("properties")?.as_object()?.iter().map(field).collect())
}

#[derive(Default)]
struct Around<'a> {
    section: Option<&'a str>,
    own_error: Option<&'a Value>,
    /// The innermost schema: the field's.
    field: Option<&'a Value>,
}

impl<'a> Around<'a> {
    fn enter(&mut self, value: &'a Value) {
        if let Some(section) = value.get("x-section").and_then(Value::as_str) {
            self.section = Some(section);
        }
        self.own_error = value.get("x-error").or(self.own_error);
        self.field = Some(value);
    }

    /// An error of a field is not that of what the field holds.
    fn leave_for(&mut self, keyword: &str) {
        if matches!(keyword, "properties" | "items") {
            self.own_error = None;
        }
    }
}
