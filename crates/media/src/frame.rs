//! Single pictures out of a video: the first, for posters, and the last, from which the next shot goes on.

use std::path::Path;

use rusty_h264::YuvFrame;

use crate::colour::i420_to_rgb;
use crate::mp4::Movie;
use crate::pictures::Pictures;
use crate::{MediaError, RgbImage};

/// The picture that is shown first, decoded exactly.
///
/// # Errors
/// [`MediaError::NeedsFfmpeg`] for another coding than H.264 (8-bit 4:2:0, progressive); otherwise as [`crate::probe`].
pub fn first_frame(path: &Path) -> Result<RgbImage, MediaError> {
    Movie::open(path).and_then(|movie| picture(movie, Pictures::first)).map_err(|error| error.at(path))
}

/// The picture that is shown last, decoded exactly: the one with the largest composition time that the edit list lets through.
///
/// # Errors
/// As [`first_frame`].
pub fn last_frame(path: &Path) -> Result<RgbImage, MediaError> {
    Movie::open(path).and_then(|movie| picture(movie, Pictures::last)).map_err(|error| error.at(path))
}

/// As [`first_frame`], for a file in memory.
///
/// # Errors
/// As [`first_frame`], without a file to name.
pub fn first_frame_bytes(bytes: &[u8]) -> Result<RgbImage, MediaError> {
    picture(Movie::from_bytes(bytes.to_vec())?, Pictures::first)
}

/// As [`last_frame`], for a file in memory.
///
/// # Errors
/// As [`first_frame`], without a file to name.
pub fn last_frame_bytes(bytes: &[u8]) -> Result<RgbImage, MediaError> {
    picture(Movie::from_bytes(bytes.to_vec())?, Pictures::last)
}

fn picture(
    movie: Movie,
    choose: impl FnOnce(&mut Pictures) -> Result<YuvFrame, MediaError>,
) -> Result<RgbImage, MediaError> {
    let mut pictures = Pictures::of(movie)?;
    let frame = choose(&mut pictures)?;
    Ok(i420_to_rgb(&frame, pictures.colour))
}
