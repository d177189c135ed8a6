//! The impact of a changed description on a workflow: compiles it under both and compares the requests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use contract::diff::{Change, Diff, Direction, Subject};
use contract::{Contract, Family};
use serde_json::{Map, Value};

use crate::diagnostic::Report;
use crate::files::Files;
use crate::load::load;
use crate::options::Options;
use crate::plan::{Node, Plan};
use crate::services::{Service, Services};

/// Impact of a new description on one workflow. Shown, it is text for a terminal.
#[derive(Debug)]
pub struct Impact {
    /// The file name.
    workflow: String,
    /// What becomes of its requests.
    verdict: &'static str,
    /// Errors, shots whose requests differ, and the changes of models and fields that it uses and of defaults that it relies on.
    details: Vec<String>,
}

impl fmt::Display for Impact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {}: {}", self.workflow, self.verdict)?;
        self.details.iter().try_for_each(|line| writeln!(f, "    {line}"))
    }
}

/// Compiles the workflow under both descriptions. They are those of shots that name no service, and of the services of the same title.
pub fn impact(
    bytes: &[u8],
    file_name: &str,
    files: &dyn Files,
    options: &Options,
    [old, new]: [&Arc<Contract>; 2],
    diff: &Diff,
) -> Impact {
    let services = &options.services;
    let is_described =
        |service: &Service| [old, new].iter().any(|contract| contract.title() == service.contract.title());
    let compile = |contract: &Arc<Contract>| {
        let described = services.names().filter_map(|name| {
            let mut service = services.get(name)?.clone();
            if is_described(&service) {
                service.contract = Arc::clone(contract);
            }
            Some((name.to_owned(), service))
        });
        let options = Options { services: Services::new(described.collect()), ..options.clone() };
        load(bytes, file_name, files, &options, contract)
    };
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
        let is_own = |node: &&Node| {
            node.service.as_deref().is_none_or(|name| services.get(name).is_some_and(is_described))
        };
        let nodes: Vec<&Node> = plan.nodes().map(|(_, node)| node).filter(is_own).collect();
        details.extend(relevant_changes(&nodes, old, new, diff));
    }
    Impact { workflow: file_name.to_owned(), verdict, details }
}

fn problems(report: &Report) -> Vec<String> {
    let lines = report.to_json().into_iter().map(|record| {
        format!("{}:{}:{}: {} ({})", record.file, record.line, record.column, record.message, record.code)
    });
    lines.collect()
}

/// The shots whose requests differ, each with the differences by JSON pointer.
fn changed_shots(before: &Plan, after: &Plan) -> Vec<String> {
    fn by_name(plan: &Plan) -> BTreeMap<&str, Value> {
        plan.nodes().map(|(_, node)| (node.name.as_str(), Value::Object(node.request.to_map()))).collect()
    }
    let (before, after) = (by_name(before), by_name(after));
    let names: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    let differing = names.into_iter().filter_map(|name| {
        let mut changes = Vec::new();
        match (before.get(name), after.get(name)) {
            (None, _) => changes.push("the shot is new".to_owned()),
            (_, None) => changes.push("the shot is gone".to_owned()),
            (before, after) => differences("", before, after, &mut changes),
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

/// The changes that are relevant to requests, with how these use them: a field is `sent` or, where its default changed, `omitted`; a model is `used`.
fn relevant_changes(nodes: &[&Node], old: &Contract, new: &Contract, diff: &Diff) -> Vec<String> {
    let mut relevant = Vec::new();
    for change in diff.changes.iter().filter(|change| change.direction == Direction::Request) {
        let is_default = change.subject == Subject::Default;
        let concerned = nodes.iter().filter(|node| {
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
