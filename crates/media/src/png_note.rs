//! Text in a PNG file: a chunk `iTXt` (PNG specification, 11.3.3.4) with a keyword of our own.

/// The longest note that is written and read, in bytes.
pub const MAX_NOTE_BYTES: usize = 64 << 10;

const SIGNATURE: usize = 8;
/// The keyword, the end of it, no compression, and neither language nor translated keyword.
const PREFIX: &[u8] = b"runner:scene\0\0\0\0\0";

/// Puts a note after the header of a PNG file.
pub(crate) fn insert(png: &mut Vec<u8>, note: &str) {
    let Some(header) = chunks(png).next() else { return };
    if note.len() > MAX_NOTE_BYTES {
        return;
    }
    let position = SIGNATURE + header.1.len() + 12;
    let body = [b"iTXt", PREFIX, note.as_bytes()].concat();
    let mut chunk = ((body.len() - 4) as u32).to_be_bytes().to_vec();
    chunk.extend_from_slice(&body);
    chunk.extend_from_slice(&crc32(&body).to_be_bytes());
    png.splice(position..position, chunk);
}

/// The note of a PNG file, if it has one in front of its pixels.
pub(crate) fn find(png: &[u8]) -> Option<&str> {
    if !png.starts_with(b"\x89PNG\r\n\x1a\n") {
        return None;
    }
    chunks(png)
        .take_while(|(kind, _)| kind != b"IDAT")
        .filter(|(kind, body)| kind == b"iTXt" && body.len() <= PREFIX.len() + MAX_NOTE_BYTES)
        .find_map(|(_, body)| std::str::from_utf8(body.strip_prefix(PREFIX)?).ok())
}

/// Kind and content of each chunk, as far as they are whole.
fn chunks(png: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    let mut rest = png.get(SIGNATURE..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (kind, after) = after.split_first_chunk::<4>()?;
        let (body, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        rest = after.get(4..)?;
        Some((*kind, body))
    })
}

/// The checksum of PNG chunks (ISO 3309).
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::{MAX_NOTE_BYTES, RgbImage, decode_image, encode_png};

    fn round_trip(note: &str) -> Option<String> {
        let mut image = RgbImage::new(7, 5);
        image.set_note(Some(note.to_owned()));
        let decoded = decode_image(&encode_png(&image)).expect("it is a PNG");
        assert_eq!(decoded, image);
        decoded.note().map(str::to_owned)
    }

    #[test]
    fn png_carries_its_note() {
        for note in ["", "a note", "夜の港", &"x".repeat(MAX_NOTE_BYTES)] {
            assert_eq!(round_trip(note).as_deref(), Some(note));
        }
        assert_eq!(round_trip(&"x".repeat(MAX_NOTE_BYTES + 1)), None);
        assert_eq!(decode_image(&encode_png(&RgbImage::new(7, 5))).expect("it is a PNG").note(), None);
    }

    #[test]
    fn checksum_is_that_of_the_standard() {
        assert_eq!(super::crc32(b"IEND"), 0xae42_6082);
    }

    #[test]
    fn cut_files_have_no_note() {
        let mut image = RgbImage::new(7, 5);
        image.set_note(Some("a note".to_owned()));
        let png = encode_png(&image);
        for length in 0..60 {
            assert_eq!(super::find(&png[..length]), None);
        }
    }
}
