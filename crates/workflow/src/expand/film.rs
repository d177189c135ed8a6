//! The films: which instances, in which order, under which name. Where the workflow has a matrix of its own, each of its
//! cells has its films.

use std::collections::{HashMap, HashSet};

use super::Cx;
use super::address::{LEFT_OUT, Stage};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::matrix::Cell;
use crate::plan::{Clip, Film};
use crate::source::{Span, Spanned};
use crate::syntax::{self, FilmSpec, ShotRef, Workflow};
use crate::template::{Scope, slug};

/// The films that the file asks for, as far as they can be made: film by film, for each cell of the workflow's matrix.
pub(super) fn films<'w>(
    workflow: &'w Workflow,
    stage: &Stage<'_, 'w>,
    params: &Scope,
    cx: &Cx<'w>,
    problems: &mut Problems,
) -> Vec<Film> {
    let mut films = Vec::new();
    if let Some(place) = too_much(workflow, stage) {
        let most = grouped(limits::MAX_CELL_COMPARISONS as u128);
        let message = format!("more than {most} instances would have to be looked at for the films");
        let help = "name fewer shots, or have fewer cells in the workflow's matrix";
        problems.push(Diagnostic::error("matrix-too-large", place, message).help(help));
        return films;
    }
    let mut places: HashMap<String, Span> = HashMap::new();
    let mut clips_in_all = 0;
    for words in &workflow.films {
        let outputs = outputs(words, workflow, stage, params, cx, problems);
        for (cell, output) in stage.fan.top.iter().zip(outputs) {
            let clips = clips(words, workflow, stage, cell, problems);
            clips_in_all += clips.len();
            if clips_in_all > limits::MAX_CLIPS {
                let most = grouped(limits::MAX_CLIPS as u128);
                problems.error("bad-film", words.key.span, format!("the films have more than {most} clips"));
                return films;
            }
            let place = words.output.as_ref().map_or(words.key.span, syntax::Entry::span);
            let Some(output) = output else { continue };
            if let Some(first) = places.get(&output) {
                problems.push(
                    Diagnostic::error("bad-film", place, format!("two films are named `{output}`"))
                        .other(*first, "the other one")
                        .help("give each film an `output` of its own"),
                );
                continue;
            }
            places.insert(output.clone(), place);
            films.push(Film { output, clips, place: cx.place(words.key.span) });
        }
    }
    films
}

/// The film for which too many instances would have to be looked at, if one is: each reference in each cell of the
/// workflow's matrix looks at all cells of its shot.
fn too_much(workflow: &Workflow, stage: &Stage<'_, '_>) -> Option<Span> {
    let mut work = 0_usize;
    for words in &workflow.films {
        let looked_at: usize = match &words.shots {
            Some(references) => {
                references.iter().map(|reference| stage.cells_of(&reference.value.shot)).sum()
            }
            None => workflow.shots.iter().map(|shot| stage.cells_of(&shot.id.value)).sum(),
        };
        work = work.saturating_add(looked_at.saturating_mul(stage.fan.top.len()));
        if work > limits::MAX_CELL_COMPARISONS {
            return Some(words.key.span);
        }
    }
    None
}

/// The file names of a film, cell by cell. Where the name alone does not tell the cells apart, their labels do:
/// `lighthouse@look=noir.mp4`. Nothing where the name is wrong, which is reported.
fn outputs<'w>(
    words: &'w FilmSpec,
    workflow: &Workflow,
    stage: &Stage<'_, 'w>,
    params: &Scope,
    cx: &Cx<'w>,
    problems: &mut Problems,
) -> Vec<Option<String>> {
    let cells = &stage.fan.top;
    let mut named: Vec<Option<String>> =
        cells.iter().map(|cell| output(words, workflow, cell, params, cx, problems)).collect();
    let different: HashSet<&String> = named.iter().flatten().collect();
    if different.len() < named.iter().flatten().count() {
        for (name, cell) in named.iter_mut().zip(cells) {
            let Some(name) = name else { continue };
            let stem = name.trim_end_matches(".mp4");
            *name = format!("{stem}@{}.mp4", cell.label());
        }
    }
    named
}

fn output<'w>(
    words: &'w FilmSpec,
    workflow: &Workflow,
    cell: &Cell,
    params: &Scope,
    cx: &Cx<'w>,
    problems: &mut Problems,
) -> Option<String> {
    let Some(entry) = &words.output else { return Some(format!("{}.mp4", slug(&workflow.name.value))) };
    let mut scope = params.clone();
    for (axis, value) in &cell.values {
        scope.set(axis, &value.value);
    }
    let value = cx.templates.render(&entry.value, &scope, problems)?;
    let name = syntax::expect_text(&value, "output", entry.key.span, problems)?;
    if let Err(message) = syntax::output_name(&name.value) {
        problems.push(
            Diagnostic::error("bad-name", entry.span(), message)
                .help("films are put beside the videos: give a file name such as `film.mp4`"),
        );
        return None;
    }
    Some(name.value)
}

fn clips(
    words: &FilmSpec,
    workflow: &Workflow,
    stage: &Stage<'_, '_>,
    cell: &Cell,
    problems: &mut Problems,
) -> Vec<Clip> {
    let mut clips = Vec::new();
    match &words.shots {
        Some(references) => {
            if references.is_empty() {
                problems.error("bad-film", words.key.span, "this film shows nothing");
            }
            for reference in references {
                if problems.full() || clips.len() > limits::MAX_CLIPS {
                    break;
                }
                match stage.shown(cell, reference) {
                    Ok(shown) => clips.extend(shown),
                    Err(diagnostic) => problems.push(*diagnostic),
                }
            }
        }
        None => {
            for shot in &workflow.shots {
                let everything = ShotRef { shot: shot.id.value.clone(), cell: None, take: None };
                match stage.shown(cell, &Spanned::new(everything, words.key.span)) {
                    Ok(shown) => clips.extend(shown),
                    // A shot that nobody named may be left out without a word.
                    Err(diagnostic) if diagnostic.code == LEFT_OUT => {}
                    Err(diagnostic) => problems.push(*diagnostic),
                }
            }
        }
    }
    clips
}
