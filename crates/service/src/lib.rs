//! The video service: the API of docs/spec.md with a durable task store and real video.
//!
//! [`Service::start`] runs it from a [`Config`] and a [`renderer::Renderer`]. The runner embeds it when no account is
//! configured; standalone (`runner serve`) it is the same code with [`Keys::Stored`].
//!
//! - `http`: routes, responses, error bodies; `submit`: from a JSON request to an accepted task
//! - `request`: the parsed request; `inputs`: its media, fetched and validated; `render_spec`: what is stored and rendered
//! - `store`: tasks in `SQLite`, files beside it; `jobs`: the queue, tasks in progress, render threads
//! - `keys`, `limits`, `admission`: API keys, configured limits, their enforcement; `faults`: fault injection
//!
//! The library prints nothing, never exits and reads no environment; time and randomness are injected ([`Deps`]).

mod admission;
mod api_error;
mod blocking;
mod clock;
mod config;
mod dialect;
mod digest;
mod error;
mod faults;
mod http;
mod id;
mod inputs;
mod jobs;
mod keys;
mod limits;
mod maintenance;
mod memory;
mod render_spec;
mod request;
mod service;
mod size;
mod store;
mod submit;
mod task;

pub use self::{
    clock::{Clock, SystemClock},
    config::{Config, Durability, Retention},
    error::ServiceError,
    faults::{ErrorBodyFormat, Fault, FaultProfile, FaultRule, ModerationStage, Operation},
    http::{RangedFile, RangedFileError},
    id::{OsRandomness, Randomness, RandomnessError, TaskId},
    keys::{ApiKeyStore, KeyEntry, KeyId, Keys, NewKey, Permissions},
    limits::{BodyLimits, ConnectionLimits, KeyLimits, Limits, LimitsFile, MediaLimits},
    service::{Deps, Service},
};
