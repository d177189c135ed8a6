//! Media as the file names them: a frame of a shot, a local file, or a URL.

use std::collections::HashMap;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sha2::{Digest, Sha256};

use super::urls::{is_fetchable, is_url, kind_of_url};
use super::{ExpandCx, file_names};
use crate::diagnostic::{Diagnostic, Problems};
use crate::files::{self, FileError};
use crate::media_gate::{MediaGate, MediaGateError, MediaKind};
use crate::plan::{Frame, MediaSource};
use crate::source::{Span, Spanned};
use crate::syntax::keys::{KeySpec, medium as keys};
use crate::syntax::{self, Mapping, ShotRef, expect_choice};
use crate::template::has_template;
use crate::yaml::{Yaml, YamlValue};

/// A medium as the file names it, after rendering.
#[derive(Clone, Debug)]
pub(super) enum MediumSpec {
    Shot { reference: Spanned<ShotRef>, frame: Frame },
    Url { url: String, kind: Option<MediaKind> },
    File { path: String, kind: Option<MediaKind> },
    FileFrame { path: String, frame: Frame },
}

/// The standard alphabet, with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The shots that the value of `first_frame`, `last_frame` or `references` names. It is read before rendering: the reference graph
/// must be known without templates.
pub(super) fn shots_named(value: &Yaml, key: &str, problems: &mut Problems) -> Vec<Spanned<ShotRef>> {
    let mut references = Vec::new();
    for item in syntax::one_or_many(value) {
        let Some((member, shot)) = item.get("shot") else { continue };
        let Some(text) = shot_text(shot) else {
            let diagnostic =
                Diagnostic::error("wrong-type", shot.span.or(member.span), "`shot` names a shot");
            problems.push(diagnostic.label(format!("this is {}", shot.kind())));
            continue;
        };
        if has_template(&text) {
            problems.push(
                Diagnostic::error("bad-name", shot.span, format!("`{key}` names a shot by a template"))
                    .help("write the shot's id as it is: which shot uses which is known before anything is rendered"),
            );
            continue;
        }
        match ShotRef::parse(&text) {
            Ok(reference) => references.push(Spanned::new(reference, shot.span)),
            Err(message) => problems.error("bad-name", shot.span, message),
        }
    }
    references
}

fn shot_text(value: &Yaml) -> Option<String> {
    match &value.value {
        YamlValue::Text(text) => Some(text.clone()),
        YamlValue::Number(number) if number.is_u64() => Some(number.to_string()),
        _ => None,
    }
}

pub(super) fn read(value: &Yaml, key: &str, key_span: Span, problems: &mut Problems) -> Option<MediumSpec> {
    match &value.value {
        YamlValue::Text(text) => by_text(text, value.span.or(key_span), problems),
        YamlValue::Map(_) => by_map(value, key, key_span, problems),
        _ => {
            problems.push(
                Diagnostic::error(
                    "wrong-type",
                    value.span.or(key_span),
                    format!("`{key}` names an image, a video or a sound"),
                )
                .label(format!("this is {}", value.kind()))
                .help(keys::MEDIUM.help()),
            );
            None
        }
    }
}

fn by_text(text: &str, span: Span, problems: &mut Problems) -> Option<MediumSpec> {
    if is_url(text) {
        if !is_fetchable(text, span, problems) {
            return None;
        }
        return Some(MediumSpec::Url { url: text.to_owned(), kind: kind_of_url(text) });
    }
    if text.contains("://") {
        problems.push(
            Diagnostic::error(
                "bad-medium",
                span,
                "this is neither a file nor a URL that the service can fetch",
            )
            .help("URLs begin with `https://`, `http://` or `data:`"),
        );
        return None;
    }
    Some(MediumSpec::File { path: text.to_owned(), kind: None })
}

