//! What becomes of a workflow: it is compiled under both contracts, and the results are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use contract::diff::{Change, Diff, Side, Subject};
use contract::{Contract, Family};
use serde::Serialize;
use serde_json::{Map, Value};
use workflow::plan::{Node, Plan};
use workflow::{Folder, Options, Report};

/// What the new contract means to one workflow.
#[derive(Debug, Serialize)]
pub(crate) struct Impact {
    /// The file.
    pub(crate) workflow: String,
    /// What becomes of its requests.
    #[serde(flatten)]
    pub(crate) outcome: Outcome,
    /// The changes that concern fields which it sends, or leaves to their default.
    pub(crate) touched_by: Vec<Touch>,
}

/// What becomes of a workflow's requests.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub(crate) enum Outcome {
    /// Every request is what it was.
    Same,
    /// Accepted as before, and other requests are sent.
    Moved {
        /// The shots whose requests differ.
        shots: Vec<Moved>,
    },
    /// It was accepted, and is refused now.
    Refused {
        /// Why.
        problems: Vec<String>,
    },
    /// It was refused, and is accepted now.
    Accepted,
    /// It is refused by both.
    StillRefused {
        /// Why, now.
        problems: Vec<String>,
    },
}

/// A shot whose request differs.
#[derive(Debug, Serialize)]
pub(crate) struct Moved {
    /// The instance's name.
    pub(crate) shot: String,
    /// What differs, by JSON pointer.
    pub(crate) changes: Vec<String>,
}

/// A change of the contract that concerns a workflow.
#[derive(Debug, Serialize)]
pub(crate) struct Touch {
    /// The change, as the comparison names it.
    pub(crate) change: String,
    /// How many shots it concerns.
    pub(crate) shots: usize,
    /// What they do with it: it is `sent`, `left out` where its default changed, or `used` where it is a model.
    pub(crate) how: &'static str,
}

/// Compiles the workflow under both contracts.
pub(super) fn of(
    file: &Path,
    shown: &str,
    old: &Contract,
    new: &Contract,
    diff: &Diff,
) -> Result<Impact, String> {
    let bytes = fs_err::read(file).map_err(|error| error.to_string())?;
    let folder = Folder::new(file.parent().unwrap_or(Path::new("")));
    let under = |contract: &Contract| workflow::load(&bytes, shown, &folder, &Options::default(), contract);
    let (before, after) = (under(old), under(new));
    let sent = before.as_ref().ok().or(after.as_ref().ok());
    let touched_by = sent.map(|plan| touches(plan, old, new, diff)).unwrap_or_default();
    let outcome = match (&before, &after) {
        (Ok(before), Ok(after)) => match moved(before, after) {
            shots if shots.is_empty() => Outcome::Same,
            shots => Outcome::Moved { shots },
        },
        (Ok(_), Err(report)) => Outcome::Refused { problems: problems(report) },
        (Err(_), Ok(_)) => Outcome::Accepted,
        (Err(_), Err(report)) => Outcome::StillRefused { problems: problems(report) },
    };
    Ok(Impact { workflow: shown.to_owned(), outcome, touched_by })
}

fn problems(report: &Report) -> Vec<String> {
    let told = report.records().into_iter().map(|record| {
        format!("{}:{}:{}: {} ({})", record.file, record.line, record.column, record.message, record.code)
    });
    told.collect()
}

fn moved(before: &Plan, after: &Plan) -> Vec<Moved> {
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
        (!changes.is_empty()).then(|| Moved { shot: name.clone(), changes })
    });
    differing.collect()
}

fn differences(at: &str, before: Option<&Value>, after: Option<&Value>, found: &mut Vec<String>) {
    match (before, after) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let keys = before.keys().chain(after.keys().filter(|key| !before.contains_key(*key)));
            for key in keys {
                differences(&format!("{at}/{key}"), before.get(key), after.get(key), found);
            }
        }
        (before, after) if before == after => {}
        (None, Some(value)) => found.push(format!("`{at}` {value} is sent too")),
        (Some(value), None) => found.push(format!("`{at}` {value} is not sent any more")),
        (Some(before), Some(after)) => found.push(format!("`{at}` {before} becomes {after}")),
        (None, None) => {}
    }
}

/// The changes that concern what the shots send.
fn touches(plan: &Plan, old: &Contract, new: &Contract, diff: &Diff) -> Vec<Touch> {
    let mut found = Vec::new();
    for change in diff.changes.iter().filter(|change| change.side == Side::Request) {
        let is_default = change.subject == Subject::Default;
        let concerned = plan.nodes().filter(|(_, node)| {
            let contract = if old.model(&node.model).is_some() { old } else { new };
            concerns(change, contract, &node.family, &node.model, &node.request.to_map(), is_default)
        });
        let shots = concerned.count();
        if shots > 0 {
            let how = match (is_default, change.at.starts_with("model ")) {
                (true, _) => "left out",
                (false, true) => "used",
                (false, false) => "sent",
            };
            found.push(Touch { change: format!("{}: {}", change.at, change.what), shots, how });
        }
    }
    found
}

fn concerns(
    change: &Change,
    contract: &Contract,
    family: &Family,
    model: &str,
    request: &Map<String, Value>,
    is_default: bool,
) -> bool {
    if change.at == format!("model {model}") {
        return true;
    }
    let Some(component) = contract.request_component(family) else { return false };
    let places = change.used_by.iter().chain([&change.at]);
    let mut paths = Vec::new();
    for place in places {
        let place = place.split(", ").next().unwrap_or_default();
        let Some((owner, field)) = place.split_once('.') else { continue };
        let field = field.split(['.', '[']).next().unwrap_or_default();
        below(contract, component, owner, field, &mut Vec::new(), &mut paths);
    }
    paths.iter().any(|path| if is_default { is_left_out(request, path) } else { is_sent(request, path) })
}

/// The ways from a request's component down to a field of a component, as names of fields; lists are passed through.
fn below(
    contract: &Contract,
    here: &str,
    owner: &str,
    field: &str,
    way: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) {
    /// Media nest three deep.
    const DEEPEST: usize = 8;
    if here == owner {
        found.push(way.iter().cloned().chain([field.to_owned()]).collect());
    }
    if way.len() >= DEEPEST {
        return;
    }
    for inner in contract.component_fields(here).unwrap_or_default() {
        let Some(component) = inner.component else { continue };
        way.push(inner.name);
        below(contract, &component, owner, field, way, found);
        way.pop();
    }
}

fn is_sent(request: &Map<String, Value>, path: &[String]) -> bool {
    let Some((name, rest)) = path.split_first() else { return true };
    let Some(value) = request.get(name) else { return false };
    let inside = |value: &Value| value.as_object().is_some_and(|object| is_sent(object, rest));
    rest.is_empty() || inside(value) || value.as_array().is_some_and(|items| items.iter().any(inside))
}

/// Only fields at the top are left to their defaults; what stands deeper is an older form of them.
fn is_left_out(request: &Map<String, Value>, path: &[String]) -> bool {
    matches!(path, [name] if !request.contains_key(name))
}
