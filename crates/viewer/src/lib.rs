//! The viewer: one page that shows the clips and films of a workflow, from disk and offline, and the data that it shows.
//!
//! The page is built from `web/` and embedded here. The data is [`Manifest`], which is also written beside the clips as
//! `manifest.json`. Knows nothing of ledgers and services: `runner view` collects the data.

mod command;
mod manifest;
mod micros;
mod page;

pub use self::{
    manifest::{
        Attempt, Axis, Caption, Clip, Cut, CutKind, Film, FilmState, MANIFEST_VERSION, MAX_MANIFEST_BYTES,
        Manifest, ManifestError, Parent, ParentKind, Render, Shot, Workflow,
    },
    page::{live_page, page},
};

/// The JSON Schema of a manifest.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(Manifest).to_value()
}
