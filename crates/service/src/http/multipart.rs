//! `multipart/form-data` bodies of `POST /v1/videos`, as OpenAI-style clients send them: an extension of the spec, documented in
//! docs/service.md. A form becomes the JSON request that it stands for; what follows is the same for both.

use std::convert::Infallible;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use bytes::Bytes;
use contract::{Contract, Field, FieldKind};
use futures_util::stream;
use multer::Multipart;
use serde_json::{Map, Number, Value};

use crate::api_error::ApiError;

/// Brackets in the name of a part, as in `metadata[content][][type]`.
const MAX_BRACKETS: usize = 8;

/// The names under which clients send the image that a video starts from.
const IMAGE_NAMES: [&str; 2] = ["image", "input_reference"];

/// A part of a form: its name, and its text or its file as a data URI.
type Part = (String, String);

/// The JSON request that a form stands for. `content_type` is the request's header, which has the boundary.
///
/// Text parts become values of the type that the contract has for the field, files become data URIs. `image` and `input_reference` are the
/// first frame in both families; several of them are reference images.
pub(super) async fn parse(body: Bytes, content_type: &str) -> Result<Value, ApiError> {
    let parts = read(body, content_type)
        .await
        .map_err(|error| malformed(&format!("the form cannot be read: {error}"), None))?;
    into_request(parts)
}

async fn read(body: Bytes, content_type: &str) -> Result<Vec<Part>, multer::Error> {
    let boundary = multer::parse_boundary(content_type)?;
    let mut form = Multipart::new(stream::iter([Ok::<_, Infallible>(body)]), boundary);
    let mut parts = Vec::new();
    while let Some(field) = form.next_field().await? {
        let name = field.name().unwrap_or_default().to_owned();
        let value = if field.file_name().is_some() {
            let media = field.content_type().map_or("application/octet-stream", |media| media.essence_str());
            let prefix = format!("data:{media};base64,");
            prefix + &STANDARD.encode(field.bytes().await?)
        } else {
            field.text().await?
        };
        parts.push((name, value));
    }
    Ok(parts)
}

fn into_request(parts: Vec<Part>) -> Result<Value, ApiError> {
    let contract = Contract::embedded();
    let model = parts.iter().find(|(name, _)| name == "model").and_then(|(_, id)| contract.model(id));
    let fields = model.map_or(&[][..], |model| contract.fields(&model.family));
    let mut request = Value::Object(Map::new());
    let mut images = Vec::new();
    for (name, value) in parts {
        let path = split_name(&name)?;
        if let Some(image) = IMAGE_NAMES.into_iter().find(|image| *image == path[0]) {
            images.push((image, value));
        } else {
            let value = typed(value, fields, &path)
                .map_err(|error| malformed(&format!("`{name}` is not JSON: {error}"), Some(&name)))?;
            insert(&mut request, &path, value).map_err(|Collision| contradictory(&name))?;
        }
    }
    let is_first_frame = images.len() == 1;
    for (name, image) in images {
        let path = if !is_first_frame {
            &["ref_images", ""][..]
        } else if fields.iter().any(|field| field.name == name) {
            &[name]
        } else {
            &["image"]
        };
        insert(&mut request, path, image.into()).map_err(|Collision| contradictory(name))?;
    }
    Ok(request)
}

/// `metadata[content][][type]` as `metadata`, `content`, an empty segment and `type`. Never empty.
fn split_name(name: &str) -> Result<Vec<&str>, ApiError> {
    let Some((base, inner)) = name.strip_suffix(']').and_then(|rest| rest.split_once('[')) else {
        return Ok(vec![name]);
    };
    let path: Vec<&str> = std::iter::once(base).chain(inner.split("][")).collect();
    if path.len() > MAX_BRACKETS {
        let message = format!("the name of a part has more than {} brackets", MAX_BRACKETS - 1);
        return Err(malformed(&message, Some(base)));
    }
    Ok(path)
}

/// Whether a segment of a name is that of an array's item: empty, or its index.
fn is_item(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_digit())
}

