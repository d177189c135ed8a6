//! The public API of the generated client as text, one line per item, for the review of a new contract.

use std::fmt::Write as _;

use quote::ToTokens;
use syn::{Attribute, Expr, Fields, FnArg, ImplItem, Item, LitStr, Pat, ReturnType, Signature, Visibility};

const HEADER: &str = "\
# The public API of the generated client: types with their fields, functions, re-exports. A name in quotation marks is
# the serialized name, where it differs. Written by `cargo xtask generate`; do not edit.
";

/// The public API of a generated source file.
pub(super) fn api_surface(source: &str) -> Result<String, String> {
    let file =
        syn::parse_file(source).map_err(|error| format!("the generated client cannot be parsed: {error}"))?;
    let mut out = HEADER.to_owned();
    items("", &file.items, &mut out);
    Ok(out)
}

fn items(module: &str, all: &[Item], out: &mut String) {
    for item in all {
        match item {
            Item::Use(item) if is_public(&item.vis) => {
                let prefix = if module.is_empty() {
                    String::new()
                } else {
                    format!("{}: ", module.trim_end_matches("::"))
                };
                let _ = writeln!(out, "\n{prefix}use {}", compact(&item.tree));
            }
            Item::Struct(item) if is_public(&item.vis) => {
                let _ = writeln!(out, "\nstruct {module}{}{}", item.ident, compact(&item.generics));
                fields(&item.fields, out);
                inherent_functions(&item.ident.to_string(), all, out);
            }
            Item::Enum(item) if is_public(&item.vis) => {
                let _ = writeln!(out, "\nenum {module}{}{}", item.ident, compact(&item.generics));
                for variant in &item.variants {
                    let inner =
                        if variant.fields.is_empty() { String::new() } else { compact(&variant.fields) };
                    let _ = writeln!(out, "  {}{inner}{}", variant.ident, serialized_name(&variant.attrs));
                }
                inherent_functions(&item.ident.to_string(), all, out);
            }
            Item::Trait(item) if is_public(&item.vis) => {
                let _ = writeln!(out, "\ntrait {module}{}", item.ident);
            }
            Item::Type(item) if is_public(&item.vis) => {
                let _ = writeln!(out, "\ntype {module}{} = {}", item.ident, compact(&item.ty));
            }
            Item::Mod(item) if is_public(&item.vis) => {
                if let Some((_, inner)) = &item.content {
                    items(&format!("{module}{}::", item.ident), inner, out);
                }
            }
            _ => {}
        }
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn fields(fields: &Fields, out: &mut String) {
    for field in fields.iter().filter(|field| is_public(&field.vis)) {
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        let _ = writeln!(out, "  {name}{}: {}", serialized_name(&field.attrs), compact(&field.ty));
    }
}

/// The public inherent functions of a type, from the same module.
fn inherent_functions(name: &str, all: &[Item], out: &mut String) {
    for item in all {
        let Item::Impl(block) = item else { continue };
        let self_type = compact(&block.self_ty);
        if block.trait_.is_some() || self_type.split('<').next() != Some(name) {
            continue;
        }
        for item in &block.items {
            if let ImplItem::Fn(function) = item
                && is_public(&function.vis)
            {
                let _ = writeln!(out, "  {}", signature(&function.sig));
            }
        }
    }
}

fn signature(signature: &Signature) -> String {
    let inputs: Vec<String> = signature
        .inputs
        .iter()
        .map(|input| match input {
            // `mut self` is an implementation detail.
            FnArg::Receiver(this) => compact(this).replacen("mut self", "self", 1),
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(name) => format!("{}: {}", name.ident, compact(&typed.ty)),
                _ => compact(&typed.ty),
            },
        })
        .collect();
    let output = match &signature.output {
        ReturnType::Default => String::new(),
        ReturnType::Type(_, output) => format!(" -> {}", compact(output)),
    };
    let keyword = if signature.asyncness.is_some() { "async fn" } else { "fn" };
    format!("{keyword} {}{}({}){output}", signature.ident, compact(&signature.generics), inputs.join(", "))
}

/// ` "type"` where the serialized name differs from the Rust name.
fn serialized_name(attributes: &[Attribute]) -> String {
    let mut name = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        // Other serde attributes are of no interest here.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.path.is_ident("rename") {
                name = format!(" {:?}", meta.value()?.parse::<LitStr>()?.value());
            } else if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<Expr>()?;
            }
            Ok(())
        });
    }
    name
}

/// Tokens with usual spacing, and types of the standard library without their paths.
fn compact(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (from, to) in [
        (" :: ", "::"),
        (":: ", "::"),
        (" < ", "<"),
        ("< ", "<"),
        (" >", ">"),
        (" ,", ","),
        ("& ", "&"),
        ("( ", "("),
        (" )", ")"),
        (" (", "("),
        (" ;", ";"),
        ("' ", "'"),
        (" :", ":"),
        (" <", "<"),
        (",>", ">"),
        ("{ ", "{"),
        (", }", "}"),
        (" }", "}"),
    ] {
        text = text.replace(from, to);
    }
    for module in ["option", "string", "vec", "result", "collections", "primitive"] {
        text = text.replace(&format!("::std::{module}::"), "");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn api_surface_lists_public_items_with_serialized_names() {
        let source = r#"
            pub use other::{Thing};
            pub mod types {
                pub struct Item { #[serde(rename = "type", default)] pub type_ : ::std::option::Option < Kind >, hidden: u8 }
                impl Item { pub fn kind<'a>(&'a self, of: ::std::vec::Vec<&str>) -> super::Kind<'a> { } fn inner() {} }
                impl Clone for Item { fn clone(&self) -> Self { } }
                pub enum Kind { #[serde(rename = "16:9")] X16x9, Other(::std::string::String) }
                struct Private;
            }
        "#;
        let text = api_surface(source).unwrap();
        let expected = "
use other::{Thing}

struct types::Item
  type_ \"type\": Option<Kind>
  fn kind<'a>(&'a self, of: Vec<&str>) -> super::Kind<'a>

enum types::Kind
  X16x9 \"16:9\"
  Other(String)
";
        assert_eq!(text.strip_prefix(HEADER).unwrap(), expected);
    }
}
