//! The check of one component: its schema, and the cross-field rules of all objects in it.

use std::collections::BTreeMap;

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::{Map, Value, json};

use super::{
    MAX_VIOLATIONS,
    lazy_validator::LazyValidator,
    message::{constrains_value, describe, param_of},
    rules::{self, RuleCheck},
};
use crate::{Rule, Severity, SpecError, Violation, spec::escape};

/// The check of a component; its schemas are compiled on first use.
#[derive(Debug)]
pub(crate) struct ComponentCheck {
    name: String,
    /// The components as JSON Schemas under `$defs`, extensions included.
    schema: Value,
    validator: LazyValidator,
    rules: Vec<RuleCheck>,
    /// The rules of [`Severity::Warning`].
    warnings: Vec<RuleCheck>,
    /// The fields, where the component is nothing but its fields: see [`ComponentCheck::field`].
    fields: Option<BTreeMap<String, LazyValidator>>,
}

/// Keywords of an object schema that constrain no more than the fields and their presence.
const NON_CONSTRAINING_KEYWORDS: [&str; 8] =
    ["type", "properties", "required", "description", "title", "examples", "deprecated", "$comment"];

impl ComponentCheck {
    pub(crate) fn new(
        definitions: &Map<String, Value>,
        name: &str,
        all_rules: &BTreeMap<String, Vec<Rule>>,
    ) -> Self {
        let location = format!("/components/schemas/{}", escape(name));
        let rules = rules::compile(definitions, name, all_rules);
        let (warnings, rules) = rules.into_iter().partition(|rule| rule.severity() == Severity::Warning);
        let reference = json!({ "$ref": format!("#/$defs/{name}") });
        Self {
            name: name.to_owned(),
            schema: json!({ "$ref": format!("#/$defs/{name}"), "$defs": definitions }),
            validator: LazyValidator::with_definitions(reference, definitions, location.clone()),
            rules,
            warnings,
            fields: definitions.get(name).and_then(|schema| fields_alone(schema, definitions, &location)),
        }
    }

    /// Compiles all schemas, and returns the first error.
    pub(crate) fn force(&self) -> Result<(), SpecError> {
        self.validator.force()?;
        self.rules.iter().chain(&self.warnings).try_for_each(RuleCheck::force)?;
        self.fields.iter().flat_map(BTreeMap::values).try_for_each(LazyValidator::force)
    }

    /// Whether a value is acceptable in a field, whatever the other fields are; `None` where that cannot be decided by itself.
    ///
    /// Invariant: an object is acceptable to the schema exactly when each of its fields is and none of [`Self::required`]
    /// is missing. That holds where the schema has no keywords but [`NON_CONSTRAINING_KEYWORDS`]; with any other there are no `fields`.
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

    /// The rules of [`Severity::Warning`].
    pub(crate) fn warnings(&self) -> &[RuleCheck] {
        &self.warnings
    }

    pub(crate) fn violations(&self, instance: &Value) -> Vec<Violation> {
        let mut violations = Vec::new();
        // Most instances are valid, and `is_valid` is several times faster than collecting errors.
        if !self.validator.is_valid(instance) {
            violations = self.schema_violations(instance);
        }
        let remaining = MAX_VIOLATIONS - violations.len();
        violations.extend(self.rules.iter().flat_map(|rule| rule.violations(instance)).take(remaining));
        violations
    }

    fn schema_violations(&self, instance: &Value) -> Vec<Violation> {
        let mut violations: Vec<Violation> = Vec::new();
        for error in self.validator.validator().iter_errors(instance).take(MAX_VIOLATIONS) {
            let violation = self.violation(&error);
            // A value of the wrong type also violates the keywords for the right type: one violation a pointer.
            if !violations.iter().any(|other| other.pointer == violation.pointer) {
                violations.push(violation);
            }
        }
        violations.sort_by_cached_key(|violation| self.rank(&violation.pointer));
        violations
    }

    /// The position of a field in the document: violations are reported in that order.
    fn rank(&self, pointer: &str) -> usize {
        let top = pointer.split('/').nth(1).unwrap_or_default();
        let properties = &self.schema["$defs"][&self.name]["properties"];
        let location = properties.as_object().and_then(|all| all.keys().position(|name| name == top));
        location.unwrap_or(usize::MAX)
    }