/// Text as the type that the contract has at this path: numbers, booleans, and objects and arrays in JSON. What does not
/// fit stays text, which the contract then refuses by its name.
fn typed(text: String, fields: &[Field], path: &[&str]) -> Result<Value, serde_json::Error> {
    let mut names = path.iter().enumerate().filter(|(index, segment)| *index == 0 || !is_item(segment));
    let mut field = names.next().and_then(|(_, name)| find(fields, name));
    for (_, name) in names {
        let component = field.and_then(|field| field.component);
        let members = component.and_then(|name| Contract::embedded().component_fields(&name).ok());
        field = members.and_then(|members| find(&members, name));
    }
    let is_in_array = path.len() > 1 && path.last().is_some_and(|segment| is_item(segment));
    let kind = field.map_or(FieldKind::String, |field| field.kind);
    let trimmed = text.trim();
    let value = match kind {
        FieldKind::Integer | FieldKind::Number => trimmed.parse::<Number>().ok().map(Value::Number),
        FieldKind::Boolean => trimmed.parse::<bool>().ok().map(Value::Bool),
        FieldKind::Array | FieldKind::Object if !is_in_array => Some(serde_json::from_str(trimmed)?),
        FieldKind::String | FieldKind::Array | FieldKind::Object => None,
    };
    Ok(value.unwrap_or(Value::String(text)))
}

fn find(fields: &[Field], name: &str) -> Option<Field> {
    fields.iter().find(|field| field.name == name).cloned()
}

/// Two parts with the same name.
struct Collision;

/// Puts a value where the segments of a name say. An empty segment is a new item, or continues the last one where that
/// lacks the member.
fn insert(target: &mut Value, path: &[&str], value: Value) -> Result<(), Collision> {
    let Some((key, rest)) = path.split_first() else {
        return if target.is_null() {
            *target = value;
            Ok(())
        } else {
            Err(Collision)
        };
    };
    if is_item(key) && !target.is_object() {
        if target.is_null() {
            *target = Value::Array(Vec::new());
        }
        let items = target.as_array_mut().ok_or(Collision)?;
        let continues = !rest.is_empty() && items.last().is_some_and(|last| accepts(last, rest));
        let index = key.parse().unwrap_or(items.len() - usize::from(continues));
        if index == items.len() {
            items.push(Value::Null);
        }
        return insert(items.get_mut(index).ok_or(Collision)?, rest, value);
    }
    if target.is_null() {
        *target = Value::Object(Map::new());
    }
    let members = target.as_object_mut().ok_or(Collision)?;
    insert(members.entry(*key).or_insert(Value::Null), rest, value)
}

/// Whether [`insert`] at this path meets no value.
fn accepts(target: &Value, path: &[&str]) -> bool {
    match (target, path.split_first()) {
        (Value::Null, _) => true,
        (Value::Object(members), Some((key, rest))) => {
            members.get(*key).is_none_or(|member| accepts(member, rest))
        }
        (Value::Array(_), Some((key, _))) => key.is_empty(),
        _ => false,
    }
}

fn malformed(message: &str, param: Option<&str>) -> ApiError {
    ApiError { param: param.map(str::to_owned), ..ApiError::invalid("invalid_form", message) }
}

