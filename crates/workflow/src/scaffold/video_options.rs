//! Model and aspect ratio of a new workflow's shots.

use std::sync::Arc;

use std::fmt::Write as _;

use contract::{Contract, Model};
use serde_json::Value;

use super::scalar;
use crate::diagnostic::{did_you_mean_model, quoted_list, visible};

/// Model and aspect ratio for all shots.
#[derive(Clone, Debug)]
pub struct VideoOptions {
    /// The family, such as `A`, in either case.
    pub family: String,
    /// The model's id; without it, the family's first model that needs no image.
    pub model: Option<String>,
    /// The aspect ratio, such as `16:9`.
    pub aspect: String,
}

/// An option that the contract does not offer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ScaffoldError(String);

impl ScaffoldError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// The request fields that set resolution and aspect ratio.
#[derive(Clone, Debug)]
pub(crate) struct VideoFields(Vec<(String, String)>);

impl VideoFields {
    /// The fields as lines with an indent.
    pub(crate) fn fields(&self, indent: &str) -> String {
        self.0.iter().fold(String::new(), |mut out, (name, value)| {
            let _ = writeln!(out, "{indent}{name}: {}", scalar(value));
            out
        })
    }
}

/// The field for the aspect ratio, where a family has it (spec 2.2); others take a size (spec 2.4).
const RATIO: &str = "ratio";
const SIZE: &str = "size";
/// Pixels of the shorter side, where a size is derived from the ratio.
const SHORT_SIDE: u64 = 480;

impl VideoOptions {
    /// The model.
    ///
    /// # Errors
    /// The contract has no such family or model, or the model needs an image.
    pub fn model(&self, contract: &Contract) -> Result<Arc<Model>, ScaffoldError> {
        if let Some(id) = &self.model {
            let ids = || contract.models().iter().map(|model| model.id.as_str());
            let model = contract.model(id).ok_or_else(|| {
                let help = did_you_mean_model(id, ids())
                    .unwrap_or_else(|| format!("the models are {}", quoted_list(ids(), 12)));
                ScaffoldError::new(format!("there is no model `{}`: {help}", visible(id)))
            })?;
            if model.needs_image {
                return Err(ScaffoldError::new(format!(
                    "`{id}` needs an image, and a new workflow has none; choose another model"
                )));
            }
            return Ok(model);
        }
        let mut of_family = contract
            .models()
            .iter()
            .filter(|model| model.family.to_string().eq_ignore_ascii_case(&self.family));
        of_family.find(|model| !model.needs_image).cloned().ok_or_else(|| {
            let families: Vec<String> = contract.families().map(|family| format!("`{family}`")).collect();
            let family = visible(&self.family);
            ScaffoldError::new(format!(
                "family {family} has no model that renders video from text alone; the families are {}",
                families.join(", ")
            ))
        })
    }

    /// The fields for the aspect ratio and, where the request chooses it, the lowest resolution.
    pub(crate) fn shape(&self, contract: &Contract) -> Result<VideoFields, ScaffoldError> {
        let model = self.model(contract)?;
        let mut fields = Vec::new();
        if let contract::ResolutionSource::Request { field, values } = &model.resolution {
            fields.extend(values.first().map(|min| (field.clone(), min.clone())));
        }
        if let Some(ratio) = contract.field(&model.family, RATIO) {
            // Only what is a ratio: the other values follow an image that there need not be.
            let ratios: Vec<&str> =
                ratio.values.iter().filter_map(Value::as_str).filter(|value| value.contains(':')).collect();
            if !ratios.contains(&self.aspect.as_str()) {
                let aspect = visible(&self.aspect);
                return Err(ScaffoldError::new(format!(
                    "`{}` does not support {aspect}; it supports {}",
                    model.id,
                    quoted_list(ratios, 12)
                )));
            }
            fields.push((RATIO.to_owned(), self.aspect.clone()));
        } else if contract.field(&model.family, SIZE).is_some() {
            fields.push((SIZE.to_owned(), self.size()?));
        }
        Ok(VideoFields(fields))
    }

    /// The aspect ratio as a size in even pixels.
    fn size(&self) -> Result<String, ScaffoldError> {
        let sides = self.aspect.split_once(':').and_then(|(width, height)| {
            let side = |text: &str| text.parse::<u64>().ok().filter(|side| (1..=100).contains(side));
            Some((side(width)?, side(height)?))
        });
        let Some((width, height)) = sides else {
            let aspect = visible(&self.aspect);
            return Err(ScaffoldError::new(format!(
                "`{aspect}` is not an aspect ratio; write one such as 16:9 or 9:16"
            )));
        };
        let long = |long: u64, short: u64| (SHORT_SIDE * long).div_ceil(short).next_multiple_of(2);
        Ok(if width >= height {
            format!("{}x{SHORT_SIDE}", long(width, height))
        } else {
            format!("{SHORT_SIDE}x{}", long(height, width))
        })
    }
}
