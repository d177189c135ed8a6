//! The picks of a shot: which of its instances its dependents and films use, and which take of each. From `pick` in the file, else from
//! the recorded picks.
//!
//! A pick decides only what a reference leaves open: where a reference matches several instances and the picked one is among them, it
//! means that one. The requests of the candidates, and their keys, do not depend on the pick.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::ExpandCx;
use super::expansion::{ExpandedShot, Expansion, ShotPicks, instance_name};
use super::pick_key::{self, PickKey};
use super::resolve::RefResolver;
use crate::diagnostic::{Diagnostic, Problems};
use crate::matrix::MatrixCell;
use crate::options::AskedRenders;
use crate::plan::{Location, NodeIx, PickGroup, PickKind};
use crate::source::Span;
use crate::syntax::Shot;
use crate::template::Scope;

/// The picks of a shot. `None` if `pick` is invalid, which is reported.
pub(super) fn resolve<'w>(
    shot: &'w Shot,
    (takes, asked): (Option<u32>, &[AskedRenders]),
    cells: &[MatrixCell],
    top_axes: &BTreeSet<Arc<str>>,
    params: &Scope,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Option<ShotPicks> {
    let groups = groups_of(cells, top_axes);
    let mut picks = ShotPicks { takes: vec![None; cells.len()], groups, ..ShotPicks::default() };
    let written = match &shot.pick {
        Some(entry) => pick_key::read(entry, takes, cells, &picks.groups, params, cx, problems)?,
        None => PickKey::default(),
    };
    let span = shot.pick.as_ref().map(|entry| entry.key.span);
    picks.is_open = written.is_open;
    picks.take_span = span.filter(|_| written.takes.iter().any(Option::is_some));
    picks.takes = match picks.take_span {
        Some(_) => written.takes,
        None => recorded_takes(shot, cells, cx),
    };
    if let Some(takes) = takes {
        for (cell, picked) in picks.takes.iter_mut().enumerate() {
            let count = takes.max(asked.get(cell).and_then(|asked| asked.highest()).unwrap_or_default());
            if let Some(stale) = picked.take_if(|take| *take > count) {
                report_stale(shot, &cells[cell], stale, count, picks.take_span, problems);
            }
        }
    }
    match written.cells {
        Some(picked) => {
            picks.cell_span = span;
            picks.cells = picked;
        }
        None => picks.cells = recorded_cells(shot, cells, cx, problems),
    }
    Some(picks)
}

/// By cell, the cell of the workflow's matrix that it belongs to.
fn groups_of(cells: &[MatrixCell], axes: &BTreeSet<Arc<str>>) -> Vec<usize> {
    if axes.is_empty() {
        return vec![0; cells.len()];
    }
    let mut index_of: HashMap<Vec<Option<&str>>, usize> = HashMap::new();
    cells
        .iter()
        .map(|cell| {
            let next = index_of.len();
            *index_of.entry(axes.iter().map(|axis| cell.label_on(axis)).collect()).or_insert(next)
        })
        .collect()
}

/// By cell, the recorded render.
fn recorded_takes(shot: &Shot, cells: &[MatrixCell], cx: &ExpandCx<'_>) -> Vec<Option<u32>> {
    let recorded = &cx.options.picks.takes;
    if recorded.is_empty() {
        return vec![None; cells.len()];
    }
    let name = |cell: &MatrixCell| instance_name(&shot.id.value, &cell.label(), None);
    cells.iter().map(|cell| recorded.get(&name(cell)).copied().filter(|pick| *pick > 0)).collect()
}

/// Reports the pick of a take that does not exist: the file had more of them, or the videos of another machine are meant.
fn report_stale(
    shot: &Shot,
    cell: &MatrixCell,
    take: u32,
    count: u32,
    written: Option<Span>,
    problems: &mut Problems,
) {
    let name = instance_name(&shot.id.value, &cell.label(), None);
    let span = shot.takes.as_ref().map_or(shot.id.span, |entry| entry.key.span);
    problems.push(
        Diagnostic::warning(
            "stale-pick",
            written.unwrap_or(span),
            format!("take {take} of `{name}` was picked, and there is none"),
        )
        .label(format!("there are {count}"))
        .help("pick again: what shows or continues it waits"),
    );
}

