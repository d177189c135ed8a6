//! The dialogue of an instance: its lines with templates rendered.

use std::sync::Arc;

use serde_json::Value;

use super::ExpandCx;
use super::fields::is_literal;
use super::interner::Interner;
use super::request_builder::InstanceCx;
use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::plan::DialogueLine;
use crate::syntax::{Entry, LineSpec, Shot};
use crate::units::{EditTime, VideoDuration};

/// The lines of an instance; `None` without any. Lines whose text is blank are left out, so that a cell of a table may be empty. `shared` are
/// those of the shot's earlier instances, where all say the same.
pub(super) fn lines<'w>(
    shared: &mut Option<Arc<[DialogueLine]>>,
    icx: &InstanceCx<'_, 'w>,
    interner: &mut Interner,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<Arc<[DialogueLine]>> {
    if shared.is_some() {
        return shared.clone();
    }
    let lines = rendered(icx, interner, cx, problems);
    if is_same_for_all(icx.expanded.shot) {
        shared.clone_from(&lines);
    }
    lines
}

fn is_same_for_all(shot: &Shot) -> bool {
    let mut entries = shot.dialogue.iter().flat_map(|line| std::iter::once(&line.text).chain(&line.speaker));
    entries.all(|entry| is_literal(&entry.value))
}

fn rendered<'w>(
    icx: &InstanceCx<'_, 'w>,
    interner: &mut Interner,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<Arc<[DialogueLine]>> {
    let mut lines = Vec::new();
    for line in &icx.expanded.shot.dialogue {
        let Some(text) = text(&line.text, icx, cx, problems) else { continue };
        let speaker = line.speaker.as_ref().and_then(|speaker| self::text(speaker, icx, cx, problems));
        interner.count(text.len() + speaker.as_ref().map_or(0, String::len) + size_of::<DialogueLine>());
        lines.push(DialogueLine {
            text,
            speaker,
            at: line.at.as_ref().map(|time| time.value),
            length: line.length.as_ref().map(|length| length.value),
        });
    }
    (!lines.is_empty()).then(|| lines.into())
}

/// Rendered text; `None` if it is blank or not text, which is reported.
fn text<'w>(
    entry: &'w Entry,
    icx: &InstanceCx<'_, 'w>,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<String> {
    let text = match cx.templates.json(&entry.value, &icx.scope, problems)? {
        Value::String(text) => text.trim().to_owned(),
        value @ (Value::Number(_) | Value::Bool(_)) => value.to_string(),
        Value::Null => return None,
        Value::Array(_) | Value::Object(_) => {
            problems.error("wrong-type", entry.span(), format!("`{}` must be text", entry.key.value));
            return None;
        }
    };
    if text.chars().count() > limits::MAX_DIALOGUE_CHARS {
        let message = format!("a line of dialogue has more than {} characters", limits::MAX_DIALOGUE_CHARS);
        problems.push(
            Diagnostic::error("bad-dialogue", entry.span(), message).help("split it into several lines"),
        );
        return None;
    }
    (!text.is_empty()).then_some(text)
}

/// Reports of lines that begin after the requested video has ended.
pub(super) fn late_lines(lines: &[LineSpec], length: VideoDuration) -> impl Iterator<Item = Diagnostic> {
    let end = i64::try_from(length.as_millis()).unwrap_or(i64::MAX / 1_000) * 1_000;
    lines.iter().filter_map(|line| line.at.as_ref()).filter_map(move |time| {
        let is_late = matches!(time.value, EditTime::Micros(start) if start >= end);
        is_late.then(|| {
            let message = format!("`at: {}` is after the end of the video", time.value);
            Diagnostic::error("bad-dialogue", time.span, message)
                .label(format!("{length} s of video are requested"))
                .help("begin the line earlier, or make the shot longer")
        })
    })
}
