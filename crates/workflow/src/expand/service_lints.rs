//! Lints of requests that the service which a run would use refuses by limits of its own.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use contract::Field;
use serde_json::Value;

use super::ExpandCx;
use super::fields::entry;
use super::lints::Requests;
use crate::diagnostic::{Diagnostic, Problems, grouped, shortened};
use crate::media_gate::{MediaInfo, MediaKind};
use crate::options::ServiceLimits;
use crate::plan::{MediaSource, Node};
use crate::source::Span;
use crate::syntax::{Shot, Workflow};

pub(super) fn run(workflow: &Workflow, requests: &Requests<'_>, cx: &ExpandCx<'_>, problems: &mut Problems) {
    let Some(limits) = &cx.options.service else { return };
    let ServiceLimits { service, text_chars, media_items, .. } = limits;
    let mut report = |span: Span, finding: String, help: &str| {
        let message = format!("{finding}, and {service} refuses it");
        problems.push(Diagnostic::warning("service-may-refuse", span, message).help(help));
    };
    for name in ["prompt", "user"] {
        let is_long = |node: &Node| {
            let text = node.request.get(name).and_then(Value::as_str).unwrap_or_default();
            text.len() > *text_chars && text.chars().count() > *text_chars
        };
        for shot in requests.shots(is_long) {
            let max_chars = grouped(*text_chars as u128);
            let finding = format!("`{name}` of `{}` has more than {max_chars} characters", shot.id.value);
            report(span(workflow, shot, name), finding, "shorten it");
        }
    }
    for shot in requests.shots(|node| media_of(node, cx) > *media_items) {
        let finding = format!("`{}` has more than {media_items} images, videos and sounds", shot.id.value);
        report(shot.id.span, finding, "use fewer references");
    }
    let inspected = cx.inspected.borrow();
    // One file of each shot.
    let mut by_shot: HashMap<&str, RefusedFile<'_>> = HashMap::new();
    for node in requests.nodes() {
        if !by_shot.contains_key(&*node.shot)
            && let Some(file) = refused_input(node, &inspected, limits)
        {
            by_shot.insert(&node.shot, file);
        }
    }
    for shot in &workflow.shots {
        let Some(RefusedFile { path, finding, help }) = by_shot.get(shot.id.value.as_str()) else { continue };
        let name = shortened(&path.to_string_lossy());
        report(shot.id.span, format!("`{}` sends `{name}`, {finding}", shot.id.value), help);
    }
}

/// A local file that a service refuses.
struct RefusedFile<'a> {
    path: &'a Path,
    finding: String,
    help: String,
}

fn refused_input<'a>(
    node: &'a Node,
    inspected: &BTreeMap<PathBuf, MediaInfo>,
    limits: &ServiceLimits,
) -> Option<RefusedFile<'a>> {
    node.inputs.iter().find_map(|input| refused_file(&input.source, inspected, limits))
}

fn refused_file<'a>(
    source: &'a MediaSource,
    inspected: &BTreeMap<PathBuf, MediaInfo>,
    limits: &ServiceLimits,
) -> Option<RefusedFile<'a>> {
    match source {
        MediaSource::File { path, .. } => {
            let (finding, help) = refused_medium(inspected.get(path)?, limits)?;
            Some(RefusedFile { path, finding, help })
        }
        // A frame is sent as an image, whatever the codec.
        MediaSource::FileFrame { path, .. } => {
            let video = *inspected.get(path)?;
            let (finding, help) = refused_medium(&MediaInfo { kind: MediaKind::Image, ..video }, limits)?;
            Some(RefusedFile { path, finding: format!("a video {finding}, of which a frame is sent"), help })
        }
        _ => None,
    }
}

/// What is wrong with a medium, and how to mend it.
fn refused_medium(info: &MediaInfo, limits: &ServiceLimits) -> Option<(String, String)> {
    let ServiceLimits { media_sides, needs_native_video, .. } = limits;
    if info.kind == MediaKind::Video && *needs_native_video && !info.is_native {
        let help = "convert it: `ffmpeg -i IN -c:v libx264 -pix_fmt yuv420p OUT.mp4`".to_owned();
        return Some(("a video in another codec than H.264".to_owned(), help));
    }
    let (width, height) = info.size?;
    if [width, height].iter().all(|side| media_sides.contains(side)) {
        return None;
    }
    let (min_side, max_side) = (media_sides.start(), grouped(u128::from(*media_sides.end())));
    let help = format!("scale it: each side has {min_side} to {max_side} pixels");
    Some((format!("of {width}x{height} pixels"), help))
}

fn span(workflow: &Workflow, shot: &Shot, field: &str) -> Span {
    entry(workflow, shot, field).map_or(shot.id.span, |(entry, _)| entry.span())
}

/// The number of media in a request.
fn media_of(node: &Node, cx: &ExpandCx<'_>) -> usize {
    let count = |value: &Value| value.as_array().map_or(1, Vec::len);
    let is_medium = |field: &&Field| field.media.is_some();
    let fields = cx.contract.fields(&node.family).iter().filter(is_medium);
    let of_fields: usize = fields.filter_map(|field| node.request.get(&field.name)).map(count).sum();
    let content = node.request.get("metadata").and_then(|metadata| metadata.get("content"));
    of_fields + content.map_or(0, count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_are_refused_by_codec_and_by_size() {
        let limits = ServiceLimits {
            service: "a service",
            text_chars: 1,
            media_items: 1,
            media_sides: 16..=6_000,
            needs_native_video: true,
        };
        let info = |kind, is_native, size| MediaInfo {
            media_type: "video/mp4",
            kind,
            duration: None,
            size,
            is_native,
            decoded: 0,
        };
        let refused = |info: MediaInfo| refused_medium(&info, &limits).map(|(finding, _)| finding);
        let of_codec = "a video in another codec than H.264".to_owned();
        assert_eq!(refused(info(MediaKind::Video, false, Some((64, 64)))), Some(of_codec));
        assert_eq!(refused(info(MediaKind::Video, true, Some((64, 64)))), None);
        assert_eq!(refused(info(MediaKind::Audio, false, None)), None);
        assert_eq!(refused(info(MediaKind::Image, true, Some((6_000, 16)))), None);
        for size in [(15, 64), (64, 6_001)] {
            let of_size = format!("of {}x{} pixels", size.0, size.1);
            assert_eq!(refused(info(MediaKind::Image, true, Some(size))), Some(of_size));
        }
    }
}
