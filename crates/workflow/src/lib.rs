//! The compiler: from a YAML workflow file to a sealed plan. Pure: no network, no clock, files only through [`Files`].
//!
//! Phases are types; a phase fails only with diagnostics that point into the file:
//!
//! | Phase | Type | Module |
//! |---|---|---|
//! | the file's text | [`Source`] | `source` |
//! | parsed: keys and shapes checked, spans kept | [`Workflow`] | `yaml`, `syntax`, `include` |
//! | fanned out, rendered, typed, checked | [`Instances`] | `template`, `matrix`, `expand` |
//! | sealed | [`Plan`] | `seal`, `plan` |
//!
//! [`check`] runs all phases and reports every problem; [`load`] is the same for callers who need only the plan.
//!
//! Floors: a file uses what is on its own floor or below.
//! 6. `impact`: a workflow under two descriptions.
//! 5. `load`, `import`, `examples`: the compiler as a whole, and what is made for it.
//! 4. `include`, `matrix`, `expand`, `seal`, `prices`, `description`, `services_file`, `edit`, `scaffold`: passes over a workflow or a file beside it.
//! 3. `syntax`, `template`, `schema`, then `advice`, which makes messages of what is wrong with a file.
//! 2. `yaml`, `diagnostic`, `plan`, `files`, `services`, `options`, `text_file`.
//! 1. `source`, `units`, `limits`, `letters`, `media_gate` and other small files that use each other at most.

mod advice;
mod csv;
pub mod description;
mod diagnostic;
mod duration;
pub mod edit;
mod encoding;
mod examples;
mod expand;
mod files;
mod impact;
pub mod import;
mod include;
mod letters;
pub mod limits;
mod load;
mod matrix;
mod media_gate;
mod options;
pub mod plan;
pub mod prices;
mod private_host;
pub mod scaffold;
mod schema;
mod seal;
mod secret_text;
mod service_identity;
mod service_url;
pub mod services;
pub mod services_file;
mod source;
mod syntax;
mod template;
mod text_file;
pub mod units;
mod work;
mod yaml;

pub use diagnostic::{
    CODES, Code, Diagnostic, JsonDiagnostic, JsonSpan, Label, Report, Severity, allowable, render,
};
pub use expand::Instances;
pub use files::{DirEntry, DirFiles, FileError, Files, InMemory};
pub use impact::{Impact, impact};
pub use letters::{is_name_letter, normalized};
pub use load::{CheckOutcome, check, expand, load, parse};
pub use matrix::value_text;
pub use media_gate::{
    InspectionError, MediaGate, MediaGateError, MediaInfo, MediaKind, ReadSeek, inline_bytes,
};
pub use options::{AskedRenders, Options, ParamFile, Picks};
pub use plan::{
    Cell, Clip, ClipSource, Edge, Film, Frame, Input, InputIdentity, InvalidPlan, Location, Node, NodeIx,
    NodeKey, Plan, Request, key,
};
pub use private_host::{is_loopback, is_private_host};
pub use schema::{workflow_schema, workflow_schema_of};
pub use seal::seal;
pub use service_identity::service_identity;
pub use service_url::{ServiceUrlError, service_url};
pub use source::{Position, Source, Span, Spanned};
pub use syntax::{
    Character, ClipSpec, Continues, Entry, FilmSpec, Param, ParamKind, Shot, ShotRef, Workflow, key_tables,
};
pub use yaml::{Key, Yaml, YamlValue};

/// The length of a video whose request states none: the API reference states no default.
pub const DEFAULT_DURATION: units::VideoDuration = units::VideoDuration::from_secs(5);
