//! Lints of prompts as they are sent: text that nobody sees, and characters that are no text.

use std::collections::HashMap;

use contract::Word;

use super::dedup::DiagnosticDedup;
use super::fields::entry;
use super::lints::Requests;
use crate::diagnostic::Diagnostic;
use crate::letters::is_invisible;
use crate::plan::Node;
use crate::source::Span;
use crate::syntax::{Shot, Workflow};
use crate::template::has_template;

pub(super) fn run(workflow: &Workflow, requests: &Requests<'_>, dedup: &mut DiagnosticDedup) {
    blank_prompts(workflow, requests, dedup);
    control_characters(workflow, requests, dedup);
}

/// Prompts without any text.
fn blank_prompts(workflow: &Workflow, requests: &Requests<'_>, dedup: &mut DiagnosticDedup) {
    let mut first: HashMap<&str, &Node> = HashMap::new();
    for node in requests.nodes().iter().filter(|node| node.prompt().is_some_and(is_blank)) {
        first.entry(&*node.shot).or_insert(node);
    }
    for (index, shot) in workflow.shots.iter().enumerate() {
        let id = shot.id.value.as_str();
        let Some(node) = first.get(id) else { continue };
        let span = prompt_span(workflow, shot);
        let text = entry(workflow, shot, Word::Prompt.as_str()).and_then(|(entry, _)| entry.value.text());
        if !text.is_some_and(has_template) {
            let message = format!("`{id}` has an empty prompt");
            let help = "say what is to be seen: the video is paid for all the same";
            dedup.add_of_shot(index, Diagnostic::warning("blank-prompt", span, message).help(help));
            continue;
        }
        let message = format!("`{}` has an empty prompt: its template comes out as nothing", node.name);
        let help = "give the names in it values, or add text beside them";
        dedup.add_of_shot(index, Diagnostic::warning("blank-prompt", span, message).help(help));
    }
}

/// Control characters other than those that lay out text. They come from escapes such as `"\0"`, and from tables.
fn control_characters(workflow: &Workflow, requests: &Requests<'_>, dedup: &mut DiagnosticDedup) {
    let mut first: HashMap<&str, (usize, char)> = HashMap::new();
    for node in requests.nodes() {
        if let Some(character) = node.prompt().and_then(control_in) {
            first.entry(&*node.shot).or_insert(character);
        }
    }
    for (shot_index, shot) in workflow.shots.iter().enumerate() {
        let Some((index, control)) = first.get(shot.id.value.as_str()) else { continue };
        let message = format!(
            "the prompt of `{}` has a control character, U+{:04X}, which is no text",
            shot.id.value, *control as u32
        );
        dedup.add_of_shot(
            shot_index,
            Diagnostic::warning("control-character", prompt_span(workflow, shot), message)
                .label(format!("its character {}", index + 1))
                .help("remove it: a service may refuse it, or end the prompt there"),
        );
    }
}

fn prompt_span(workflow: &Workflow, shot: &Shot) -> Span {
    entry(workflow, shot, Word::Prompt.as_str()).map_or(shot.id.span, |(entry, _)| entry.span())
}

/// Whether a text shows nothing.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
}

/// The first control character that lays out no text, with its index in characters.
fn control_in(text: &str) -> Option<(usize, char)> {
    // Nearly all texts have none: bytes are searched first. Those from U+0080 on begin with 0xC2.
    let may_begin = |byte: u8| matches!(byte, 0..=8 | 11 | 12 | 14..=31 | 0x7f | 0xc2);
    if !text.bytes().any(may_begin) {
        return None;
    }
    text.chars().enumerate().find(|(_, c)| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}'))
}
