//! `multipart/form-data` bodies of `POST /v1/videos`, as OpenAI-style clients send them: an extension of the spec, documented in
//! docs/service.md. A form becomes the JSON request that it stands for; what follows is the same for both.

use std::{
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use base64::{engine::general_purpose::STANDARD, write::EncoderStringWriter};
use bytes::Bytes;
use contract::{Contract, Field, FieldKind};
use futures_util::{Stream, stream};
use multer::Multipart;
use serde_json::{Map, Number, Value};

use super::json_body;
use crate::{api_error::ApiError, blocking::blocking};

/// Parts of one form.
const MAX_PARTS: usize = 256;
/// Bytes of the name of a part.
const MAX_NAME_BYTES: usize = 256;
/// Brackets in the name of a part, as in `metadata[content][][type]`.
const MAX_BRACKETS: usize = 8;
/// Characters of a boundary (RFC 2046).
const MAX_BOUNDARY_LEN: usize = 70;
/// The body is parsed in pieces of this size; between two of them other requests get their turn.
const CHUNK: usize = 64 * 1024;
/// Pieces that the headers of one part may extend over.
const MAX_HEADER_CHUNKS: usize = 2;

/// The names under which clients send the picture that a video starts from.
const PICTURE_NAMES: [&str; 2] = ["image", "input_reference"];

/// The JSON request that a form stands for. `content_type` is the request's header, which has the boundary.
///
/// Text parts become values of the type that the contract has for the field, files become data URIs. `image` and `input_reference` are the
/// first frame in both families; several of them are reference images.
pub(super) async fn parse(body: Bytes, content_type: &str) -> Result<Value, ApiError> {
    let parts = read(body, content_type).await?;
    blocking("the form could not be read", move || into_request(parts)).await
}

/// A part of a form.
struct Part {
    name: String,
    /// The text, or the file as a data URI.
    value: String,
}

async fn read(body: Bytes, content_type: &str) -> Result<Vec<Part>, ApiError> {
    let boundary = multer::parse_boundary(content_type).ok();
    let boundary = boundary.filter(|boundary| (1..=MAX_BOUNDARY_LEN).contains(&boundary.len()));
    let boundary = boundary.ok_or_else(|| {
        malformed(format!(
            "the header `Content-Type: multipart/form-data` has no `boundary` of 1 to {MAX_BOUNDARY_LEN} characters: leave the header to \
             the HTTP client, as in `curl -F model=… -F prompt=…`"
        ))
    })?;
    let allowance = Arc::new(AtomicUsize::new(0));
    let mut form = Multipart::new(chunks(body, Arc::clone(&allowance)), boundary);
    let mut parts = Vec::new();
    loop {
        allowance.store(MAX_HEADER_CHUNKS, Ordering::Relaxed);
        let Some(field) = form.next_field().await.map_err(|error| unreadable(&error))? else { break };
        allowance.store(usize::MAX, Ordering::Relaxed);
        if parts.len() == MAX_PARTS {
            return Err(malformed(format!("the form has more than {MAX_PARTS} parts")));
        }
        parts.extend(read_part(field).await?);
    }
    Ok(parts)
}

/// The body in pieces, at most as many as `allowance` says. A pause follows each, also the last: without it the parser would take all of them
/// at once, and does not look for the boundary in what arrives together with the end.
fn chunks(
    body: Bytes,
    allowance: Arc<AtomicUsize>,
) -> impl Stream<Item = Result<Bytes, HeadersTooLong>> + Send {
    stream::unfold((body, allowance, false), |(mut body, allowance, pauses)| async move {
        if pauses {
            tokio::task::yield_now().await;
        }
        if body.is_empty() {
            return None;
        }
        let left = allowance.load(Ordering::Relaxed);
        if left == 0 {
            return Some((Err(HeadersTooLong), (Bytes::new(), allowance, true)));
        }
        allowance.store(left - 1, Ordering::Relaxed);
        let chunk = body.split_to(CHUNK.min(body.len()));
        Some((Ok(chunk), (body, allowance, true)))
    })
}

#[derive(Debug, thiserror::Error)]
#[error("the headers of a part are too long")]
struct HeadersTooLong;

/// Reads one part; `None` for the empty file of a browser's form.
async fn read_part(mut field: multer::Field<'_>) -> Result<Option<Part>, ApiError> {
    let name = field.name().unwrap_or_default().to_owned();
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(malformed(format!("each part of the form needs a name of 1 to {MAX_NAME_BYTES} bytes")));
    }
    let Some(file) = field.file_name().map(str::to_owned) else {
        let mut text = Vec::new();
        while let Some(chunk) = field.chunk().await.map_err(|error| unreadable(&error))? {
            text.extend_from_slice(&chunk);
        }
        let value = String::from_utf8(text)
            .map_err(|_| malformed("a text part is not UTF-8".to_owned()).with_param(&name))?;
        return Ok(Some(Part { name, value }));
    };
    let media_type = field.content_type().map_or("application/octet-stream", |media| media.essence_str());
    let prefix = format!("data:{media_type};base64,");
    let empty = prefix.len();
    let mut writer = EncoderStringWriter::from_consumer(prefix, &STANDARD);
    while let Some(chunk) = field.chunk().await.map_err(|error| unreadable(&error))? {
        writer
            .write_all(&chunk)
            .map_err(|error| ApiError::internal("a file of the form could not be read", &error))?;
    }
    let value = writer.into_inner();
    Ok((value.len() > empty || !file.is_empty()).then_some(Part { name, value }))
}

