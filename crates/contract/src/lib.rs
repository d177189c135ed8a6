//! The contract: what openapi.yaml says, in the forms that the rest of the project needs.
//!
//! | Need | Where |
//! |---|---|
//! | generate the client | [`Contract::codegen_view`] |
//! | validate, complete and explain in an editor | [`Contract::request_schema`], [`Contract::definitions`] |
//! | drive a service from an outside test tool | [`Contract::test_view`] |
//! | which models there are, and what they take | [`Contract::models`], [`Contract::inputs`] |
//! | which fields a request has | [`Contract::fields`] |
//! | whether a request or an answer is acceptable | [`Contract::check_request`], [`Contract::check_task`] |
//! | whether each of many like requests is | [`Contract::series`] |
//! | what a new document means to callers of the old one | [`diff::diff`] |
//!
//! Everything is data of the document: a new optional field, a new enum value and a new model id need no change here.
//! There is no network in this crate, and no file is read at run time.

mod canonical;
#[cfg(feature = "validate")]
mod check;
mod contract;
pub mod diff;
mod digits;
mod spec;
mod view;
mod violation;

pub use canonical::{canonical_json, canonical_object};
#[cfg(feature = "validate")]
pub use check::Series;
pub use contract::Contract;
pub use spec::{
    Family, Field, FieldKind, InputForm, InputForms, Model, ResolutionSource, Rule, RulePlace, SpecError,
};
pub use violation::Violation;
