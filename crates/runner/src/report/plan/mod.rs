//! The plan as output: one document, as a table or JSON.

mod document;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use document::PlanDocument;
pub(crate) use table::{estimate, table};
