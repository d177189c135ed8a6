//! Bytes as text. A workflow is UTF-8: other encodings are refused by name, with help. What spreadsheets and older programs
//! write is read in UTF-16 and Windows-1252 too.

use std::borrow::Cow;
use std::fmt;

use encoding_rs::{UTF_16BE, UTF_16LE, WINDOWS_1252};

/// Why bytes are not UTF-8 text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotUtf8 {
    /// The first byte that begins no character.
    pub(crate) offset: usize,
    /// The encoding that the bytes probably have.
    encoding: Option<Encoding>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Utf16,
    Windows1252,
    /// A workbook of Excel or another program, which is no text.
    Workbook,
}

/// How ZIP archives, such as .xlsx and .ods, and .xls begin.
const WORKBOOKS: [&[u8]; 2] = [b"PK\x03\x04", b"\xd0\xcf\x11\xe0"];

/// Bytes that stand for no character in Windows-1252.
const NOT_WINDOWS_1252: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// The text of a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, NotUtf8> {
    if WORKBOOKS.iter().any(|magic| bytes.starts_with(magic)) {
        return Err(NotUtf8 { offset: 0, encoding: Some(Encoding::Workbook) });
    }
    let is_utf16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") || has_utf16_zeros(bytes);
    match std::str::from_utf8(bytes) {
        // UTF-16 without its byte order mark is valid UTF-8 where all characters are ASCII.
        Ok(text) if !is_utf16 => Ok(text),
        Ok(_) => Err(NotUtf8 { offset: 0, encoding: Some(Encoding::Utf16) }),
        Err(error) => {
            let encoding = if is_utf16 {
                Some(Encoding::Utf16)
            } else if bytes.iter().all(|byte| *byte != 0 && !NOT_WINDOWS_1252.contains(byte)) {
                Some(Encoding::Windows1252)
            } else {
                None
            };
            Err(NotUtf8 { offset: error.valid_up_to(), encoding })
        }
    }
}

/// The text of a file in UTF-8, UTF-16 or Windows-1252, and the encoding's name if it is not UTF-8.
///
/// # Errors
/// It is none of the three, as far as that shows.
pub(crate) fn decode_any(bytes: &[u8]) -> Result<(Cow<'_, str>, Option<&'static str>), NotUtf8> {
    let error = match decode(bytes) {
        Ok(text) => return Ok((Cow::Borrowed(text), None)),
        Err(error) => error,
    };
    let (encoding, name) = match error.encoding {
        Some(Encoding::Utf16) if is_big_endian(bytes) => (UTF_16BE, "UTF-16"),
        Some(Encoding::Utf16) => (UTF_16LE, "UTF-16"),
        Some(Encoding::Windows1252) => (WINDOWS_1252, "Windows-1252"),
        Some(Encoding::Workbook) | None => return Err(error),
    };
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes).ok_or(error)?;
    Ok((text, Some(name)))
}

/// Of UTF-16: by its byte order mark, or else by the zero of its first character.
fn is_big_endian(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xfe\xff") || (!bytes.starts_with(b"\xff\xfe") && bytes.first() == Some(&0))
}

/// Whether every second byte of the beginning is zero, as in ASCII text that is written as UTF-16.
fn has_utf16_zeros(bytes: &[u8]) -> bool {
    let start = bytes.get(..64.min(bytes.len() / 2 * 2)).unwrap_or_default();
    let count = |remainder: usize| start.iter().skip(remainder).step_by(2).filter(|byte| **byte == 0).count();
    let half = start.len() / 2;
    half >= 2 && [(half, 0), (0, half)].contains(&(count(0), count(1)))
}

impl NotUtf8 {
    pub(crate) fn help(self) -> &'static str {
        match self.encoding {
            Some(Encoding::Utf16) => "save it as UTF-8; in Excel as `CSV UTF-8`, not as `Unicode Text`",
            Some(Encoding::Windows1252) => "save it as UTF-8; in Excel as `CSV UTF-8`, not as `CSV`",
            Some(Encoding::Workbook) => {
                "export the sheet as CSV, and name that file: in Excel, save it as `CSV UTF-8`"
            }
            None => "save it as UTF-8",
        }
    }
}

impl fmt::Display for NotUtf8 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this file is not UTF-8 text")?;
        match self.encoding {
            Some(Encoding::Utf16) => f.write_str(": it looks like UTF-16"),
            Some(Encoding::Windows1252) => f.write_str(": it looks like Windows-1252"),
            Some(Encoding::Workbook) => f.write_str(": it looks like a workbook (.xlsx) or another archive"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_named() {
        let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        assert_eq!(decode("a;b\n\u{e4}".as_bytes()), Ok("a;b\n\u{e4}"));
        for (bytes, named) in [
            (utf16("\u{feff}name;age"), "UTF-16"),
            (utf16("name;age"), "UTF-16"),
            (b"\xfe\xff\0n".to_vec(), "UTF-16"),
            (b"name\nM\xe4dchen \x80 5\n".to_vec(), "Windows-1252"),
            (b"a\0\0\0\xff".to_vec(), "not UTF-8 text"),
            (b"PK\x03\x04\x14\0".to_vec(), "workbook (.xlsx) or another archive"),
        ] {
            let error = decode(&bytes).unwrap_err();
            assert!(error.to_string().ends_with(named), "{error}");
            assert!(error.help().contains("UTF-8"), "{named}");
        }
        assert_eq!(decode(b"name\nM\xe4dchen\n").unwrap_err().offset, 6);
    }

    #[test]
    fn other_encodings_are_read() {
        let text = "Größe; “x” €";
        let big: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_be_bytes).collect();
        let little: Vec<u8> = "Size; x".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (bytes, expected, name) in [
            (text.as_bytes().to_vec(), text, None),
            (big, "\u{feff}Größe; “x” €", Some("UTF-16")),
            (little, "Size; x", Some("UTF-16")),
            (b"Gr\xf6\xdfe; \x93x\x94 \x80".to_vec(), text, Some("Windows-1252")),
        ] {
            let (read, encoding) = decode_any(&bytes).unwrap();
            assert_eq!((&*read, encoding), (expected, name));
        }
        for wrong in [b"\xff\xfea".as_slice(), b"\xff\xfe\0\xd8", b"a\0\0\0\xff", b"\x81"] {
            assert!(decode_any(wrong).is_err(), "{wrong:?}");
        }
    }
}
