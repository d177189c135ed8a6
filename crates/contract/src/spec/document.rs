//! Navigation of the document with JSON pointers for errors, and the checks of its general structure.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Pointer, SpecError, pointer};

/// References are followed this far; a longer chain is taken for a cycle.
const MAX_HOPS: usize = 32;

/// A value in the document with its JSON pointer.
#[derive(Debug, Clone)]
pub(crate) struct Node<'a> {
    pub(crate) value: &'a Value,
    pub(crate) pointer: String,
}

impl<'a> Node<'a> {
    pub(crate) fn root(document: &'a Value) -> Self {
        Self { value: document, pointer: String::new() }
    }

    fn child(&self, key: &str, value: &'a Value) -> Self {
        Self { value, pointer: format!("{}/{}", self.pointer, escape(key)) }
    }

    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        self.value.get(key).map(|value| self.child(key, value))
    }

    pub(crate) fn need(&self, key: &str) -> Result<Self, SpecError> {
        self.get(key).ok_or_else(|| self.fail(format!("`{key}` is missing"), format!("add `{key}`")))
    }

    pub(crate) fn fail(&self, problem: impl Into<String>, help: impl Into<String>) -> SpecError {
        SpecError::new(self.pointer.clone(), problem, help)
    }

    pub(crate) fn text(&self) -> Result<&'a str, SpecError> {
        self.value.as_str().ok_or_else(|| {
            self.fail("this is not a string", "write a string, quoted if it looks like a number")
        })
    }

    pub(crate) fn object(&self) -> Result<&'a Map<String, Value>, SpecError> {
        self.value.as_object().ok_or_else(|| self.fail("this is not a mapping", "write keys and values"))
    }

    pub(crate) fn items(&self) -> Result<Vec<Self>, SpecError> {
        let list = self.value.as_array().ok_or_else(|| self.fail("this is not a list", "write a list"))?;
        Ok(list.iter().enumerate().map(|(index, value)| self.child(&index.to_string(), value)).collect())
    }

    pub(crate) fn entries(&self) -> Result<Vec<(&'a str, Self)>, SpecError> {
        Ok(self.object()?.iter().map(|(key, value)| (key.as_str(), self.child(key, value))).collect())
    }

    pub(crate) fn texts(&self) -> Result<Vec<String>, SpecError> {
        self.items()?.iter().map(|item| item.text().map(str::to_owned)).collect()
    }
}

/// A key as a part of a JSON pointer (RFC 6901).
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Follows `$ref`, and an `allOf` of a single schema, to the schema that is meant.
pub(crate) fn resolve<'a>(root: &Node<'a>, node: &Node<'a>) -> Result<Node<'a>, SpecError> {
    let mut resolved = node.clone();
    for _ in 0..MAX_HOPS {
        if let Some(reference) = resolved.get("$ref") {
            resolved = target(root, &reference)?;
        } else if let Some(only) = sole_part(&resolved) {
            resolved = only;
        } else {
            return Ok(resolved);
        }
    }
    Err(node.fail("the reference is part of a cycle", "point it at a schema that is written out"))
}

fn sole_part<'a>(node: &Node<'a>) -> Option<Node<'a>> {
    match node.get("allOf")?.items().ok()?.as_slice() {
        [only] if node.get("properties").is_none() => Some(only.clone()),
        _ => None,
    }
}

fn target<'a>(root: &Node<'a>, reference: &Node<'a>) -> Result<Node<'a>, SpecError> {
    let text = reference.text()?;
    let help = "refer to something in this document, such as `#/components/schemas/Task`";
    let Some(pointer) = text.strip_prefix('#') else {
        return Err(reference.fail(format!("`{text}` points outside the document"), help));
    };
    match root.value.pointer(pointer) {
        Some(value) => Ok(Node { value, pointer: pointer.to_owned() }),
        None => Err(reference.fail(format!("`{text}` leads to nothing"), help)),
    }
}

