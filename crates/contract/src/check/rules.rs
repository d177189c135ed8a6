//! Evaluation of cross-field rules: each is applied to every object of its component in an instance.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{MAX_VIOLATIONS, lazy_validator::LazyValidator, message::param_of};
use crate::{Rule, RuleLocation, Severity, SpecError, Violation, spec::escape};

/// Rules are looked for down to this depth, so that a recursive document terminates.
const MAX_DEPTH: usize = 12;

/// From an instance to the objects of a component inside it.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    Key(String),
    EachItem,
}

/// A rule, and where it applies.
#[derive(Debug)]
pub(crate) struct RuleCheck {
    name: String,
    path: Vec<Step>,
    rule: Rule,
    rejects: LazyValidator,
    /// Members without which an object is never rejected.
    required: Vec<String>,
    /// For each location of the rule that selects items, the schema that selects them.
    choices: Vec<Option<LazyValidator>>,
    /// The top-level fields whose values (not only their presence) the rule depends on; `None` when it may depend on any.
    reads: Option<BTreeSet<String>>,
}

/// The rules of a component and of all that it holds.
pub(crate) fn compile(
    definitions: &Map<String, Value>,
    component: &str,
    all: &BTreeMap<String, Vec<Rule>>,
) -> Vec<RuleCheck> {
    let mut scopes = Vec::new();
    if let Some(schema) = definitions.get(component) {
        collect(definitions, schema, Some(component), &mut Vec::new(), &mut scopes);
    }
    let mut checks = Vec::new();
    for (component, path) in scopes {
        for rule in all.get(&component).into_iter().flatten() {
            let pointer = format!("/components/schemas/{}/x-rules/{}", escape(&component), rule.id);
            let choices = rule.locations.iter().map(|location| match location {
                RuleLocation::Pointer(_) => None,
                RuleLocation::Items { matching, .. } => {
                    Some(LazyValidator::new(matching.clone(), format!("{pointer}/at")))
                }
            });
            let required = rule.reject.get("required").and_then(Value::as_array).into_iter().flatten();
            checks.push(RuleCheck {
                name: format!("{component}/{}", rule.id),
                reads: read_fields(&path, &rule.reject),
                path: path.clone(),
                rule: rule.clone(),
                rejects: LazyValidator::new(rule.reject.clone(), format!("{pointer}/reject")),
                required: required.filter_map(Value::as_str).map(str::to_owned).collect(),
                choices: choices.collect(),
            });
        }
    }
    checks
}

/// The top-level fields whose values a rule depends on.
fn read_fields(path: &[Step], reject: &Value) -> Option<BTreeSet<String>> {
    match path.first() {
        Some(Step::Key(field)) => Some(BTreeSet::from([field.clone()])),
        Some(Step::EachItem) => None,
        None => {
            let mut properties = BTreeSet::new();
            collect_read(reject, &mut properties).then_some(properties)
        }
    }
}

/// Collects the members whose values a schema depends on. `false` when a keyword may depend on any.
fn collect_read(schema: &Value, properties: &mut BTreeSet<String>) -> bool {
    let Some(schema) = schema.as_object() else { return schema.is_boolean() };
    let all = |schemas: &Value, properties: &mut BTreeSet<String>| {
        schemas.as_array().is_some_and(|list| list.iter().all(|schema| collect_read(schema, properties)))
    };
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" | "required" | "dependentRequired" | "description" | "title" | "$comment" => true,
        "properties" => {
            properties.extend(value.as_object().into_iter().flat_map(Map::keys).cloned());
            value.is_object()
        }
        "not" | "if" | "then" | "else" => collect_read(value, properties),
        "allOf" | "anyOf" | "oneOf" => all(value, properties),
        _ => false,
    })
}

