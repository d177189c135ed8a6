//! The files of films: sounds, clips of one's own and fonts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io::ErrorKind;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::media::path_inside;
use super::{ExpandCx, file_names};
use crate::diagnostic::{Diagnostic, Problems, shortened};
use crate::files::{self, FileError};
use crate::media_gate::{MediaGate, MediaGateError, MediaInfo, MediaKind, ReadSeek};
use crate::plan::FilmFile;
use crate::source::{Span, Spanned};
use crate::syntax::{self, Entry, keys};
use crate::template::Scope;

/// The most missing characters that a message names.
const MAX_NAMED: usize = 8;
/// How many characters are searched for missing ones: for each that is missing, all fonts are tried, which takes half a millisecond.
const MAX_EXAMINED: usize = 20_000;
/// How much of a file is read at once.
const PART_BYTES: usize = 64 << 10;

/// The files of all films of a workflow, each read once.
#[derive(Default)]
pub(super) struct FilmFiles {
    media: HashMap<String, Result<(FilmFile, MediaInfo), MediaGateError>>,
    fonts: HashMap<String, Result<Font, MediaGateError>>,
    /// The characters that are drawn, by the path of the font; that of the embedded ones is empty.
    drawn: BTreeMap<String, DrawnCharacters>,
    /// Number of characters that are examined with all fonts.
    examined_length: usize,
}

/// The characters that are drawn with a font.
#[derive(Default)]
struct DrawnCharacters {
    font: Option<Arc<[u8]>>,
    /// Texts in which all of `examined` occur, a line each.
    texts: String,
    examined: HashSet<char>,
    /// The unusual characters of each text, by its span.
    used: BTreeSet<(Span, String)>,
}

/// A font with its contents.
#[derive(Clone)]
pub(super) struct Font {
    pub(super) file: FilmFile,
    bytes: Arc<[u8]>,
}

impl FilmFiles {
    /// A sound, video or image. What cannot be used is reported.
    pub(super) fn medium<'w>(
        &mut self,
        entry: &'w Entry,
        key: &keys::KeySpec,
        scope: &Scope,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<(FilmFile, MediaInfo)> {
        let name = name(entry, key, scope, cx, problems)?;
        let cached = self.media.entry(name.value.clone()).or_insert_with(|| inspect(&name.value, cx));
        match cached.clone() {
            Ok((file, info)) => {
                if let Some(coding) = info.foreign.as_ref().filter(|_| !cx.files.media_gate().has_ffmpeg) {
                    problems.push(needs_ffmpeg(&name.value, entry.span(), info.kind, coding));
                }
                Some((file, info))
            }
            Err(error) => {
                report(&name.value, entry.span(), &error, problems);
                None
            }
        }
    }

    pub(super) fn font<'w>(
        &mut self,
        entry: &'w Entry,
        scope: &Scope,
        cx: &ExpandCx<'w>,
        problems: &mut Problems,
    ) -> Option<Font> {
        let name = name(entry, &keys::film::FONT, scope, cx, problems)?;
        let cached = self.fonts.entry(name.value.clone()).or_insert_with(|| inspect_font(&name.value, cx));
        cached.clone().map_err(|error| report(&name.value, entry.span(), &error, problems)).ok()
    }

    /// Notes the characters of a text that is drawn, for [`Self::report_missing_characters`].
    pub(super) fn check_characters(&mut self, text: &Spanned<String>, font: Option<&Font>) {
        // The embedded fonts have the others.
        let unusual = |c: &char| !(c.is_ascii() || c.is_alphabetic() && *c < '\u{250}');
        let characters: BTreeSet<char> = text.value.chars().filter(unusual).collect();
        if characters.is_empty() {
            return;
        }
        let path = font.map(|font| font.file.path.to_string_lossy().into_owned()).unwrap_or_default();
        let drawn = self.drawn.entry(path).or_insert_with(|| DrawnCharacters {
            font: font.map(|font| Arc::clone(&font.bytes)),
            ..DrawnCharacters::default()
        });
        // A line is examined as a whole, since fonts have glyphs for sequences of characters.
        for line in text.value.lines() {
            let is_new = line.chars().any(|c| unusual(&c) && !drawn.examined.contains(&c));
            let left = MAX_EXAMINED.saturating_sub(self.examined_length);
            if !is_new || left == 0 {
                continue;
            }
            let examined: String = line.chars().take(left).collect();
            self.examined_length += examined.chars().count();
            drawn.examined.extend(examined.chars().filter(unusual));
            drawn.texts.push_str(&examined);
            drawn.texts.push('\n');
        }
        drawn.used.insert((text.span, characters.into_iter().collect()));
    }

    /// Warns of characters that are drawn and that no font has.
    pub(super) fn report_missing_characters(&self, cx: &ExpandCx<'_>, problems: &mut Problems) {
        for drawn in self.drawn.values() {
            let missing = (cx.files.media_gate().missing_characters)(drawn.font.as_deref(), &drawn.texts);
            let missing: HashSet<char> = missing.into_iter().collect();
            if missing.is_empty() {
                continue;
            }
            for (span, characters) in &drawn.used {
                let of_text: Vec<char> = characters.chars().filter(|c| missing.contains(c)).collect();
                if !of_text.is_empty() {
                    problems.push(missing_characters(*span, &of_text));
                }
            }
        }
    }
}

