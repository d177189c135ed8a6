//! Lints of members that a request passes on although the document does not define them: a misspelled one has no effect.

use std::collections::HashSet;

use contract::{UnknownMember, nearest_name};
use serde_json::Value;

use super::ExpandCx;
use super::fields::entry;
use super::lints::Requests;
use super::request_template::object_of;
use crate::diagnostic::{Diagnostic, Problems, shortened};
use crate::plan::Node;
use crate::syntax::Workflow;

/// Names that are compared with those that the document defines.
const MAX_COMPARED_NAMES: usize = 2_000;
/// Members of one value that are compared.
const MAX_MEMBERS: usize = 100;

/// Warns of members of objects such as `metadata` that resemble one that the document defines. A name is compared once.
pub(super) fn run(workflow: &Workflow, requests: &Requests<'_>, cx: &ExpandCx<'_>, problems: &mut Problems) {
    let mut compared: HashSet<(String, String)> = HashSet::new();
    let mut last: Option<(&str, &Value)> = None;
    for node in requests.nodes() {
        for (field, value) in node.request.iter().filter(|(_, value)| value.is_object()) {
            // Instances share equal values.
            if last.is_some_and(|(shot, last)| shot == &*node.shot && std::ptr::eq(last, value)) {
                continue;
            }
            last = Some((&node.shot, value));
            let Some(shape) = cx.of_node(node).contract.field_shape(&node.family, field) else { continue };
            for member in shape.further_members(value, MAX_MEMBERS) {
                let name = (node.shot.to_string(), format!("{field}{}", member.pointer));
                if compared.len() < MAX_COMPARED_NAMES
                    && compared.insert(name)
                    && let Some(warning) = warning(field, &member, node, workflow)
                {
                    problems.push(warning);
                }
            }
        }
    }
}

fn warning(field: &str, member: &UnknownMember<'_>, node: &Node, workflow: &Workflow) -> Option<Diagnostic> {
    let suggestion = nearest_name(&member.name, member.expected.iter().copied())?;
    let shot = workflow.shots.iter().find(|shot| shot.id.value == *node.shot)?;
    let span = entry(workflow, shot, field).map_or(shot.id.span, |(entry, _)| {
        let (within, name) = member.pointer.rsplit_once('/').unwrap_or_default();
        let (object, _) = entry.value.descend(within.split('/').skip(1));
        object.get(name).map_or_else(|| entry.span(), |(key, _)| key.span)
    });
    let message = format!(
        "`{}` is no member of `{}` and has no effect there: it is sent as it is",
        shortened(&member.name),
        object_of(field, member)
    );
    Some(Diagnostic::warning("unknown-member", span, message).help(format!("did you mean `{suggestion}`?")))
}
