//! The lint of prompts as they are sent: text that nobody sees.

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

/// Prompts without any text.
pub(super) fn run(workflow: &Workflow, requests: &Requests<'_>, dedup: &mut DiagnosticDedup) {
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

fn prompt_span(workflow: &Workflow, shot: &Shot) -> Span {
    entry(workflow, shot, Word::Prompt.as_str()).map_or(shot.id.span, |(entry, _)| entry.span())
}

/// Whether a text shows nothing.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || is_invisible(c))
}