/// By cell, whether it is recorded as picked; empty if none is.
fn recorded_cells(
    shot: &Shot,
    cells: &[MatrixCell],
    cx: &ExpandCx<'_>,
    problems: &mut Problems,
) -> Vec<bool> {
    let Some(recorded) = cx.options.picks.cells.get(&shot.id.value) else { return Vec::new() };
    let labels: Vec<String> = cells.iter().map(MatrixCell::label).collect();
    let existing: HashSet<&str> = labels.iter().map(String::as_str).collect();
    for stale in recorded.iter().filter(|picked| !existing.contains(picked.as_str())) {
        let span = shot.matrix.as_ref().map_or(shot.id.span, |entry| entry.key.span);
        let name = instance_name(&shot.id.value, stale, None);
        problems.push(
            Diagnostic::warning("stale-pick", span, format!("`{name}` was picked, and there is none"))
                .help("pick again, or clear the pick: without it all instances are used"),
        );
    }
    let picked: Vec<bool> = labels.iter().map(|label| recorded.contains(label)).collect();
    if picked.contains(&true) { picked } else { Vec::new() }
}

/// All groups of candidates of a plan: the takes of each instance, and the instances of each shot with several.
pub(super) fn groups(
    expansion: &Expansion<'_>,
    resolver: &RefResolver<'_, '_>,
    cx: &ExpandCx<'_>,
) -> Vec<PickGroup> {
    let mut groups = Vec::new();
    for expanded in expansion.shots.iter().flatten() {
        cell_groups(expanded, expansion, resolver, cx, &mut groups);
        if expanded.takes.is_some() {
            take_groups(expanded, resolver, cx, &mut groups);
        }
    }
    groups
}

fn take_groups(
    expanded: &ExpandedShot<'_>,
    resolver: &RefResolver<'_, '_>,
    cx: &ExpandCx<'_>,
    groups: &mut Vec<PickGroup>,
) {
    let location = expanded.picks.take_span.map(|span| cx.location(span));
    for (cell, label) in expanded.cells.iter().map(MatrixCell::label).enumerate() {
        let candidates = nodes_of(expanded, cell, None, resolver);
        if candidates.is_empty() {
            continue;
        }
        let picked = picked_take(expanded, cell).map(|take| nodes_of(expanded, cell, Some(take), resolver));
        groups.push(PickGroup {
            kind: PickKind::Take,
            name: instance_name(&expanded.shot.id.value, &label, None),
            candidates,
            picked: picked.unwrap_or_default(),
            location: location.clone(),
        });
    }
}

fn cell_groups(
    expanded: &ExpandedShot<'_>,
    expansion: &Expansion<'_>,
    resolver: &RefResolver<'_, '_>,
    cx: &ExpandCx<'_>,
    groups: &mut Vec<PickGroup>,
) {
    let location: Option<Location> = expanded.picks.cell_span.map(|span| cx.location(span));
    let mut by_group: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for cell in 0..expanded.cells.len() {
        by_group.entry(expanded.picks.group(cell)).or_default().push(cell);
    }
    for cells in by_group.into_values().filter(|cells| cells.len() > 1) {
        let candidates: Vec<NodeIx> =
            cells.iter().flat_map(|cell| nodes_of(expanded, *cell, None, resolver)).collect();
        let picked = cells.iter().filter(|cell| expanded.picks.is_picked(**cell));
        let picked: Vec<NodeIx> = picked
            .flat_map(|cell| nodes_of(expanded, *cell, picked_take(expanded, *cell), resolver))
            .collect();
        let mut label = expanded.cells[cells[0]].clone();
        label.label.retain(|(axis, _)| expansion.top_axes.contains(axis));
        groups.push(PickGroup {
            kind: PickKind::Cell,
            name: instance_name(&expanded.shot.id.value, &label.label(), None),
            candidates,
            picked,
            location: location.clone(),
        });
    }
}

/// The picked take of a cell, where the shot has takes.
fn picked_take(expanded: &ExpandedShot<'_>, cell: usize) -> Option<u32> {
    expanded.picks.takes[cell].filter(|_| expanded.takes.is_some())
}

/// The nodes of a cell: of one take, or of all of them.
fn nodes_of(
    expanded: &ExpandedShot<'_>,
    cell: usize,
    take: Option<u32>,
    resolver: &RefResolver<'_, '_>,
) -> Vec<NodeIx> {
    let instances: Vec<usize> =
        expanded.takes_of(cell, take).map(|take| expanded.instance_index(cell, take)).collect();
    resolver.nodes_of(&instances)
}