fn collect(
    definitions: &Map<String, Value>,
    schema: &Value,
    component: Option<&str>,
    path: &mut Vec<Step>,
    scopes: &mut Vec<(String, Vec<Step>)>,
) {
    if path.len() > MAX_DEPTH {
        return;
    }
    if let Some(component) = component {
        scopes.push((component.to_owned(), path.clone()));
    }
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/$defs/"));
    if let Some((name, schema)) = target.and_then(|name| definitions.get_key_value(name)) {
        collect(definitions, schema, Some(name), path, scopes);
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        path.push(Step::Key(name.clone()));
        collect(definitions, property, None, path, scopes);
        path.pop();
    }
    if let Some(items) = schema.get("items") {
        path.push(Step::EachItem);
        collect(definitions, items, None, path, scopes);
        path.pop();
    }
}

impl RuleCheck {
    /// Whether the rule depends on the value of a field, not only on its presence.
    pub(crate) fn reads(&self, field: &str) -> bool {
        self.reads.as_ref().is_none_or(|fields| fields.contains(field))
    }

    pub(crate) fn severity(&self) -> Severity {
        self.rule.severity
    }

    /// Whether the rule applies to an object in this top-level field; always for a rule of the whole request.
    pub(crate) fn is_within(&self, field: &str) -> bool {
        !matches!(self.path.first(), Some(Step::Key(first)) if first != field)
    }

    /// Whether an instance breaks the rule anywhere.
    pub(crate) fn is_broken_by(&self, instance: &Value) -> bool {
        let mut objects = Vec::new();
        reach(instance, &self.path, String::new(), &mut objects);
        objects.iter().any(|(_, object)| self.rejects_object(object))
    }

    /// Compiles all schemas, to report those that cannot be.
    pub(crate) fn force(&self) -> Result<(), SpecError> {
        self.rejects.force()?;
        self.choices.iter().flatten().try_for_each(LazyValidator::force)
    }

    fn rejects_object(&self, object: &Value) -> bool {
        let Some(members) = object.as_object() else { return false };
        // Fast path: most objects lack a required member.
        self.required.iter().all(|name| members.contains_key(name)) && self.rejects.is_valid(object)
    }

    pub(crate) fn violations(&self, instance: &Value) -> Vec<Violation> {
        let mut objects = Vec::new();
        reach(instance, &self.path, String::new(), &mut objects);
        objects
            .into_iter()
            .filter(|(_, object)| self.rejects_object(object))
            .take(MAX_VIOLATIONS)
            .map(|(pointer, object)| self.violation(&pointer, object))
            .collect()
    }

    fn violation(&self, base: &str, object: &Value) -> Violation {
        let mut groups: Vec<Vec<String>> = Vec::new();
        for (location, choice) in self.rule.locations.iter().zip(&self.choices) {
            groups.push(match location {
                RuleLocation::Pointer(pointer) => vec![format!("{base}{pointer}")],
                RuleLocation::Items { list, .. } => {
                    let items = object.pointer(list).and_then(Value::as_array).into_iter().flatten();
                    items
                        .enumerate()
                        .filter(|(_, item)| choice.as_ref().is_some_and(|choice| choice.is_valid(item)))
                        .map(|(index, _)| format!("{base}{list}/{index}"))
                        .take(MAX_VIOLATIONS)
                        .collect()
                }
            });
        }
        // Of several conflicting items, report the last.
        let pointer = groups.first_mut().and_then(Vec::pop).unwrap_or_else(|| base.to_owned());
        Violation {
            param: self.rule.param.clone().or_else(|| param_of(&pointer)),
            code: self.rule.code.clone(),
            message: self.rule.message.clone(),
            spec_section: self.rule.spec_section.clone(),
            rule: Some(self.name.clone()),
            related: groups.into_iter().flatten().collect(),
            pointer,
        }
    }
}

fn reach<'v>(value: &'v Value, path: &[Step], pointer: String, matches: &mut Vec<(String, &'v Value)>) {
    match path.split_first() {
        None => matches.push((pointer, value)),
        Some((Step::Key(key), rest)) => {
            if let Some(value) = value.get(key) {
                reach(value, rest, format!("{pointer}/{}", escape(key)), matches);
            }
        }
        Some((Step::EachItem, rest)) => {
            for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                reach(item, rest, format!("{pointer}/{index}"), matches);
            }
        }
    }
}
