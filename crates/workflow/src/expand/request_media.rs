//! Media in request fields, written by hand: checked like those that `first_frame` and `references` name, since the service refuses what
//! is no medium only after other shots were paid for.

use contract::{Field, MediaEncoding, Placement, Word};
use serde_json::Value;

use super::ExpandCx;
use super::dedup::DiagnosticDedup;
use super::media::LocalMedia;
use super::provenance::origin_span;
use super::request_builder::{FieldMedium, RequestBuilder};
use super::request_size;
use super::urls::{check_url, is_data_uri, is_url, names_a_local_file, unreachable};
use crate::diagnostic::Diagnostic;
use crate::media_gate::{MediaGateError, MediaKind};

/// The media in a field's value, each inspected. Values of another type are left to the contract, and local paths to
/// [`super::local_paths`].
pub(super) fn inspect(
    value: &Value,
    field: &Field,
    local: &mut LocalMedia,
    cx: &ExpandCx<'_>,
) -> Vec<FieldMedium> {
    let mut inspections = Vec::new();
    if let Some(encoding) = field.media {
        let mut add = |pointer: String, value: &Value| {
            if let Some(text) = value.as_str().filter(|text| !names_a_local_file(text)) {
                let inspected = inspect_text(text, Some(encoding), MediaKind::Image, local, cx);
                inspections.push(FieldMedium { pointer, inspected, reachability: unreachable(text) });
            }
        };
        match value {
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(index, item)| add(format!("/{index}"), item));
            }
            value => add(String::new(), value),
        }
    } else {
        for (placement, kind) in placements_in(&field.name, cx) {
            let list = placement.list().unwrap_or_default();
            let within = &list[field.name.len() + 1..];
            let Some(items) = value.pointer(within).and_then(Value::as_array) else { continue };
            let medium = placement.value_in_item().unwrap_or_default();
            for (index, item) in items.iter().enumerate() {
                if let Some(text) = item.pointer(&medium).and_then(Value::as_str) {
                    let pointer = format!("{within}/{index}{medium}");
                    let inspected = inspect_text(text, None, kind, local, cx);
                    inspections.push(FieldMedium { pointer, inspected, reachability: unreachable(text) });
                }
            }
        }
    }
    inspections
}

/// Where requests take media as items of a list within a field, and of which kind.
fn placements_in<'c>(field: &str, cx: &ExpandCx<'c>) -> Vec<(&'c Placement, MediaKind)> {
    let mut placements: Vec<(&Placement, MediaKind)> = Vec::new();
    for model in cx.contract.models() {
        for (word, kind) in [
            (Word::FirstFrame, MediaKind::Image),
            (Word::LastFrame, MediaKind::Image),
            (Word::ReferenceImage, MediaKind::Image),
            (Word::ReferenceVideo, MediaKind::Video),
            (Word::ReferenceAudio, MediaKind::Audio),
        ] {
            let Some(placement) = model.inputs.get(word) else { continue };
            let is_same = |(known, _): &(&Placement, MediaKind)| {
                known.at == placement.at && known.value_in_item() == placement.value_in_item()
            };
            if placement.is_list() && placement.field() == field && !placements.iter().any(is_same) {
                placements.push((placement, kind));
            }
        }
    }
    placements
}

/// The number of bytes that a medium written as text adds to its request, or why it cannot be sent.
fn inspect_text(
    text: &str,
    encoding: Option<MediaEncoding>,
    expected: MediaKind,
    local: &mut LocalMedia,
    cx: &ExpandCx<'_>,
) -> Result<u64, MediaGateError> {
    let refuse = |message: &str| {
        let form = if encoding.is_some() { "write a URL, or a data URI in Base64" } else { "write a URL" };
        let help = format!("{form}; local files are named in `first_frame`, `last_frame` and `references`");
        MediaGateError { message: message.to_owned(), help }
    };
    if text.trim().is_empty() {
        return Err(refuse("an image, a video or a sound is missing here"));
    }
    let inline = if is_data_uri(text) {
        local.data_uri(text, cx)?
    } else if is_url(text) || text.contains("://") {
        return check_url(text).map(|()| 0);
    } else if encoding == Some(MediaEncoding::Base64) {
        let Some(inspected) = local.base64(text, cx) else {
            return Err(refuse("this is neither a URL nor Base64"));
        };
        inspected.map_err(|MediaGateError { message, help }| MediaGateError {
            message: format!("this is no URL, and what it holds in Base64 cannot be sent: {message}"),
            help,
        })?
    } else {
        return Err(refuse("this is no URL"));
    };
    if inline.kind != expected {
        let (actual, expected) = (inline.kind.as_str(), expected.as_str());
        return Err(refuse(&format!("the contents are of the kind `{actual}`, and this takes `{expected}`")));
    }
    Ok(inline.bytes)
}

/// Reports the media of a request's fields that cannot be sent, except those in `refused`, which are reported already.
pub(super) fn report(
    builder: &RequestBuilder<'_, '_>,
    refused: &[contract::Violation],
    cx: &ExpandCx<'_>,
    dedup: &mut DiagnosticDedup,
) {
    let icx = builder.icx;
    let span_of = |pointer: &str| {
        let origin = builder.origin(pointer);
        origin.map_or(icx.expanded.shot.id.span, |origin| origin_span(origin.span, origin.written, icx))
    };
    let (mut sum, mut largest) = (0, None);
    for (name, media) in &builder.media {
        for FieldMedium { pointer, inspected, reachability } in media.iter() {
            let pointer = format!("/{name}{pointer}");
            if let Some(MediaGateError { message, help }) = reachability {
                let warning = Diagnostic::warning("service-may-refuse", span_of(&pointer), message.as_str());
                dedup.add_warning(icx.instance, format!("{pointer} {message}"), warning.help(help.as_str()));
            }
            match inspected {
                Ok(0) => {}
                Ok(bytes) => {
                    sum += bytes;
                    largest = largest.max(Some((*bytes, pointer)));
                }
                Err(_) if refused.iter().any(|violation| violation.pointer == pointer) => {}
                Err(MediaGateError { message, help }) => {
                    let diagnostic = Diagnostic::error("bad-medium", span_of(&pointer), message.as_str());
                    dedup.add(icx.instance, diagnostic.help(help.as_str()));
                }
            }
        }
    }
    let gate = cx.files.media_gate();
    let lowered: u64 = icx.media.iter().filter_map(|used| request_size::inline_bytes(&used.medium)).sum();
    // What is lowered alone is too large is reported by [`request_size::check_media`].
    if let Some((_, pointer)) = largest
        && lowered <= gate.max_request_bytes
        && lowered + sum > gate.max_request_bytes
    {
        let MediaGateError { message, help } = gate.sum_too_large(lowered + sum);
        let diagnostic = Diagnostic::error("media-too-large", span_of(&pointer), message);
        let diagnostic = diagnostic.label("this is the largest of them").help(help);
        dedup.add(icx.instance, diagnostic);
    }
}
