//! Bytes as UTF-8 text; other encodings are refused by name, with a remedy.

use std::fmt;

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
}

/// Bytes that stand for no character in Windows-1252.
const NOT_WINDOWS_1252: [u8; 5] = [0x81, 0x8d, 0x8f, 0x90, 0x9d];

/// The text of a file.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, NotUtf8> {
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

/// Whether every second byte of the beginning is zero, as in ASCII text that is written as UTF-16.
fn has_utf16_zeros(bytes: &[u8]) -> bool {
    let start = bytes.get(..64.min(bytes.len() / 2 * 2)).unwrap_or_default();
    let count = |remainder: usize| start.iter().skip(remainder).step_by(2).filter(|byte| **byte == 0).count();
    let half = start.len() / 2;
    half >= 2 && [(half, 0), (0, half)].contains(&(count(0), count(1)))
}

impl NotUtf8 {
    /// The remedy.
    pub(crate) fn help(self) -> &'static str {
        match self.encoding {
            Some(Encoding::Utf16) => "save it as UTF-8; in Excel as `CSV UTF-8`, not as `Unicode Text`",
            Some(Encoding::Windows1252) => "save it as UTF-8; in Excel as `CSV UTF-8`, not as `CSV`",
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
        ] {
            let error = decode(&bytes).unwrap_err();
            assert!(error.to_string().ends_with(named), "{error}");
            assert!(error.help().contains("UTF-8"));
        }
        assert_eq!(decode(b"name\nM\xe4dchen\n").unwrap_err().offset, 6);
    }
}
