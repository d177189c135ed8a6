//! Navigation of the document with JSON pointers for errors, and the checks of its general structure.

use serde_json::{Map, Value};

use super::SpecError;

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
pub(crate) fn escape(key: &str) -> String {
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

/// The checks that any document has to pass; gives its version.
pub(crate) fn check(root: &Node<'_>) -> Result<String, SpecError> {
    let dialect = root.need("openapi")?;
    if !dialect.text()?.starts_with("3.0.") {
        return Err(dialect.fail(
            format!("this is OpenAPI {}, and the client's generator reads 3.0 only", dialect.text()?),
            "write `openapi: 3.0.3`, and `nullable: true` where 3.1 lists the type null",
        ));
    }
    let version = root.need("info")?.need("version")?.text()?.to_owned();
    root.need("paths")?.object()?;
    root.need("components")?.need("schemas")?.object()?;
    check_below(root, root)?;
    Ok(version)
}

fn check_below<'a>(root: &Node<'a>, node: &Node<'a>) -> Result<(), SpecError> {
    match node.value {
        Value::Object(_) => {
            if let Some(reference) = node.get("$ref").filter(|reference| reference.value.is_string()) {
                target(root, &reference)?;
            }
            if let Some(discriminator) = node.get("discriminator") {
                check_discriminator(root, node, &discriminator)?;
            }
            for (key, child) in node.entries()? {
                // Rules hold JSON Schemas of their own, in another dialect.
                if key != "x-rules" {
                    check_below(root, &child)?;
                }
            }
            Ok(())
        }
        Value::Array(_) => node.items()?.iter().try_for_each(|item| check_below(root, item)),
        _ => Ok(()),
    }
}

/// Each mapped value names an alternative, which lists the value; no alternative is left without one.
fn check_discriminator<'a>(
    root: &Node<'a>,
    node: &Node<'a>,
    discriminator: &Node<'a>,
) -> Result<(), SpecError> {
    let property = discriminator.need("propertyName")?.text()?;
    let mapping = discriminator.need("mapping")?;
    let alternatives = node.need("oneOf")?.items()?;
    let mut used = vec![false; alternatives.len()];
    for (value, reference) in mapping.entries()? {
        let schema = target(root, &reference)?;
        let index = alternatives
            .iter()
            .position(|alternative| {
                alternative.get("$ref").is_some_and(|mapped| mapped.value == reference.value)
            })
            .ok_or_else(|| {
                reference.fail(
                    format!("`{value}` is mapped to a schema that is not among the alternatives"),
                    "list the schema under `oneOf`, or map the value to one that is listed",
                )
            })?;
        used[index] = true;
        let tag = resolve(root, &schema.need("properties")?.need(property)?)?;
        let tags = tag.get("enum").map(|values| values.texts()).transpose()?;
        if tags.is_some_and(|tags| !tags.iter().any(|tag| tag == value)) {
            return Err(tag.fail(
                format!("`{value}` is mapped to this schema, whose `{property}` does not list it"),
                format!("add `{value}` to the enum here, or take it out of the discriminator"),
            ));
        }
    }
    match alternatives.iter().zip(used).find(|(_, used)| !used) {
        Some((alternative, _)) => Err(alternative.fail(
            format!("no value of `{property}` is mapped to this alternative"),
            "add a value to the discriminator's mapping, or remove the alternative",
        )),
        None => Ok(()),
    }
}
