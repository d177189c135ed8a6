//! The catalogue of models (`x-models`).

use std::ops::RangeInclusive;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Family, FamilySpec, Inputs, Node, SpecError, Word, read_as};

/// Where a model's resolution comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ResolutionSource {
    Request {
        /// The field that chooses.
        field: String,
        /// The values that it takes; empty where the description does not list them.
        values: Vec<String>,
    },
    /// The model id says it.
    Fixed(String),
    /// The service chooses.
    Unknown,
}

/// A model that the service offers.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Model {
    /// The id on the wire.
    pub id: String,
    /// The family, which decides the request's fields.
    pub family: Family,
    /// Such as `standard`, `fast` or `preview`; empty where the description does not say.
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
    /// Where it takes the runner's words.
    pub inputs: Inputs,
}

impl Model {
    /// Whether the model has a capability.
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.iter().any(|own| own == capability)
    }

    /// The resolutions that the model can make; empty where the description does not list them.
    pub fn resolutions(&self) -> &[String] {
        match &self.resolution {
            ResolutionSource::Request { values, .. } => values,
            ResolutionSource::Fixed(value) => std::slice::from_ref(value),
            ResolutionSource::Unknown => &[],
        }
    }
}

/// An entry of `x-models`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    id: Option<String>,
    /// A pattern with `*`, for ids that are not known beforehand.
    r#match: Option<String>,
    /// The component that is the request's schema.
    schema: String,
    #[serde(default)]
    tier: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    capabilities: Vec<String>,
    /// Words without which a request is refused.
    #[serde(default)]
    needs: Vec<Word>,
    /// Words that its schema has and this model does not.
    #[serde(default)]
    not: Vec<Word>,
    #[serde(default)]
    fixed: Fixed,
}

/// What the id of a model decides.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixed {
    resolution: Option<String>,
}

/// The models of a document: by id, and by pattern.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    pub(crate) models: Vec<Arc<Model>>,
    patterns: Vec<(glob::Pattern, Model)>,
}

impl Catalogue {
    /// A model by its id: one that is listed, or else the first whose pattern matches.
    pub(crate) fn model(&self, id: &str) -> Option<Arc<Model>> {
        if let Some(model) = self.models.iter().find(|model| model.id == id) {
            return Some(Arc::clone(model));
        }
        let (_, model) = self.patterns.iter().find(|(pattern, _)| pattern.matches(id))?;
        Some(Arc::new(Model { id: id.to_owned(), ..model.clone() }))
    }

    /// The patterns of ids that are not listed.
    pub(crate) fn patterns(&self) -> impl Iterator<Item = (&str, &Model)> {
        self.patterns.iter().map(|(pattern, model)| (pattern.as_str(), model))
    }

    /// Whether it takes ids that it does not list.
    pub(crate) fn is_open(&self) -> bool {
        !self.patterns.is_empty()
    }
}

pub(crate) fn read(root: &Node<'_>, families: &[FamilySpec]) -> Result<Catalogue, SpecError> {
    let mut catalogue = Catalogue::default();
    for node in root.need("x-models")?.items()? {
        let entry: Entry = read_as(&node)?;
        let family = families.iter().find(|family| family.component == entry.schema).ok_or_else(|| {
            // Families are read from this list, so the component exists.
            node.fail(format!("`{}` is no request", entry.schema), "name a schema under `components`")
        })?;
        let inputs = entry.not.iter().fold(family.inputs.clone(), |inputs, word| inputs.without(*word));
        for word in &entry.needs {
            if inputs.get(*word).is_none() {
                return Err(node.fail(
                    format!("the model needs {word:?}, which its schema has no place for"),
                    "add it to the `x-inputs` of the schema",
                ));
            }
        }
        let model = |id: String| Model {
            id,
            family: family.name.clone(),
            tier: entry.tier.clone(),
            summary: entry.summary.clone(),
            resolution: match &entry.fixed.resolution {
                Some(resolution) => ResolutionSource::Fixed(resolution.clone()),
                None => family.resolution.clone(),
            },
            needs_image: entry.needs.contains(&Word::FirstFrame),
            durations: family.durations.clone(),
            capabilities: entry.capabilities.clone(),
            inputs: inputs.clone(),
        };
        match (&entry.id, &entry.r#match) {
            (Some(id), None) => {
                if catalogue.models.iter().any(|other| other.id == *id) {
                    return Err(node.fail(format!("`{id}` is in the catalogue twice"), "keep one of the two"));
                }
                catalogue.models.push(Arc::new(model(id.clone())));
            }
            (None, Some(pattern)) => {
                let compiled = glob::Pattern::new(pattern).map_err(|error| {
                    node.fail(
                        format!("`{pattern}` is no pattern: {error}"),
                        "use `*` for any text, such as `ep-*`",
                    )
                })?;
                catalogue.patterns.push((compiled, model(pattern.clone())));
            }
            _ => return Err(node.fail("a model has an `id` or a `match`", "write one of the two")),
        }
    }
    Ok(catalogue)
}