fn by_map(value: &Yaml, key: &str, key_span: Span, problems: &mut Problems) -> Option<MediumSpec> {
    let map = Mapping::read(value, &keys::MEDIUM, key_span, problems)?;
    let is_known = map.others().next().is_none();
    let text = |key: &KeySpec, problems: &mut Problems| map.get(key).map(|_| map.text(key, problems));
    let kind = match map.get(&keys::TYPE) {
        None => None,
        Some((key, value)) => Some(expect_choice(value, &keys::TYPE, &keys::TYPES, key.span, problems)?),
    };
    if let (Some((frame, _)), Some(_)) = (map.get(&keys::FRAME), map.get(&keys::URL)) {
        problems.push(
            Diagnostic::error(
                "bad-medium",
                frame.span,
                "`frame` is taken from a shot or a file, not from a URL",
            )
            .help("a URL is used as it is: remove `frame`, or download the video and name its file"),
        );
        return None;
    }
    let frame = match map.get(&keys::FRAME) {
        None => None,
        Some((key, value)) => Some(expect_choice(value, &keys::FRAME, &keys::FRAMES, key.span, problems)?),
    };
    let is_frame = frame.is_some() || map.get(&keys::SHOT).is_some();
    if let (Some((written, _)), true, Some(kind)) = (map.get(&keys::TYPE), is_frame, kind)
        && kind != MediaKind::Image
    {
        problems.error("bad-medium", written.span, "a frame is an image");
        return None;
    }
    let named = match (map.get(&keys::SHOT), text(&keys::FILE, problems), text(&keys::URL, problems)) {
        (Some((_, shot)), None, None) => {
            let reference = Spanned::new(ShotRef::parse(&shot_text(shot)?).ok()?, shot.span);
            MediumSpec::Shot { reference, frame: frame.unwrap_or(Frame::Last) }
        }
        (None, Some(file), None) => match frame {
            Some(frame) => MediumSpec::FileFrame { path: file?.value, frame },
            None => MediumSpec::File { path: file?.value, kind },
        },
        (None, None, Some(url)) => {
            let url = url?;
            if !is_url(&url.value) {
                problems.error("bad-medium", url.span, "a URL begins with `https://`, `http://` or `data:`");
                return None;
            }
            if !is_fetchable(&url.value, url.span, problems) {
                return None;
            }
            MediumSpec::Url { kind: kind.or_else(|| kind_of_url(&url.value)), url: url.value }
        }
        _ => {
            if is_known {
                problems.push(
                    Diagnostic::error(
                        "bad-medium",
                        map.span(),
                        format!("`{key}` must have one of `shot`, `file` and `url`"),
                    )
                    .help(keys::MEDIUM.help()),
                );
            }
            return None;
        }
    };
    is_known.then_some(named)
}

/// Media that are sent inside requests, each inspected once.
#[derive(Default)]
pub(super) struct LocalMedia {
    files: HashMap<String, Result<(MediaSource, MediaKind), MediaGateError>>,
    /// Videos of which a frame is taken: path and SHA-256.
    videos: HashMap<String, Result<(PathBuf, String), MediaGateError>>,
    /// By SHA-256: a data URI is long.
    data_uris: HashMap<[u8; 32], Result<InlineMedium, MediaGateError>>,
    /// What such texts hold, by its SHA-256.
    inline: HashMap<[u8; 32], Result<InlineMedium, MediaGateError>>,
}

/// A medium in a data URI or in Base64.
#[derive(Clone, Copy, Debug)]
pub(super) struct InlineMedium {
    pub(super) kind: MediaKind,
    /// Its size, before Base64.
    pub(super) bytes: u64,
}

impl LocalMedia {
    /// A local file as an input, or why it cannot be one.
    pub(super) fn file(
        &mut self,
        path: &str,
        cx: &ExpandCx<'_>,
    ) -> Result<(MediaSource, MediaKind), MediaGateError> {
        if let Some(cached) = self.files.get(path) {
            return cached.clone();
        }
        let inspected = inspect_file(path, cx);
        self.files.insert(path.to_owned(), inspected.clone());
        inspected
    }

    /// A frame of a local video as an input, or why it cannot be taken.
    pub(super) fn file_frame(
        &mut self,
        path: &str,
        frame: Frame,
        cx: &ExpandCx<'_>,
    ) -> Result<MediaSource, MediaGateError> {
        let cached = self.videos.entry(path.to_owned()).or_insert_with(|| inspect_video(path, cx));
        cached.clone().map(|(path, sha256)| MediaSource::FileFrame { path, sha256, frame })
    }

    /// The medium in a text of Base64, or why it cannot be sent; `None` if the text is not in Base64.
    pub(super) fn base64(
        &mut self,
        text: &str,
        cx: &ExpandCx<'_>,
    ) -> Option<Result<InlineMedium, MediaGateError>> {
        let digest = Sha256::digest(text).into();
        if let Some(cached) = self.data_uris.get(&digest) {
            return Some(cached.clone());
        }
        let inspected = self.inspect_inline(&decode_base64(text).ok()?, cx);
        self.data_uris.insert(digest, inspected.clone());
        Some(inspected)
    }

    /// The medium in a data URI, or why it cannot be sent.
    pub(super) fn data_uri(&mut self, uri: &str, cx: &ExpandCx<'_>) -> Result<InlineMedium, MediaGateError> {
        let digest = Sha256::digest(uri).into();
        if let Some(cached) = self.data_uris.get(&digest) {
            return cached.clone();
        }
        let inspected = decode_data_uri(uri).and_then(|bytes| self.inspect_inline(&bytes, cx));
        self.data_uris.insert(digest, inspected.clone());
        inspected
    }

