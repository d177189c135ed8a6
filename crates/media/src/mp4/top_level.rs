//! Finds single boxes at the top level of an MP4 file without reading the others.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// A box at the top level of a file.
pub(super) struct TopLevelBox {
    pub(super) name: [u8; 4],
    pub(super) start: u64,
    payload: u64,
    /// Where the next one begins.
    pub(super) end: u64,
}

impl TopLevelBox {
    pub(super) fn payload_bytes(&self) -> u64 {
        self.end - self.payload
    }
}

/// The first box for which `is_wanted`, which may read the payload. `None` where boxes do not fit the file.
pub(super) fn find(
    file: &mut File,
    mut is_wanted: impl FnMut(&mut File, &TopLevelBox) -> io::Result<bool>,
) -> io::Result<Option<TopLevelBox>> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut start = 0;
    while start + 8 <= length {
        let mut head = Vec::with_capacity(16);
        file.seek(SeekFrom::Start(start))?;
        file.take(16).read_to_end(&mut head)?;
        let Some((size, name)) = head.first_chunk::<8>().map(|head| head.split_at(4)) else { break };
        let name = <[u8; 4]>::try_from(name).unwrap_or_default();
        let (header, size) = match u32::from_be_bytes(<[u8; 4]>::try_from(size).unwrap_or_default()) {
            0 => (8, length - start),
            1 => match head.get(8..16).and_then(|long| <[u8; 8]>::try_from(long).ok()) {
                Some(long) => (16, u64::from_be_bytes(long)),
                None => break,
            },
            size => (8, u64::from(size)),
        };
        if size < header || size > length - start {
            break;
        }
        let top_box = TopLevelBox { name, start, payload: start + header, end: start + size };
        file.seek(SeekFrom::Start(top_box.payload))?;
        if is_wanted(file, &top_box)? {
            return Ok(Some(top_box));
        }
        start = top_box.end;
    }
    Ok(None)
}

/// The payload of a box; `None` above `max` bytes.
pub(super) fn payload(file: &mut File, item: &TopLevelBox, max: u64) -> io::Result<Option<Vec<u8>>> {
    if item.payload_bytes() > max {
        return Ok(None);
    }
    let mut payload = Vec::new();
    file.seek(SeekFrom::Start(item.payload))?;
    file.take(item.payload_bytes()).read_to_end(&mut payload)?;
    Ok(Some(payload))
}
