//! Single effects of a run: a download, the inputs of a request, a film. The [`crate::executor`] performs them, and so do other engines.
//!
//! An effect knows no ledger: its caller has recorded what it is about to do, and records what came of it.

pub(crate) mod download;
pub(crate) mod inputs;
pub(crate) mod join;

pub use download::{Bounds, DownloadError, fetch};
pub use inputs::{InputSource, input_sources, load_inputs};
pub use join::{FilmFolders, join_film, replaces_input};