/// A part of the document as a type. An error has the pointer of the key concerned.
pub(crate) fn read_as<T: DeserializeOwned>(node: &Node<'_>) -> Result<T, SpecError> {
    serde_path_to_error::deserialize(node.value).map_err(|error| {
        use serde_path_to_error::Segment;
        let mut pointer = node.pointer.clone();
        for segment in error.path() {
            match segment {
                Segment::Seq { index } => pointer.extend(["/", &index.to_string()]),
                Segment::Map { key } => pointer.extend(["/", &escape(key)]),
                Segment::Enum { .. } | Segment::Unknown => {}
            }
        }
        SpecError::new(
            pointer,
            error.inner().to_string(),
            "openapi.yaml explains the extensions at its beginning",
        )
    })
}

/// The schema of a place in an object of a schema; `None` where the schema has no such place.
pub(crate) fn schema_at<'a>(
    root: &Node<'a>,
    schema: &Node<'a>,
    place: &Pointer,
) -> Result<Option<Node<'a>>, SpecError> {
    let mut schema = resolve(root, schema)?;
    for token in place.tokens() {
        let below = match schema.get("items") {
            Some(items) if pointer::is_index(&token) => Some(items),
            _ => schema.get("properties").and_then(|properties| properties.get(&token)),
        };
        let Some(below) = below else { return Ok(None) };
        schema = resolve(root, &below)?;
    }
    Ok(Some(schema))
}

/// The components of an operation's body, of its answer with success, and of its other answers, as far as the document names them.
pub(crate) fn body_components(
    root: &Node<'_>,
    path: &str,
    method: &str,
) -> Result<[Option<String>; 3], SpecError> {
    let operation = root.need("paths")?.need(path)?.need(method)?;
    let component = |body: Option<Node<'_>>| -> Result<Option<String>, SpecError> {
        let Some(body) = body else { return Ok(None) };
        let body = resolve(root, &body)?;
        let schema = body.get("content").and_then(|content| content.get("application/json")?.get("schema"));
        let reference = schema.and_then(|schema| schema.value.get("$ref")?.as_str());
        Ok(reference.and_then(|reference| reference.strip_prefix("#/components/schemas/")).map(str::to_owned))
    };
    let responses = operation.get("responses");
    let response = |status: &str| responses.as_ref().and_then(|responses| responses.get(status));
    let accepted = ["200", "201", "202"].into_iter().find_map(response);
    Ok([component(operation.get("requestBody"))?, component(accepted)?, component(response("default"))?])
}

/// The checks that any document has to pass; gives its version.
pub(crate) fn check(root: &Node<'_>) -> Result<String, SpecError> {
    let dialect = root.need("openapi")?;
    if !dialect.text()?.starts_with("3.0.") {
        return Err(dialect.fail(
            format!("this is OpenAPI {}, and only 3.0 is read", dialect.text()?),
            "write `openapi: 3.0.3`, and `nullable: true` where 3.1 lists the type null",
        ));
    }
    let version = root.need("info")?.need("version")?.text()?.to_owned();
    root.need("paths")?.object()?;
    check_below(root, root)?;
    Ok(version)
}

fn check_below<'a>(root: &Node<'a>, node: &Node<'a>) -> Result<(), SpecError> {
    match node.value {
        Value::Object(_) => {
            if let Some(reference) = node.get("$ref").filter(|reference| reference.value.is_string()) {
                target(root, &reference)?;
            }
            for (key, child) in node.entries()? {
                // Rules hold JSON Schemas of their own, in another dialect; examples and items hold anything.
                if !matches!(key, "x-rules" | "x-inputs" | "x-tasks" | "example" | "default") {
                    check_below(root, &child)?;
                }
            }
            Ok(())
        }
        Value::Array(_) => node.items()?.iter().try_for_each(|item| check_below(root, item)),
        _ => Ok(()),
    }
}
