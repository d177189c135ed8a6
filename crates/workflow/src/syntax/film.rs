//! Reads `film` and `films`, and references to shots.

use super::keys::{film as keys, workflow};
use super::mapping::Mapping;
use super::shot_ref::shot_ref;
use super::value::{one_or_many, report_wrong_type};
use super::{FilmSpec, PosterSpec, SoundtrackSpec, clip, soundtrack};
use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::{Fit, Subtitles};
use crate::source::Spanned;
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
            matrix: None,
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
        matrix: film.entry(&keys::MATRIX),
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
