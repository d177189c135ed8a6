//! The model catalogue (`x-models`, spec 2.1).

use std::ops::RangeInclusive;

use serde::Serialize;

use super::{Family, FamilySpec, InputForms, Node, REQUEST, SpecError, resolve};

/// Where a model's resolution comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionSource {
    Request {
        /// The field that chooses.
        field: String,
        values: Vec<String>,
    },
    /// The model id says it.
    Fixed(String),
}

/// A model that the service offers.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Model {
    /// The id on the wire.
    pub id: String,
    /// The family, which decides the request's fields.
    pub family: Family,
    /// `standard`, `fast` or `preview`.
    pub tier: String,
    /// One line for people.
    pub summary: String,
    /// Where the resolution comes from.
    pub resolution: ResolutionSource,
    /// Whether a request without an input image is refused.
    pub needs_image: bool,
    /// Whole seconds that a video may last.
    pub durations: RangeInclusive<u32>,
    /// What the model can do, such as `image_to_video`, in the document's terms.
    pub capabilities: Vec<String>,
    /// How it takes frames and references.
    pub inputs: InputForms,
}

impl Model {
    /// Whether the model has a capability.
    #[must_use]
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|own| own == capability)
    }

    /// The resolutions that the model can make.
    #[must_use]
    pub fn resolutions(&self) -> &[String] {
        match &self.resolution {
            ResolutionSource::Request { values, .. } => values,
            ResolutionSource::Fixed(value) => std::slice::from_ref(value),
        }
    }
}

pub(crate) fn read(root: &Node<'_>, families: &[FamilySpec]) -> Result<Vec<Model>, SpecError> {
    let request = root.need("components")?.need("schemas")?.need(REQUEST)?;
    let mapping = request.need("discriminator")?.need("mapping")?;
    let catalogue = request.need("x-models")?;
    let mut models: Vec<Model> = Vec::new();
    for entry in catalogue.items()? {
        let model = read_one(&mapping, families, &entry)?;
        if models.iter().any(|other| other.id == model.id) {
            return Err(
                entry.fail(format!("`{}` is in the catalogue twice", model.id), "keep one of the two")
            );
        }
        models.push(model);
    }
    let listed = |id: &str| models.iter().any(|model| model.id == id);
    for (id, node) in mapping.entries()? {
        if !listed(id) {
            return Err(node.fail(
                format!("`{id}` is not in the catalogue"),
                format!("add an entry for it to `{}`", catalogue.pointer),
            ));
        }
    }
    for family in families {
        if let Some(id) = family.model_ids.iter().find(|id| mapping.get(id).is_none()) {
            return Err(mapping.fail(
                format!("`{id}` is a model of family {} and is not mapped", family.name),
                "add it to the discriminator's mapping",
            ));
        }
    }
    let task = root.need("components")?.need("schemas")?.need(super::TASK)?;
    let model_schema = resolve(root, &task.need("properties")?.need("model")?)?;
    if let Some(list) = model_schema.get("enum") {
        let ids = list.texts()?;
        if let Some(model) = models.iter().find(|model| !ids.contains(&model.id)) {
            return Err(
                list.fail(format!("`{}` is missing here", model.id), "add it: task responses have it")
            );
        }
    }
    Ok(models)
}

fn read_one(mapping: &Node<'_>, families: &[FamilySpec], entry: &Node<'_>) -> Result<Model, SpecError> {
    let id = entry.need("id")?.text()?.to_owned();
    let family = mapping
        .get(&id)
        .and_then(|target| target.value.as_str())
        .and_then(|target| target.rsplit('/').next())
        .and_then(|component| families.iter().find(|family| family.component == component))
        .ok_or_else(|| {
            entry.fail(
                format!("the discriminator does not map `{id}` to a family's request"),
                format!("add `{id}` to `{}`", mapping.pointer),
            )
        })?;
    let capabilities = entry.need("capabilities")?.texts()?;
    let needs_image = entry.need("needs_image")?;
    Ok(Model {
        family: family.name.clone(),
        tier: entry.need("tier")?.text()?.to_owned(),
        summary: entry.need("summary")?.text()?.to_owned(),
        resolution: resolution(family, &entry.need("resolution")?)?,
        needs_image: needs_image
            .value
            .as_bool()
            .ok_or_else(|| needs_image.fail("this is neither true nor false", "write true or false"))?,
        durations: family.durations.clone(),
        inputs: family.inputs_for(&capabilities),
        capabilities,
        id,
    })
}

fn resolution(family: &FamilySpec, node: &Node<'_>) -> Result<ResolutionSource, SpecError> {
    if let Some(fixed) = node.get("fixed") {
        return Ok(ResolutionSource::Fixed(fixed.text()?.to_owned()));
    }
    let name = node.need("field")?;
    let field = family.fields.iter().find(|field| Some(field.name.as_str()) == name.value.as_str());
    let values: Vec<String> = field
        .map(|field| field.values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect())
        .unwrap_or_default();
    if values.is_empty() {
        return Err(name.fail(
            format!("family {} has no such field with a list of values", family.name),
            "name the field that chooses the resolution, or write `fixed`",
        ));
    }
    Ok(ResolutionSource::Request { field: name.text()?.to_owned(), values })
}
