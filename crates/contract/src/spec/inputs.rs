//! Where the runner's words go in a request (`x-inputs`): prompt, length, frames, references.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{Node, Pointer, SpecError, escape, read_as, schema_at};

/// Stands for the value in an item.
const VALUE: &str = "{value}";
/// Stands for the media type of a medium, such as `image/png`.
const MEDIA_TYPE: &str = "{mime}";

/// The forms in which a field takes a medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MediaForm {
    /// A URL that the service fetches.
    Url,
    /// A data URI (RFC 2397).
    DataUri,
    /// Base64 without `data:…,`.
    Base64,
}

/// Where a word goes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct Placement {
    /// The place; with `-` at its end, one more item of a list.
    pub at: Pointer,
    /// What is put there, with the value inside of it; by itself where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<Value>,
    /// The forms of a medium that are taken.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepts: Vec<MediaForm>,
    /// How many of it there may be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<usize>,
    /// The field that takes the medium instead where it is the only one and is sent as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_field: Option<String>,
    /// Where the schema has the bounds of the value; where the value is, if this is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Pointer>,
    /// Other places where a request may say the same, such as a field that is deprecated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Pointer>,
}

/// A pointer, or with more.
impl<'de> Deserialize<'de> for Placement {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match value {
            Value::String(at) => Pointer::try_from(at).map(Self::from),
            // What `remote` derives.
            value => Self::deserialize(value).map_err(|error| error.to_string()),
        }
        .map_err(serde::de::Error::custom)
    }
}

impl Serialize for Placement {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl From<Pointer> for Placement {
    fn from(at: Pointer) -> Self {
        let (accepts, also) = (Vec::new(), Vec::new());
        Self { at, item: None, accepts, max: None, data_field: None, bounds: None, also }
    }
}

impl Placement {
    /// Whether a value is a field at the top of a request by itself.
    pub fn is_top(&self) -> bool {
        self.item.is_none() && self.at.is_top()
    }

    /// Puts a value into a request, creating the lists and objects around it, and returns its JSON pointer. Returns `None` and leaves the
    /// request unchanged when a value of another type is in the way, or there is one already.
    pub fn insert(&self, request: &mut Map<String, Value>, value: Value) -> Option<String> {
        self.insert_medium(request, value, &Value::Null)
    }

    /// The same of a medium of a type, such as `image/png`.
    pub fn insert_medium(
        &self,
        request: &mut Map<String, Value>,
        value: Value,
        media_type: &Value,
    ) -> Option<String> {
        match &self.item {
            None => self.at.insert(request, value),
            Some(item) => {
                let at = self.at.insert(request, filled(item, &value, media_type))?;
                Some(format!("{at}{}", self.value_in_item().unwrap_or_default()))
            }
        }
    }

    /// The pointer of the value within the item; empty where the value stands by itself, and `None` where the item has no place for it.
    pub fn value_in_item(&self) -> Option<String> {
        self.item.as_ref().map_or(Some(String::new()), |item| pointer_to(item, VALUE))
    }

    /// The pointer of the media type within the item, where there is one.
    pub fn media_type_in_item(&self) -> Option<String> {
        self.item.as_ref().and_then(|item| pointer_to(item, MEDIA_TYPE))
    }

    /// Whether a medium is sent as Base64 alone: its type stands elsewhere, or nowhere.
    pub fn is_bare(&self) -> bool {
        self.accepts == [MediaForm::Base64]
    }

    /// Whether an item of a request's list is one that this puts there: it has the same members, with any value in its place.
    pub fn is_made(&self, item: &Value) -> bool {
        self.item.as_ref().is_none_or(|form| is_formed(form, item))
    }

    /// The top-level field that it leads into.
    pub fn field(&self) -> &str {
        self.at.field()
    }

    /// Whether it appends to a list.
    pub fn is_list(&self) -> bool {
        self.at.as_str().ends_with("/-")
    }

