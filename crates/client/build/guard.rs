//! Checks that each property of each component is a field of its generated struct.
//!
//! The generator silently drops what it does not understand; a request could not carry a dropped field.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use syn::{Attribute, Fields, File, Item, LitStr};

/// Checks a generated client against the document; the error names the dropped property.
pub(crate) fn check(document: &Value, generated: &File) -> Result<(), String> {
    let structs = structs_of_types(generated);
    let components = document.pointer("/components/schemas").and_then(Value::as_object);
    for (component, schema) in components.into_iter().flatten() {
        let pointer = format!("/components/schemas/{component}");
        let Some(properties) = schema.get("properties").and_then(Value::as_object) else { continue };
        let fields = structs.get(component).ok_or_else(|| {
            format!("openapi.yaml, at {pointer}: the generator makes no struct of this object; keep its name in CamelCase")
        })?;
        for name in properties.keys() {
            if !fields.contains(name) {
                return Err(format!(
                    "openapi.yaml, at {pointer}/properties/{name}: the generator drops this property; take what stands \
                     beside `properties` out of the codegen view (crates/contract/src/view/codegen.rs)"
                ));
            }
        }
    }
    match contract::inline_objects(document).first() {
        None => Ok(()),
        Some((component, name)) => Err(format!(
            "openapi.yaml, at /components/schemas/{component}/properties/{name}: this is an inline object; make it a \
             component and refer to it"
        )),
    }
}

/// The structs of the module `types` by name, each with the names that its fields have on the wire.
fn structs_of_types(file: &File) -> BTreeMap<String, BTreeSet<String>> {
    let types = file.items.iter().find_map(|item| match item {
        Item::Mod(module) if module.ident == "types" => module.content.as_ref(),
        _ => None,
    });
    let mut structs = BTreeMap::new();
    for item in types.into_iter().flat_map(|(_, items)| items) {
        let Item::Struct(type_struct) = item else { continue };
        let Fields::Named(fields) = &type_struct.fields else { continue };
        let names = fields.named.iter().filter_map(|field| {
            let own = field.ident.as_ref().map(|ident| ident.to_string().trim_start_matches("r#").to_owned());
            renamed(&field.attrs).or(own)
        });
        structs.insert(type_struct.ident.to_string(), names.collect());
    }
    structs
}

/// The name in `#[serde(rename = "…")]`.
fn renamed(attributes: &[Attribute]) -> Option<String> {
    let mut name = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        // Other serde attributes do not rename and are skipped.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                name = Some(meta.value()?.parse::<LitStr>()?.value());
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<syn::Expr>()?;
            }
            Ok(())
        });
    }
    name
}
