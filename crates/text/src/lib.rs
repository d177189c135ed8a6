//! Text on images: lines of any script, shaped, broken, and drawn as a mask of coverage.
//!
//! [`Fonts`] holds the embedded fonts and those of files; [`Fonts::draw`] makes a [`Mask`] of a text. System fonts are never used, so that the
//! same text looks the same on every machine. Colors and images are the caller's business. Nothing prints, and no file is read.

mod draw;
mod fallback;
mod fonts;
mod mask;
mod outline;

pub use crate::draw::{Align, DrawnText, Style};
pub use crate::fonts::{FontError, Fonts, MAX_FONT_BYTES};
pub use crate::mask::Mask;