    /// The list that it appends to, as a pointer.
    pub fn list(&self) -> Option<&str> {
        self.at.as_str().strip_suffix("/-")
    }

    /// The values that a request has there, each with its JSON pointer.
    pub fn said<'r>(&self, request: &'r Value) -> Vec<(String, &'r Value)> {
        let within = self.value_in_item().unwrap_or_default();
        let of_item = |at: String, item: &'r Value| {
            let value = self.is_made(item).then(|| item.pointer(&within))??;
            (!value.is_null()).then(|| (format!("{at}{within}"), value))
        };
        match self.list() {
            Some(list) => {
                let items = request.pointer(list).and_then(Value::as_array).into_iter().flatten();
                let items = items.enumerate();
                items.filter_map(|(index, item)| of_item(format!("{list}/{index}"), item)).collect()
            }
            None => self
                .places()
                .find_map(|at| of_item(at.as_str().to_owned(), at.get(request)?))
                .into_iter()
                .collect(),
        }
    }

    /// All places where a request may say it.
    pub fn places(&self) -> impl Iterator<Item = &Pointer> {
        std::iter::once(&self.at).chain(&self.also)
    }

    /// Whether a medium of this form is taken.
    pub fn takes(&self, form: MediaForm) -> bool {
        self.accepts.contains(&form)
    }
}

/// An item with the value and its media type in their places.
fn filled(item: &Value, value: &Value, media_type: &Value) -> Value {
    let fill = |item: &Value| filled(item, value, media_type);
    match item {
        Value::String(text) if text == VALUE => value.clone(),
        Value::String(text) if text == MEDIA_TYPE => media_type.clone(),
        Value::Array(items) => items.iter().map(fill).collect(),
        Value::Object(members) => members.iter().map(|(name, member)| (name.clone(), fill(member))).collect(),
        scalar => scalar.clone(),
    }
}

fn is_formed(form: &Value, value: &Value) -> bool {
    match (form, value) {
        (Value::String(text), value) if text == VALUE => value.is_string() || value.is_null(),
        (Value::String(text), value) if text == MEDIA_TYPE => value.is_string() || value.is_null(),
        (Value::Object(members), value) => {
            members.iter().all(|(name, member)| value.get(name).is_some_and(|value| is_formed(member, value)))
        }
        (form, value) => form == value,
    }
}

/// The pointer of a text within a value.
fn pointer_to(value: &Value, text: &str) -> Option<String> {
    let below = |token: String, value: &Value| pointer_to(value, text).map(|rest| format!("/{token}{rest}"));
    match value {
        Value::String(own) if own == text => Some(String::new()),
        Value::Array(items) => {
            items.iter().enumerate().find_map(|(index, item)| below(index.to_string(), item))
        }
        Value::Object(members) => members.iter().find_map(|(name, member)| below(escape(name), member)),
        _ => None,
    }
}

/// Where a model takes each word; without those of which it takes nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Inputs(BTreeMap<Word, Placement>);

macro_rules! words {
    ($($(#[$doc:meta])* $word:ident = $name:literal,)*) => {
        /// The runner's words for what goes into a request.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Word {
            $($(#[$doc])* $word,)*
        }

        impl Word {
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$word),*];

            /// The word as it is written.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$word => $name,)*
                }
            }
        }
    };
}

words! {
    Prompt = "prompt",
    /// What not to show.
    NegativePrompt = "negative_prompt",
    /// The length of the video.
    Seconds = "seconds",
    Resolution = "resolution",
    /// The aspect ratio.
    Ratio = "ratio",
    Seed = "seed",
    /// Whether there is sound.
    Audio = "audio",
    /// Asks for the last frame to be given back, which does not change the video.
    ReturnLastFrame = "return_last_frame",
    /// The image that the video starts on.
    FirstFrame = "first_frame",
    /// The image that the video ends on.
    LastFrame = "last_frame",
    /// An image that guides without being shown.
    ReferenceImage = "reference_image",
    /// A video that guides.
    ReferenceVideo = "reference_video",
    /// A sound that guides.
    ReferenceAudio = "reference_audio",
}

