//! The metadata of a film: the image that is its cover, and the program that has written it.

use std::fs::File;
use std::path::Path;

use super::boxes::find;
use super::top_level;
use crate::MediaError;

/// Bound on the index of a film, in bytes.
const MAX_INDEX: u64 = 256 << 20;

/// The poster of a film that [`crate::join`] has written, as JPEG; `None` if it has none.
///
/// # Errors
/// When the file cannot be read.
pub fn film_poster(path: &Path) -> Result<Option<Vec<u8>>, MediaError> {
    tag(path, *b"covr")
}

/// The program that has written a film, by its metadata ([`crate::FilmTags::encoder`]); `None` if it does not say so.
///
/// # Errors
/// When the file cannot be read.
pub fn film_encoder(path: &Path) -> Result<Option<String>, MediaError> {
    Ok(tag(path, *b"\xa9too")?.and_then(|text| String::from_utf8(text).ok()))
}

/// The value of a tag (`ilst`).
fn tag(path: &Path, name: [u8; 4]) -> Result<Option<Vec<u8>>, MediaError> {
    let io = || MediaError::io("cannot read the film");
    let mut file = File::open(path).map_err(io()).map_err(|error| error.at(path))?;
    let index = top_level::find(&mut file, |_, top_box| Ok(top_box.name == *b"moov")).and_then(|top_box| {
        top_box.map_or(Ok(None), |top_box| top_level::payload(&mut file, &top_box, MAX_INDEX))
    });
    let Some(index) = index.map_err(io()).map_err(|error| error.at(path))? else { return Ok(None) };
    // A full box: what it holds begins after its version and flags.
    let metadata = find(&index, &[*b"udta", *b"meta"]).and_then(|metadata| metadata.get(4..));
    let data = metadata.and_then(|metadata| find(metadata, &[*b"ilst", name, *b"data"]));
    Ok(data.and_then(|data| data.get(8..)).map(<[u8]>::to_vec))
}
