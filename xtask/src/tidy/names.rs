//! Collects the names that a Rust source file declares, with syn: types, variants, fields, modules, functions with their parameters, constants,
//! command-line flags, JSON members.
//!
//! What macros declare is read from their tokens. Not collected: local variables, parameters of closures, and functions of trait implementations,
//! which the trait names.

use std::fmt;
use std::path::Path;

use quote::ToTokens;
use syn::buffer::TokenBuffer;
use syn::{
    Attribute, Block, Expr, ExprLit, Fields, FnArg, Ident, ImplItem, Item, Lit, Pat, Path as SynPath,
    Signature, Stmt, Token, TraitItem,
};

use super::{macro_tokens, web_names};
use crate::repository;

/// The kind of item that a name belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameKind {
    /// A struct, enum, union, trait or type alias.
    Type,
    /// A variant of an enum.
    Variant,
    /// A field of a struct or variant that its users do not see under this name.
    Field,
    /// A module, its file or its folder.
    Module,
    /// A function, method or macro.
    Function,
    /// A parameter of a function.
    Parameter,
    /// A constant or static.
    Constant,
    /// A variable of a script.
    Variable,
    /// A flag of a command.
    Flag,
    /// A positional argument of a command, a command, or a value of a flag.
    Argument,
    /// A member, or the name of a variant, in serialized form.
    Member,
    /// The code of a diagnostic.
    Code,
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Type => "type",
            Self::Variant => "variant",
            Self::Field => "field",
            Self::Module => "module",
            Self::Function => "function",
            Self::Parameter => "parameter",
            Self::Constant => "constant",
            Self::Variable => "variable",
            Self::Flag => "flag",
            Self::Argument => "argument or value",
            Self::Member => "JSON member",
            Self::Code => "diagnostic code",
        })
    }
}

/// A declared name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// The file, relative to the repository.
    pub(super) file: String,
    pub(super) kind: NameKind,
    pub(super) text: String,
}

/// The names in all Rust and TypeScript sources of this repository.
pub(super) fn declared(root: &Path) -> Result<Vec<Name>, String> {
    let mut all = Vec::new();
    for file in repository::files(root)? {
        let is_in = |folders: &[&str]| folders.iter().any(|folder| file.starts_with(folder));
        let extension = Path::new(&file).extension().and_then(|extension| extension.to_str());
        match extension {
            Some("rs") if is_in(&["crates/", "fuzz/", "tests/", "xtask/"]) => {
                let text = fs_err::read_to_string(root.join(&file)).map_err(|error| error.to_string())?;
                all.extend(names(&file, &text)?);
            }
            Some("ts" | "tsx") if is_in(&["web/"]) => {
                let text = fs_err::read_to_string(root.join(&file)).map_err(|error| error.to_string())?;
                all.extend(web_names::names(&file, &text));
            }
            _ => {}
        }
    }
    Ok(all)
}

/// The names in a Rust source file, its own and its folder's included.
pub(super) fn names(file: &str, text: &str) -> Result<Vec<Name>, String> {
    let source = syn::parse_file(text).map_err(|error| format!("{file}: cannot be parsed: {error}"))?;
    let mut names = Names { file, collected: Vec::new() };
    let path = Path::new(file);
    let parts = [path.file_stem(), path.parent().and_then(Path::file_name)];
    for part in parts.into_iter().flatten() {
        names.add(NameKind::Module, part.to_string_lossy().into_owned());
    }
    names.items(&source.items);
    for item in source.items.iter().filter(|item| !is_test(item)) {
        let tokens = TokenBuffer::new2(item.to_token_stream());
        for member in macro_tokens::json_members(tokens.begin()) {
            names.add(NameKind::Member, member);
        }
    }
    Ok(names.collected)
}

struct Names<'a> {
    file: &'a str,
    collected: Vec<Name>,
}

