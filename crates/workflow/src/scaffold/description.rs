//! New descriptions of services: a commented one, and one out of the vendor's own `OpenAPI` document. What that says is carried over; the rest
//! is guessed by a table of names, or left to be filled in.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::LazyLock;

use contract::{Word, escape};
use serde_json::{Map, Value, json};

use super::{ScaffoldError, scalar};
use crate::diagnostic::quoted_list;
use crate::yaml::to_yaml;

/// A description of an API that nobody has, with each part explained.
pub const DESCRIPTION: &str = include_str!("description.yaml");

/// What APIs call the things that a description points to.
static NAMES: LazyLock<Value> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("api_names.yaml")).unwrap_or_default());

/// Parts of a schema that are looked at; one that refers to itself has no end.
const MAX_PARTS: usize = 2_000;

const HEAD: &str = "\
# Drafted from the vendor's OpenAPI document. Compare each `# guessed` with the documentation, and fill in each `# TODO`.
# `runner services check FILE` says what is wrong or missing; `runner services new` writes a description with all parts explained.
";

/// A field somewhere in a schema, or an item of a list there.
struct Place<'d> {
    at: String,
    name: &'d str,
    schema: &'d Value,
}

/// The text of a description of a service with this `OpenAPI` document. `operation` is the path that accepts a task.
///
/// # Errors
/// It is not said which operation accepts a task, and no operation or several take a prompt.
pub fn describe(api: &Value, operation: Option<&str>) -> Result<String, ScaffoldError> {
    let path = submission(api, operation)?;
    let post = &api["paths"][path]["post"];
    let polled = poll_path(api, path);
    let mut paths = Map::new();
    let submit = carry(api, path, "post", &mut paths);
    let poll = polled.map(|path| format!("{{ operation: {} }}", carry(api, path, "get", &mut paths)));
    let body = body(api, &post["requestBody"]);
    let own_name = body["$ref"].as_str().and_then(|at| at.strip_prefix("#/components/schemas/"));
    let name = own_name.unwrap_or("NewTask");
    let reference = json!({ "$ref": format!("#/components/schemas/{name}") });
    paths[path]["post"]["requestBody"] =
        json!({ "content": { "application/json": { "schema": reference } } });
    let paths = json!({ "paths": paths });

    let mut out = String::from(HEAD);
    let info = json!({ "title": api["info"]["title"], "version": api["info"]["version"] });
    let security = post.get("security").unwrap_or(&api["security"]);
    let head =
        json!({ "openapi": api["openapi"], "info": info, "servers": api["servers"], "security": security });
    block(&mut out, "", &head);

    let (request, accepted, refused) = (fields(api, body), answer(api, post, true), answer(api, post, false));
    let task = polled.map(|path| answer(api, &api["paths"][path]["get"], true)).unwrap_or_default();
    let model = find(&request, "answers", "model");
    let list = |places: &[Place<'_>], of: &str| Some(format!("[{}]", flow(&find(places, "answers", of)?.at)));
    let _ = writeln!(out, "\nx-tasks:\n  submit: {submit}");
    guess(&mut out, "  model", model.map(|model| flow(&model.at)), "the model's id in a request");
    guess(&mut out, "  id", list(&accepted, "id"), "the task's id in the answer to it");
    guess(&mut out, "  poll", poll, "the operation that describes a task");
    out.push_str("  state:\n");
    guess(&mut out, "    at", list(&task, "state"), "the state in the answer to a poll");
    let words = find(&task, "answers", "state").and_then(|place| place.schema["enum"].as_array());
    for (state, known) in NAMES["states"].as_object().into_iter().flatten() {
        let is_known = |word: &&str| names(known).any(|known| known == normalized(word));
        let words = words.into_iter().flatten().filter_map(Value::as_str).filter(is_known);
        let words = words.map(flow).collect::<Vec<_>>().join(", ");
        let words = (!words.is_empty()).then(|| format!("[{words}]"));
        guess(&mut out, &format!("    {state}"), words, "its words");
    }
    guess(&mut out, "  video", list(&task, "video"), "the video's URL in the answer to a poll");
    for (key, places) in [("  error", &refused), ("  failure", &task)] {
        let message = list(places, "message").map(|at| format!("{{ message: {at} }}"));
        guess(&mut out, key, message, "why a request is refused, or a task failed; also `code`");
    }
    guess(&mut out, "  refusals", None, "the answers that prove that nothing was accepted");
    guess(&mut out, "  failures", None, "the errors of failed tasks that mean moderation");

    out.push('\n');
    let ids = model.and_then(|model| model.schema["enum"].as_array()).into_iter().flatten();
    match ids.map(|id| json!({ "id": id, "schema": name })).collect::<Vec<_>>() {
        models if models.is_empty() => guess(&mut out, "x-models", None, "the ids, each with its schema"),
        models => block(&mut out, "", &json!({ "x-models": models })),
    }
    block(&mut out, "", &paths);
    let mut carried = components(api, [&paths, body]);
    let schemas = carried.shift_remove("schemas");
    carried.insert("securitySchemes".to_owned(), api["components"]["securitySchemes"].clone());
    block(&mut out, "", &json!({ "components": carried }));
    guess(&mut out, "      x-variable", None, "the environment variable that has the key");
    let _ = writeln!(out, "  schemas:\n    {name}:\n      x-inputs:");
    for word in Word::ALL.into_iter().filter(|word| word.is_key() || word.is_medium()) {
        let at = find(&request, "inputs", word.as_str()).map(|place| match place.at.strip_suffix("/0") {
            Some(list) => flow(&format!("{list}/-")),
            None => flow(&place.at),
        });
        let media = |at| format!("{{ at: {at}, accepts: [url, data_uri] }}");
        let at = if word.is_medium() { at.map(media) } else { at };
        guess(&mut out, &format!("        {}", word.as_str()), at, "its place in a request");
    }
    block(&mut out, "      ", resolved(api, body));
    let others = schemas.as_ref().and_then(Value::as_object).into_iter().flatten();
    others
        .filter(|(own, _)| *own != name)
        .for_each(|(name, schema)| block(&mut out, "    ", &json!({ name: schema })));
    Ok(out)
}

/// A key with what was found for it, or what is to be found.
fn guess(out: &mut String, key: &str, found: Option<String>, what: &str) {
    let indent = " ".repeat(key.len() - key.trim_start().len());
    let _ = match found {
        Some(found) => writeln!(out, "{key}: {found}  # guessed: {what}"),
        None => writeln!(out, "{indent}# TODO: {}: {what}", key.trim_start()),
    };
}

/// A value with its lines indented.
fn block(out: &mut String, indent: &str, value: &Value) {
    let text = to_yaml(value).unwrap_or_default();
    text.lines().for_each(|line| _ = writeln!(out, "{indent}{line}"));
}

/// A text as a scalar in a list or mapping on one line.
fn flow(text: &str) -> String {
    let plain = scalar(text);
    if plain.contains([',', '[', ']', '{', '}']) { json!(text).to_string() } else { plain }
}

/// The path whose POST accepts a task.
fn submission<'d>(api: &'d Value, named: Option<&str>) -> Result<&'d str, ScaffoldError> {
    let is_meant = |path: &str, body: &Value| match named {
        Some(named) => path == named && !body.is_null(),
        None => find(&fields(api, body), "inputs", "prompt").is_some(),
    };
    let posts = api["paths"].as_object().into_iter().flatten();
    let posts = posts.filter(|(path, item)| is_meant(path, body(api, &item["post"]["requestBody"])));
    match *posts.map(|(path, _)| path.as_str()).collect::<Vec<_>>() {
        [path] => Ok(path),
        [] => {
            let kind =
                named.map_or("takes a prompt in JSON".to_owned(), |path| format!("at {path} takes JSON"));
            Err(ScaffoldError::new(format!("no POST operation {kind}")))
        }
        ref paths => {
            let paths = quoted_list(paths.iter().copied(), 20);
            Err(ScaffoldError::new(format!("several operations take a prompt: {paths}")))
        }
    }
}

