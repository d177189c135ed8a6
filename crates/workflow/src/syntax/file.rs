//! Reads the tree into a [`Workflow`], reporting every word that is wrong and going on with what is right.

use std::collections::HashMap;

use super::{Entry, FilmSpec, Param, ShotRef, Workflow, params, plain_name, shot, value};
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::limits;
use crate::source::{Source, Span, Spanned};
use crate::yaml::{Key, Yaml, YamlValue};

/// The words of a workflow.
pub(crate) const WORKFLOW_KEYS: [&str; 10] =
    ["version", "name", "include", "params", "defaults", "matrix", "shots", "film", "films", "max_chain"];
/// The words of a film.
pub(crate) const FILM_KEYS: [&str; 2] = ["output", "shots"];

/// The workflow that the tree holds, as far as it holds one. Nothing where there is not even a map.
pub(crate) fn read(tree: &Yaml, source: &Source, problems: &mut Problems) -> Option<Workflow> {
    let YamlValue::Map(entries) = &tree.value else {
        let diagnostic = if tree.is_null() {
            Diagnostic::error("empty-file", tree.span, "this file says nothing")
        } else {
            Diagnostic::error("wrong-type", tree.span, "a workflow is a map")
                .label(format!("this is {}", tree.kind()))
        };
        problems.push(diagnostic.help("begin with `version: 1`, `name:` and a list of `shots:`"));
        return None;
    };
    let start = entries.first().map_or(Span::default(), |(key, _)| key.span);
    let mut workflow = Workflow {
        name: Spanned::new(file_stem(source.name()), start),
        start,
        include: Vec::new(),
        params: Vec::new(),
        params_span: start,
        param_overrides: Vec::new(),
        matrix: None,
        defaults: Vec::new(),
        shots: Vec::new(),
        films: Vec::new(),
        max_chain: None,
    };
    let mut film_word: Option<&Key> = None;
    let (mut version_given, mut shots_given) = (false, false);
    for (key, value) in entries {
        match key.value.as_str() {
            "version" => {
                version_given = true;
                version(key, value, problems);
            }
            "name" => {
                if let Some(name) = value::expect_text(value, "name", key.span, problems) {
                    if let Err(message) = plain_name(&name.value) {
                        problems.error("bad-name", name.span, message);
                    }
                    workflow.name = name;
                }
            }
            "params" => {
                workflow.params_span = key.span;
                workflow.params = params(key, value, false, problems);
            }
            "defaults" => workflow.defaults = defaults(key, value, problems),
            "shots" => {
                shots_given = true;
                workflow.shots = shots(key, value, problems);
            }
            "include" => workflow.include = include(key, value, problems),
            "matrix" => workflow.matrix = Some(Entry { key: key.clone(), value: value.clone() }),
            "max_chain" => {
                workflow.max_chain =
                    value::expect_count(value, "max_chain", limits::MAX_INSTANCES as u64, key.span, problems)
                        .map(|most| Spanned::new(most, value.span));
            }
            "film" | "films" => {
                if let Some(other) = film_word.replace(key) {
                    problems.push(
                        Diagnostic::error("bad-film", key.span, "`film` and `films` do not go together")
                            .other(other.span, "the other one")
                            .help("list all of them under `films`"),
                    );
                } else if key.value == "film" {
                    workflow.films = vec![film(key, value, problems)];
                } else {
                    workflow.films = films(key, value, problems);
                }
            }
            other => {
                let diagnostic = Diagnostic::error(
                    "unknown-key",
                    key.span,
                    format!("`{other}` is not a key of a workflow"),
                );
                problems.push(
                    diagnostic.help(
                        did_you_mean(other, WORKFLOW_KEYS).unwrap_or_else(|| {
                            format!("the keys here are {}", quoted_list(WORKFLOW_KEYS, 12))
                        }),
                    ),
                );
            }
        }
    }
    if !version_given {
        problems.push(
            Diagnostic::error("missing-key", start, "`version` is missing")
                .help("begin the file with `version: 1`"),
        );
    }
    if !shots_given {
        problems.push(
            Diagnostic::error("missing-key", start, "`shots` is missing").help("a workflow lists its shots"),
        );
    }
    Some(workflow)
}

pub(super) fn version(key: &Key, value: &Yaml, problems: &mut Problems) {
    let given = match &value.value {
        YamlValue::Number(number) => number.as_u64(),
        _ => None,
    };
    if given != Some(1) {
        problems.push(
            Diagnostic::error(
                "unsupported-version",
                value.span.or(key.span),
                "this version of the language is not known",
            )
            .help("write `version: 1`"),
        );
    }
}

fn map<'a>(key: &Key, value: &'a Yaml, problems: &mut Problems) -> &'a [(Key, Yaml)] {
    match &value.value {
        YamlValue::Map(entries) => entries,
        YamlValue::Null => &[],
        _ => {
            problems.push(
                Diagnostic::error("wrong-type", value.span, format!("`{}` is a map", key.value))
                    .label(format!("this is {}", value.kind())),
            );
            &[]
        }
    }
}

/// The names of files to include: one, or a list.
pub(super) fn include(key: &Key, value: &Yaml, problems: &mut Problems) -> Vec<Spanned<String>> {
    if value.is_null() {
        return Vec::new();
    }
    let items = value::one_or_many(value).iter();
    items.filter_map(|item| value::expect_text(item, "include", key.span, problems)).collect()
}

pub(super) fn params(key: &Key, value: &Yaml, included: bool, problems: &mut Problems) -> Vec<Param> {
    let entries = map(key, value, problems).iter();
    entries.filter_map(|(key, value)| params::read(key, value, included, problems)).collect()
}

