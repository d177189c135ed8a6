//! Lints of texts as they are written: placeholders of other template languages, and fields that a text has swallowed.

use std::collections::{HashMap, HashSet};

use super::ExpandCx;
use super::axes::axis_names;
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::Span;
use crate::syntax::keys::shot::SHOT;
use crate::syntax::{Entry, Shot, Workflow};
use crate::yaml::{Yaml, YamlValue};

/// What other languages write around the name of a value.
const PLACEHOLDERS: [(&str, &str); 6] =
    [("${", "}"), ("{", "}"), ("[[", "]]"), ("<", ">"), ("%", "%"), ("$", "")];

pub(super) fn run(workflow: &Workflow, cx: &ExpandCx<'_>, problems: &mut Problems) {
    let of_all: HashSet<&str> = names(workflow, None);
    let mut reported = HashSet::new();
    let defaults = workflow.all_defaults().map(|entry| (entry, None));
    let fields =
        workflow.shots.iter().flat_map(|shot| shot.fields.iter().map(move |entry| (entry, Some(shot))));
    let mut of_shot: Option<(&str, HashSet<&str>)> = None;
    for (entry, shot) in defaults.chain(fields) {
        if problems.full() {
            return;
        }
        // What an anchor names is there once for each alias.
        let YamlValue::Text(text) = &entry.value.value else { continue };
        if !reported.insert(entry.value.span) {
            continue;
        }
        if let Some(diagnostic) = swallowed_field(entry, cx) {
            problems.push(diagnostic);
        }
        if !text.contains(['{', '$', '<', '[', '%']) {
            continue;
        }
        let names = match shot {
            None => &of_all,
            Some(shot) => {
                let id = shot.id.value.as_str();
                let (_, names) = match of_shot.take() {
                    Some(known) if known.0 == id => of_shot.insert(known),
                    _ => of_shot.insert((id, self::names(workflow, Some(shot)))),
                };
                names
            }
        };
        if let Some(diagnostic) = foreign_placeholder(text, entry.value.span, names, cx) {
            problems.push(diagnostic);
        }
    }
}

/// The names that templates know: of parameters, and of the axes of the workflow and of a shot; without a shot, of all shots.
fn names<'w>(workflow: &'w Workflow, shot: Option<&'w Shot>) -> HashSet<&'w str> {
    let shots =
        workflow.shots.iter().filter(|candidate| shot.is_none_or(|shot| std::ptr::eq(*candidate, shot)));
    let matrices = workflow.matrix.iter().chain(shots.filter_map(|shot| shot.matrix.as_ref()));
    let axes = matrices.flat_map(|matrix| axis_names(&matrix.value));
    workflow.all_params().map(|param| param.key.value.as_str()).chain(axes).collect()
}

/// `{look}`, where `look` is the name of a parameter or an axis.
fn foreign_placeholder(
    text: &str,
    span: Span,
    names: &HashSet<&str>,
    cx: &ExpandCx<'_>,
) -> Option<Diagnostic> {
    let (placeholder, name) = PLACEHOLDERS.iter().find_map(|delimiters| {
        let starts = text.match_indices(delimiters.0).map(|(start, _)| start);
        starts.filter(|start| !is_in_template(text, *start)).find_map(|start| {
            let (placeholder, name) = placeholder_at(text, start, *delimiters)?;
            names.contains(name).then_some((placeholder, name))
        })
    })?;
    let written = cx.source.slice(span);
    let location = written.find(placeholder).map_or(span, |offset| {
        let start = span.start() + offset;
        Span::new(start, start + placeholder.len())
    });
    let message = format!("`{placeholder}` is sent as text: it is no template");
    Some(Diagnostic::warning("foreign-placeholder", location, message).help(format!(
        "write `{{{{ {name} }}}}`; braces that are meant as text are written `{{{{ '{{' }}}}`"
    )))
}

/// The placeholder that begins there, and the name in it.
fn placeholder_at<'t>(
    text: &'t str,
    start: usize,
    (open, close): (&str, &str),
) -> Option<(&'t str, &'t str)> {
    let inner = &text[start + open.len()..];
    if open == "{" && (text[..start].ends_with(['{', '$']) || inner.starts_with(['{', '%', '#'])) {
        return None;
    }
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    let blanks = if close.is_empty() { 0 } else { inner.len() - inner.trim_start_matches(' ').len() };
    let name = inner[blanks..].split(|c| !is_of_name(c)).next()?;
    let after = &inner[blanks + name.len()..];
    let rest = if close.is_empty() { after } else { after.trim_start_matches(' ').strip_prefix(close)? };
    Some((&text[start..text.len() - rest.len()], name))
}

/// Whether a position is in the code of a template.
fn is_in_template(text: &str, position: usize) -> bool {
    let before = &text[..position];
    let count = |sign: &str| before.matches(sign).count();
    count("{{") > count("}}") || count("{%") > count("%}")
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
        let is_key =
            SHOT.has(key) || cx.contract.families().any(|family| cx.contract.field(family, key).is_some());
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
pub(super) fn unused_defaults<'n>(
    workflow: &Workflow,
    families: impl Iterator<Item = (&'n str, &'n contract::Family)>,
    cx: &ExpandCx<'_>,
    problems: &mut Problems,
) {
    let families: HashMap<&str, &contract::Family> = families.collect();
    if families.is_empty() {
        return;
    }
    let takes = |family: &contract::Family, name: &str| cx.contract.field(family, name).is_some();
    for entry in workflow.all_defaults() {
        let name = entry.key.value.as_str();
        let is_field = cx.contract.families().any(|family| takes(family, name));
        let is_sent = families.values().any(|family| takes(family, name));
        if is_field && !is_sent && !is_null(&entry.value) {
            let mut fields: Vec<&str> = families
                .values()
                .flat_map(|family| cx.contract.fields(family))
                .map(|field| field.name.as_str())
                .collect();
            fields.sort_unstable();
            fields.dedup();
            let message = format!("no shot has a model that takes `{name}`: it is not sent");
            problems.push(Diagnostic::warning("unused-default", entry.key.span, message).help(format!(
                "remove it, or choose another model (`runner models`); the fields of these models are {}",
                crate::diagnostic::quoted_list(fields.iter().copied(), 30)
            )));
        }
    }
}

fn is_null(value: &Yaml) -> bool {
    matches!(value.value, YamlValue::Null)
}
