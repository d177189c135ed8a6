//! Files as text.

use crate::diagnostic::{Diagnostic, Problems};
use crate::encoding;
use crate::limits;
use crate::source::{Source, Span};

/// The text of a file in UTF-8; where it is not, or too large, that is reported.
pub(crate) fn read_text(bytes: &[u8], file_name: &str, problems: &mut Problems) -> Source {
    if bytes.len() > limits::MAX_FILE_BYTES {
        problems.push(too_large());
        // The beginning is enough for the message.
        let start = String::from_utf8_lossy(&bytes[..1024]).into_owned();
        return Source::new(file_name, start);
    }
    match encoding::decode(bytes) {
        Ok(text) => Source::new(file_name, text),
        Err(error) => {
            let byte = bytes.get(error.offset).copied().unwrap_or_default();
            problems.push(
                Diagnostic::error(
                    "not-utf8",
                    Span::new(error.offset, error.offset + '\u{fffd}'.len_utf8()),
                    error.to_string(),
                )
                .label(format!("the byte {byte:#04x} begins no character"))
                .help("save it as UTF-8"),
            );
            Source::new(file_name, String::from_utf8_lossy(bytes))
        }
    }
}

/// Text that another program wrote: UTF-8, or UTF-16 or Windows-1252 with a warning.
pub(crate) fn read_any_text(bytes: &[u8], file_name: &str, problems: &mut Problems) -> Source {
    let Ok((text, Some(encoding))) = encoding::decode_any(bytes) else {
        return read_text(bytes, file_name, problems);
    };
    if bytes.len() > limits::MAX_FILE_BYTES {
        return read_text(bytes, file_name, problems);
    }
    let text = with_plain_line_ends(&text);
    let start = text.find(|c: char| !c.is_ascii()).unwrap_or_default();
    let end = start + text[start..].chars().next().map_or(0, char::len_utf8);
    problems.push(
        Diagnostic::warning(
            "other-encoding",
            Span::new(start, end),
            format!("this file is not UTF-8: it is read as {encoding}"),
        )
        .help("if letters come out wrong, save it as UTF-8; in Excel as `CSV UTF-8`"),
    );
    Source::new(file_name, text)
}

/// The report of a file that is larger than a workflow may be.
pub(crate) fn too_large() -> Diagnostic {
    Diagnostic::error(
        "file-too-large",
        Span::default(),
        format!(
            "this file is larger than {} MiB, the limit for a workflow",
            limits::MAX_FILE_BYTES / 1024 / 1024
        ),
    )
    .help("move tables to CSV files and media to files of their own")
}

/// Text without a byte order mark, whose lines end with LF.
pub(crate) fn with_plain_line_ends(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")
}
