//! Structural checks of compressed audio streams without a container that is read: MP3, ADTS, Ogg and FLAC. None is decoded for it.
//!
//! They tell a stream from other bytes after a matching signature, before decoders see it. Ogg has checksums; of MP3 and ADTS most bytes have
//! to be in frames that follow each other. Damage within a frame, and within FLAC, is left to decoders.

use crate::{MediaError, MediaType};

/// How far the first frame may be from the beginning, in bytes: some encoders pad the tag in front of it.
const MAX_FRAME_OFFSET: usize = 64 << 10;

/// Checks the beginning of a stream of this type.
///
/// # Errors
/// [`MediaError::Damaged`] when the signature is not followed by a stream of its type.
pub(crate) fn check(media_type: MediaType, bytes: &[u8]) -> Result<(), MediaError> {
    let plausible = match media_type {
        MediaType::Mp3 => {
            has_consecutive_frames(after_id3(bytes), mp3_frame_len)
                && is_mostly(after_id3(bytes), mp3_frame_len)?
        }
        MediaType::Aac => has_consecutive_frames(bytes, adts_frame_len) && is_mostly(bytes, adts_frame_len)?,
        MediaType::Ogg => is_ogg_audio(bytes) && has_whole_pages(bytes)?,
        MediaType::Flac => is_flac(bytes),
        _ => false,
    };
    let message = || format!("it begins like {} and contains no audio frames", media_type.description());
    if plausible { Ok(()) } else { Err(MediaError::Damaged(message())) }
}

/// Whether a frame header is followed by another one, or by the end, at the distance that it announces.
fn has_consecutive_frames(bytes: &[u8], frame_len: impl Fn(&[u8]) -> Option<usize>) -> bool {
    (0..bytes.len().min(MAX_FRAME_OFFSET)).any(|start| {
        frame_len(&bytes[start..]).is_some_and(|length| match bytes.get(start + length..) {
            Some([]) => true,
            Some(next) => frame_len(next).is_some(),
            None => false,
        })
    })
}

/// Whether at least half of the bytes are in frames that another one or the end follows. Tags and a cut last frame are no damage.
fn is_mostly(bytes: &[u8], frame_len: impl Fn(&[u8]) -> Option<usize>) -> Result<bool, MediaError> {
    let (mut position, mut framed, mut first) = (0, 0, None);
    while position < bytes.len() {
        let next = frame_len(&bytes[position..]).map(|length| position + length);
        let is_followed = |next: usize| next >= bytes.len() || frame_len(&bytes[next..]).is_some();
        // The last frame may end in a tag.
        if let Some(next) =
            next.filter(|next| is_followed(*next) || framed > 0 && bytes.len() - *next <= 4096)
        {
            first.get_or_insert(position);
            framed += next.min(bytes.len()) - position;
            position = next;
        } else {
            position += 1;
        }
    }
    let audio = bytes.len() - first.unwrap_or(0);
    if framed * 2 < audio {
        return Err(MediaError::Damaged(format!(
            "only {framed} of {audio} bytes are audio frames: the rest cannot be decoded"
        )));
    }
    Ok(true)
}

/// Whether all pages are whole (RFC 3533, section 6).
fn has_whole_pages(bytes: &[u8]) -> Result<bool, MediaError> {
    let mut position = 0;
    while position < bytes.len() {
        let page = &bytes[position..];
        let segments = page.get(26).map_or(0, |count| usize::from(*count));
        let table = page.get(27..27 + segments).unwrap_or_default();
        let size = 27 + segments + table.iter().map(|size| usize::from(*size)).sum::<usize>();
        let Some(page) = page.get(..size).filter(|page| page.starts_with(b"OggS")) else {
            return Err(MediaError::Damaged(format!(
                "the Ogg page at byte {position} is cut off or missing"
            )));
        };
        let stated = u32::from_le_bytes([page[22], page[23], page[24], page[25]]);
        if ogg_checksum(page) != stated {
            return Err(MediaError::Damaged(format!("the Ogg page at byte {position} has a wrong checksum")));
        }
        position += size;
    }
    Ok(true)
}

/// CRC-32 with the polynomial 0x04c11db7 over a page without its checksum.
fn ogg_checksum(page: &[u8]) -> u32 {
    let bytes =
        page.iter().enumerate().map(|(index, byte)| if (22..26).contains(&index) { 0 } else { *byte });
    bytes.fold(0, |crc: u32, byte| {
        (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| {
            if crc & 0x8000_0000 == 0 { crc << 1 } else { crc << 1 ^ 0x04c1_1db7 }
        })
    })
}

/// The data after an `ID3v2` tag, whose size is in four bytes of seven bits.
pub(crate) fn after_id3(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'I', b'D', b'3', _, _, _, a, b, c, d, ..] => {
            let size = [a, b, c, d].iter().fold(0, |size, byte| size << 7 | usize::from(**byte & 0x7f));
            bytes.get(10 + size..).unwrap_or_default()
        }
        _ => bytes,
    }
}

/// The length of an MPEG layer III frame by its header (ISO/IEC 11172-3, 2.4.1.3, and 13818-3).
fn mp3_frame_len(bytes: &[u8]) -> Option<usize> {
    const KBITS_V1: [usize; 15] = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
    const KBITS_V2: [usize; 15] = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
    let [0xff, second, third, _, ..] = *bytes else { return None };
    if second & 0xe6 != 0xe2 {
        return None;
    }
    let rate = *[44_100, 48_000, 32_000].get(usize::from(third >> 2 & 3))?;
    let index = usize::from(third >> 4);
    let (kbits, rate, slots) = match second >> 3 & 3 {
        3 => (KBITS_V1.get(index)?, rate, 144_000),
        2 => (KBITS_V2.get(index)?, rate / 2, 72_000),
        0 => (KBITS_V2.get(index)?, rate / 4, 72_000),
        _ => return None,
    };
    (*kbits > 0).then(|| slots * kbits / rate + usize::from(third >> 1 & 1))
}