fn contradictory(name: &str) -> ApiError {
    malformed(&format!("the form has `{name}` twice, or beside a part that it contradicts"), Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const TYPE: &str = "multipart/form-data; boundary=b";

    fn body(parts: &[(&str, &str)]) -> Vec<u8> {
        let mut body = Vec::new();
        for (name, value) in parts {
            let file = if value.starts_with('\u{1}') { "; filename=\"a.png\"" } else { "" };
            body.extend(
                format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{value}\r\n")
                    .bytes(),
            );
        }
        body.extend(b"--b--\r\n");
        body
    }

    async fn request(parts: &[(&str, &str)]) -> Result<Value, String> {
        let parsed = parse(body(parts).into(), TYPE).await;
        parsed.map_err(|error| format!("{} {}", error.code, error.param.as_deref().unwrap_or("-")))
    }

    const A: (&str, &str) = ("model", "modela-video-2-0-260128");
    const B: (&str, &str) = ("model", "modelb-video-480p");

    #[tokio::test]
    async fn text_becomes_the_type_of_its_field() {
        let parts = [
            A,
            ("prompt", " sea "),
            ("seconds", "5"),
            ("seed", "-7"),
            ("generate_audio", "true"),
            ("watermark", "yes"),
            ("extra", "12"),
            ("metadata[duration]", "6"),
            ("metadata[mood]", "calm"),
            ("metadata[content][][type]", "image_url"),
            ("metadata[content][][image_url][url]", "https://example.com/a"),
            ("metadata[content][][type]", "audio_url"),
            ("metadata[content][][audio_url][url]", "https://example.com/b"),
        ];
        assert_eq!(
            request(&parts).await.unwrap(),
            json!({
                "model": A.1, "prompt": " sea ", "seconds": "5", "seed": -7, "generate_audio": true, "watermark": "yes", "extra": "12",
                "metadata": {"mood": "calm", "duration": 6, "content": [
                    {"type": "image_url", "image_url": {"url": "https://example.com/a"}},
                    {"type": "audio_url", "audio_url": {"url": "https://example.com/b"}},
                ]},
            })
        );
        let content = json!({"model": A.1, "metadata": {"content": [{"type": "image_url"}]}});
        for part in [
            ("metadata", r#"{"content": [{"type": "image_url"}]}"#),
            ("metadata[content][0][type]", "image_url"),
        ] {
            assert_eq!(request(&[A, part]).await.unwrap(), content);
        }
        let indexed = [A, ("ref_images[0]", "u"), ("ref_images[1]", "v")];
        assert_eq!(request(&indexed).await.unwrap(), json!({"model": A.1, "ref_images": ["u", "v"]}));
    }

    #[tokio::test]
    async fn images_are_first_frames_or_references_in_both_families() {
        let file = "\u{1}png";
        let uri = "data:application/octet-stream;base64,AXBuZw==";
        for (model, name, field) in [
            (A, "image", "image"),
            (A, "input_reference", "image"),
            (A, "input_reference[]", "image"),
            (B, "input_reference", "input_reference"),
            (B, "input_reference[image_url]", "input_reference"),
            (B, "image[]", "image"),
        ] {
            let parsed = request(&[model, (name, file)]).await.unwrap();
            assert_eq!(parsed, json!({"model": model.1, field: uri}), "{name}");
        }
        for model in [A, B] {
            let parsed =
                request(&[model, ("input_reference[]", file), ("input_reference[]", "https://x")]).await;
            assert_eq!(parsed.unwrap(), json!({"model": model.1, "ref_images": [uri, "https://x"]}));
        }
    }

    #[tokio::test]
    async fn contradictory_and_malformed_forms_are_refused() {
        for (parts, param) in [
            ([("prompt", "a"), ("prompt", "b")], "prompt"),
            ([("metadata", r#"{"x": 1}"#), ("metadata[x]", "1")], "metadata[x]"),
            ([("prompt", "a"), ("ref_images[7]", "u")], "ref_images[7]"),
            ([("prompt", "a"), ("metadata", "{")], "metadata"),
            ([("prompt", "a"), ("a[b][c][d][e][f][g][h][i][j]", "f")], "a"),
        ] {
            let [first, second] = parts;
            let refused = request(&[A, first, second]).await.unwrap_err();
            assert_eq!(refused, format!("invalid_form {param}"));
        }
        for (bytes, content_type) in [
            (body(&[A]), "multipart/form-data"),
            (body(&[A]), "multipart/form-data; boundary=other"),
            (body(&[A])[..40].to_vec(), TYPE),
            (Vec::new(), TYPE),
        ] {
            let error = parse(bytes.into(), content_type).await.unwrap_err();
            assert_eq!(error.code, "invalid_form", "{}", error.message);
        }
    }
}