/// The GET operation with one parameter that answers with a state, if there is one, and whose path begins most like the one that accepts a task.
fn poll_path<'d>(api: &'d Value, submit: &str) -> Option<&'d str> {
    let paths = api["paths"].as_object().into_iter().flatten();
    let gets = paths.filter(|(path, item)| item["get"].is_object() && path.matches('{').count() == 1);
    let common =
        |path: &str| path.bytes().zip(submit.bytes()).take_while(|(own, other)| own == other).count();
    let likeness = |(path, item): &(&String, &Value)| {
        let has_state = find(&answer(api, &item["get"], true), "answers", "state").is_some();
        (has_state, common(path), path.ends_with('}'))
    };
    gets.max_by_key(likeness).map(|(path, _)| path.as_str())
}

/// Copies the operations of a path, and gives the id of one, or a new one.
fn carry(api: &Value, path: &str, method: &str, paths: &mut Map<String, Value>) -> String {
    let item = paths.entry(path).or_insert_with(|| api["paths"][path].clone());
    let id = item[method]["operationId"].as_str().map_or_else(|| format!("{method}_task"), str::to_owned);
    item[method]["operationId"] = id.as_str().into();
    flow(&id)
}

/// What a reference leads to, or the value itself.
fn resolved<'d>(api: &'d Value, value: &'d Value) -> &'d Value {
    value["$ref"].as_str().and_then(|at| api.pointer(at.strip_prefix('#')?)).unwrap_or(value)
}