pub(super) fn defaults(key: &Key, value: &Yaml, problems: &mut Problems) -> Vec<Entry> {
    map(key, value, problems)
        .iter()
        .filter(|(name, _)| {
            let word = shot::KEYS.contains(&name.value.as_str());
            if word {
                problems.push(
                    Diagnostic::error(
                        "unknown-field",
                        name.span,
                        format!("`{}` is a word of a shot, not a request field", name.value),
                    )
                    .help("`defaults` holds request fields; write this word at each shot"),
                );
            }
            !word
        })
        .map(|(key, value)| Entry { key: key.clone(), value: value.clone() })
        .collect()
}

fn shots(key: &Key, value: &Yaml, problems: &mut Problems) -> Vec<super::Shot> {
    let YamlValue::List(items) = &value.value else {
        problems.push(
            Diagnostic::error("wrong-type", value.span.or(key.span), "`shots` is a list")
                .label(format!("this is {}", value.kind()))
                .help("write each shot as `- id: …` with its fields below"),
        );
        return Vec::new();
    };
    if items.is_empty() {
        problems.error("no-shots", key.span, "`shots` lists nothing");
    }
    let mut found: Vec<super::Shot> = Vec::with_capacity(items.len());
    let mut places: HashMap<String, Span> = HashMap::new();
    for item in items {
        let Some(shot) = shot::read(item, problems) else { continue };
        if let Some(first) = places.get(&shot.id.value) {
            problems.push(
                Diagnostic::error(
                    "duplicate-id",
                    shot.id.span,
                    format!("two shots have the id `{}`", shot.id.value),
                )
                .label("again here")
                .other(*first, "first here")
                .help("give each shot an id of its own"),
            );
            continue;
        }
        places.insert(shot.id.value.clone(), shot.id.span);
        found.push(shot);
    }
    found
}

fn films(key: &Key, value: &Yaml, problems: &mut Problems) -> Vec<FilmSpec> {
    let YamlValue::List(items) = &value.value else {
        problems.push(
            Diagnostic::error("wrong-type", value.span.or(key.span), "`films` is a list")
                .label(format!("this is {}", value.kind()))
                .help("write each film as `- output: …` with its `shots` below, or one film as `film:`"),
        );
        return Vec::new();
    };
    if items.is_empty() {
        problems.error("bad-film", key.span, "`films` lists nothing");
    }
    let mut found = Vec::with_capacity(items.len());
    for item in items {
        let YamlValue::Map(entries) = &item.value else {
            problems.push(
                Diagnostic::error("wrong-type", item.span.or(key.span), "a film is a map")
                    .label(format!("this is {}", item.kind()))
                    .help("write it as `- output: …` with its `shots` below"),
            );
            continue;
        };
        // Each film is shown by its own first word.
        let place = entries.first().map_or(item.span.or(key.span), |(first, _)| first.span);
        found.push(film(&Key::new("film".to_owned(), place), item, problems));
    }
    found
}

fn film(key: &Key, value: &Yaml, problems: &mut Problems) -> FilmSpec {
    let mut film = FilmSpec { key: key.clone(), output: None, shots: None };
    for (word, value) in map(key, value, problems) {
        match word.value.as_str() {
            "output" => film.output = Some(Entry { key: word.clone(), value: value.clone() }),
            "shots" => film.shots = film_shots(word, value, problems),
            other => {
                let diagnostic =
                    Diagnostic::error("unknown-key", word.span, format!("`{other}` is not a key of `film`"));
                problems.push(
                    diagnostic.help(
                        did_you_mean(other, FILM_KEYS)
                            .unwrap_or_else(|| format!("the keys here are {}", quoted_list(FILM_KEYS, 10))),
                    ),
                );
            }
        }
    }
    film
}

/// What the film lists. Where nothing of it can be read, which is reported, it is as if it listed nothing by name.
fn film_shots(word: &Key, value: &Yaml, problems: &mut Problems) -> Option<Vec<Spanned<ShotRef>>> {
    let found = references(word, value, problems);
    (!found.is_empty() || value::one_or_many(value).is_empty()).then_some(found)
}

/// A list of shot references, or one.
pub(super) fn references(key: &Key, value: &Yaml, problems: &mut Problems) -> Vec<Spanned<ShotRef>> {
    value::one_or_many(value)
        .iter()
        .filter_map(|item| reference(&key.value, key.span, item, problems))
        .collect()
}

/// One shot reference.
pub(super) fn reference(
    what: &str,
    place: Span,
    value: &Yaml,
    problems: &mut Problems,
) -> Option<Spanned<ShotRef>> {
    let text = match &value.value {
        YamlValue::Text(text) => text.clone(),
        // An id such as `1` is a number to YAML.
        YamlValue::Number(number) if number.is_u64() => number.to_string(),
        _ => {
            problems.push(
                Diagnostic::error("wrong-type", value.span.or(place), format!("`{what}` names a shot"))
                    .label(format!("this is {}", value.kind())),
            );
            return None;
        }
    };
    match ShotRef::parse(&text) {
        Ok(reference) => Some(Spanned::new(reference, value.span)),
        Err(message) => {
            problems.push(Diagnostic::error("bad-name", value.span.or(place), message).help(format!(
                "`{what}` names a shot by its id, one cell of it as `id@axis=value`, one take as `id#2`"
            )));
            None
        }
    }
}

/// A name for a workflow that gives itself none: the file's, in characters that names may have.
fn file_stem(name: &str) -> String {
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let slug = crate::template::slug(stem);
    if slug.is_empty() { "workflow".to_owned() } else { slug }
}