    fn inspect_inline(&mut self, bytes: &[u8], cx: &ExpandCx<'_>) -> Result<InlineMedium, MediaGateError> {
        let digest = Sha256::digest(bytes).into();
        if let Some(cached) = self.inline.get(&digest) {
            return cached.clone();
        }
        let length = bytes.len() as u64;
        let inspected = cx.work.inspect_medium(length, || cx.files.media_gate().check(bytes));
        let inspected = inspected.map(|info| InlineMedium { kind: info.kind, bytes: length });
        self.inline.insert(digest, inspected.clone());
        inspected
    }
}

/// The path of a file that a workflow names, or why it may not be read.
pub(super) fn path_inside(path: &str) -> Result<PathBuf, String> {
    files::normalize_relative(path)
        .ok_or_else(|| "a workflow's files lie in its own folder or below".to_owned())
}

fn refuse(path: &str, message: String, cx: &ExpandCx<'_>) -> MediaGateError {
    let general = "files are named from the workflow's folder; a web address begins with `https://`";
    let help =
        file_names::suggestion(path, cx).or_else(|| no_file(path)).unwrap_or_else(|| general.to_owned());
    MediaGateError { message, help }
}

/// The help for what is meant as something else than the name of a file.
fn no_file(path: &str) -> Option<String> {
    if let Some(shot) = path.strip_suffix(".last_frame").or_else(|| path.strip_suffix(".first_frame")) {
        let shot = shot.trim_start_matches("shots.");
        return Some(format!(
            "a frame of a shot is written `{{shot: {shot}}}`; `continues: {shot}` goes on from its last frame"
        ));
    }
    let name = path.strip_prefix(['“', '„', '‘'])?.trim_end_matches(['”', '“', '’']);
    Some(format!("the curly quotes are part of the name: write `\"{name}\"`"))
}

/// A video of which only a frame is sent: it may be as large as a clip of a film.
fn inspect_video(path: &str, cx: &ExpandCx<'_>) -> Result<(PathBuf, String), MediaGateError> {
    let inside = path_inside(path).map_err(|message| refuse(path, message, cx))?;
    let gate = cx.files.media_gate();
    let bytes = cx.files.read(&inside, gate.max_film_file_bytes).map_err(|error| match error {
        FileError::TooLarge => MediaGate::film_file_too_large(gate.max_film_file_bytes),
        other => refuse(path, other.to_string(), cx),
    })?;
    let kind = cx.inspect_file(&inside, &bytes, gate.inspect)?.kind;
    if kind != MediaKind::Video {
        let actual = if kind == MediaKind::Image { "an image" } else { "audio" };
        return Err(MediaGateError {
            message: format!("`frame` is taken from a video, and this is {actual}"),
            help: "remove `frame`".to_owned(),
        });
    }
    Ok((inside, hex::encode(Sha256::digest(&bytes))))
}

fn inspect_file(path: &str, cx: &ExpandCx<'_>) -> Result<(MediaSource, MediaKind), MediaGateError> {
    let inside = path_inside(path).map_err(|message| refuse(path, message, cx))?;
    let gate = cx.files.media_gate();
    let bytes = cx.files.read(&inside, gate.max_file_bytes).map_err(|error| match error {
        FileError::TooLarge => gate.too_large(),
        other => refuse(path, other.to_string(), cx),
    })?;
    let info = cx.inspect_file(&inside, &bytes, |bytes| gate.check(bytes))?;
    let source = MediaSource::File {
        path: inside,
        sha256: hex::encode(Sha256::digest(&bytes)),
        media_type: info.media_type.to_owned(),
        bytes: bytes.len() as u64,
    };
    Ok((source, info.kind))
}

/// The bytes of a data URI (RFC 2397) in Base64. Its declared media type is ignored.
fn decode_data_uri(uri: &str) -> Result<Vec<u8>, MediaGateError> {
    let refuse = |message: &str| MediaGateError {
        message: message.to_owned(),
        help: "write `data:image/png;base64,` and the file in Base64, or name the file itself".to_owned(),
    };
    let (head, data) =
        uri.split_once(',').ok_or_else(|| refuse("this data URI has no comma before its data"))?;
    if !head.trim_end().to_ascii_lowercase().ends_with(";base64") {
        return Err(refuse("this data URI is not in Base64"));
    }
    decode_base64(data).map_err(|error| refuse(&format!("this data URI is not in Base64: {error}")))
}

/// Decodes Base64, white space in it aside.
fn decode_base64(data: &str) -> Result<Vec<u8>, base64::DecodeError> {
    let data: String = data.chars().filter(|c| !c.is_ascii_whitespace()).collect();
    BASE64.decode(data)
}
