//! Films: their clips in order and their file names. Each cell of the workflow's own matrix, and of a film's, gets its own copy of the film.

use std::collections::{HashMap, HashSet};

use super::axes::cell_scope;
use super::film_clips::FilmCell;
use super::film_files::FilmFiles;
use super::resolve::RefResolver;
use super::{ExpandCx, film_edit};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::letters::name_slug;
use crate::limits;
use crate::matrix::MatrixCell;
use crate::plan::{Film, Node};
use crate::source::{Span, Spanned};
use crate::syntax::{self, FilmSpec, Workflow};
use crate::template::Scope;

/// All films of the file, film by film, one for each cell of the workflow's matrix and of its own. Invalid ones are reported and left out.
pub(super) fn films<'w>(
    workflow: &'w Workflow,
    resolver: &RefResolver<'_, 'w>,
    nodes: &[Node],
    params: &Scope,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Vec<Film> {
    // Where an instance is missing because of an error, nodes have other positions.
    let nodes = if problems.any() { &[] } else { nodes };
    let mut films = Vec::new();
    if let Some(span) = too_much(workflow, resolver) {
        let max_steps = grouped(u128::from(limits::MAX_EXPANSION_STEPS));
        let message = format!("more than {max_steps} instances would have to be looked at for the films");
        let help = "name fewer shots, or have fewer cells in the workflow's matrix";
        problems.push(Diagnostic::error("matrix-too-large", span, message).help(help));
        return films;
    }
    let mut spans: HashMap<String, Span> = HashMap::new();
    let mut files = FilmFiles::default();
    let mut clips_in_all = 0;
    for (index, spec) in workflow.films.iter().enumerate() {
        if problems.full() {
            break;
        }
        let cells = resolver.expansion.cells_of_film(index);
        let outputs = outputs(spec, workflow, cells, params, cx, problems);
        for (cell, output) in cells.iter().zip(outputs) {
            let scope = cell_scope(cell, params);
            let film = FilmCell { spec, resolver, cell, scope: &scope, nodes, cx };
            let font = spec.font.as_ref().and_then(|font| files.font(font, &scope, cx, problems));
            let clips = film.clips(workflow, font.as_ref(), &mut files, problems);
            clips_in_all += clips.len();
            if clips_in_all > limits::MAX_CLIPS {
                let max_clips = grouped(limits::MAX_CLIPS as u128);
                problems.error(
                    "bad-film",
                    spec.key.span,
                    format!("the films have more than {max_clips} clips"),
                );
                return films;
            }
            let span = spec.output.as_ref().map_or(spec.key.span, syntax::Entry::span);
            let Some(output) = output else { continue };
            if let Some(first) = spans.get(&output) {
                problems.push(
                    Diagnostic::error("bad-film", span, format!("two films are named `{output}`"))
                        .other(*first, "the other one")
                        .help("give each film an `output` of its own"),
                );
                continue;
            }
            spans.insert(output.clone(), span);
            if let Some(subtitles) = &spec.subtitles {
                film_edit::check_subtitles(&output, subtitles.span, &clips, nodes, problems);
                if subtitles.value.burn {
                    let text = Spanned::new(film_edit::spoken(&clips, nodes), subtitles.span);
                    files.check_characters(&text, font.as_ref());
                }
            }
            let poster = film.poster(&clips, problems);
            let soundtrack = film.soundtrack(&clips, &mut files, problems);
            films.push(Film {
                output,
                size: spec.size.as_ref().map(|size| size.value),
                fit: spec.fit,
                font: font.map(|font| font.file),
                frame_rate: spec.frame_rate.as_ref().map(|rate| rate.value),
                subtitles: spec.subtitles.as_ref().map(|subtitles| subtitles.value),
                color_match: spec.color_match,
                poster,
                soundtrack,
                clips,
                location: cx.location(spec.key.span),
            });
        }
    }
    files.report_missing_characters(cx, problems);
    films
}

/// The span of the first film whose resolution would exceed [`limits::MAX_EXPANSION_STEPS`]: each reference is matched against all cells
/// of its shot, once for each cell of the film.
fn too_much(workflow: &Workflow, resolver: &RefResolver<'_, '_>) -> Option<Span> {
    let mut comparisons = 0_usize;
    for (index, spec) in workflow.films.iter().enumerate() {
        let examined: usize = match &spec.clips {
            // Each film is named and looked at once for each cell, whatever it shows.
            Some(references) => {
                1 + references
                    .iter()
                    .map(|clip| match (clip.shot(), clip.group()) {
                        (Some(shot), _) => resolver.cells_of(&shot.value.shot),
                        // All shots are asked for their group.
                        (_, Some(group)) => {
                            let shots = workflow.shots_of(&group.value);
                            let cells = shots.map(|shot| resolver.cells_of(&shot.id.value)).sum::<usize>();
                            workflow.shots.len() + cells
                        }
                        (None, None) => 1,
                    })
                    .sum::<usize>()
            }
            None => workflow.shots.iter().map(|shot| resolver.cells_of(&shot.id.value)).sum(),
        };
        comparisons = comparisons
            .saturating_add(examined.saturating_mul(resolver.expansion.cells_of_film(index).len()));
        if comparisons as u64 > limits::MAX_EXPANSION_STEPS {
            return Some(spec.key.span);
        }
    }
    None
}

/// The file names of a film, cell by cell. If two cells would get the same name, the cell labels are appended:
/// `lighthouse@look=noir.mp4`. `None` for an invalid name, which is reported.
fn outputs<'w>(
    spec: &'w FilmSpec,
    workflow: &Workflow,
    cells: &[MatrixCell],
    params: &Scope,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Vec<Option<String>> {
    let mut named: Vec<Option<String>> =
        cells.iter().map(|cell| output(spec, workflow, cell, params, cx, problems)).collect();
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
    spec: &'w FilmSpec,
    workflow: &Workflow,
    cell: &MatrixCell,
    params: &Scope,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<String> {
    let Some(entry) = &spec.output else { return Some(format!("{}.mp4", name_slug(&workflow.name.value))) };
    let value = cx.templates.render(&entry.value, &cell_scope(cell, params), problems)?;
    let name = syntax::expect_text(&value, &syntax::keys::film::OUTPUT, entry.key.span, problems)?;
    if let Err(message) = syntax::output_name(&name.value) {
        problems.push(
            Diagnostic::error("bad-name", entry.span(), message)
                .help("films are put beside the videos: give a file name such as `film.mp4`"),
        );
        return None;
    }
    Some(name.value)
}
