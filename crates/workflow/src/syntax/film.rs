//! Reads `film` and `films`, and references to shots.

use super::keys::{KeySpec, Shape, film as keys, nothing, shot, workflow};
use super::mapping::Mapping;
use super::value::{one_or_many, report_wrong_type};
use super::{FilmSpec, PosterSpec, ShotRef, SoundtrackSpec, clip, soundtrack};
use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::{Fit, Subtitles};
use crate::source::{Span, Spanned};
use crate::yaml::{Key, Yaml, YamlValue};

/// The films of a workflow.
pub(super) fn read(file: &Mapping<'_>, problems: &mut Problems) -> Vec<FilmSpec> {
    match (file.get(&workflow::FILM), file.get(&workflow::FILMS)) {
        (Some((film_key, _)), Some((films_key, films_value))) => {
            let in_order = film_key.span < films_key.span;
            let (first, second) = if in_order { (film_key, films_key) } else { (films_key, film_key) };
            problems.push(
                Diagnostic::error("bad-film", second.span, "`film` and `films` exclude each other")
                    .other(first.span, "the other one")
                    .help("list all of them under `films`"),
            );
            films(films_key, films_value, problems)
        }
        (Some((key, value)), None) => film(key, value, problems).into_iter().collect(),
        (None, Some((key, value))) => films(key, value, problems),
        (None, None) => Vec::new(),
    }
}

fn films(key: &Key, value: &Yaml, problems: &mut Problems) -> Vec<FilmSpec> {
    let YamlValue::List(items) = &value.value else {
        problems.push(
            Diagnostic::error("wrong-type", value.span.or(key.span), "`films` must be a list of films")
                .label(format!("this is {}", value.kind()))
                .help("write each film as `- output: lighthouse.mp4` with its `shots` below, or one film as `film:`"),
        );
        return Vec::new();
    };
    if items.is_empty() {
        problems.error("bad-film", key.span, "`films` is empty");
    }
    let mut films = Vec::with_capacity(items.len());
    for item in items {
        // Each film is shown by its own first key.
        let span = match &item.value {
            YamlValue::Map(entries) => entries.first().map(|(first, _)| first.span),
            _ => None,
        };
        let key = Key::new("film".to_owned(), span.unwrap_or(item.span.or(key.span)));
        films.extend(
            Mapping::read(item, &keys::FILM, key.span, problems).map(|map| spec(&key, map, problems)),
        );
    }
    films
}

fn film(key: &Key, value: &Yaml, problems: &mut Problems) -> Option<FilmSpec> {
    if value.is_null() {
        return Some(FilmSpec {
            key: key.clone(),
            output: None,
            size: None,
            fit: Fit::default(),
            frame_rate: None,
            font: None,
            subtitles: None,
            color_match: false,
            poster: None,
            soundtrack: SoundtrackSpec::default(),
            clips: None,
        });
    }
    if let Some(help) = nothing(workflow::FILM.name, value) {
        let label = format!("this is {}", value.kind());
        let wrong = Diagnostic::error("wrong-type", value.span.or(key.span), "a film must be a mapping");
        problems.push(wrong.label(label).help(help));
        return None;
    }
    Mapping::read(value, &keys::FILM, key.span, problems).map(|map| spec(key, map, problems))
}

fn spec(key: &Key, film: Mapping<'_>, problems: &mut Problems) -> FilmSpec {
    let clips = film.get(&keys::SHOTS).and_then(|(key, value)| {
        let items = one_or_many(value);
        let clips: Vec<_> = items.iter().filter_map(|item| clip::read(key.span, item, problems)).collect();
        // Where no entry can be read, which is reported, the film is as if it listed nothing.
        (!clips.is_empty() || items.is_empty()).then_some(clips)
    });
    FilmSpec {
        key: key.clone(),
        output: film.entry(&keys::OUTPUT),
        size: clip::frame_size(&film, problems),
        fit: film.choice(&keys::FIT, &keys::FITS, problems).unwrap_or_default(),
        font: film.entry(&keys::FONT).filter(|font| !font.value.is_null()),
        frame_rate: clip::parsed(&film, &keys::FRAME_RATE, problems),
        subtitles: subtitles(&film, problems),
        color_match: film.flag(&keys::COLOR_MATCH, problems).unwrap_or_default(),
        poster: poster(&film, problems),
        soundtrack: soundtrack::read(&film, problems),
        clips,
    }
}

/// A time where the text is one, else a shot.
fn poster(film: &Mapping<'_>, problems: &mut Problems) -> Option<PosterSpec> {
    let (key, value) = film.get(&keys::POSTER).filter(|(_, value)| !value.is_null())?;
    let Some(text) = value.text() else {
        report_wrong_type(&keys::POSTER, value, key.span, problems);
        return None;
    };
    match text.parse() {
        Ok(time) => Some(PosterSpec::At(Spanned::new(time, value.span.or(key.span)))),
        Err(_) => shot_ref(&keys::POSTER, key.span, value, problems).map(PosterSpec::Shot),
    }
}

