//! Input forms (`x-inputs`): where a request of a family carries frames and references.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{Field, FieldKind, Node, SpecError};

/// The list that holds content items, as keys from the request's top level (spec 2.3).
const CONTENT: [&str; 2] = ["metadata", "content"];

/// Where a medium goes in a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InputForm {
    /// A field that holds one URL or data URI.
    Field(String),
    /// A field that holds a list of them.
    ListField(String),
    /// An item of `metadata.content`; the medium is the `url` of the member that is named as the item's type.
    ContentItem {
        /// The item's `type`, such as `image_url`.
        item_type: String,
        /// The item's `role`, such as `first_frame`.
        role: String,
        /// The field that takes the medium instead where it is the only one and is sent as data: `metadata.content` wants public URLs.
        #[serde(skip_serializing_if = "Option::is_none")]
        data_field: Option<String>,
    },
}

impl InputForm {
    /// Puts a medium into a request, creating the lists and objects around it, and returns its JSON pointer. Returns `None` and
    /// leaves the request unchanged when a value of another type is in the way, or a field for one medium has one already.
    pub fn insert_medium(&self, request: &mut Map<String, Value>, medium: Value) -> Option<String> {
        match self {
            Self::Field(name) => {
                if request.contains_key(name) {
                    return None;
                }
                request.insert(name.clone(), medium);
                Some(format!("/{name}"))
            }
            Self::ListField(name) => {
                let list = request.entry(name.clone()).or_insert_with(|| json!([])).as_array_mut()?;
                list.push(medium);
                Some(format!("/{name}/{}", list.len() - 1))
            }
            Self::ContentItem { item_type, role, .. } => {
                let [outer, inner] = CONTENT;
                let holder = request.entry(outer).or_insert_with(|| json!({})).as_object_mut()?;
                let list = holder.entry(inner).or_insert_with(|| json!([])).as_array_mut()?;
                let mut item = Map::new();
                item.insert("type".into(), item_type.clone().into());
                item.insert("role".into(), role.clone().into());
                item.insert(item_type.clone(), json!({ "url": medium }));
                list.push(Value::Object(item));
                Some(format!("/{outer}/{inner}/{}/{item_type}/url", list.len() - 1))
            }
        }
    }
}

/// What a model takes, and how. `None` where it takes nothing of the kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InputForms {
    /// The image that the video starts on.
    pub first_frame: Option<InputForm>,
    /// The image that the video ends on.
    pub last_frame: Option<InputForm>,
    /// An image that guides without being shown.
    pub reference_image: Option<InputForm>,
    /// A video that guides.
    pub reference_video: Option<InputForm>,
    /// A sound that guides.
    pub reference_audio: Option<InputForm>,
    /// The boolean field that asks for the last frame to be given back.
    pub returns_last_frame: Option<String>,
}

impl InputForms {
    fn slot(&mut self, name: &str) -> Option<&mut Option<InputForm>> {
        Some(match name {
            "first_frame" => &mut self.first_frame,
            "last_frame" => &mut self.last_frame,
            "reference_image" => &mut self.reference_image,
            "reference_video" => &mut self.reference_video,
            "reference_audio" => &mut self.reference_audio,
            _ => return None,
        })
    }
}

/// One line of `x-inputs`.
#[derive(Debug)]
pub(crate) struct Entry {
    slot: String,
    form: InputForm,
    /// Only models with this capability take it.
    capability: Option<String>,
}

pub(crate) fn read(schema: &Node<'_>, fields: &[Field]) -> Result<(Vec<Entry>, Option<String>), SpecError> {
    let Some(inputs) = schema.get("x-inputs") else { return Ok((Vec::new(), None)) };
    let mut entries = Vec::new();
    let mut returns_last_frame = None;
    for (slot, node) in inputs.entries()? {
        if slot == "returns_last_frame" {
            returns_last_frame = Some(named(&node, fields, FieldKind::Boolean)?);
            continue;
        }
        if InputForms::default().slot(slot).is_none() {
            return Err(node.fail(
                format!("`{slot}` is not a kind of input"),
                "use first_frame, last_frame, reference_image, reference_video, reference_audio or returns_last_frame",
            ));
        }
        let form = if let Some(name) = node.get("field") {
            InputForm::Field(named(&name, fields, FieldKind::String)?)
        } else if let Some(name) = node.get("list") {
            InputForm::ListField(named(&name, fields, FieldKind::Array)?)
        } else {
            let item_type = node.need("content_item")?.text()?.to_owned();
            let data_field =
                node.get("data_field").map(|name| named(&name, fields, FieldKind::String)).transpose()?;
            InputForm::ContentItem { item_type, role: node.need("role")?.text()?.to_owned(), data_field }
        };
        let capability = node.get("capability").map(|name| name.text().map(str::to_owned)).transpose()?;
        entries.push(Entry { slot: slot.to_owned(), form, capability });
    }
    Ok((entries, returns_last_frame))
}

fn named(node: &Node<'_>, fields: &[Field], kind: FieldKind) -> Result<String, SpecError> {
    let name = node.text()?;
    if fields.iter().any(|field| field.name == name && field.kind == kind) {
        return Ok(name.to_owned());
    }
    Err(node.fail(
        format!("`{name}` is not a property of this schema of the fitting type"),
        "name a property that is written under `properties`",
    ))
}

pub(crate) fn narrow(
    entries: &[Entry],
    returns_last_frame: Option<String>,
    capabilities: &[String],
) -> InputForms {
    let mut forms = InputForms { returns_last_frame, ..InputForms::default() };
    for entry in entries {
        let able = entry.capability.as_ref().is_none_or(|needed| capabilities.contains(needed));
        if let Some(slot) = forms.slot(&entry.slot).filter(|_| able) {
            *slot = Some(entry.form.clone());
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::InputForm;

    #[test]
    fn put_medium_returns_its_pointer() {
        let mut request = Map::new();
        let frame = InputForm::ContentItem {
            item_type: "image_url".into(),
            role: "first_frame".into(),
            data_field: Some("image".into()),
        };
        let references = InputForm::ListField("images".into());
        let image = InputForm::Field("image".into());
        let pointers: Vec<_> = [&frame, &frame, &references, &references, &image]
            .iter()
            .enumerate()
            .map(|(index, form)| {
                form.insert_medium(&mut request, json!(index)).expect("nothing is in the way")
            })
            .collect();
        let request = json!(request);
        for (index, pointer) in pointers.iter().enumerate() {
            assert_eq!(request.pointer(pointer), Some(&json!(index)), "{pointer}");
        }
    }

    #[test]
    fn put_medium_over_other_value_changes_nothing() {
        let mut request =
            Map::from_iter([("metadata".to_owned(), json!("x")), ("image".to_owned(), json!("y"))]);
        let before = request.clone();
        let frame = InputForm::ContentItem {
            item_type: "image_url".into(),
            role: "first_frame".into(),
            data_field: Some("image".into()),
        };
        assert_eq!(frame.insert_medium(&mut request, json!("z")), None);
        assert_eq!(InputForm::Field("image".into()).insert_medium(&mut request, json!("z")), None);
        assert_eq!(request, before);
    }
}
