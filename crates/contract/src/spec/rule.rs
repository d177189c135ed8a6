//! Cross-field rules (`x-rules`): requests that are rejected although every single field is valid.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};

use super::{FamilySpec, Model, Node, SpecError};

/// A rule of a component, its placeholders filled in.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Rule {
    /// Names the rule among its component's.
    pub id: String,
    /// The section of docs/spec.md that it comes from, such as `2.2 rule 1`; may be empty.
    pub spec_section: String,
    /// The parameter that is reported; where absent, the one at the first location.
    pub param: Option<String>,
    pub code: String,
    /// What is wrong and what to do, for people.
    pub message: String,
    /// The values involved, the one to change first.
    pub locations: Vec<RuleLocation>,
    /// A JSON Schema (2020-12) that matches the objects that are refused.
    pub reject: Value,
    /// Whether a match is refused, or only doubtful.
    pub severity: Severity,
}

/// What a rule says about the objects that it matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The API reference forbids them.
    Error,
    /// The API reference does not forbid them, but leaves open what they mean: a service may refuse them.
    Warning,
}

/// A location of a rule, relative to the object that the rule applies to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleLocation {
    /// The value at a JSON pointer, also when it is missing.
    Pointer(String),
    /// The items of a list that match a JSON Schema.
    Items {
        /// JSON pointer of the list.
        list: String,
        /// Which of its items.
        matching: Value,
    },
}

/// The rules of all components.
pub(crate) fn read(
    root: &Node<'_>,
    families: &[FamilySpec],
    models: &[Arc<Model>],
) -> Result<BTreeMap<String, Vec<Rule>>, SpecError> {
    let mut all = BTreeMap::new();
    for (component, schema) in root.need("components")?.need("schemas")?.entries()? {
        let Some(list) = schema.get("x-rules") else { continue };
        let family = families.iter().find(|family| family.component == component);
        let mut rules: Vec<Rule> = Vec::new();
        for entry in list.items()? {
            for filling in fillings(&entry)? {
                let rule = read_one(&entry, &filling, family, models)?;
                if rules.iter().any(|other| other.id == rule.id) {
                    return Err(entry.fail(
                        format!("another rule here is called `{}`", rule.id),
                        "give each rule an id of its own",
                    ));
                }
                rules.push(rule);
            }
        }
        all.insert(component.to_owned(), rules);
    }
    Ok(all)
}

type Substitution = Vec<(String, String)>;

fn fillings(entry: &Node<'_>) -> Result<Vec<Substitution>, SpecError> {
    let Some(each) = entry.get("each") else { return Ok(vec![Substitution::new()]) };
    each.items()?
        .iter()
        .map(|substitution| {
            substitution
                .entries()?
                .into_iter()
                .map(|(key, value)| Ok((format!("{{{key}}}"), value.text()?.to_owned())))
                .collect()
        })
        .collect()
}

fn fill(text: &str, filling: &Substitution) -> String {
    filling.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

fn fill_value(value: &Value, filling: &Substitution) -> Value {
    match value {
        Value::String(text) => fill(text, filling).into(),
        Value::Array(items) => items.iter().map(|item| fill_value(item, filling)).collect(),
        Value::Object(entries) => {
            entries.iter().map(|(key, value)| (fill(key, filling), fill_value(value, filling))).collect()
        }
        scalar => scalar.clone(),
    }
}

fn read_one(
    entry: &Node<'_>,
    filling: &Substitution,
    family: Option<&FamilySpec>,
    models: &[Arc<Model>],
) -> Result<Rule, SpecError> {
    let text = |key: &str| Ok(fill(entry.need(key)?.text()?, filling));
    let mut reject = fill_value(entry.need("reject")?.value, filling);
    if !reject.is_object() {
        return Err(entry.need("reject")?.fail("this is not a JSON Schema", "write a mapping"));
    }
    if let Some(filter) = entry.get("models") {
        let Some(family) = family else {
            return Err(filter.fail(
                "only the rules of a family's request can be restricted to models",
                "move the rule to the request's schema",
            ));
        };
        let ids =
            select(&filter, models.iter().map(|model| &**model).filter(|model| model.family == family.name))?;
        reject = json!({
            "allOf": [{ "properties": { "model": { "enum": ids } }, "required": ["model"] }, reject]
        });
    }
    let locations = entry
        .need("at")?
        .items()?
        .iter()
        .map(|location| match location.value {
            Value::String(pointer) => Ok(RuleLocation::Pointer(fill(pointer, filling))),
            _ => Ok(RuleLocation::Items {
                list: fill(location.need("in")?.text()?, filling),
                matching: fill_value(location.need("match")?.value, filling),
            }),
        })
        .collect::<Result<Vec<_>, SpecError>>()?;
    if locations.is_empty() {
        return Err(entry
            .need("at")?
            .fail("the rule names no location", "name the location to change, then the others"));
    }
    Ok(Rule {
        id: text("id")?,
        spec_section: entry.get("section").map_or(Ok(String::new()), |_| text("section"))?,
        param: entry.get("param").map(|_| text("param")).transpose()?,
        code: entry.get("code").map_or(Ok("invalid_request".to_owned()), |_| text("code"))?,
        message: text("message")?,
        locations,
        reject,
        severity: severity(entry)?,
    })
}

fn severity(entry: &Node<'_>) -> Result<Severity, SpecError> {
    let Some(severity) = entry.get("severity") else { return Ok(Severity::Error) };
    match severity.text()? {
        "error" => Ok(Severity::Error),
        "warning" => Ok(Severity::Warning),
        _ => Err(severity.fail("this is not a severity", "use `error`, the default, or `warning`")),
    }
}

/// The ids of the models that a filter means.
fn select<'m>(filter: &Node<'_>, models: impl Iterator<Item = &'m Model>) -> Result<Vec<&'m str>, SpecError> {
    let mut chosen: Vec<&Model> = models.collect();
    for (key, value) in filter.entries()? {
        match (key, value.value) {
            ("needs_image", Value::Bool(needs_image)) => {
                chosen.retain(|model| model.needs_image == *needs_image);
            }
            ("with", Value::String(capability)) => chosen.retain(|model| model.can(capability)),
            ("without", Value::String(capability)) => chosen.retain(|model| !model.can(capability)),
            _ => {
                return Err(value.fail(
                    "this does not select models",
                    "use `needs_image: true`, `with: <capability>` or `without: <capability>`",
                ));
            }
        }
    }
    Ok(chosen.into_iter().map(|model| model.id.as_str()).collect())
}
