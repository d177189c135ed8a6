//! The size of the media that one request carries, before anything is paid for.

use super::ExpandCx;
use super::dedup::DiagnosticDedup;
use super::expansion::Instance;
use super::frames::{InputMedium, MediumUse};
use super::urls::is_data_uri;
use crate::diagnostic::Diagnostic;
use crate::media_gate::{self, MediaGateError};
use crate::plan::MediaSource;

/// Number of bytes that a medium adds to its request before Base64; `None` if the service fetches it.
pub(super) fn inline_bytes(medium: &InputMedium) -> Option<u64> {
    match medium {
        InputMedium::File(source) => match &**source {
            MediaSource::File { bytes, .. } => Some(*bytes),
            _ => None,
        },
        InputMedium::Url(url) => url.as_str().filter(|url| is_data_uri(url)).map(media_gate::inline_bytes),
        InputMedium::Instance { .. } => None,
    }
}

/// Number of bytes that a frame of a video adds to its request, at most; `None` for another medium.
fn max_frame_bytes(medium: &InputMedium, cx: &ExpandCx<'_>) -> Option<u64> {
    let max_bytes = cx.files.media_gate().max_frame_bytes;
    match medium {
        InputMedium::File(source) => match &**source {
            MediaSource::FileFrame { path, .. } => {
                Some(max_bytes(cx.inspected.borrow().get(path).and_then(|info| info.size)))
            }
            _ => None,
        },
        InputMedium::Instance { .. } => Some(max_bytes(None)),
        InputMedium::Url(_) => None,
    }
}

/// Reports media that are too large together for one request.
pub(super) fn check_media(
    instance: &Instance,
    uses: &[MediumUse],
    cx: &ExpandCx<'_>,
    dedup: &mut DiagnosticDedup,
) {
    let inline = || uses.iter().filter_map(|used| Some((used, inline_bytes(&used.medium)?)));
    let (gate, sum) = (cx.files.media_gate(), inline().map(|(_, bytes)| bytes).sum::<u64>());
    let largest = inline().max_by_key(|(_, bytes)| *bytes);
    let frames = || uses.iter().filter_map(|used| Some((used, max_frame_bytes(&used.medium, cx)?)));
    let with_frames = sum + frames().map(|(_, bytes)| bytes).sum::<u64>();
    let diagnostic = if let Some((largest, _)) = largest.filter(|_| sum > gate.max_request_bytes) {
        let MediaGateError { message, help } = gate.sum_too_large(sum);
        Diagnostic::error("media-too-large", largest.span, message)
            .label("this is the largest of them")
            .help(help)
    } else if with_frames > gate.max_request_bytes
        && let Some((frame, _)) = frames().max_by_key(|(_, bytes)| *bytes)
    {
        let MediaGateError { message, help } = gate.sum_may_be_too_large(with_frames);
        Diagnostic::warning("media-too-large", frame.span, message).label("a frame is sent as PNG").help(help)
    } else {
        return;
    };
    dedup.add(instance, diagnostic);
}
