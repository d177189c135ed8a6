//! The film: which instances, in which order, under which name.

use super::Cx;
use super::frames::{LEFT_OUT, Stage};
use crate::bounds;
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::plan::{Film, NodeIx};
use crate::source::Spanned;
use crate::syntax::{self, ShotRef, Workflow};
use crate::template::{Scope, slug};

/// The film, where the file asks for one and it can be made.
pub(super) fn film<'w>(
    workflow: &'w Workflow,
    stage: &Stage<'_, 'w>,
    params: &Scope,
    cx: &Cx<'w>,
    problems: &mut Problems,
) -> Option<Film> {
    let words = workflow.film.as_ref()?;
    let output = match &words.output {
        None => Some(format!("{}.mp4", slug(&workflow.name.value))),
        Some(entry) => cx.templates.render(&entry.value, params, problems).and_then(|value| {
            let name = syntax::text(&value, "output", entry.key.span, problems)?;
            if let Err(message) = syntax::output_name(&name.value) {
                problems.push(
                    Diagnostic::error("bad-name", entry.place(), message)
                        .help("the film is written beside the workflow: a file name such as `film.mp4`"),
                );
                return None;
            }
            Some(name.value)
        }),
    };
    let mut clips: Vec<NodeIx> = Vec::new();
    match &words.shots {
        Some(references) => {
            if references.is_empty() {
                problems.error("bad-film", words.key.span, "this film shows nothing");
            }
            for reference in references {
                if problems.full() || too_long(&clips, workflow, problems) {
                    break;
                }
                match stage.group(None, reference, false) {
                    Ok(group) => clips.extend(group.into_iter().filter_map(|at| stage.node(at))),
                    Err(diagnostic) => problems.push(*diagnostic),
                }
            }
        }
        None => {
            for shot in &workflow.shots {
                let everything = ShotRef { shot: shot.id.value.clone(), cell: None, take: None };
                match stage.group(None, &Spanned::new(everything, words.key.span), false) {
                    Ok(group) => clips.extend(group.into_iter().filter_map(|at| stage.node(at))),
                    // A shot that nobody named may be left out without a word.
                    Err(diagnostic) if diagnostic.code == LEFT_OUT => {}
                    Err(diagnostic) => problems.push(*diagnostic),
                }
            }
        }
    }
    Some(Film { output: output?, clips, place: cx.place(words.key.span) })
}

fn too_long(clips: &[NodeIx], workflow: &Workflow, problems: &mut Problems) -> bool {
    let too_long = clips.len() > bounds::CLIPS;
    if too_long && let Some(film) = &workflow.film {
        let message = format!("this film has more than {} clips", grouped(bounds::CLIPS as u128));
        problems.error("bad-film", film.key.span, message);
    }
    too_long
}
