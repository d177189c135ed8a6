//! Lints of requests that the service which a run would use refuses by limits of its own.

use contract::Field;
use serde_json::Value;

use super::ExpandCx;
use super::lints::Requests;
use super::request_template::entry;
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::load::ServiceLimits;
use crate::plan::Node;
use crate::source::Span;
use crate::syntax::{Shot, Workflow};

pub(super) fn run(workflow: &Workflow, requests: &Requests<'_>, cx: &ExpandCx<'_>, problems: &mut Problems) {
    let Some(limits) = &cx.options.service else { return };
    let ServiceLimits { service, text_chars, media_items } = limits;
    let mut report = |span: Span, what: String, help: &str| {
        let message = format!("{what}, and {service} refuses it");
        problems.push(Diagnostic::warning("service-may-refuse", span, message).help(help));
    };
    for name in ["prompt", "user"] {
        let is_long = |node: &Node| {
            let text = node.request.get(name).and_then(Value::as_str).unwrap_or_default();
            text.len() > *text_chars && text.chars().count() > *text_chars
        };
        for shot in requests.shots(is_long) {
            let most = grouped(*text_chars as u128);
            let what = format!("`{name}` of `{}` has more than {most} characters", shot.id.value);
            report(span(workflow, shot, name), what, "shorten it");
        }
    }
    for shot in requests.shots(|node| media_of(node, cx) > *media_items) {
        let what = format!("`{}` has more than {media_items} images, videos and sounds", shot.id.value);
        report(shot.id.span, what, "use fewer references");
    }
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
