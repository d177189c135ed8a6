//! Reads a workflow file: reports everything that is wrong and reads the rest.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::file_parts::{allow, defaults, include, params_of, version};
use super::keys::shot as shot_keys;
use super::keys::workflow as keys;
use super::mapping::Mapping;
use super::{Repeats, Shot, Workflow, cast, film, group, plain_name, shot};
use crate::diagnostic::{Diagnostic, Problems};
use crate::letters::{name_slug, normalized, truncated};
use crate::limits;
use crate::source::{Source, Span, Spanned};
use crate::yaml::{Yaml, YamlValue};

/// The workflow in a tree, as far as it can be read; `None` if the file is not a mapping.
pub(crate) fn read(tree: &Yaml, source: &Source, problems: &mut Problems) -> Option<Workflow> {
    if tree.is_null() {
        problems.push(
            Diagnostic::error("empty-file", tree.span, "this file is empty").help(keys::WORKFLOW.help()),
        );
        return None;
    }
    let file = Mapping::read_file(tree, &keys::WORKFLOW, problems)?;
    if let Some((key, value)) = file.get(&keys::VERSION) {
        version(key, value, problems);
    }
    allow(&file, problems);
    let name = file.text(&keys::NAME, problems);
    let name = name.map(|name| Spanned::new(normalized(&name.value).into_owned(), name.span));
    if let Some(name) = &name
        && let Err(message) = plain_name(&name.value)
    {
        let diagnostic = Diagnostic::error("bad-name", name.span, message);
        let suggestion = name_slug(&name.value);
        problems.push(if plain_name(&suggestion).is_ok() {
            diagnostic.help(format!("write `name: {suggestion}`"))
        } else {
            diagnostic
        });
    }
    Some(Workflow {
        name: name.unwrap_or_else(|| Spanned::new(file_stem(source.name()), file.span())),
        start: file.span(),
        service: file.entry(&keys::SERVICE).map(Arc::new),
        include: include(&file, problems),
        params: params_of(&file, &keys::PARAMS, false, problems),
        cast: cast::read(&file, false, problems),
        params_span: file.get(&keys::PARAMS).map_or(file.span(), |(key, _)| key.span),
        param_overrides: Vec::new(),
        text_warnings: Vec::new(),
        matrix: file.entry(&keys::MATRIX),
        defaults: defaults(&file, &keys::DEFAULTS, problems),
        shot_defaults: Vec::new(),
        groups: group::read(&file, false, problems),
        shots: shots(&file, problems),
        repeats: Repeats::default(),
        films: film::read(&file, problems),
    })
}

/// The id of the first shot in a mapping of names to shots, else an example of one.
fn name_in(shots: &Yaml) -> &str {
    let first = match &shots.value {
        YamlValue::Map(entries) => entries.first(),
        _ => None,
    };
    let named = first.filter(|(name, shot)| {
        matches!(shot.value, YamlValue::Map(_))
            && !shot_keys::SHOT.has(&name.value)
            && plain_name(&name.value).is_ok()
    });
    named.map_or("harbor", |(name, _)| &name.value)
}

/// The largest number at the end of an id that help has.
const MAX_SUGGESTED_NUMBER: u32 = 9;

/// The shots of a file.
pub(super) fn shots(file: &Mapping<'_>, problems: &mut Problems) -> Vec<Shot> {
    let Some((key, value)) = file.get(&keys::SHOTS) else { return Vec::new() };
    let YamlValue::List(items) = &value.value else {
        problems.push(
            Diagnostic::error("wrong-type", value.span.or(key.span), "`shots` must be a list of shots")
                .label(format!("this is {}", value.kind()))
                .help(format!(
                    "begin each shot with a dash: `- id: {}`, with its fields below",
                    name_in(value)
                )),
        );
        return Vec::new();
    };
    if items.is_empty() {
        problems.push(
            Diagnostic::error("no-shots", key.span, "`shots` is empty")
                .help("begin each shot with a dash: `- id: harbor`, with its fields below"),
        );
    }
    let mut shots: Vec<Shot> = Vec::with_capacity(items.len());
    let mut spans: HashMap<String, Span> = HashMap::new();
    let ids: HashSet<&str> = items.iter().filter_map(|item| item.get(shot_keys::ID.name)?.1.text()).collect();
    for item in items {
        let Some(shot) = shot::read(item, problems) else { continue };
        if let Some(first) = spans.get(&shot.id.value) {
            let unused = (2..=MAX_SUGGESTED_NUMBER)
                .map(|number| format!("{}-{number}", shot.id.value))
                .find(|id| plain_name(id).is_ok() && !ids.contains(id.as_str()));
            problems.push(duplicate_id(item, &shot.id, *first, unused));
            continue;
        }
        spans.insert(shot.id.value.clone(), shot.id.span);
        shots.push(shot);
    }
    shots
}

/// The report of an id that a shot above has.
fn duplicate_id(item: &Yaml, id: &Spanned<String>, first: Span, unused: Option<String>) -> Diagnostic {
    let message = format!("two shots have the id `{}`", id.value);
    let example = unused.map(|id| format!(", such as `id: {id}`")).unwrap_or_default();
    if id.span != first {
        return Diagnostic::error("duplicate-id", id.span, message)
            .label("again here")
            .other(first, "first here")
            .help(format!("give each shot an id of its own{example}"));
    }
    // The second shot has the id by an alias of the first one.
    let own_key = match &item.value {
        YamlValue::Map(entries) => {
            entries.iter().map(|(key, _)| key.span).filter(|key| key.start() > first.end()).min()
        }
        _ => None,
    };
    Diagnostic::error("duplicate-id", own_key.unwrap_or(item.span), message)
        .label("this shot has it by an alias")
        .other(first, "first here")
        .help(format!("write an id of its own beside the alias{example}"))
}

/// The name of a workflow without `name`: the file's, in the characters that names may have.
fn file_stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let slug = name_slug(stem);
    // A name in ASCII is as long as the file's.
    let max_bytes = if slug.is_ascii() { slug.len() } else { limits::MAX_NAME_BYTES };
    let name = truncated(&slug, usize::MAX, max_bytes);
    if name.is_empty() { "workflow".to_owned() } else { name.to_owned() }
}
