//! The plan as output: one document, as a table, JSON or a graph.

mod document;
mod mermaid;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use document::PlanDocument;
pub(crate) use mermaid::mermaid;
pub(crate) use table::{estimate, table};
