//! Fields of an object: name, type, allowed values, default, description.

use serde::Serialize;
use serde_json::Value;

use super::{Node, Pointer, SpecError, read_as, resolve, schema_at};

/// The JSON type of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FieldKind {
    String,
    /// A whole number of 64 bits.
    Integer,
    Number,
    Boolean,
    Array,
    Object,
}

/// What a field of images takes beside URLs (`x-media`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaEncoding {
    /// A data URI (RFC 2397).
    DataUri,
    /// A data URI, or the Base64 alone.
    Base64,
}

/// One field of a request or a response.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a field")]
pub struct Field {
    /// The name on the wire.
    pub name: String,
    /// Where it is in the request, as a JSON pointer: at the top, unless the description has fields in an object of their own (`x-roots`).
    #[serde(skip)]
    pub at: Pointer,
    pub kind: FieldKind,
    /// The field is a string on the wire and nothing but digits, such as `seconds`: a number in a file is meant as such a string.
    pub is_digit_string: bool,
    /// The values that are allowed, in the document's order; empty when any is.
    pub values: Vec<Value>,
    /// The pattern (ECMA 262) that a string has to match.
    pub pattern: Option<String>,
    /// The least number allowed, itself included.
    pub minimum: Option<f64>,
    /// The greatest number allowed, itself included.
    pub maximum: Option<f64>,
    /// What the service assumes when the field is left out.
    pub default: Option<Value>,
    /// Whether a request without the field is refused.
    pub is_required: bool,
    /// Whether another field is to be preferred.
    pub is_deprecated: bool,
    /// Whether the value identifies a person (`x-private`), so that it is not stored beside the request.
    #[serde(skip)]
    pub is_private: bool,
    /// What the field means, in Markdown.
    pub description: String,
    /// The component that an object, or each item of a list, belongs to.
    pub component: Option<String>,
    /// Set if the field, or each item of it, is an image: a URL, or what this says.
    #[serde(skip)]
    pub media: Option<MediaEncoding>,
}

impl Field {
    /// A value in the spelling of this field: `5` as `"5"` or `"5s"`, `720p` as `720P`.
    pub fn spelled(&self, value: Value) -> Value {
        let Some(text) = scalar(&value).filter(|_| !self.values.contains(&value)) else { return value };
        let is_meant = |listed: &&Value| {
            let listed = scalar(listed).unwrap_or_default();
            listed.eq_ignore_ascii_case(&text) || listed.strip_suffix('s') == Some(text.as_str())
        };
        match self.values.iter().find(is_meant) {
            Some(listed) => listed.clone(),
            None if self.values.is_empty() && self.kind == FieldKind::String && value.is_number() => {
                text.into()
            }
            None => value,
        }
    }
}

/// A text or a number as text, without `.0`.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 1e15);
            Some(whole.map_or_else(|| number.to_string(), |whole| format!("{whole:.0}")))
        }
        _ => None,
    }
}

/// The fields of an object schema, in the document's order.
pub(crate) fn read(root: &Node<'_>, schema: &Node<'_>) -> Result<Vec<Field>, SpecError> {
    let required = schema.get("required").map(|names| names.texts()).transpose()?.unwrap_or_default();
    let properties = schema.need("properties")?;
    for name in &required {
        if properties.get(name).is_none() {
            return Err(schema.need("required")?.fail(
                format!("`{name}` is required, and is not a property"),
                "add it to `properties`, or drop it here",
            ));
        }
    }
    properties.entries()?.into_iter().map(|(name, node)| read_one(root, name, &node, &required)).collect()
}

/// The fields of a request: those at its top, and those of the objects that `x-roots` names.
pub(crate) fn read_request(root: &Node<'_>, schema: &Node<'_>) -> Result<Vec<Field>, SpecError> {
    let mut fields = read(root, schema)?;
    let Some(roots) = schema.get("x-roots") else { return Ok(fields) };
    for entry in roots.items()? {
        let at: Pointer = read_as(&entry)?;
        let Some(object) = schema_at(root, schema, &at)? else {
            return Err(
                entry.fail(format!("`{at}` leads to no place of this schema"), "name an object of it")
            );
        };
        for field in read(root, &object)? {
            if fields.iter().any(|known| known.name == field.name) {
                return Err(entry.fail(
                    format!("`{}` is a field of the request and of `{at}`", field.name),
                    "leave one of them out of the description",
                ));
            }
            fields.push(Field { at: at.below(&field.name), ..field });
        }
    }
    Ok(fields)
}

