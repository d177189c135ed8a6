//! Cross-field rules at work: each is tried on every object of its component that an instance holds.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{MAX_VIOLATIONS, lazy_validator::LazyValidator, message::param_of};
use crate::{Rule, RulePlace, SpecError, Violation, spec::escape};

/// Objects nested deeper than this carry no rules: no document needs it, and a recursive one must end.
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
    /// Fields without which an object is not refused.
    needs: Vec<String>,
    /// For each place of the rule that is a choice of items, which items.
    choices: Vec<Option<LazyValidator>>,
    /// The fields of the whole instance whose values, and not only their presence, decide; `None` where all may.
    reads: Option<BTreeSet<String>>,
}

/// The rules of a component and of all that it holds.
pub(crate) fn of(
    definitions: &Map<String, Value>,
    component: &str,
    all: &BTreeMap<String, Vec<Rule>>,
) -> Vec<RuleCheck> {
    let mut scopes = Vec::new();
    if let Some(schema) = definitions.get(component) {
        collect(definitions, schema, Some(component), &mut Vec::new(), &mut scopes);
    }
    let mut found = Vec::new();
    for (component, path) in scopes {
        for rule in all.get(&component).into_iter().flatten() {
            let place = format!("/components/schemas/{}/x-rules/{}", escape(&component), rule.id);
            let choices = rule.at.iter().map(|at| match at {
                RulePlace::Pointer(_) => None,
                RulePlace::Items { matching, .. } => {
                    Some(LazyValidator::new(matching.clone(), format!("{place}/at")))
                }
            });
            let needs = rule.reject.get("required").and_then(Value::as_array).into_iter().flatten();
            found.push(RuleCheck {
                name: format!("{component}/{}", rule.id),
                reads: read_fields(&path, &rule.reject),
                path: path.clone(),
                rule: rule.clone(),
                rejects: LazyValidator::new(rule.reject.clone(), format!("{place}/reject")),
                needs: needs.filter_map(Value::as_str).map(str::to_owned).collect(),
                choices: choices.collect(),
            });
        }
    }
    found
}

/// The fields of the instance whose values a rule reads.
fn read_fields(path: &[Step], reject: &Value) -> Option<BTreeSet<String>> {
    match path.first() {
        Some(Step::Key(field)) => Some(BTreeSet::from([field.clone()])),
        Some(Step::EachItem) => None,
        None => {
            let mut found = BTreeSet::new();
            note_read(reject, &mut found).then_some(found)
        }
    }
}

/// Notes which members of an object a schema looks into. `false` where a keyword may look into any.
fn note_read(schema: &Value, found: &mut BTreeSet<String>) -> bool {
    let Some(schema) = schema.as_object() else { return schema.is_boolean() };
    let all = |schemas: &Value, found: &mut BTreeSet<String>| {
        schemas.as_array().is_some_and(|list| list.iter().all(|schema| note_read(schema, found)))
    };
    schema.iter().all(|(keyword, value)| match keyword.as_str() {
        "type" | "required" | "dependentRequired" | "description" | "title" | "$comment" => true,
        "properties" => {
            found.extend(value.as_object().into_iter().flat_map(Map::keys).cloned());
            value.is_object()
        }
        "not" | "if" | "then" | "else" => note_read(value, found),
        "allOf" | "anyOf" | "oneOf" => all(value, found),
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
    /// Whether the value of a field, and not only its presence, has a say.
    pub(crate) fn reads(&self, field: &str) -> bool {
        self.reads.as_ref().is_none_or(|fields| fields.contains(field))
    }

    /// Whether an instance breaks the rule anywhere.
    pub(crate) fn is_broken_by(&self, instance: &Value) -> bool {
        let mut objects = Vec::new();
        reach(instance, &self.path, String::new(), &mut objects);
        objects.iter().any(|(_, object)| self.refuses(object))
    }

    /// Compiles all schemas, to find out whether that can be done.
    pub(crate) fn force(&self) -> Result<(), SpecError> {
        self.rejects.force()?;
        self.choices.iter().flatten().try_for_each(LazyValidator::force)
    }

    fn refuses(&self, object: &Value) -> bool {
        let Some(members) = object.as_object() else { return false };
        // To see that a field is missing is quick, and that is how most objects are in order.
        self.needs.iter().all(|name| members.contains_key(name)) && self.rejects.is_valid(object)
    }

    pub(crate) fn violations(&self, instance: &Value) -> Vec<Violation> {
        let mut objects = Vec::new();
        reach(instance, &self.path, String::new(), &mut objects);
        objects
            .into_iter()
            .filter(|(_, object)| self.refuses(object))
            .take(MAX_VIOLATIONS)
            .map(|(pointer, object)| self.violation(&pointer, object))
            .collect()
    }

    fn violation(&self, base: &str, object: &Value) -> Violation {
        let mut groups: Vec<Vec<String>> = Vec::new();
        for (place, choice) in self.rule.at.iter().zip(&self.choices) {
            groups.push(match place {
                RulePlace::Pointer(pointer) => vec![format!("{base}{pointer}")],
                RulePlace::Items { list, .. } => {
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
        // Of several items that clash, the last came in addition.
        let pointer = groups.first_mut().and_then(Vec::pop).unwrap_or_else(|| base.to_owned());
        Violation {
            param: self.rule.param.clone().or_else(|| param_of(&pointer)),
            code: self.rule.code.clone(),
            message: self.rule.message.clone(),
            section: self.rule.section.clone(),
            rule: Some(self.name.clone()),
            others: groups.into_iter().flatten().collect(),
            pointer,
        }
    }
}

fn reach<'v>(value: &'v Value, path: &[Step], pointer: String, found: &mut Vec<(String, &'v Value)>) {
    match path.split_first() {
        None => found.push((pointer, value)),
        Some((Step::Key(key), rest)) => {
            if let Some(value) = value.get(key) {
                reach(value, rest, format!("{pointer}/{}", escape(key)), found);
            }
        }
        Some((Step::EachItem, rest)) => {
            for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                reach(item, rest, format!("{pointer}/{index}"), found);
            }
        }
    }
}
