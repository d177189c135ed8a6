//! Templates: minijinja, strict and bounded. An undefined name is an error with a span; time and output of a template are limited.
//!
//! Two features of minijinja are not available, so that the limits hold: blocks that bind or nest names (`set`, `with`, `macro`; `if`
//! and `for` are available), and repeating text or lists by `*`, which multiplies numbers only (`multiply`).

mod cast_value;
mod environment;
mod error;
mod filters;
mod lists;
mod locate;
mod multiply;
mod render;
mod scan;
mod scope;
mod work;
mod writer;

pub(crate) use minijinja::Value;

pub(crate) use self::cast_value::{CastUses, CastValue, CharacterText};
pub(crate) use self::environment::environment;
#[cfg(test)]
pub(crate) use self::filters::slug;
pub(crate) use self::render::Templates;
pub(crate) use self::render::size;
pub(crate) use self::scan::{has_template, identifiers, identifiers_used, names_used};
pub(crate) use self::scope::{Scope, axis_value};
pub(crate) use self::work::TemplateWork;