    fn violation(&self, error: &ValidationError<'_>) -> Violation {
        let mut pointer = error.instance_path().as_str().to_owned();
        if let ValidationErrorKind::Required { property } = error.kind() {
            pointer.push('/');
            pointer.push_str(&escape(property.as_str().unwrap_or_default()));
        }
        let context = self.context(error.evaluation_path().as_str());
        let param = param_of(&pointer);
        let name = param.as_ref().map_or_else(|| "the body".to_owned(), |param| format!("`{param}`"));
        let (code, message) = describe(error, &name, context.field);
        let own = context.own_error.filter(|_| constrains_value(error.kind()));
        let of_own = |key: &str| own.and_then(|own| own.get(key)?.as_str()).map(str::to_owned);
        Violation {
            param: of_own("param").or(param),
            code: of_own("code").unwrap_or_else(|| code.to_owned()),
            message: of_own("message").map_or(message, |text| {
                format!("{text}, not {}", super::message::truncate_for_display(error.instance()))
            }),
            spec_section: context.section.unwrap_or_default().to_owned(),
            rule: None,
            related: Vec::new(),
            pointer,
        }
    }

    /// The annotations for errors of a keyword, from all schemas on its evaluation path. References are on the path as `/$ref`.
    fn context(&self, keyword: &str) -> SchemaContext<'_> {
        let mut context = SchemaContext::default();
        let mut current = &self.schema;
        for part in keyword.split('/').skip(1) {
            context.enter(current);
            let key = part.replace("~1", "/").replace("~0", "~");
            let next = match current {
                Value::Array(items) => key.parse::<usize>().ok().and_then(|index| items.get(index)),
                value => value.get(&key),
            };
            let target = next.filter(|_| key == "$ref").and_then(Value::as_str);
            if target.is_none() {
                context.descend(&key);
            }
            let next = target.map_or(next, |target| self.schema.pointer(target.trim_start_matches('#')));
            let Some(next) = next else { break };
            current = next;
        }
        context
    }
}

/// An object's fields, where nothing but they and their presence decides about the object.
fn fields_alone(
    schema: &Value,
    definitions: &Map<String, Value>,
    location: &str,
) -> Option<BTreeMap<String, LazyValidator>> {
    let schema = schema.as_object()?;
    let is_known =
        |keyword: &String| NON_CONSTRAINING_KEYWORDS.contains(&keyword.as_str()) || keyword.starts_with("x-");
    if schema.get("type") != Some(&json!("object")) || !schema.keys().all(is_known) {
        return None;
    }
    let field = |(name, schema): (&String, &Value)| {
        let location = format!("{location}/properties/{}", escape(name));
        (name.clone(), LazyValidator::with_definitions(schema.clone(), definitions, location))
    };
    Some(schema.get("properties")?.as_object()?.iter().map(field).collect())
}

#[derive(Default)]
struct SchemaContext<'a> {
    section: Option<&'a str>,
    own_error: Option<&'a Value>,
    /// The innermost schema: the field's.
    field: Option<&'a Value>,
}

impl<'a> SchemaContext<'a> {
    fn enter(&mut self, value: &'a Value) {
        if let Some(section) = value.get("x-section").and_then(Value::as_str) {
            self.section = Some(section);
        }
        self.own_error = value.get("x-error").or(self.own_error);
        self.field = Some(value);
    }

    /// Steps into a subschema: the own error of an object or list does not apply to its members.
    fn descend(&mut self, keyword: &str) {
        if matches!(keyword, "properties" | "items") {
            self.own_error = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Contract, check::Checks};

    /// What makes equal requests of a large plan cheap: see [`super::ComponentCheck::field`].
    #[test]
    fn requests_are_nothing_but_their_fields_and_rules() {
        let contract = Contract::embedded();
        let checks = Checks::new(contract.document(), &contract.spec);
        for family in contract.families() {
            let check = checks.for_family(&contract.spec, family);
            assert!(check.is_some_and(|check| check.fields.is_some()), "{family}");
        }
    }
}
