//! The contract: openapi.yaml as JSON Schema, model catalogue, cross-field rules and validation.
//!
//! | Need | Where |
//! |---|---|
//! | generate the client | [`Contract::codegen_view`] |
//! | validate, complete and explain in an editor | [`Contract::request_schema`], [`Contract::definitions`] |
//! | test a service with an outside HTTP test tool | [`Contract::test_view`] |
//! | the descriptions of other services that the program brings along | [`Contract::shipped`] |
//! | the model catalogue, and where each model takes the runner's words | [`Contract::models`], [`Inputs`] |
//! | what an answer of the service means | [`answer`] |
//! | the fields of a request | [`Contract::fields`] |
//! | validate a request or a response | [`Contract::check_request`], [`Contract::check_task`] |
//! | the same for many similar requests | [`Contract::incremental_validator`] |
//! | differences between two contracts | [`diff::diff`] |
//!
//! All of it is data of the document: a new optional field, enum value or model id needs no change here. This crate has no network
//! access and reads no file at run time.

pub mod answer;
mod canonical;
#[cfg(feature = "validate")]
mod check;
mod contract;
#[cfg(feature = "validate")]
pub mod diff;
#[cfg(feature = "validate")]
mod digit_pattern;
#[cfg(feature = "validate")]
mod shipped;
mod spec;
mod view;
mod violation;
#[cfg(feature = "validate")]
mod with_models;

pub use canonical::canonical_json;
#[cfg(feature = "validate")]
pub use check::{
    FieldShape, IncrementalValidator, UnknownMember, listed_synonym, nearest_model, nearest_name,
    nearest_spelling,
};
pub use contract::Contract;
pub use spec::{
    FailureReason, Family, Field, FieldKind, Inputs, KeyPlace, MediaEncoding, MediaForm, Model, Operation,
    Parameter, Placement, Pointer, PollError, Refused, ResolutionSource, Rule, RuleLocation, Severity,
    SpecError, TaskState, Word, escape,
};
pub use view::inline_objects;
pub use violation::Violation;
#[cfg(feature = "validate")]
pub use with_models::ModelError;