fn missing_characters(span: Span, missing: &[char]) -> Diagnostic {
    let mut named: Vec<String> =
        missing.iter().take(MAX_NAMED).map(|c| format!("`{c}` (U+{:04X})", u32::from(*c))).collect();
    if missing.len() > MAX_NAMED {
        named.push(format!("and {} more", missing.len() - MAX_NAMED));
    }
    let message = format!(
        "no font has {}: emoji are left out, and a box is drawn for any other character",
        named.join(", ")
    );
    Diagnostic::warning("missing-character", span, message)
        .help("name a font that has them: `font: fonts/NAME.ttf`")
}

fn name<'w>(
    entry: &'w Entry,
    key: &keys::KeySpec,
    scope: &Scope,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<Spanned<String>> {
    let value = cx.templates.render(&entry.value, scope, problems)?;
    syntax::expect_text(&value, key, entry.key.span, problems)
}

fn needs_ffmpeg(name: &str, span: Span, kind: MediaKind, coding: &str) -> Diagnostic {
    let name = shortened(name);
    let (kind, natives) = match kind {
        MediaKind::Audio => ("sound", "WAV, M4A, MP3 or FLAC"),
        MediaKind::Video | MediaKind::Image => ("video", "H.264 with AAC sound in an MP4 file"),
    };
    let message = format!(
        "`{name}` has {coding}, which ffmpeg decodes, and ffmpeg is not on `PATH`: the film cannot be joined"
    );
    Diagnostic::warning("needs-ffmpeg", span, message)
        .help(format!("install ffmpeg before the shots are ready, or save the {kind} as {natives}"))
}

/// Reports a file that cannot be used.
pub(super) fn report(name: &str, span: Span, error: &MediaGateError, problems: &mut Problems) {
    let message = format!("`{}` cannot be used: {}", shortened(name), error.message);
    problems.push(Diagnostic::error("bad-file", span, message).help(error.help.clone()));
}

fn unreadable(path: &str, message: String, cx: &ExpandCx<'_>) -> MediaGateError {
    let help = file_names::suggestion(path, cx);
    MediaGateError {
        message,
        help: help.unwrap_or_else(|| "files are named from the workflow's folder".to_owned()),
    }
}

fn file_error(path: &str, error: &FileError, max: u64, cx: &ExpandCx<'_>) -> MediaGateError {
    match error {
        FileError::TooLarge => MediaGate::film_file_too_large(max),
        other => unreadable(path, other.to_string(), cx),
    }
}

/// A sound or clip may be large: it is read in parts, once for its digest and once for its contents.
fn inspect(path: &str, cx: &ExpandCx<'_>) -> Result<(FilmFile, MediaInfo), MediaGateError> {
    let gate = cx.files.media_gate();
    let max = gate.max_film_file_bytes;
    let inside = path_inside(path).map_err(|message| unreadable(path, message, cx))?;
    let refused = |error: FileError| file_error(path, &error, max, cx);
    let mut file = cx.files.open(&inside, max).map_err(refused)?;
    let (sha256, length) = digest(&mut *file, max).map_err(refused)?;
    let info = cx.work.inspect_medium(length, || (gate.inspect_file)(file))?;
    Ok((FilmFile { path: inside, sha256 }, info))
}

/// SHA-256 and length of a file of at most `max` bytes.
fn digest(file: &mut dyn ReadSeek, max: u64) -> Result<(String, u64), FileError> {
    let (mut hash, mut part, mut length) = (Sha256::new(), vec![0; PART_BYTES], 0);
    loop {
        let count = match file.read(&mut part) {
            Ok(0) => return Ok((hex::encode(hash.finalize()), length)),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(files::file_error(error)),
        };
        length += count as u64;
        if length > max {
            return Err(FileError::TooLarge);
        }
        hash.update(&part[..count]);
    }
}

fn inspect_font(path: &str, cx: &ExpandCx<'_>) -> Result<Font, MediaGateError> {
    let gate = cx.files.media_gate();
    let inside = path_inside(path).map_err(|message| unreadable(path, message, cx))?;
    let bytes = cx.files.read(&inside, gate.max_font_bytes);
    let bytes = bytes.map_err(|error| file_error(path, &error, gate.max_font_bytes, cx))?;
    let file = FilmFile { path: inside, sha256: hex::encode(Sha256::digest(&bytes)) };
    (gate.inspect_font)(&bytes)?;
    Ok(Font { file, bytes: bytes.into() })
}
