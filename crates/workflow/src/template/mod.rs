//! Templates: minijinja, strict and bounded. An undefined name is an error at its place; nothing a template can say
//! makes it run long or grow large.
//!
//! Two things are kept out of the language so that it stays bounded: blocks that bind or nest names (`set`, `with`,
//! `macro` and the like; `if` and `for` are there), and `*`, which repeats text without limit (`times` multiplies numbers).

mod environment;
mod filters;
mod render;
mod scan;
mod scope;

pub(crate) use minijinja::Value;

pub(crate) use self::environment::environment;
pub(crate) use self::filters::{csv_rows, slug};
pub(crate) use self::render::Templates;
pub(crate) use self::scan::{has_template, names_used, words, words_used};
pub(crate) use self::scope::{Scope, from_json};
