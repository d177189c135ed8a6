//! Inherited axes: from the workflow's own matrix, and from the shot whose frame is this shot's first frame.

use std::collections::HashSet;

use indexmap::IndexMap;

use super::expansion::{ExpandedShot, Parent, PickedCells, ShotPicks};
use super::references::{RefGraph, Reference};
use super::resolve;
use super::used_axes::TopCells;
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::matrix::{self, CellSelector, JoinError, JoinedCell, LeftCells, MatrixCell, natural_join};
use crate::source::Span;
use crate::syntax::{Shot, Workflow};
use crate::work::WorkBudget;
use crate::yaml::Key;

/// The label of a placeholder on an axis whose value is not picked yet.
const OPEN_LABEL: &str = "open";

/// Cells, and for each the cell of the parent shot that it was inherited from.
pub(super) type Cells = (Vec<MatrixCell>, Vec<Parent>);

/// The cells of a shot: the natural join of the workflow's cells, the parent shot's cells and its own.
#[expect(clippy::too_many_arguments, reason = "three lists of cells, and what they are read with")]
pub(super) fn cells(
    workflow: &Workflow,
    index: usize,
    own: Vec<MatrixCell>,
    top: &TopCells,
    refs: &RefGraph,
    shots: &[Option<ExpandedShot<'_>>],
    work: &WorkBudget,
    problems: &mut Problems,
) -> Option<Cells> {
    let shot = &workflow.shots[index];
    let (cells, parents) = if let Some(used) = refs.references[index].iter().find(|used| used.is_first_frame)
    {
        from_parent(shot, own, used, shots[used.target].as_ref()?, work, problems)?
    } else {
        let parents = vec![Parent::None; own.len()];
        (own, parents)
    };
    if top.cells.iter().all(|cell| cell.values.is_empty()) {
        return Some((cells, parents));
    }
    let span = workflow.matrix.as_ref().map_or(shot.id.span, |entry| entry.key.span);
    let top = LeftCells { cells: &top.cells, index: &top.index, selector: &CellSelector::parse(None) };
    match natural_join(&top, &cells, work) {
        Ok(joined) => {
            let parents = joined.iter().map(|pair| parents[pair.right].clone()).collect();
            Some((joined.into_iter().map(|pair| pair.cell).collect(), parents))
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
            problems.push(join_diagnostic(why, shot, span, name, "the workflow's matrix", help));
            None
        }
    }
}

/// The cells of a film with a matrix: each of its own with those of the workflow's that agree.
pub(super) fn film_cells(
    key: &Key,
    own: &[MatrixCell],
    top: &TopCells,
    work: &WorkBudget,
    problems: &mut Problems,
) -> Option<Vec<MatrixCell>> {
    let top = LeftCells { cells: &top.cells, index: &top.index, selector: &CellSelector::parse(None) };
    let mut cells: Vec<MatrixCell> = match natural_join(&top, own, work) {
        Ok(joined) => joined.into_iter().map(|pair| pair.cell).collect(),
        Err(JoinError::Unmatched(cell)) => {
            let label = own[cell].label();
            let message =
                format!("no cell of the workflow's matrix agrees with the cell `{label}` of the film");
            let help = "a film is made in the cells of the workflow's matrix: give the axis values that it has there";
            problems.push(Diagnostic::error("no-matching-instance", key.span, message).help(help));
            return None;
        }
        Err(JoinError::TooManyCells(_) | JoinError::TooMuchWork) => {
            problems.push(matrix::too_much_work(key));
            return None;
        }
    };
    matrix::disambiguate(&mut cells);
    Some(cells)
}

fn from_parent(
    shot: &Shot,
    own: Vec<MatrixCell>,
    used: &Reference,
    parent: &ExpandedShot<'_>,
    work: &WorkBudget,
    problems: &mut Problems,
) -> Option<Cells> {
    let selector = CellSelector::parse(used.shot_ref.value.cell.as_deref());
    // A fully named instance contributes no axes; a reference that matches nothing is reported when the frame is resolved.
    if parent.index.has_open_axes(&parent.cells, &selector, work) == Some(false) {
        let parents = vec![Parent::None; own.len()];
        return Some((own, parents));
    }
    let left = LeftCells { cells: &parent.cells, index: &parent.index, selector: &selector };
    match natural_join(&left, &own, work) {
        Ok(joined) if parent.picks.concerns_cells() => Some(narrowed(joined, &parent.picks)),
        Ok(joined) => {
            let parents = joined.iter().map(|pair| Parent::Cell(pair.left)).collect();
            Some((joined.into_iter().map(|pair| pair.cell).collect(), parents))
        }
        Err(why) => {
            let name = |cell: usize| {
                let label = own[cell].label();
                format!("no instance of `{}` agrees with the cell `{label}`", used.shot_ref.value)
            };
            let help = "a shot that starts from a frame of a shot with axes has those axes; drop the axis here, or give it the same values";
            problems.push(join_diagnostic(
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

/// Applies the parent's pick: of the parent's cells that go with the same cell of the shot, the picked one is inherited; while the pick is
/// open, a placeholder for it.
fn narrowed(joined: Vec<JoinedCell>, picks: &ShotPicks) -> Cells {
    let mut alternatives: IndexMap<(usize, usize), Vec<JoinedCell>> = IndexMap::new();
    for pair in joined {
        alternatives.entry((pair.right, picks.group(pair.left))).or_default().push(pair);
    }
    let mut cells: Cells = (Vec::new(), Vec::new());
    for alternatives in alternatives.into_values() {
        let (cell, parent) = match picks.narrow(alternatives.iter().map(|pair| pair.left).collect()) {
            PickedCells::Cells(left) => {
                let left: HashSet<usize> = left.into_iter().collect();
                for pair in alternatives.into_iter().filter(|pair| left.contains(&pair.left)) {
                    cells.0.push(pair.cell);
                    cells.1.push(Parent::Cell(pair.left));
                }
                continue;
            }
            PickedCells::Open(left) => (placeholder(&alternatives), Parent::Open(left)),
        };
        cells.0.push(cell);
        cells.1.push(parent);
    }
    cells
}

/// The first of several cells, with the label `open` on the axes on which they differ.
fn placeholder(alternatives: &[JoinedCell]) -> MatrixCell {
    let mut cell = alternatives[0].cell.clone();
    for (axis, label) in &mut cell.label {
        if alternatives.iter().any(|other| other.cell.label_on(axis) != Some(&**label)) {
            *label = OPEN_LABEL.into();
        }
    }
    cell
}

fn join_diagnostic(
    why: JoinError,
    shot: &Shot,
    other_span: Span,
    message_for: impl Fn(usize) -> String,
    label: &str,
    help: &str,
) -> Diagnostic {
    match why {
        JoinError::TooManyCells(cells) => {
            let message = format!("`{}` has {} cells or more", shot.id.value, grouped(cells as u128));
            Diagnostic::error("matrix-too-large", other_span, message)
                .help(format!("a plan has at most {} instances", grouped(limits::MAX_INSTANCES as u128)))
        }
        JoinError::TooMuchWork => resolve::too_much_work(other_span),
        JoinError::Unmatched(cell) => {
            let span = shot.matrix.as_ref().map_or(shot.id.span, |entry| entry.key.span);
            Diagnostic::error("no-matching-instance", span, message_for(cell))
                .other(other_span, label)
                .help(help)
        }
    }
}