/// The schema of a body in JSON.
fn body<'d>(api: &'d Value, body: &'d Value) -> &'d Value {
    &resolved(api, body)["content"]["application/json"]["schema"]
}

/// The fields of an operation's answer, with success or another one.
fn answer<'d>(api: &'d Value, operation: &'d Value, is_success: bool) -> Vec<Place<'d>> {
    let answers = operation["responses"].as_object().into_iter().flatten();
    let answers = answers.filter(|(status, _)| status.starts_with('2') == is_success);
    let mut bodies = answers.map(|(_, answer)| body(api, answer));
    bodies.find(|body| !body.is_null()).map(|body| fields(api, body)).unwrap_or_default()
}

/// The fields of a schema and of what is in it, those at its top first.
fn fields<'d>(api: &'d Value, schema: &'d Value) -> Vec<Place<'d>> {
    let (mut places, mut open) = (Vec::new(), VecDeque::from([(String::new(), "", schema)]));
    for _ in 0..MAX_PARTS {
        let Some((at, name, schema)) = open.pop_front() else { break };
        if schema.get("$ref").is_some() {
            open.push_back((at.clone(), name, resolved(api, schema)));
        }
        for parts in ["allOf", "anyOf", "oneOf"].map(|kind| schema[kind].as_array()) {
            open.extend(parts.into_iter().flatten().map(|part| (at.clone(), name, part)));
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            open.push_back((format!("{at}/{}", escape(name)), name, field));
        }
        if let Some(items) = schema.get("items") {
            open.push_back((format!("{at}/0"), name, items));
        }
        places.push(Place { at, name, schema });
    }
    places
}

/// The likeliest place for something: a text, a number or a flag, by its name in the table.
fn find<'p, 'd>(places: &'p [Place<'d>], kind: &str, of: &str) -> Option<&'p Place<'d>> {
    let is_scalar = |place: &&Place<'_>| {
        matches!(place.schema["type"].as_str(), Some("string" | "integer" | "number" | "boolean"))
    };
    let named = |name: String| places.iter().filter(is_scalar).find(|place| normalized(place.name) == name);
    names(&NAMES[kind][of]).find_map(named)
}

fn names(list: &Value) -> impl Iterator<Item = String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(normalized)
}

fn normalized(name: &str) -> String {
    name.to_lowercase().replace(['_', '-', ' '], "")
}

/// The components that these refer to, with those that they refer to themselves, by kind.
fn components<'d>(api: &'d Value, roots: [&'d Value; 2]) -> Map<String, Value> {
    let (mut carried, mut open) = (Map::new(), VecDeque::from(roots));
    while let Some(value) = open.pop_front() {
        let at = value["$ref"].as_str().and_then(|at| at.strip_prefix("#/components/")?.split_once('/'));
        if let Some((kind, name)) = at
            && let Some(target) = api["components"][kind].get(name)
            && carried.get(kind).is_none_or(|parts: &Value| parts.get(name).is_none())
        {
            carried.entry(kind).or_insert_with(|| json!({}))[name] = target.clone();
            open.push_back(target);
        }
        open.extend(value.as_object().into_iter().flat_map(Map::values));
        open.extend(value.as_array().into_iter().flatten());
    }
    carried
}
