//! Single effects of a run, for engines other than [`crate::executor`], which performs the same ones.
//!
//! An effect knows no ledger: its caller has recorded what it is about to do, and records what came of it.

pub use crate::executor::download::{Bounds, DownloadError, fetch};
pub use crate::executor::inputs::{InputSource, input_sources, load_inputs};
pub use crate::executor::join::{FilmFolders, join_film, replaces_input};
