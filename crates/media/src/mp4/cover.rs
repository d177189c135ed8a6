//! The cover of a film: the picture in its metadata.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::boxes::find;
use crate::MediaError;

/// Bound on the index of a film, in bytes.
const MAX_INDEX: u64 = 256 << 20;

/// The poster of a film that [`crate::join`] has written, as JPEG; `None` if it has none.
///
/// # Errors
/// When the file cannot be read.
pub fn film_poster(path: &Path) -> Result<Option<Vec<u8>>, MediaError> {
    let io = || MediaError::io("cannot read the film");
    let mut file = File::open(path).map_err(io()).map_err(|error| error.at(path))?;
    let Some(index) = index(&mut file).map_err(io()).map_err(|error| error.at(path))? else {
        return Ok(None);
    };
    // A full box: what it holds begins after its version and flags.
    let metadata = find(&index, &[*b"udta", *b"meta"]).and_then(|metadata| metadata.get(4..));
    let data = metadata.and_then(|metadata| find(metadata, &[*b"ilst", *b"covr", *b"data"]));
    Ok(data.and_then(|data| data.get(8..)).map(<[u8]>::to_vec))
}

/// The payload of the box `moov`.
fn index(file: &mut File) -> std::io::Result<Option<Vec<u8>>> {
    let end = file.seek(SeekFrom::End(0))?;
    let mut at = 0;
    while at + 16 <= end {
        let mut head = [0; 16];
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut head)?;
        let short = u64::from(u32::from_be_bytes([head[0], head[1], head[2], head[3]]));
        let (header, size) = match short {
            0 => (8, end - at),
            1 => (
                16,
                u64::from_be_bytes([
                    head[8], head[9], head[10], head[11], head[12], head[13], head[14], head[15],
                ]),
            ),
            size => (8, size),
        };
        if size < header || size > end - at {
            return Ok(None);
        }
        if &head[4..8] == b"moov" {
            let mut payload = Vec::new();
            file.seek(SeekFrom::Start(at + header))?;
            file.take((size - header).min(MAX_INDEX)).read_to_end(&mut payload)?;
            return Ok(Some(payload));
        }
        at += size;
    }
    Ok(None)
}
