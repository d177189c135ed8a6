//! Lints of texts as they are written: placeholders of other template languages, and fields that a text has swallowed.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use contract::{Contract, Model};

use super::ExpandCx;
use super::axes::axis_names;
use super::request_template::{is_field_of_any, is_word_of};
use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::Node;
use crate::source::Span;
use crate::syntax::keys::shot::SHOT;
use crate::syntax::{Entry, Workflow};
use crate::yaml::{Yaml, YamlValue};

pub(super) fn run(workflow: &Workflow, cx: &ExpandCx<'_>, problems: &mut Problems) {
    let params = workflow.all_params().map(|param| param.key.value.as_str());
    let shared: HashSet<&str> = params.chain(workflow.matrix.iter().flat_map(axes)).collect();
    let of_all_shots = workflow.shots.iter().filter_map(|shot| shot.matrix.as_ref()).flat_map(axes).collect();
    let mut reported = HashSet::new();
    let mut check = |entry: &Entry, own: &HashSet<&str>| {
        // What an anchor names is there once for each alias.
        let YamlValue::Text(text) = &entry.value.value else { return };
        if problems.full() || !reported.insert(entry.value.span) {
            return;
        }
        let names = shared.union(own).copied();
        let warnings = [swallowed_field(entry, cx), foreign_placeholder(text, entry.value.span, names, cx)];
        warnings.into_iter().flatten().for_each(|warning| problems.push(warning));
    };
    workflow.all_defaults().for_each(|entry| check(entry, &of_all_shots));
    for shot in &workflow.shots {
        let own = shot.matrix.iter().flat_map(axes).collect();
        shot.fields.iter().for_each(|entry| check(entry, &own));
    }
}

fn axes(matrix: &Entry) -> impl Iterator<Item = &str> {
    axis_names(&matrix.value)
}

/// `{look}` or `${look}`, where `look` is the name of a parameter or an axis: the first in the text.
fn foreign_placeholder<'n>(
    text: &str,
    span: Span,
    names: impl Iterator<Item = &'n str>,
    cx: &ExpandCx<'_>,
) -> Option<Diagnostic> {
    let find = |text: &str, placeholder: &str| {
        let is_template = |start: usize| text[..start].ends_with('{');
        text.match_indices(placeholder).map(|(start, _)| start).find(|start| !is_template(*start))
    };
    let of_name = |name| {
        let placeholder = format!("{{{name}}}");
        Some((find(text, &placeholder)?, name, placeholder))
    };
    let (_, name, placeholder) = names.filter_map(of_name).min()?;
    let location = find(cx.source.slice(span), &placeholder).map_or(span, |offset| {
        let start = span.start() + offset;
        Span::new(start, start + placeholder.len())
    });
    let message = format!("`{placeholder}` is sent as text: it is no template");
    Some(Diagnostic::warning("foreign-placeholder", location, message).help(format!(
        "write `{{{{ {name} }}}}`; braces that are meant as text are written `{{{{ '{{' }}}}`"
    )))
}

/// A line of a block text that looks like a field of the shot: it is indented too deep to be one.
fn swallowed_field(entry: &Entry, cx: &ExpandCx<'_>) -> Option<Diagnostic> {
    let written = cx.source.slice(entry.value.span);
    // Only in a block text can a line be `key: value`: plain text ends there, and quoted text shows that it goes on.
    if written.starts_with(['"', '\'']) || !written.contains('\n') {
        return None;
    }
    let mut offset = entry.value.span.start();
    for line in written.split_inclusive('\n') {
        let start = offset + line.len() - line.trim_start().len();
        offset += line.len();
        let Some((key, value)) = line.trim().split_once(": ") else { continue };
        let is_key = SHOT.has(key) || is_field_of_any(key, cx);
        // A sentence may begin with such a word and go on; the value of a field is short.
        if is_key && !value.trim().is_empty() && !value.trim().contains(' ') {
            let span = Span::new(start, start + key.len());
            let message = format!("this line is a part of the text of `{}`", entry.key.value);
            let help = format!("if it is the field `{key}`, indent it like `{}`", entry.key.value);
            return Some(Diagnostic::warning("field-in-text", span, message).help(help));
        }
    }
    None
}

/// Defaults that no request of the workflow has, because no family of its models takes them.
pub(super) fn unused_defaults(
    workflow: &Workflow,
    nodes: &[Node],
    cx: &ExpandCx<'_>,
    problems: &mut Problems,
) {
    let models: HashMap<(Option<&str>, &str), &Node> =
        nodes.iter().map(|node| ((node.service.as_deref(), &*node.model), node)).collect();
    if models.is_empty() {
        return;
    }
    let models: Vec<(&Contract, Arc<Model>)> = models
        .into_values()
        .filter_map(|node| {
            let contract = cx.of_node(node).contract;
            Some((contract, contract.model(&node.model)?))
        })
        .collect();
    for entry in workflow.all_defaults() {
        let name = entry.key.value.as_str();
        let takes = |(contract, model): &(&Contract, Arc<Model>)| {
            contract.field(&model.family, name).is_some() || is_word_of(name, model)
        };
        // What no service has is an error; the model may be said elsewhere than in the request.
        if name != "model" && !models.iter().any(takes) && !is_null(&entry.value) {
            let mut fields: Vec<&str> = models
                .iter()
                .flat_map(|(contract, model)| contract.fields(&model.family))
                .map(|field| field.name.as_str())
                .collect();
            fields.sort_unstable();
            fields.dedup();
            let message = format!("no shot has a model that takes `{name}`: it is not sent");
            problems.push(Diagnostic::warning("unused-default", entry.key.span, message).help(format!(
                "remove it, or choose another model (`runner services show`); the fields of these models are {}",
                crate::diagnostic::quoted_list(fields.iter().copied(), 30)
            )));
        }
    }
}

fn is_null(value: &Yaml) -> bool {
    matches!(value.value, YamlValue::Null)
}
