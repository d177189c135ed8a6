//! Extraction of single frames: the first, and the last, which the next shot of a chain starts from.

use std::path::Path;

use rusty_h264::YuvFrame;

use crate::color::i420_to_rgb;
use crate::frames::FrameReader;
use crate::mp4::Movie;
use crate::{MediaError, RgbImage};

/// The frame that is presented first, decoded exactly; upright, with square pixels.
///
/// # Errors
/// [`MediaError::NeedsFfmpeg`] for another coding than H.264 (8-bit 4:2:0, progressive); otherwise as [`crate::probe`].
pub fn first_frame(path: &Path) -> Result<RgbImage, MediaError> {
    Movie::open(path).and_then(|movie| extract(movie, FrameReader::first)).map_err(|error| error.at(path))
}

/// The frame in the middle, decoded exactly.
///
/// # Errors
/// As [`first_frame`].
pub fn middle_frame(path: &Path) -> Result<RgbImage, MediaError> {
    Movie::open(path).and_then(|movie| extract(movie, FrameReader::middle)).map_err(|error| error.at(path))
}

/// The frame that is presented last, decoded exactly: the one with the greatest composition time within the edit list.
///
/// # Errors
/// As [`first_frame`].
pub fn last_frame(path: &Path) -> Result<RgbImage, MediaError> {
    Movie::open(path).and_then(|movie| extract(movie, FrameReader::last)).map_err(|error| error.at(path))
}

/// As [`first_frame`], for a file in memory.
///
/// # Errors
/// As [`first_frame`], without a file to name.
pub fn first_frame_bytes(bytes: &[u8]) -> Result<RgbImage, MediaError> {
    extract(Movie::from_bytes(bytes.to_vec())?, FrameReader::first)
}

/// As [`last_frame`], for a file in memory.
///
/// # Errors
/// As [`first_frame`], without a file to name.
pub fn last_frame_bytes(bytes: &[u8]) -> Result<RgbImage, MediaError> {
    extract(Movie::from_bytes(bytes.to_vec())?, FrameReader::last)
}

fn extract(
    movie: Movie,
    choose: impl FnOnce(&mut FrameReader) -> Result<YuvFrame, MediaError>,
) -> Result<RgbImage, MediaError> {
    let mut frames = FrameReader::new(movie)?;
    let frame = choose(&mut frames)?;
    Ok(frames.presentation.apply(i420_to_rgb(&frame, frames.color)))
}