fn into_request(parts: Vec<Part>) -> Result<Value, ApiError> {
    let contract = Contract::embedded();
    let model = parts.iter().find(|part| part.name == "model").and_then(|part| contract.model(&part.value));
    let fields = model.map_or(&[][..], |model| contract.fields(&model.family));
    let mut request = Map::new();
    let mut pictures: Vec<(&'static str, String)> = Vec::new();
    for Part { name, value } in parts {
        let (base, path) = split_name(&name)?;
        if let Some(picture) = picture_name(base, &path)? {
            pictures.push((picture, value));
            continue;
        }
        let field = fields.iter().find(|field| field.name == base);
        // An array may be sent as a part per item without brackets.
        let is_item = path.is_empty() && field.is_some_and(|field| field.kind == FieldKind::Array);
        let path = if is_item && !value.trim_start().starts_with('[') { vec![""] } else { path };
        let entry = request.entry(base).or_insert(Value::Null);
        insert(entry, &path, value.into()).map_err(|Collision| duplicate(&name))?;
    }
    for field in fields {
        if let Some(value) = request.remove(&field.name)
            && let Some(value) = typed(value, field, &field.name)?
        {
            request.insert(field.name.clone(), value);
        }
    }
    add_pictures(&mut request, pictures, fields)?;
    Ok(Value::Object(request))
}

/// `metadata[content][][type]` as `metadata` and its brackets, of which the second is empty. A name with other brackets is a name as it is.
fn split_name(name: &str) -> Result<(&str, Vec<&str>), ApiError> {
    let Some((base, rest)) = name.split_once('[').filter(|(base, _)| !base.is_empty()) else {
        return Ok((name, Vec::new()));
    };
    let Some(inner) = rest.strip_suffix(']') else { return Ok((name, Vec::new())) };
    let path: Vec<&str> = inner.split("][").collect();
    if path.len() > MAX_BRACKETS {
        let message = format!("the name of a part has more than {MAX_BRACKETS} brackets");
        return Err(malformed(message).with_param(base));
    }
    Ok((base, path))
}

/// The picture name that a part is for: `image`, `image[]`, `input_reference[image_url]`, and so on.
fn picture_name(base: &str, path: &[&str]) -> Result<Option<&'static str>, ApiError> {
    let Some(name) = PICTURE_NAMES.into_iter().find(|name| *name == base) else { return Ok(None) };
    match path {
        [] | ["" | "image_url" | "url"] => Ok(Some(name)),
        _ => Err(ApiError::invalid(
            "invalid_type",
            format!("`{name}` is a file, a URL or Base64; this service has no uploaded files to refer to"),
        )
        .with_param(name)),
    }
}