/// The length of an ADTS frame by its header (ISO/IEC 13818-7, 6.2).
fn adts_frame_len(bytes: &[u8]) -> Option<usize> {
    let [0xff, second, third, b3, b4, b5, _, ..] = *bytes else { return None };
    let length = usize::from(b3 & 3) << 11 | usize::from(b4) << 3 | usize::from(b5 >> 5);
    (second & 0xf6 == 0xf0 && third >> 2 & 0xf < 13 && length > 7).then_some(length)
}

/// Whether the first page is whole and begins an audio stream (RFC 3533, section 6).
fn is_ogg_audio(bytes: &[u8]) -> bool {
    let Some((header, rest)) = bytes.split_at_checked(27) else { return false };
    let Some((sizes, rest)) = rest.split_at_checked(usize::from(header[26])) else { return false };
    let Some(packet) = rest.get(..sizes.iter().map(|size| usize::from(*size)).sum()) else { return false };
    let audio = [&b"\x01vorbis"[..], b"OpusHead", b"\x7fFLAC", b"Speex   "];
    header[4] == 0 && header[5] & 2 != 0 && audio.iter().any(|codec| packet.starts_with(codec))
}

/// Whether the signature is followed by a `STREAMINFO` block with a sample rate, and by more (RFC 9639, section 8.2).
fn is_flac(bytes: &[u8]) -> bool {
    let Some(block) = bytes.get(4..42) else { return false };
    let sample_rate = u32::from(block[14]) << 12 | u32::from(block[15]) << 4 | u32::from(block[16]) >> 4;
    matches!(block[0], 0 | 0x80) && block[1..4] == [0, 0, 34] && sample_rate > 0 && bytes.len() > 42
}

#[cfg(test)]
mod tests {
    use super::{check, ogg_checksum};
    use crate::MediaType;

    fn mp3() -> Vec<u8> {
        let mut frame = vec![0; 417];
        frame[..4].copy_from_slice(&[0xff, 0xfb, 0x90, 0x64]);
        frame.repeat(2)
    }

    #[test]
    fn check_accepts_streams() {
        let mut tagged = b"ID3\x04\0\0\0\0\x01\x02".to_vec();
        tagged.extend([0; 130 + 7]);
        tagged.extend(mp3());
        let adts = [0xff, 0xf1, 0x50, 0x80, 0x01, 0x3f, 0xfc, 0, 0].repeat(2);
        let mut ogg = b"OggS\0\x02".to_vec();
        ogg.extend([0; 20]);
        ogg.extend([1, 8]);
        ogg.extend(b"OpusHead");
        let checksum = ogg_checksum(&ogg);
        ogg[22..26].copy_from_slice(&checksum.to_le_bytes());
        let mut flac = b"fLaC\x80\0\0\x22".to_vec();
        flac.extend([0; 10]);
        flac.extend([0x0a, 0xc4, 0x42]);
        flac.extend([0; 30]);
        for (media_type, bytes) in [
            (MediaType::Mp3, mp3()),
            (MediaType::Mp3, tagged),
            (MediaType::Aac, adts),
            (MediaType::Ogg, ogg),
            (MediaType::Flac, flac),
        ] {
            assert!(check(media_type, &bytes).is_ok(), "{media_type:?}");
        }
    }

    #[test]
    fn check_damage_further_in_is_reported() {
        let message = |media_type, bytes: &[u8]| check(media_type, bytes).unwrap_err().to_string();
        let half = [mp3().repeat(4), vec![0x55; 8000]].concat();
        assert_eq!(
            message(MediaType::Mp3, &half),
            "the file is damaged: only 2919 of 11336 bytes are audio frames: the rest cannot be decoded"
        );
        // A tag at the end is none.
        assert!(check(MediaType::Mp3, &[mp3().repeat(4), b"TAG".repeat(40)].concat()).is_ok());
        let mut page = b"OggS\0\x02".to_vec();
        page.extend([0; 20]);
        page.extend([1, 8]);
        page.extend(b"OpusHead");
        let checksum = ogg_checksum(&page);
        page[22..26].copy_from_slice(&checksum.to_le_bytes());
        let pages = page.repeat(3);
        assert!(check(MediaType::Ogg, &pages).is_ok());
        let mut flipped = pages.clone();
        flipped[70] ^= 1;
        assert_eq!(
            message(MediaType::Ogg, &flipped),
            "the file is damaged: the Ogg page at byte 36 has a wrong checksum"
        );
        assert_eq!(
            message(MediaType::Ogg, &pages[..100]),
            "the file is damaged: the Ogg page at byte 72 is cut off or missing"
        );
    }

    #[test]
    fn check_signature_followed_by_junk_is_damaged() {
        for signature in
            [&b"ID3\x04\0\0"[..], b"\xff\xfb\x90\x64", b"\xff\xf1\x50\x80", b"OggS\0\x02", b"fLaC"]
        {
            let media_type = MediaType::sniff(signature).unwrap();
            let junk = [signature, &b"nonsense ".repeat(100)].concat();
            assert!(check(media_type, &junk).is_err(), "{media_type:?}");
            assert!(check(media_type, signature).is_err(), "{media_type:?}");
        }
    }
}
