//! Templates: minijinja, strict and bounded. An undefined name is an error with a span; time and output of a template are limited.
//!
//! Blocks that bind or nest names (`set`, `with`, `macro`) are not available; `if` and `for` are.

mod cast_value;
mod compare;
mod environment;
mod error;
mod filters;
mod locate;
mod render;
mod rewrite;
mod scan;
mod scope;
mod steps;
mod tables;
mod writer;

pub(crate) use minijinja::Value;

pub(crate) use self::cast_value::{CAST, CastUses, CastValue, CharacterText};
pub(crate) use self::environment::environment;
#[cfg(test)]
pub(crate) use self::filters::slug;
pub(crate) use self::render::{OddCells, Templates};
pub(crate) use self::scan::{has_template, identifiers, identifiers_used, names_used};
pub(crate) use self::scope::{Scope, axis_value};
pub(crate) use self::steps::size;