/// The value that is at a place of a request; `None` where its schema does not say what it is.
pub(crate) fn read_at(root: &Node<'_>, schema: &Node<'_>, at: &Pointer) -> Result<Option<Field>, SpecError> {
    let Some(node) = schema_at(root, schema, at)?.filter(|node| node.get("type").is_some()) else {
        return Ok(None);
    };
    let name = at.tokens().last().unwrap_or_default();
    Ok(Some(Field { at: at.clone(), ..read_one(root, &name, &node, &[])? }))
}

fn read_one(root: &Node<'_>, name: &str, node: &Node<'_>, required: &[String]) -> Result<Field, SpecError> {
    let schema = resolve(root, node)?;
    if let Some(list) = ["oneOf", "anyOf"].into_iter().find_map(|keyword| schema.get(keyword))
        && schema.get("type").is_none()
    {
        return Err(list.fail(
            "these are several types, and a field of a description has one",
            "write what requests send, such as `type: string`, in its place",
        ));
    }
    let kind = schema.need("type")?;
    let kind = match kind.text()? {
        "string" => FieldKind::String,
        "integer" => FieldKind::Integer,
        "number" => FieldKind::Number,
        "boolean" => FieldKind::Boolean,
        "array" => FieldKind::Array,
        "object" => FieldKind::Object,
        name => {
            return Err(kind.fail(
                format!("`{name}` is not a type of OpenAPI 3.0"),
                "use string, integer, number, boolean, array or object, and `nullable: true` for null",
            ));
        }
    };
    // Keywords at the property override those of the referenced schema.
    let either = |key: &str| node.get(key).or_else(|| schema.get(key)).map(|property| property.value);
    let pattern = either("pattern").and_then(Value::as_str).map(str::to_owned);
    let values = either("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let component = match kind {
        FieldKind::Array => schema.get("items").and_then(|items| component_of(items.value)),
        _ => component_of(node.value),
    };
    let digits =
        pattern.as_deref().filter(|pattern| kind == FieldKind::String && matches_digits_only(pattern));
    let media = node.get("x-media").map(|media| media_encoding(&media)).transpose()?;
    Ok(Field {
        name: name.to_owned(),
        at: Pointer::default().below(name),
        kind,
        is_digit_string: digits.is_some(),
        values,
        pattern,
        minimum: either("minimum").and_then(Value::as_f64),
        maximum: either("maximum").and_then(Value::as_f64),
        default: either("default").cloned(),
        is_required: required.iter().any(|field| field == name),
        is_deprecated: either("deprecated").and_then(Value::as_bool).unwrap_or(false),
        is_private: either("x-private").and_then(Value::as_bool).unwrap_or(false),
        description: either("description").and_then(Value::as_str).unwrap_or_default().trim().to_owned(),
        component,
        media,
    })
}

fn media_encoding(node: &Node<'_>) -> Result<MediaEncoding, SpecError> {
    match node.text()? {
        "data_uri" => Ok(MediaEncoding::DataUri),
        "base64" => Ok(MediaEncoding::Base64),
        encoding => {
            Err(node.fail(format!("`{encoding}` is not an encoding of media"), "use data_uri or base64"))
        }
    }
}

fn component_of(schema: &Value) -> Option<String> {
    let reference = schema.get("$ref").or_else(|| schema.pointer("/allOf/0/$ref"))?.as_str()?;
    reference.strip_prefix("#/components/schemas/").map(str::to_owned)
}

/// Whether a pattern is anchored at both ends and made of digits and the pattern language's own characters alone.
pub(crate) fn matches_digits_only(pattern: &str) -> bool {
    let inner = pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$'));
    inner.is_some_and(|inner| {
        inner.contains(|c: char| c.is_ascii_digit())
            && !inner.contains("[^")
            && inner.chars().all(|c| c.is_ascii_digit() || "[](){}|-?*+,:".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::matches_digits_only;

    #[test]
    fn matches_digits_only_detects_digit_patterns() {
        for yes in ["^([4-9]|1[0-5])$", "^[0-9]+$", "^(?:1|2){2,3}$"] {
            assert!(matches_digits_only(yes), "{yes}");
        }
        for no in ["^[0-9]+x[0-9]+$", "[0-9]+", "^[^0]$", "^.+$", "^[a-f0-9]$", "^$"] {
            assert!(!matches_digits_only(no), "{no}");
        }
    }
}