/// One picture is the first frame, several are reference images; both families have `ref_images`.
fn add_pictures(
    request: &mut Map<String, Value>,
    mut pictures: Vec<(&'static str, String)>,
    fields: &[Field],
) -> Result<(), ApiError> {
    if let Some((first, _)) = pictures.first()
        && pictures.iter().any(|(name, _)| name != first)
    {
        let message = "`input_reference` means the same as `image`: give one of them";
        return Err(ApiError::invalid("conflicting_parameters", message).with_param("input_reference"));
    }
    if pictures.len() > 1 {
        let list = request.entry("ref_images").or_insert(Value::Null);
        for (name, picture) in pictures {
            insert(list, &[""], picture.into()).map_err(|Collision| duplicate(name))?;
        }
    } else if let Some((name, picture)) = pictures.pop() {
        let is_known = fields.is_empty() || fields.iter().any(|field| field.name == name);
        request.insert(if is_known { name } else { "image" }.to_owned(), picture.into());
    }
    Ok(())
}

/// Two parts with the same name.
struct Collision;

/// Puts a value where the brackets of a name say. `[]` is a new item, or continues the last one where that lacks the member.
fn insert(target: &mut Value, path: &[&str], value: Value) -> Result<(), Collision> {
    let Some((key, rest)) = path.split_first() else {
        return if target.is_null() {
            *target = value;
            Ok(())
        } else {
            Err(Collision)
        };
    };
    let index = key.parse::<usize>().ok().filter(|_| !target.is_object());
    if key.is_empty() || index.is_some() {
        if target.is_null() {
            *target = Value::Array(Vec::new());
        }
        let items = target.as_array_mut().ok_or(Collision)?;
        let continues = !rest.is_empty() && items.last().is_some_and(|last| accepts(last, rest));
        let index = index.unwrap_or(items.len() - usize::from(continues));
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

/// Text as the type of its field: numbers, booleans, and objects and arrays in JSON. `None` for an empty text where the type has none. What
/// does not fit stays text, which the contract then refuses by its name.
fn typed(value: Value, field: &Field, param: &str) -> Result<Option<Value>, ApiError> {
    let text = match value {
        Value::String(text) => text,
        nested => return typed_members(nested, field, param).map(Some),
    };
    let trimmed = text.trim();
    if field.kind != FieldKind::String && trimmed.is_empty() {
        return Ok(None);
    }
    let value = match field.kind {
        FieldKind::Integer | FieldKind::Number => {
            serde_json::from_str::<Number>(trimmed).ok().map(Value::Number)
        }
        FieldKind::Boolean => trimmed.parse::<bool>().ok().map(Value::Bool),
        // Each text has bounds of its own, so only a few may be JSON.
        FieldKind::Array | FieldKind::Object if param.matches('.').count() <= 1 => {
            let parsed = json_body::parse_value(trimmed.as_bytes());
            Some(
                parsed
                    .map_err(|error| if error.param.is_some() { error } else { error.with_param(param) })?,
            )
        }
        FieldKind::String | FieldKind::Array | FieldKind::Object => None,
    };
    Ok(Some(value.unwrap_or(Value::String(text))))
}

/// The members of an object, or of the objects of an array, that brackets have built.
fn typed_members(mut value: Value, field: &Field, param: &str) -> Result<Value, ApiError> {
    let Some(component) = &field.component else { return Ok(value) };
    let fields = Contract::embedded().component_fields(component).unwrap_or_default();
    let objects = match &mut value {
        Value::Array(items) => items.iter_mut().collect(),
        object => vec![object],
    };
    for members in objects.into_iter().filter_map(Value::as_object_mut) {
        for field in &fields {
            let Some(member) = members.remove(&field.name) else { continue };
            if let Some(member) = typed(member, field, &format!("{param}.{}", field.name))? {
                members.insert(field.name.clone(), member);
            }
        }
    }
    Ok(value)
}

fn malformed(message: String) -> ApiError {
    ApiError::invalid("invalid_form", message)
}

fn unreadable(error: &multer::Error) -> ApiError {
    let message = match error {
        multer::Error::StreamReadFailed(cause) => cause.to_string(),
        error => error.to_string(),
    };
    malformed(format!("the form cannot be read: {message}"))
}

fn duplicate(name: &str) -> ApiError {
    ApiError::invalid(
        "duplicate_field",
        format!("the form has `{name}` twice, or beside a part that it contradicts"),
    )
    .with_param(name)
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
        parse(body(parts).into(), TYPE).await.map_err(|error| {
            format!("{} {}: {}", error.code, error.param.as_deref().unwrap_or("-"), error.message)
        })
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
            ("n", ""),
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
        let nested = [A, ("metadata", r#"{"content": [{"type": "image_url"}]}"#)];
        assert_eq!(
            request(&nested).await.unwrap(),
            json!({"model": A.1, "metadata": {"content": [{"type": "image_url"}]}})
        );
        let indexed = [A, ("ref_images[0]", "u"), ("ref_images[1]", "v")];
        assert_eq!(request(&indexed).await.unwrap(), json!({"model": A.1, "ref_images": ["u", "v"]}));
    }

    #[tokio::test]
    async fn pictures_are_first_frames_or_references_in_both_families() {
        let file = "\u{1}png";
        let uri = "data:application/octet-stream;base64,AXBuZw==";
        for (model, name, field) in [
            (A, "image", "image"),
            (A, "input_reference", "image"),
            (A, "input_reference[]", "image"),
            (B, "input_reference", "input_reference"),
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
        assert_eq!(
            request(&[B, ("images", file), ("images", "u")]).await.unwrap(),
            json!({"model": B.1, "images": [uri, "u"]})
        );
        assert_eq!(
            request(&[B, ("input_reference[image_url]", "u")]).await.unwrap(),
            json!({"model": B.1, "input_reference": "u"})
        );
    }

    #[tokio::test]
    async fn contradictory_and_malformed_forms_are_refused() {
        let code = async |parts: &[(&str, &str)]| {
            request(parts).await.unwrap_err().split_once(':').map(|(code, _)| code.to_owned()).unwrap()
        };
        assert_eq!(code(&[A, ("prompt", "a"), ("prompt", "b")]).await, "duplicate_field prompt");
        assert_eq!(code(&[A, ("metadata", "{}"), ("metadata[x]", "1")]).await, "duplicate_field metadata[x]");
        assert_eq!(code(&[A, ("ref_images[7]", "u")]).await, "duplicate_field ref_images[7]");
        assert_eq!(code(&[A, ("metadata", "{")]).await, "invalid_json metadata");
        assert_eq!(
            code(&[A, ("image", "u"), ("input_reference", "v")]).await,
            "conflicting_parameters input_reference"
        );
        assert_eq!(code(&[A, ("input_reference[file_id]", "f")]).await, "invalid_type input_reference");
        assert_eq!(code(&[A, ("a[b][c][d][e][f][g][h][i][j]", "f")]).await, "invalid_form a");
        assert_eq!(code(&[A, (&"n".repeat(257), "f")]).await, "invalid_form -");
        assert_eq!(code(&vec![("ref_images", "u"); 257]).await, "invalid_form -");
        let long = format!("x\"\r\nX-Padding: {}\r\nX: \"", "y".repeat(4 * CHUNK));
        assert_eq!(code(&[A, (&long, "f")]).await, "invalid_form -");
        for (bytes, content_type) in [
            (body(&[A]), "multipart/form-data"),
            (body(&[A]), "multipart/form-data; boundary=other"),
            (body(&[A])[..40].to_vec(), TYPE),
            (Vec::new(), TYPE),
            (b"--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n\xff\r\n--b--".to_vec(), TYPE),
        ] {
            let error = parse(bytes.into(), content_type).await.unwrap_err();
            assert_eq!(error.code, "invalid_form", "{}", error.message);
        }
    }
}
