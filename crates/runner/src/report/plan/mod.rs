//! The plan as it is shown: one document, and its forms for people, programs and pictures.

mod document;
mod dot;
mod mermaid;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use document::Document;
pub(crate) use dot::dot;
pub(crate) use mermaid::mermaid;
pub(crate) use table::{estimate, table};
