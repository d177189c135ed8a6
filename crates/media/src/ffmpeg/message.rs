//! Messages of ffmpeg and ffprobe, for people who did not run them.

use std::ffi::OsString;

/// A tool's message without the name of the temporary file and the addresses in its memory, as in `[mp3 @ 0x55d0c8]`.
pub(crate) fn readable(complaint: &str, arguments: &[OsString]) -> String {
    let mut text = complaint.to_owned();
    for url in arguments.iter().filter_map(|argument| argument.to_str()) {
        if let Some(path) = url.strip_prefix("file:").filter(|path| !path.is_empty()) {
            text = text.replace(url, "the file").replace(path, "the file");
        }
    }
    let mut rest = text.as_str();
    while let Some((context, message)) = rest.strip_prefix('[').and_then(|inner| inner.split_once("] "))
        && context.contains(" @ 0x")
    {
        rest = message;
    }
    rest.chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_messages_have_neither_paths_nor_addresses() {
        let arguments = ["-i", "file:/data/.tmpUmEUtb"].map(OsString::from);
        let text = |complaint| readable(complaint, &arguments);
        assert_eq!(text("file:/data/.tmpUmEUtb: Invalid data found"), "the file: Invalid data found");
        assert_eq!(
            text("[in#0 @ 0x55d0] [mp3 @ 0x55d0c8] cannot read '/data/.tmpUmEUtb' [sic]"),
            "cannot read 'the file' [sic]"
        );
        assert_eq!(text("[stream 0] no sound"), "[stream 0] no sound");
    }
}
