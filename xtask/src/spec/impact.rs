//! Impact of a contract change on a workflow: compiles it under both contracts and compares the requests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use contract::diff::{Change, Diff, Direction, Subject};
use contract::{Contract, Family};
use serde_json::{Map, Value};
use workflow::plan::{Node, Plan};
use workflow::{DirFiles, Options, Report};

/// Impact of the new contract on one workflow.
#[derive(Debug)]
pub(crate) struct Impact {
    /// The file name.
    pub(crate) workflow: String,
    /// What becomes of its requests.
    pub(crate) verdict: &'static str,
    /// Errors, shots whose requests differ, and the changes of models and fields that it uses and of defaults that it relies on.
    pub(crate) details: Vec<String>,
}

/// Compiles the workflow under both contracts.
pub(super) fn impact(
    file: &Path,
    name: &str,
    old: &Contract,
    new: &Contract,
    diff: &Diff,
) -> Result<Impact, String> {
    let bytes = fs_err::read(file).map_err(|error| error.to_string())?;
    let folder = DirFiles::new(file.parent().unwrap_or(Path::new("")), engine::MEDIA_GATE);
    let compile = |contract: &Contract| workflow::load(&bytes, name, &folder, &Options::default(), contract);
    let (before, after) = (compile(old), compile(new));
    let (verdict, mut details) = match (&before, &after) {
        (Ok(before), Ok(after)) => match changed_shots(before, after) {
            shots if shots.is_empty() => ("unchanged requests", shots),
            shots => ("changed requests", shots),
        },
        (Ok(_), Err(report)) => ("now invalid", problems(report)),
        (Err(_), Ok(_)) => ("now valid", Vec::new()),
        (Err(_), Err(report)) => ("still invalid", problems(report)),
    };
    if let Some(plan) = before.as_ref().ok().or(after.as_ref().ok()) {
        details.extend(relevant_changes(plan, old, new, diff));
    }
    Ok(Impact { workflow: name.to_owned(), verdict, details })
}

fn problems(report: &Report) -> Vec<String> {
    let lines = report.to_json().into_iter().map(|record| {
        format!("{}:{}:{}: {} ({})", record.file, record.line, record.column, record.message, record.code)
    });
    lines.collect()
}

/// The shots whose requests differ, each with the differences by JSON pointer.
fn changed_shots(before: &Plan, after: &Plan) -> Vec<String> {
    let by_name = |plan: &Plan| -> BTreeMap<String, Node> {
        plan.nodes().map(|(_, node)| (node.name.clone(), node.clone())).collect()
    };
    let (before, after) = (by_name(before), by_name(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differing = names.into_iter().filter_map(|name| {
        let mut changes = Vec::new();
        match (before.get(name), after.get(name)) {
            (Some(before), Some(after)) => {
                let request = |node: &Node| Value::Object(node.request.to_map());
                differences("", Some(&request(before)), Some(&request(after)), &mut changes);
            }
            (None, _) => changes.push("the shot is new".to_owned()),
            (_, None) => changes.push("the shot is gone".to_owned()),
        }
        (!changes.is_empty()).then(|| format!("{name}: {}", changes.join("; ")))
    });
    differing.collect()
}

fn differences(pointer: &str, before: Option<&Value>, after: Option<&Value>, out: &mut Vec<String>) {
    match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
            for key in keys {
                differences(&format!("{pointer}/{key}"), before.get(key), after.get(key), out);
            }
        }
        (before, after) if before == after => {}
        (None, Some(value)) => out.push(format!("`{pointer}` {value} is added")),
        (Some(value), None) => out.push(format!("`{pointer}` {value} is removed")),
        (Some(before), Some(after)) => out.push(format!("`{pointer}` {before} becomes {after}")),
        (None, None) => {}
    }
}

/// The changes that are relevant to the plan's requests, with how they use them: a field is `sent` or, where its default changed, `omitted`; a model
/// is `used`.
fn relevant_changes(plan: &Plan, old: &Contract, new: &Contract, diff: &Diff) -> Vec<String> {
    let mut relevant = Vec::new();
    for change in diff.changes.iter().filter(|change| change.direction == Direction::Request) {
        let is_default = change.subject == Subject::Default;
        let concerned = plan.nodes().filter(|(_, node)| {
            let contract = if old.model(&node.model).is_some() { old } else { new };
            concerns(change, contract, &node.family, &node.model, &node.request.to_map(), is_default)
        });
        let shots = concerned.count();
        if shots > 0 {
            let usage = match (is_default, change.location.starts_with("model ")) {
                (true, _) => "omitted",
                (false, true) => "used",
                (false, false) => "sent",
            };
            let noun = if shots == 1 { "shot" } else { "shots" };
            relevant.push(format!("{usage} by {shots} {noun}: {}: {}", change.location, change.summary));
        }
    }
    relevant
}

fn concerns(
    change: &Change,
    contract: &Contract,
    family: &Family,
    model: &str,
    request: &Map<String, Value>,
    is_default: bool,
) -> bool {
    if change.location == format!("model {model}") {
        return true;
    }
    let Some(component) = contract.request_component(family) else { return false };
    let locations = change.used_by.iter().chain([&change.location]);
    let mut paths = Vec::new();
    for location in locations {
        let location = location.split(", ").next().unwrap_or_default();
        let Some((owner, field)) = location.split_once('.') else { continue };
        let field = field.split(['.', '[']).next().unwrap_or_default();
        field_paths(contract, component, owner, field, &mut Vec::new(), &mut paths);
    }
    paths.iter().any(|path| if is_default { is_omitted(request, path) } else { is_sent(request, path) })
}

/// The paths from a request's component to a field of a component, as field names; arrays are transparent.
fn field_paths(
    contract: &Contract,
    current: &str,
    owner: &str,
    field: &str,
    path: &mut Vec<String>,
    out: &mut Vec<Vec<String>>,
) {
    /// The components of media nest three levels.
    const MAX_DEPTH: usize = 8;
    if current == owner {
        out.push(path.iter().cloned().chain([field.to_owned()]).collect());
    }
    if path.len() >= MAX_DEPTH {
        return;
    }
    for inner in contract.component_fields(current).unwrap_or_default() {
        let Some(component) = inner.component else { continue };
        path.push(inner.name);
        field_paths(contract, &component, owner, field, path, out);
        path.pop();
    }
}

fn is_sent(request: &Map<String, Value>, path: &[String]) -> bool {
    let Some((name, rest)) = path.split_first() else { return true };
    let Some(value) = request.get(name) else { return false };
    let inside = |value: &Value| value.as_object().is_some_and(|object| is_sent(object, rest));
    rest.is_empty() || inside(value) || value.as_array().is_some_and(|items| items.iter().any(inside))
}

/// Only top-level fields have defaults that apply; nested ones are legacy forms of them.
fn is_omitted(request: &Map<String, Value>, path: &[String]) -> bool {
    matches!(path, [name] if !request.contains_key(name))
}
