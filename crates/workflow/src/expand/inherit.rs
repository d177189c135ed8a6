//! Axes that a shot has from elsewhere: from the workflow's own matrix, and from the shot on whose frame it begins.

use super::fan::Fanned;
use super::links::{Links, Use};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::matrix::{Cell, NoCrossing, Wanted, cross};
use crate::source::Span;
use crate::syntax::{Shot, Workflow};

/// Cells, and for each the cell of the shot on whose frame it begins, where its axes come from there.
pub(super) type Cells = (Vec<Cell>, Vec<Option<usize>>);

/// The cells of a shot: the workflow's axes, those of the shot on whose frame it begins, its own. On axes that several of
/// them have, the values must be the same.
pub(super) fn cells(
    workflow: &Workflow,
    at: usize,
    own: Vec<Cell>,
    top: &[Cell],
    links: &Links,
    shots: &[Option<Fanned<'_>>],
    problems: &mut Problems,
) -> Option<Cells> {
    let shot = &workflow.shots[at];
    let (cells, parents) = if let Some(used) = links.uses[at].iter().find(|used| used.begins_on_it) {
        from_parent(shot, own, used, shots[used.target].as_ref()?, problems)?
    } else {
        let parents = vec![None; own.len()];
        (own, parents)
    };
    if top.iter().all(|cell| cell.values.is_empty()) {
        return Some((cells, parents));
    }
    let place = workflow.matrix.as_ref().map_or(shot.id.span, |entry| entry.key.span);
    match cross(top, &cells) {
        Ok(crossed) => {
            let parents = crossed.iter().map(|one| parents[one.right]).collect();
            Some((crossed.into_iter().map(|one| one.cell).collect(), parents))
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
            problems.push(uncrossed(why, shot, place, name, "the workflow's matrix", help));
            None
        }
    }
}

fn from_parent(
    shot: &Shot,
    own: Vec<Cell>,
    used: &Use,
    parent: &Fanned<'_>,
    problems: &mut Problems,
) -> Option<Cells> {
    let alone = |own: Vec<Cell>| {
        let parents = vec![None; own.len()];
        Some((own, parents))
    };
    let wanted = Wanted::parse(used.reference.value.cell.as_deref());
    let (at, open): (Vec<usize>, Vec<Cell>) = parent
        .cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| wanted.matches(cell))
        .map(|(at, cell)| (at, wanted.open_part(cell)))
        .unzip();
    // One instance told in full gives no axes; that nothing is meant is said where the frame is looked for.
    if open.iter().all(|cell| cell.values.is_empty()) {
        return alone(own);
    }
    match cross(&open, &own) {
        Ok(crossed) => {
            let parents = crossed.iter().map(|one| Some(at[one.left])).collect();
            Some((crossed.into_iter().map(|one| one.cell).collect(), parents))
        }
        Err(why) => {
            let name = |cell: usize| {
                let label = own[cell].label();
                format!("no instance of `{}` agrees with the cell `{label}`", used.reference.value)
            };
            let help = "a shot that begins on a fanned-out shot's frame has that shot's axes; drop the axis here, or give it the same values";
            problems.push(uncrossed(
                why,
                shot,
                used.reference.span,
                name,
                "it begins on a frame of this shot",
                help,
            ));
            None
        }
    }
}

fn uncrossed(
    why: NoCrossing,
    shot: &Shot,
    other: Span,
    lonely: impl Fn(usize) -> String,
    label: &str,
    help: &str,
) -> Diagnostic {
    match why {
        NoCrossing::TooMany(pairs) => {
            let message = format!("this crosses {} cells", grouped(pairs));
            Diagnostic::error("matrix-too-large", other, message)
                .help(format!("a plan has at most {} instances", grouped(limits::MAX_INSTANCES as u128)))
        }
        NoCrossing::Lonely(cell) => {
            let place = shot.matrix.as_ref().map_or(shot.id.span, |entry| entry.key.span);
            Diagnostic::error("no-matching-instance", place, lonely(cell)).other(other, label).help(help)
        }
    }
}
