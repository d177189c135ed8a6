//! Model families: a request's schema, its fields and where the runner's words go in it.

use std::{fmt, ops::RangeInclusive, sync::Arc};

use serde::Serialize;
use serde_json::Value;

use super::{Field, Inputs, Node, ResolutionSource, SpecError, Word, field, inputs, schema_at};

/// The longest video where a description does not bound it.
const MAX_SECONDS: u32 = 600;

/// The name of a family, such as `A`: what the document calls it (`x-family`), or else the name of its schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Family(Arc<str>);

impl Family {
    /// The name as the contract writes it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Family {
    fn from(name: &str) -> Self {
        Self(Arc::from(name))
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the document says of a family.
#[derive(Debug)]
pub(crate) struct FamilySpec {
    pub(crate) name: Family,
    /// The component that is this family's request.
    pub(crate) component: String,
    pub(crate) fields: Vec<Field>,
    /// Whole seconds that a video of this family may last.
    pub(crate) durations: RangeInclusive<u32>,
    pub(crate) resolution: ResolutionSource,
    /// Where the family takes the runner's words, before a model narrows it.
    pub(crate) inputs: Inputs,
    /// What the schema says of the values of words.
    pub(crate) words: Vec<(Word, Field)>,
}

/// The families: the schemas that `x-models` names, in its order.
pub(crate) fn read(root: &Node<'_>) -> Result<Vec<FamilySpec>, SpecError> {
    let schemas = root.need("components")?.need("schemas")?;
    let mut families: Vec<FamilySpec> = Vec::new();
    for entry in root.need("x-models")?.items()? {
        let named = entry.need("schema")?;
        let component = named.text()?;
        if families.iter().any(|family| family.component == component) {
            continue;
        }
        let schema = schemas.get(component).ok_or_else(|| {
            named.fail(format!("there is no schema `{component}`"), "name one of `components/schemas`")
        })?;
        let family = read_one(root, &schema, component)?;
        if families.iter().any(|other| other.name == family.name) {
            return Err(schema.fail(
                format!("another request schema is family {} already", family.name),
                "give each request schema its own name under `x-family`",
            ));
        }
        families.push(family);
    }
    Ok(families)
}

fn read_one(root: &Node<'_>, schema: &Node<'_>, component: &str) -> Result<FamilySpec, SpecError> {
    let fields = field::read_request(root, schema)?;
    let inputs = inputs::read(root, schema)?;
    let name = match schema.get("x-family") {
        Some(name) => name.text()?,
        None => component,
    };
    let resolution = match inputs.get(Word::Resolution) {
        None => ResolutionSource::Unknown,
        Some(placement) => {
            let values = match schema_at(root, schema, &placement.at)?.and_then(|schema| schema.get("enum")) {
                Some(values) => values.texts()?,
                None => Vec::new(),
            };
            ResolutionSource::Request { field: placement.field().to_owned(), values }
        }
    };
    let mut words = Vec::new();
    for word in Word::ALL.into_iter().filter(|word| word.is_key()) {
        let Some(placement) = inputs.get(word).filter(|placement| placement.item.is_none()) else { continue };
        let own = fields.iter().find(|field| field.at == placement.at).cloned();
        let field = own.map_or_else(|| field::read_at(root, schema, &placement.at), |own| Ok(Some(own)))?;
        words.extend(field.map(|field| (word, field)));
    }
    Ok(FamilySpec {
        words,
        name: Family::from(name),
        component: component.to_owned(),
        durations: durations(root, schema, &inputs)?,
        fields,
        resolution,
        inputs,
    })
}

/// Whole seconds that the schema allows, from its bounds or its list of values.
fn durations(root: &Node<'_>, schema: &Node<'_>, inputs: &Inputs) -> Result<RangeInclusive<u32>, SpecError> {
    let unbounded = 1..=MAX_SECONDS;
    let Some(placement) = inputs.get(Word::Seconds) else { return Ok(unbounded) };
    let place = placement.bounds.as_ref().unwrap_or(&placement.at);
    let Some(bounds) = schema_at(root, schema, place)? else { return Ok(unbounded) };
    let number = |value: &Value| match value {
        Value::String(text) => text.trim_end_matches('s').parse::<f64>().ok(),
        value => value.as_f64(),
    };
    let listed: Vec<f64> = match bounds.get("enum") {
        Some(values) => values.items()?.iter().filter_map(|item| number(item.value)).collect(),
        None => Vec::new(),
    };
    let bound = |key: &str| bounds.get(key).and_then(|bound| bound.value.as_f64());
    let least = listed.iter().copied().reduce(f64::min).or_else(|| bound("minimum"));
    let greatest = listed.iter().copied().reduce(f64::max).or_else(|| bound("maximum"));
    let least = least.map_or(1, |least| least.ceil().max(1.0) as u32);
    Ok(least..=greatest.map_or(MAX_SECONDS, |greatest| greatest.floor() as u32))
}
