//! The elementary stream descriptor of `mp4a`: codec and decoder configuration.

/// The decoded fields of the descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AudioConfig {
    /// `objectTypeIndication`: 0x40 is AAC, 0x69 and 0x6b are MP3.
    pub(crate) object_type: u8,
    /// For AAC the `AudioSpecificConfig`; may be empty.
    pub(crate) specific: Vec<u8>,
}

/// Reads the payload of an `esds` box.
pub(crate) fn audio_config(esds: &[u8]) -> Option<AudioConfig> {
    let stream = descriptor(esds.get(4..)?, 0x03)?;
    let flags = *stream.get(2)?;
    let mut skip = 3;
    if flags & 0x80 != 0 {
        skip += 2; // depends on another stream
    }
    if flags & 0x40 != 0 {
        skip += 1 + usize::from(*stream.get(skip)?); // an address
    }
    if flags & 0x20 != 0 {
        skip += 2; // a clock stream
    }
    let decoder = descriptor(stream.get(skip..)?, 0x04)?;
    let specific = decoder.get(13..).and_then(|rest| descriptor(rest, 0x05)).unwrap_or_default();
    Some(AudioConfig { object_type: *decoder.first()?, specific: specific.to_vec() })
}

/// The first descriptor with this tag among those that lie one after the other.
fn descriptor(bytes: &[u8], expected_tag: u8) -> Option<&[u8]> {
    let mut rest = bytes;
    loop {
        let (&tag, mut tail) = rest.split_first()?;
        let mut size = 0usize;
        for _ in 0..4 {
            let (&byte, next) = tail.split_first()?;
            tail = next;
            size = size << 7 | usize::from(byte & 0x7f);
            if byte & 0x80 == 0 {
                break;
            }
        }
        // Some writers state more than there is.
        let (payload, next) = tail.split_at(size.min(tail.len()));
        if tag == expected_tag {
            return Some(payload);
        }
        rest = next;
    }
}
