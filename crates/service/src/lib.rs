//! The video service itself: what the document describes, durable, with real video.
//!
//! [`Service::start`] runs it from a [`Config`], on whatever [`renderer::Renderer`] it is given. The runner embeds it
//! when no account is configured; standalone it is the same code with [`Keys::Stored`].
//!
//! - `http`: paths, answers, refusals; `reception`: from a request to an accepted task
//! - `wish`, `inputs`, `size`, `order`: what is asked for, brought in, measured, settled
//! - `store`: tasks in `SQLite`, files beside it; `work`: the queue and the threads that render
//! - `keys`, `limits`: who may do how much; `faults`: misbehaviour on purpose
//!
//! The library prints nothing, never exits and reads no environment; time and randomness are [`Sources`].

mod blocking;
mod clock;
mod config;
mod digest;
mod error;
mod faults;
mod http;
mod id;
mod inputs;
mod keys;
mod limits;
mod metrics;
mod order;
mod reception;
mod refusal;
mod service;
mod size;
mod store;
mod task;
mod wish;
mod workshop;

pub use self::{
    clock::{Clock, SystemClock},
    config::{Config, Retention},
    error::ServiceError,
    faults::{AnswerBody, Fault, FaultProfile, FaultRule, Moderated, Operation},
    id::{OsRandomness, Randomness, RandomnessError, TaskId},
    keys::{KeyBook, KeyEntry, KeyId, Keys, NewKey, Permissions},
    limits::{KeyLimits, Limits, MediaLimits},
    service::{Service, Sources},
};