impl Names<'_> {
    fn add(&mut self, kind: NameKind, text: String) {
        self.collected.push(Name { file: self.file.to_owned(), kind, text });
    }

    fn ident(&mut self, kind: NameKind, ident: &Ident) {
        self.add(kind, plain(ident));
    }

    fn items(&mut self, items: &[Item]) {
        for item in items {
            self.item(item);
        }
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Const(item) => self.ident(NameKind::Constant, &item.ident),
            Item::Static(item) => self.ident(NameKind::Constant, &item.ident),
            Item::Type(item) => self.ident(NameKind::Type, &item.ident),
            Item::Union(item) => self.ident(NameKind::Type, &item.ident),
            Item::Struct(item) => {
                self.ident(NameKind::Type, &item.ident);
                self.fields(&item.attrs, &item.fields);
            }
            Item::Enum(item) => {
                self.ident(NameKind::Type, &item.ident);
                let kind = public_kind(&item.attrs);
                for variant in &item.variants {
                    self.ident(NameKind::Variant, &variant.ident);
                    if let Some(name) = kind.and_then(|_| explicit_name(&variant.attrs)) {
                        self.add(kind.map_or(NameKind::Member, NameSource::variant), name);
                    }
                    self.fields(&item.attrs, &variant.fields);
                }
            }
            Item::Fn(item) => {
                self.ident(NameKind::Function, &item.sig.ident);
                self.parameters(&item.sig);
                self.block(&item.block);
            }
            Item::Macro(item) => {
                if let Some(ident) = &item.ident {
                    self.ident(NameKind::Function, ident);
                }
                let is_definition = item.mac.path.is_ident("macro_rules");
                let tokens = TokenBuffer::new2(item.mac.tokens.clone());
                self.collected.extend(
                    macro_tokens::declarations(tokens.begin(), is_definition)
                        .into_iter()
                        .map(|(kind, text)| Name { file: self.file.to_owned(), kind, text }),
                );
            }
            Item::Mod(item) => {
                self.ident(NameKind::Module, &item.ident);
                if let Some((_, items)) = &item.content {
                    self.items(items);
                }
            }
            Item::Trait(item) => {
                self.ident(NameKind::Type, &item.ident);
                for item in &item.items {
                    match item {
                        TraitItem::Const(item) => self.ident(NameKind::Constant, &item.ident),
                        TraitItem::Fn(item) => {
                            self.ident(NameKind::Function, &item.sig.ident);
                            self.parameters(&item.sig);
                        }
                        TraitItem::Type(item) => self.ident(NameKind::Type, &item.ident),
                        _ => {}
                    }
                }
            }
            Item::Impl(block) => {
                for item in &block.items {
                    match item {
                        ImplItem::Const(item) if block.trait_.is_none() => {
                            self.ident(NameKind::Constant, &item.ident);
                        }
                        ImplItem::Fn(item) => {
                            if block.trait_.is_none() {
                                self.ident(NameKind::Function, &item.sig.ident);
                            }
                            self.parameters(&item.sig);
                            self.block(&item.block);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    /// Items that are declared inside a function.
    fn block(&mut self, block: &Block) {
        for statement in &block.stmts {
            if let Stmt::Item(item) = statement {
                self.item(item);
            }
        }
    }

    fn fields(&mut self, attributes: &[Attribute], fields: &Fields) {
        let kind = public_kind(attributes);
        for field in fields {
            let explicit = kind.and_then(|kind| Some((kind, explicit_name(&field.attrs)?)));
            match (&field.ident, kind) {
                (Some(ident), Some(kind)) if explicit.is_none() => {
                    self.ident(kind.field(&field.attrs), ident);
                }
                (Some(ident), _) => self.ident(NameKind::Field, ident),
                (None, _) => {}
            }
            if let Some((kind, name)) = explicit {
                self.add(kind.field(&field.attrs), name);
            }
        }
    }

    fn parameters(&mut self, signature: &Signature) {
        for input in &signature.inputs {
            if let FnArg::Typed(input) = input {
                self.pattern(&input.pat);
            }
        }
    }

    /// The names that a pattern of a parameter binds: `name`, `(left, right)`, `Json(body)`.
    fn pattern(&mut self, pattern: &Pat) {
        match pattern {
            Pat::Ident(pattern) => self.ident(NameKind::Parameter, &pattern.ident),
            Pat::Tuple(pattern) => pattern.elems.iter().for_each(|element| self.pattern(element)),
            Pat::TupleStruct(pattern) => pattern.elems.iter().for_each(|element| self.pattern(element)),
            Pat::Reference(pattern) => self.pattern(&pattern.pat),
            _ => {}
        }
    }
}

fn is_test(item: &Item) -> bool {
    matches!(item, Item::Mod(item) if item.attrs.iter().any(|attribute| attribute.path().is_ident("cfg")
        && attribute.to_token_stream().to_string().contains("test")))
}

fn plain(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// Where the parts of a type are named for its users.
#[derive(Debug, Clone, Copy)]
enum NameSource {
    /// On the command line (clap).
    CommandLine,
    /// In JSON (serde).
    Json,
}

impl NameSource {
    fn variant(self) -> NameKind {
        match self {
            Self::CommandLine => NameKind::Argument,
            Self::Json => NameKind::Member,
        }
    }

    fn field(self, attributes: &[Attribute]) -> NameKind {
        let is_flag = || {
            let of_clap = attributes.iter().filter(|attribute| attribute.path().is_ident("arg"));
            of_clap.into_iter().any(|attribute| {
                let text = attribute.to_token_stream().to_string();
                text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "long")
            })
        };
        match self {
            Self::CommandLine if is_flag() => NameKind::Flag,
            _ => self.variant(),
        }
    }
}

/// How the parts of a type are named, by its derives.
fn public_kind(attributes: &[Attribute]) -> Option<NameSource> {
    let mut kind = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        // Anything that is not a list of paths is no derive of clap's or serde's.
        let _ = attribute.parse_nested_meta(|meta| {
            kind = kind.or(match last_segment(&meta.path).as_str() {
                "Args" | "Parser" | "Subcommand" | "ValueEnum" => Some(NameSource::CommandLine),
                "Serialize" | "Deserialize" => Some(NameSource::Json),
                _ => None,
            });
            Ok(())
        });
    }
    kind
}

fn last_segment(path: &SynPath) -> String {
    path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
}

/// The name in `#[serde(rename = "…")]`, `#[arg(long = "…")]`, `#[command(name = "…")]` or `#[value(name = "…")]`.
fn explicit_name(attributes: &[Attribute]) -> Option<String> {
    let mut name = None;
    for attribute in attributes {
        let option = match last_segment(attribute.path()).as_str() {
            "serde" => "rename",
            "arg" => "long",
            "command" | "value" => "name",
            _ => continue,
        };
        // Lines of another form than `option = "text"`.
        let _ = attribute.parse_nested_meta(|meta| {
            if meta.input.peek(Token![=]) {
                let value: Expr = meta.value()?.parse()?;
                if let (true, Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) =
                    (meta.path.is_ident(option), value)
                {
                    name = Some(text.value());
                }
            }
            Ok(())
        });
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lists_declarations_of_each_kind() {
        let source = r#"
            const LIMIT: u8 = 1;
            mod inner { pub struct Thing; impl Thing { fn make(&self) { const DEEP: u8 = 2; } } impl Clone for Thing { fn clone(&self) -> Self { Self } } }
            #[derive(clap::Args)] struct Flags { #[arg(long = "max-jobs", short)] jobs: u8, #[arg(long, value_name = "N")] dry_run: bool }
            #[derive(Debug, Serialize)] struct Record { #[serde(rename = "type", default)] kind: u8, at: u8 }
            struct Private { hidden: u8 }
            trait Shape { fn area(&self, scale: f32, (width, _): (u8, u8)); }
            enum Plain { StillOpen(u8), Closed }
            #[derive(clap::ValueEnum)] enum Format { #[value(name = "ndjson")] Lines }
            states! { Queued = "queued", Done = "done" }
            id! { #[doc = "x"] RunId }
            macro_rules! make { ($name:ident) => { pub enum Made { $name } fn build() {} } }
            fn print() { emit(json!({"shot": 1, "inner": [{"key": nested("not-a-key")}]})); }
            #[cfg(test)] mod tests { fn body() { json!({"ignored": 1}); } }
        "#;
        let all = names("crates/a/src/folder/file.rs", source).unwrap();
        let all: Vec<String> = all.iter().map(|name| format!("{} {}", name.kind, name.text)).collect();
        let expected = [
            "module file",
            "module folder",
            "constant LIMIT",
            "module inner",
            "type Thing",
            "function make",
            "constant DEEP",
            "type Flags",
            "field jobs",
            "flag max-jobs",
            "flag dry_run",
            "type Record",
            "field kind",
            "JSON member type",
            "JSON member at",
            "type Private",
            "field hidden",
            "type Shape",
            "function area",
            "parameter scale",
            "parameter width",
            "type Plain",
            "variant StillOpen",
            "variant Closed",
            "type Format",
            "variant Lines",
            "argument or value ndjson",
            "variant Queued",
            "JSON member queued",
            "variant Done",
            "JSON member done",
            "type RunId",
            "function make",
            "type Made",
            "function build",
            "function print",
            "module tests",
            "function body",
            "JSON member shot",
            "JSON member inner",
            "JSON member key",
        ];
        assert_eq!(all, expected);
    }
}