impl Word {
    /// Whether a person writes it as a key with a value: media have keys of their own, and the last frame is asked for where it is used.
    pub const fn is_key(self) -> bool {
        !self.is_medium() && !matches!(self, Self::ReturnLastFrame)
    }

    /// Whether it is a frame or a reference.
    pub const fn is_medium(self) -> bool {
        matches!(
            self,
            Self::FirstFrame
                | Self::LastFrame
                | Self::ReferenceImage
                | Self::ReferenceVideo
                | Self::ReferenceAudio
        )
    }
}

impl Inputs {
    /// Where a word goes.
    pub fn get(&self, word: Word) -> Option<&Placement> {
        self.0.get(&word)
    }

    /// The same without a word.
    pub(crate) fn without(mut self, word: Word) -> Self {
        self.0.remove(&word);
        self
    }
}

/// Reads the `x-inputs` of a request's schema, and checks that each pointer leads to a place of that.
pub(crate) fn read(root: &Node<'_>, schema: &Node<'_>) -> Result<Inputs, SpecError> {
    let Some(node) = schema.get("x-inputs") else { return Ok(Inputs::default()) };
    let inputs: Inputs = read_as(&node)?;
    let mut places: Vec<(&Pointer, Word)> = Vec::new();
    for word in Word::ALL {
        let Some(placement) = inputs.get(word) else { continue };
        let own = node.need(word.as_str())?;
        for pointer in placement.places().chain(&placement.bounds) {
            if schema_at(root, schema, pointer)?.is_none() {
                return Err(own.fail(
                    format!("`{pointer}` leads to no place of this schema"),
                    "write the JSON pointer of a property that is written under `properties`; `-` stands for an item of a list",
                ));
            }
        }
        if let Some(field) = &placement.data_field
            && schema.need("properties")?.get(field).is_none()
        {
            return Err(own.fail(format!("`{field}` is not a property of this schema"), "name a property"));
        }
        if placement.value_in_item().is_none() {
            return Err(own.need("item")?.fail(
                "the item has no place for the value",
                format!("write \"{VALUE}\" where it goes, and \"{MEDIA_TYPE}\" for its media type"),
            ));
        }
        if word.is_medium() && placement.accepts.is_empty() {
            return Err(own.fail(
                "it is not said in which forms the medium is taken",
                "add `accepts`, with url, data_uri and base64 as far as the service takes them",
            ));
        }
        if let Some((_, other)) = places.iter().find(|(at, _)| !placement.is_list() && **at == placement.at) {
            return Err(
                own.fail(format!("{other:?} goes to the same place"), "give each word a place of its own")
            );
        }
        places.push((&placement.at, word));
    }
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::Placement;

    fn placement(written: serde_json::Value) -> Placement {
        serde_json::from_value(written).expect("a placement")
    }

    #[test]
    fn inserted_value_is_where_its_pointer_leads() {
        let mut request = Map::new();
        let frame = placement(json!({
            "at": "/metadata/content/-", "accepts": ["url"],
            "item": { "type": "image_url", "role": "first_frame", "image_url": { "url": "{value}" } },
        }));
        let references = placement(json!({ "at": "/images/-", "accepts": ["url"] }));
        let image = placement(json!("/image"));
        let pointers: Vec<_> = [&frame, &frame, &references, &references, &image]
            .iter()
            .enumerate()
            .map(|(index, form)| form.insert(&mut request, json!(index)).expect("nothing is in the way"))
            .collect();
        let request = json!(request);
        for (index, pointer) in pointers.iter().enumerate() {
            assert_eq!(request.pointer(pointer), Some(&json!(index)), "{pointer}");
        }
        assert_eq!(pointers[1], "/metadata/content/1/image_url/url");
    }
}
