//! Classes of tasks with similar durations.

use workflow::plan::{KeyPart, Node};
use workflow::units::VideoDuration;

/// A class that [`super::DurationStats`] knows, for comparison at the cost of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassIx(pub(super) u32);

/// Tasks that are expected to take about as long: same model, resolution and length.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Class {
    model: String,
    /// `resolution` or `size` of the request; empty if it has neither.
    size: String,
    duration: VideoDuration,
}

/// Request fields that determine the picture size, in order of precedence.
const SIZE_FIELDS: [&str; 3] = ["resolution", "metadata.resolution", "size"];

impl Class {
    /// The class of a node's tasks.
    #[must_use]
    pub fn new(node: &Node) -> Self {
        let field = |name: &&str| node.request.pointer(&format!("/{}", name.replace('.', "/")))?.as_str();
        Self::from_fields(&node.model, SIZE_FIELDS.iter().find_map(field), node.duration)
    }

    /// The class of a recorded task, from the parts of its key.
    #[must_use]
    pub fn from_key_parts(model: &str, duration: VideoDuration, parts: &[KeyPart]) -> Self {
        let part = |name: &&str| {
            let name = format!("request.{name}");
            parts.iter().find(|part| part.name == name)?.value.as_deref()
        };
        Self::from_fields(model, SIZE_FIELDS.iter().find_map(part), duration)
    }

    fn from_fields(model: &str, size: Option<&str>, duration: VideoDuration) -> Self {
        Self { model: model.to_owned(), size: size.unwrap_or_default().to_owned(), duration }
    }
}