fn subtitles(film: &Mapping<'_>, problems: &mut Problems) -> Option<Spanned<Subtitles>> {
    let (key, value) = film.get(&keys::SUBTITLES).filter(|(_, value)| !value.is_null())?;
    if value.text() == Some(keys::DIALOGUE) {
        return Some(Spanned::new(Subtitles { burn: false }, key.span));
    }
    if !matches!(value.value, YamlValue::Map(_)) {
        report_wrong_type(&keys::SUBTITLES, value, key.span, problems);
        return None;
    }
    let map = Mapping::read(value, &keys::SUBTITLE_KEYS, key.span, problems)?;
    if let Some((written, from)) =
        map.get(&keys::FROM).filter(|(_, from)| from.text() != Some(keys::DIALOGUE))
    {
        report_wrong_type(&keys::FROM, from, written.span, problems);
    }
    let burn = map.flag(&keys::BURN, problems).unwrap_or_default();
    Some(Spanned::new(Subtitles { burn }, key.span))
}

/// A list of shot references, or one.
pub(super) fn shot_refs(
    key: &KeySpec,
    fallback: Span,
    value: &Yaml,
    problems: &mut Problems,
) -> Vec<Spanned<ShotRef>> {
    one_or_many(value).iter().filter_map(|item| shot_ref(key, fallback, item, problems)).collect()
}

/// One shot reference.
pub(super) fn shot_ref(
    key: &KeySpec,
    fallback: Span,
    value: &Yaml,
    problems: &mut Problems,
) -> Option<Spanned<ShotRef>> {
    let text = match &value.value {
        YamlValue::Text(text) => text.clone(),
        // An id such as `1` is a number in YAML.
        YamlValue::Number(number) if number.is_u64() => number.to_string(),
        YamlValue::Map(_) if let Some(help) = name_in_mapping(key, value) => {
            let message = format!("`{}` must be {}", key.name, key.shape);
            let label = "this is a mapping";
            problems.push(
                Diagnostic::error("wrong-type", value.span.or(fallback), message).label(label).help(help),
            );
            return None;
        }
        _ => {
            report_wrong_type(key, value, fallback, problems);
            return None;
        }
    };
    match ShotRef::parse(&text) {
        Ok(reference) => Some(Spanned::new(reference, value.span)),
        Err(message) => {
            let help = list_in_text(key, &text).or_else(|| file_as_shot(key, &text)).unwrap_or_else(|| {
                format!(
                    "`{}` takes a shot's id, one cell of it as `id@axis=value`, or one take as `id#2`",
                    key.name
                )
            });
            problems.push(Diagnostic::error("bad-name", value.span.or(fallback), message).help(help));
            None
        }
    }
}

/// The help for a mapping where a shot is named as it is: `{shot: pier}` for `pier`.
fn name_in_mapping(key: &KeySpec, value: &Yaml) -> Option<String> {
    let YamlValue::Map(entries) = &value.value else { return None };
    let (name, shot) = entries.iter().find(|(name, _)| matches!(name.value.as_str(), "shot" | "id"))?;
    // `continues` takes the last frame, as is said here.
    let is_last = |(other, value): &(Key, Yaml)| {
        other.value == name.value || (other.value == "frame" && value.text() == Some("last"))
    };
    if !entries.iter().all(is_last) {
        return None;
    }
    let text = shot.text().filter(|text| ShotRef::parse(text).is_ok())?;
    Some(format!("write `{}: {text}`", key.name))
}

/// The help for a file, or a frame of a shot, where a shot is named.
fn file_as_shot(key: &KeySpec, text: &str) -> Option<String> {
    let (stem, ending) = text.rsplit_once('.')?;
    let is_name = ShotRef::parse(stem).is_ok();
    match (ending.to_lowercase().as_str(), key.shape) {
        ("png" | "jpg" | "jpeg" | "webp" | "mp4" | "mov" | "webm", Shape::Clips) => {
            Some(format!("a file is shown by `{{file: {text}}}`"))
        }
        ("png" | "jpg" | "jpeg" | "webp", _) if key.name == shot::CONTINUES.name => {
            Some(format!("an image that the video starts with is `first_frame: {text}`"))
        }
        ("mp4" | "mov" | "webm" | "last" | "last_frame" | "end", _) if is_name => {
            Some(format!("name the shot alone: `{}: {stem}`", key.name))
        }
        _ => None,
    }
}

/// The help for several names in one text, if the key takes a list.
fn list_in_text(key: &KeySpec, text: &str) -> Option<String> {
    let takes_list = matches!(key.shape, Shape::ShotRefs | Shape::Clips);
    let names: Vec<&str> = text.split([',', ';', ' ', '\n']).filter(|name| !name.is_empty()).collect();
    let are_names = names.len() > 1 && names.iter().all(|name| ShotRef::parse(name).is_ok());
    // A comma in a cell belongs to the cell.
    let is_cell = text.contains('@');
    (takes_list && are_names && !is_cell)
        .then(|| format!("write a list: `{}: [{}]`", key.name, names.join(", ")))
}
