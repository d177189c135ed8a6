//! Templates: minijinja, strict and bounded. An undefined name is an error with a span; time and output of a template are limited.
//!
//! Two features of minijinja are not available, so that the limits hold: blocks that bind or nest names (`set`, `with`, `macro`; `if`
//! and `for` are available), and `*`, which repeats text without limit (`times` multiplies numbers).

mod environment;
mod filters;
mod locate;
mod render;
mod scan;
mod scope;
mod work;

pub(crate) use minijinja::Value;

pub(crate) use self::environment::environment;
pub(crate) use self::filters::slug;
pub(crate) use self::render::Templates;
pub(crate) use self::render::size;
pub(crate) use self::scan::{has_template, identifiers, identifiers_used, names_used};
pub(crate) use self::scope::{Scope, axis_value};
pub(crate) use self::work::TemplateWork;
