//! The document of a draft: materials, and tracks of segments that refer to them.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// What the programs write besides what is said here, as public tools know it: by the kind of object, and for each program the version of its
/// drafts.
const DEFAULTS: &str = include_str!("defaults.json");

/// Begin and length in microseconds.
pub(super) type Micros = (u64, u64);

/// Materials and tracks as they are added. Every object has an id that is the hash of its content and its place.
pub(super) struct Document {
    defaults: Value,
    content: Value,
    tracks: Vec<Value>,
    /// The media of the draft, as its library lists them.
    library: Vec<Value>,
    ids: u64,
}

impl Document {
    pub(super) fn new() -> Self {
        let mut defaults: Value = serde_json::from_str(DEFAULTS).unwrap_or_default();
        let content = defaults["content"].take();
        Self { defaults, content, tracks: Vec::new(), library: Vec::new(), ids: 0 }
    }

    /// An object of this kind: its defaults, then these fields.
    pub(super) fn object(&self, kind: &str, fields: Value) -> Value {
        let mut object: Map<String, Value> =
            self.defaults.get(kind).and_then(Value::as_object).cloned().unwrap_or_default();
        if let Value::Object(fields) = fields {
            object.extend(fields);
        }
        object.into()
    }

    fn add_id(&mut self, mut object: Value) -> (String, Value) {
        self.ids += 1;
        let id = id(&format!("{} {object}", self.ids));
        object["id"] = id.as_str().into();
        (id, object)
    }

    /// Adds a material to a list; returns its id.
    pub(super) fn material(&mut self, list: &str, fields: Value) -> String {
        let (id, material) = self.add_id(self.object(list, fields));
        if let Some(materials) = self.content["materials"][list].as_array_mut() {
            materials.push(material);
        }
        id
    }

    /// Adds a media file to a list and to the library, once; returns its id. `kind` is that of the library.
    pub(super) fn media(
        &mut self,
        list: &str,
        kind: &str,
        name: &str,
        path: &str,
        mut fields: Value,
    ) -> String {
        let mut known = self.content["materials"][list].as_array().into_iter().flatten();
        if let Some(id) = known.find(|known| known["path"] == path).and_then(|known| known["id"].as_str()) {
            return id.to_owned();
        }
        let (duration, width, height) = (&fields["duration"], &fields["width"], &fields["height"]);
        let entry = json!({
            "extra_info": name, "file_Path": path, "metetype": kind, "duration": duration, "width": width,
            "height": height, "roughcut_time_range": {"start": 0, "duration": duration},
        });
        let (entry_id, entry) = self.add_id(self.object("imported", entry));
        self.library.push(entry);
        fields["path"] = path.into();
        fields["local_material_id"] = entry_id.into();
        self.material(list, fields)
    }

    /// A segment that shows a material for a time.
    pub(super) fn segment(&mut self, material: String, target: Micros, fields: Value) -> Value {
        let mut segment = self.object("segment", fields);
        segment["material_id"] = material.into();
        segment["target_timerange"] = range(target);
        self.add_id(segment).1
    }

    /// Adds a track, above those that there are. One without segments is left out.
    pub(super) fn track(&mut self, kind: &str, name: &str, segments: &[Value]) {
        let track = json!({
            "attribute": 0, "flag": 0, "is_default_name": false, "name": name, "segments": segments, "type": kind,
        });
        let track = self.add_id(track).1;
        self.tracks.extend((!segments.is_empty()).then_some(track));
    }

    /// The content of the draft and what is known about it. `fields` are those of the content; `program` is the key of its defaults.
    pub(super) fn finish(self, program: &str, fields: Value) -> (Value, Value) {
        let (mut meta, fields) = (self.object("meta", json!({})), self.object(program, fields));
        let mut content = self.content;
        if let (Value::Object(content), Value::Object(fields)) = (&mut content, fields) {
            content.extend(fields);
        }
        content["tracks"] = self.tracks.into();
        content["id"] = id(&content.to_string()).into();
        meta["draft_id"] = content["id"].clone();
        meta["draft_name"] = content["name"].clone();
        meta["tm_duration"] = content["duration"].clone();
        meta["draft_materials"][0]["value"] = self.library.into();
        (content, meta)
    }
}

pub(super) fn range((start, duration): Micros) -> Value {
    json!({"start": start, "duration": duration})
}

/// The first half of the SHA-256 of a text in the form of a UUID.
fn id(text: &str) -> String {
    let digest = Sha256::digest(text.as_bytes());
    let number = digest.iter().take(16).fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
    let part = |shift: u32, bits: u32| number >> shift & ((1 << bits) - 1);
    let [a, b, c, d, e] = [part(96, 32), part(80, 16), part(64, 16), part(48, 16), part(0, 48)];
    format!("{a:08X}-{b:04X}-{c:04X}-{d:04X}-{e:012X}")
}
