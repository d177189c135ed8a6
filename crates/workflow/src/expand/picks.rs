//! The picked take of each cell: from `pick` in the file, else from the recorded picks.

use super::ExpandCx;
use super::instances::instance_name;
use crate::diagnostic::{Diagnostic, Problems};
use crate::matrix::Cell;
use crate::syntax::{self, Shot};
use crate::template::{self, Scope, has_template};

/// The picked take of each cell, `None` while open. The result is `None` if `pick` is invalid, which is reported.
pub(super) fn resolve<'w>(
    shot: &'w Shot,
    takes: Option<u32>,
    cells: &[Cell],
    params: &Scope,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<Vec<Option<u32>>> {
    let Some(takes) = takes else { return Some(vec![None; cells.len()]) };
    let Some(entry) = &shot.pick else {
        return Some(cells.iter().map(|cell| recorded(shot, cell, takes, cx, problems)).collect());
    };
    let read = |scope: &Scope, problems: &mut Problems| {
        let value = cx.templates.render(&entry.value, scope, problems)?;
        // `pick: null` leaves it open, like an absent key.
        if value.is_null() {
            return Some(None);
        }
        syntax::expect_count_to(u64::from(takes), &value, &syntax::keys::shot::PICK, entry.key.span, problems)
            .map(Some)
    };
    if !entry.value.text().is_some_and(has_template) {
        let pick = read(params, problems)?;
        return Some(vec![pick; cells.len()]);
    }
    cells
        .iter()
        .map(|cell| {
            let axes = cell.values.iter().map(|(axis, value)| (&**axis, template::axis_value(&value.value)));
            read(&params.with(axes), problems)
        })
        .collect()
}

/// The recorded pick of a cell. A take that does not exist is a stale record of an earlier version of the file.
fn recorded(shot: &Shot, cell: &Cell, takes: u32, cx: &ExpandCx<'_>, problems: &mut Problems) -> Option<u32> {
    if cx.options.picks.is_empty() {
        return None;
    }
    let name = instance_name(&shot.id.value, &cell.label(), None);
    let pick = *cx.options.picks.get(&name)?;
    if (1..=takes).contains(&pick) {
        return Some(pick);
    }
    let span = shot.takes.as_ref().map_or(shot.id.span, |entry| entry.key.span);
    problems.push(
        Diagnostic::warning(
            "stale-pick",
            span,
            format!("take {pick} of `{name}` was picked, and there is none"),
        )
        .label(format!("there are {takes}"))
        .help("pick again: what shows or continues it waits"),
    );
    None
}
