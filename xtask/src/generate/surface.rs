//! The public surface of the generated client, one line an item: what a review of a new contract reads.

use std::fmt::Write as _;

use quote::ToTokens;
use syn::{Attribute, Expr, Fields, FnArg, ImplItem, Item, LitStr, Pat, ReturnType, Signature, Visibility};

const HEAD: &str = "\
# The public surface of the generated client: types with their fields, functions, re-exports. A name in quotation marks is
# the name on the wire, where it is another. Written by `cargo xtask generate`, not by hand.
";

/// The surface of a generated source.
pub(super) fn of(source: &str) -> Result<String, String> {
    let file =
        syn::parse_file(source).map_err(|error| format!("the generated client is not Rust: {error}"))?;
    let mut out = HEAD.to_owned();
    items("", &file.items, &mut out);
    Ok(out)
}

fn items(module: &str, all: &[Item], out: &mut String) {
    for item in all {
        match item {
            Item::Use(one) if is_public(&one.vis) => {
                let holder = if module.is_empty() {
                    String::new()
                } else {
                    format!("{}: ", module.trim_end_matches("::"))
                };
                let _ = writeln!(out, "\n{holder}use {}", compact(&one.tree));
            }
            Item::Struct(one) if is_public(&one.vis) => {
                let _ = writeln!(out, "\nstruct {module}{}{}", one.ident, compact(&one.generics));
                fields(&one.fields, out);
                functions_of(&one.ident.to_string(), all, out);
            }
            Item::Enum(one) if is_public(&one.vis) => {
                let _ = writeln!(out, "\nenum {module}{}{}", one.ident, compact(&one.generics));
                for variant in &one.variants {
                    let inner =
                        if variant.fields.is_empty() { String::new() } else { compact(&variant.fields) };
                    let _ = writeln!(out, "  {}{inner}{}", variant.ident, on_the_wire(&variant.attrs));
                }
                functions_of(&one.ident.to_string(), all, out);
            }
            Item::Trait(one) if is_public(&one.vis) => {
                let _ = writeln!(out, "\ntrait {module}{}", one.ident);
            }
            Item::Type(one) if is_public(&one.vis) => {
                let _ = writeln!(out, "\ntype {module}{} = {}", one.ident, compact(&one.ty));
            }
            Item::Mod(one) if is_public(&one.vis) => {
                if let Some((_, inner)) = &one.content {
                    items(&format!("{module}{}::", one.ident), inner, out);
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
        let _ = writeln!(out, "  {name}{}: {}", on_the_wire(&field.attrs), compact(&field.ty));
    }
}

/// The public functions that stand in the same module, without those of traits.
fn functions_of(name: &str, all: &[Item], out: &mut String) {
    for item in all {
        let Item::Impl(block) = item else { continue };
        let of = compact(&block.self_ty);
        if block.trait_.is_some() || of.split('<').next() != Some(name) {
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
            // Whether the function changes its own copy is its own affair.
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
    let word = if signature.asyncness.is_some() { "async fn" } else { "fn" };
    format!("{word} {}{}({}){output}", signature.ident, compact(&signature.generics), inputs.join(", "))
}

/// ` "type"` where serde gives another name than Rust does.
fn on_the_wire(attributes: &[Attribute]) -> String {
    let mut name = String::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        // What is not understood here is not a name; it is serde's business.
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

/// Tokens as a person would write them, the standard library's types by their names alone.
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
    fn what_is_public_is_listed_as_it_goes_over_the_wire() {
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
        let told = of(source).unwrap();
        let expected = "
use other::{Thing}

struct types::Item
  type_ \"type\": Option<Kind>
  fn kind<'a>(&'a self, of: Vec<&str>) -> super::Kind<'a>

enum types::Kind
  X16x9 \"16:9\"
  Other(String)
";
        assert_eq!(told.strip_prefix(HEAD).unwrap(), expected);
    }
}
