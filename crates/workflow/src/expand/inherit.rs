//! Inherited axes: from the workflow's own matrix, and from the shot whose frame is this shot's first frame.

use super::instances::ExpandedShot;
use super::references::{RefGraph, Reference};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::matrix::{Cell, CellSelector, JoinError, natural_join};
use crate::source::Span;
use crate::syntax::{Shot, Workflow};

/// Cells, and for each the index of the parent shot's cell that it was inherited from, if any.
pub(super) type Cells = (Vec<Cell>, Vec<Option<usize>>);

/// The cells of a shot: the natural join of the workflow's cells, the parent shot's cells and its own.
pub(super) fn cells(
    workflow: &Workflow,
    index: usize,
    own: Vec<Cell>,
    top: &[Cell],
    refs: &RefGraph,
    shots: &[Option<ExpandedShot<'_>>],
    problems: &mut Problems,
) -> Option<Cells> {
    let shot = &workflow.shots[index];
    let (cells, parents) = if let Some(used) = refs.references[index].iter().find(|used| used.is_first_frame)
    {
        from_parent(shot, own, used, shots[used.target].as_ref()?, problems)?
    } else {
        let parents = vec![None; own.len()];
        (own, parents)
    };
    if top.iter().all(|cell| cell.values.is_empty()) {
        return Some((cells, parents));
    }
    let span = workflow.matrix.as_ref().map_or(shot.id.span, |entry| entry.key.span);
    match natural_join(top, &cells) {
        Ok(joined) => {
            let parents = joined.iter().map(|one| parents[one.right]).collect();
            Some((joined.into_iter().map(|one| one.cell).collect(), parents))
        }
        Err(why) => {
            let name = |cell: usize| {
                let label = cells[cell].label();
                format!(
                    "no cell of the workflow's matrix agrees with the cell `{label}` of `{}`",
                    shot.id.value
                )
            };
            let help = "every shot has the axes of the workflow's matrix; drop the axis here, or give it the same values";
            problems.push(uncrossed(why, shot, span, name, "the workflow's matrix", help));
            None
        }
    }
}

fn from_parent(
    shot: &Shot,
    own: Vec<Cell>,
    used: &Reference,
    parent: &ExpandedShot<'_>,
    problems: &mut Problems,
) -> Option<Cells> {
    let alone = |own: Vec<Cell>| {
        let parents = vec![None; own.len()];
        Some((own, parents))
    };
    let selector = CellSelector::parse(used.shot_ref.value.cell.as_deref());
    let (index, open): (Vec<usize>, Vec<Cell>) = parent
        .cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| selector.matches(cell))
        .map(|(index, cell)| (index, selector.open_part(cell)))
        .unzip();
    // A fully named instance contributes no axes; a reference that matches nothing is reported when the frame is resolved.
    if open.iter().all(|cell| cell.values.is_empty()) {
        return alone(own);
    }
    match natural_join(&open, &own) {
        Ok(joined) => {
            let parents = joined.iter().map(|one| Some(index[one.left])).collect();
            Some((joined.into_iter().map(|one| one.cell).collect(), parents))
        }
        Err(why) => {
            let name = |cell: usize| {
                let label = own[cell].label();
                format!("no instance of `{}` agrees with the cell `{label}`", used.shot_ref.value)
            };
            let help = "a shot that starts from a frame of a shot with axes has those axes; drop the axis here, or give it the same values";
            problems.push(uncrossed(
                why,
                shot,
                used.shot_ref.span,
                name,
                "it starts from a frame of this shot",
                help,
            ));
            None
        }
    }
}

fn uncrossed(
    why: JoinError,
    shot: &Shot,
    other: Span,
    lonely: impl Fn(usize) -> String,
    label: &str,
    help: &str,
) -> Diagnostic {
    match why {
        JoinError::TooManyPairs(pairs) => {
            let message = format!("this crosses {} cells", grouped(pairs));
            Diagnostic::error("matrix-too-large", other, message)
                .help(format!("a plan has at most {} instances", grouped(limits::MAX_INSTANCES as u128)))
        }
        JoinError::Unmatched(cell) => {
            let span = shot.matrix.as_ref().map_or(shot.id.span, |entry| entry.key.span);
            Diagnostic::error("no-matching-instance", span, lonely(cell)).other(other, label).help(help)
        }
    }
}
