//! Model families: request schema, fields and input forms.

use std::{fmt, sync::Arc};

use serde::Serialize;

use super::{
    Field, InputForms, Node, REQUEST, SpecError,
    field::{self, FieldKind},
    inputs, resolve,
};

/// The name of a family, such as `A`: what the document calls it, so that a new family needs no new type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Family(Arc<str>);

impl Family {
    /// The name as the contract writes it.
    #[must_use]
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
    pub(crate) durations: std::ops::RangeInclusive<u32>,
    /// How the family takes frames and references, before a model's capabilities narrow it.
    pub(crate) inputs: Vec<inputs::Entry>,
    pub(crate) returns_last_frame: Option<String>,
    /// The ids that the family's `model` lists.
    pub(crate) model_ids: Vec<String>,
}

impl FamilySpec {
    pub(crate) fn inputs_for(&self, capabilities: &[String]) -> InputForms {
        inputs::narrow(&self.inputs, self.returns_last_frame.clone(), capabilities)
    }
}

pub(crate) fn read(root: &Node<'_>) -> Result<Vec<FamilySpec>, SpecError> {
    let request = root.need("components")?.need("schemas")?.need(REQUEST)?;
    let mut families: Vec<FamilySpec> = Vec::new();
    for alternative in request.need("oneOf")?.items()? {
        let reference = alternative.need("$ref")?.text()?;
        let component = reference.rsplit('/').next().unwrap_or_default().to_owned();
        let schema = resolve(root, &alternative)?;
        let family = read_one(root, &schema, component)?;
        if families.iter().any(|other| other.name == family.name) {
            return Err(schema.need("x-family")?.fail(
                format!("another request schema is family {} already", family.name),
                "give each request schema its own name under `x-family`",
            ));
        }
        families.push(family);
    }
    Ok(families)
}

fn read_one(root: &Node<'_>, schema: &Node<'_>, component: String) -> Result<FamilySpec, SpecError> {
    let annotation = schema.need("x-family")?;
    let fields = field::read(root, schema)?;
    let carrier = annotation.need("duration")?;
    let durations = fields
        .iter()
        .find(|field| Some(field.name.as_str()) == carrier.value.as_str())
        .filter(|field| matches!(field.kind, FieldKind::Number | FieldKind::Integer))
        .and_then(|field| Some(field.minimum?.ceil() as u32..=field.maximum?.floor() as u32))
        .ok_or_else(|| {
            carrier.fail(
                "this does not name a number with a minimum and a maximum",
                "name the property of this schema that bounds the seconds of a video",
            )
        })?;
    let model_ids = match resolve(root, &schema.need("properties")?.need("model")?)?.get("enum") {
        Some(values) => values.texts()?,
        None => {
            return Err(schema
                .need("properties")?
                .need("model")?
                .fail("`model` lists no ids", "add an `enum` with this family's model ids"));
        }
    };
    let (inputs, returns_last_frame) = inputs::read(schema, &fields)?;
    let name = Family::from(annotation.need("name")?.text()?);
    Ok(FamilySpec { name, component, fields, durations, inputs, returns_last_frame, model_ids })
}
