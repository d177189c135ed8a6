//! A screenplay in Fountain becomes shots.
//!
//! | Step | Module |
//! |---|---|
//! | text without boneyard, notes and marks of emphasis | `text` |
//! | text to elements | `parse` |
//! | elements to shots | `shots` |
//! | who is seen | `characters` |
//! | parts of prompts | `phrases` |
//!
//! A paragraph of action is a shot, as screenwriters write one for each picture; what is said after it belongs to that shot while the
//! model's longest video has room for it, and then to a shot of its own.

mod characters;
mod parse;
mod phrases;
mod shots;
mod text;

use std::ops::RangeInclusive;

use super::listing::Listing;
use crate::diagnostic::Problems;

/// The shots of a screenplay whose lines end with LF. `durations` is the model's range in whole seconds.
pub(super) fn read(
    text: &str,
    durations: &RangeInclusive<u32>,
    chain_scenes: bool,
    problems: &mut Problems,
) -> Listing {
    shots::listing(&parse::parse(text), durations, chain_scenes, problems)
}
