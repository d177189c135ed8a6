//! HTTP client of video services: generated from openapi.yaml, or as another description says. What responses mean is read from the description
//! in both cases ([`contract::answer`]).
//!
//! | Need | Where |
//! |---|---|
//! | submit, poll, download | [`Client`] |
//! | a request, checked and serialized once | [`PreparedRequest`] |
//! | what went wrong, and whether a retry is safe | [`CallError`] |
//! | the contract's types, as the service uses them too | [`types`] |
//!
//! The request types are generated from openapi.yaml by the build script. The API key is sent to the origin of the API only; it appears in no log,
//! error or decoded response.

mod body;
mod call_error;
mod client;
mod config;
mod described;
mod download;
mod generated;
mod hooks;
mod http;
mod key;
mod origin;
mod proxies;
mod redact;
mod request;
mod response;
mod task_id;
mod unread_response;

pub use call_error::{CallError, HttpError};
pub use client::{Cancelled, Client, Polled};
pub use config::{ClientConfig, ConfigError};
pub use contract::{Contract, FailureReason, PollError, Refused, TaskState, answer};
pub use download::{Download, Resume};
pub use generated::types;
pub use http::{http_client, http_client_for, http_client_with};
pub use proxies::Proxies;
pub use request::PreparedRequest;
pub use response::MAX_RESPONSE_BYTES;
