//! The edit of a film on its own clock, and its hand-over. Pure: no I/O, no codecs, no clock.
//!
//! [`resolve()`] makes a [`Timeline`] from a film of the plan and the facts about its clips' files: every position is a whole frame of the
//! film or a whole frame of a clip, and everything that cannot be played is an error. [`export`] writes it in the formats of editors,
//! [`import`] reads an editor's cut, [`subtitles`] puts lines of clips onto the film's clock.

mod clock;
mod error;
pub mod export;
mod facts;
pub mod import;
mod model;
mod resolve;
pub mod subtitles;
mod timecode;

pub use error::{Problem, ProblemKind, ResolveError};
pub use facts::{ClipFacts, ClipKind, ClipVideo, continuations};
pub use model::{Chapter, Item, ItemTransition, Timeline};
pub use resolve::resolve;
pub use timecode::Timecode;
