//! Enumerates the instances of every shot (cells and takes) and names them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::axes::{Axes, ErrorReported};
use super::expansion::{ExpandedShot, Expansion, Instance, instance_name};
use super::fields::{is_left_out, is_literal};
use super::param_axes::AxisValueCheck;
use super::params::Params;
use super::references::RefGraph;
use super::retry;
use super::used_axes::{self, TopCells};
use super::{ExpandCx, inherit, picks};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::matrix::{self, CellIndex, MatrixCell};
use crate::options::AskedRenders;
use crate::syntax::keys::shot as keys;
use crate::syntax::{self, Entry, Shot, Workflow};
use crate::yaml::Yaml;

/// Enumerates all instances. The expansion is empty if a bound on the whole plan is exceeded or the workflow's matrix is invalid.
pub(super) fn enumerate<'w>(
    workflow: &'w Workflow,
    refs: &RefGraph,
    params: &Params,
    cx: &ExpandCx<'w>,
    problems: &mut Problems,
) -> Expansion<'w> {
    let nothing = || Expansion {
        top: vec![MatrixCell::default()],
        films: vec![Some(Vec::new()); workflow.films.len()],
        top_axes: BTreeSet::new(),
        shots: workflow.shots.iter().map(|_| None).collect(),
        instances: Vec::new(),
    };
    let Ok(axes) = Axes::read(workflow, params, cx, problems) else { return nothing() };
    let reader = ShotReader { params, cx };
    let mut shots: Vec<Option<ExpandedShot<'w>>> = workflow.shots.iter().map(|_| None).collect();
    let (mut total, mut values) = (0_usize, 0_usize);
    let mut axis_values = AxisValueCheck::default();
    let used = used_axes::of_shots(workflow, refs, &axes.top.cells, &axes.top_label_names);
    let mut tops: HashMap<&BTreeSet<Arc<str>>, TopCells> = HashMap::new();
    for &index in &refs.order {
        if problems.full() {
            break;
        }
        let shot = &workflow.shots[index];
        let is_over_all = used[index] == axes.top_label_names;
        if !is_over_all && !tops.contains_key(&used[index]) {
            let is_used = |axis: &str| used[index].contains(axis);
            let Some(top) = used_axes::cells_over(&axes.top.cells, is_used, &cx.work) else {
                problems.push(matrix::too_much_work(
                    workflow.matrix.as_ref().map_or(&shot.id, |entry| &entry.key),
                ));
                return nothing();
            };
            tops.insert(&used[index], TopCells::new(top));
        }
        let top = tops.get(&used[index]).filter(|_| !is_over_all).unwrap_or(&axes.top);
        let expanded = reader.read_shot(workflow, index, (&axes, top), refs, &shots, problems);
        if refs.broken[index] {
            continue;
        }
        let Some(expanded) = expanded else { continue };
        axis_values.check(workflow, shot, &expanded.cells, problems);
        total = total.saturating_add(expanded.instance_count());
        values += expanded.cells.iter().map(|cell| cell.values.len()).sum::<usize>();
        if values > limits::MAX_CELL_VALUES {
            problems.push(matrix::too_much_work(shot.matrix.as_ref().map_or(&shot.id, |entry| &entry.key)));
            return nothing();
        }
        if total > limits::MAX_INSTANCES {
            problems.push(
                Diagnostic::error(
                    "matrix-too-large",
                    shot.matrix
                        .as_ref()
                        .or(shot.takes.as_deref())
                        .map_or(shot.id.span, |entry| entry.key.span),
                    format!(
                        "with the {} instances of this shot the plan has {}",
                        grouped(expanded.instance_count() as u128),
                        grouped(total as u128)
                    ),
                )
                .help(format!("a plan has at most {} instances", grouped(limits::MAX_INSTANCES as u128))),
            );
            return nothing();
        }
        shots[index] = Some(expanded);
    }
    let mut instances = Vec::with_capacity(total);
    for (index, expanded) in shots.iter_mut().enumerate() {
        let Some(expanded) = expanded else { continue };
        expanded.place(instances.len());
        for (cell, label) in expanded.cells.iter().map(MatrixCell::label).enumerate() {
            for take in expanded.instances_of(cell) {
                let name = instance_name(&expanded.shot.id.value, &label, take);
                instances.push(Instance { name, shot: index, cell, take });
            }
        }
    }
    let films = (0..workflow.films.len()).map(|film| axes.of_film(film, cx, problems)).collect();
    Expansion { films, top: axes.top.cells, top_axes: axes.top_label_names, shots, instances }
}

/// Reads the keys of a shot that are the same for all its instances; their templates see the parameters only.
struct ShotReader<'a, 'w> {
    params: &'a Params,
    cx: &'a ExpandCx<'w>,
}

impl<'w> ShotReader<'_, 'w> {
    fn read_shot(
        &self,
        workflow: &'w Workflow,
        index: usize,
        (axes, top): (&Axes<'w>, &TopCells),
        refs: &RefGraph,
        shots: &[Option<ExpandedShot<'w>>],
        problems: &mut Problems,
    ) -> Option<ExpandedShot<'w>> {
        let shot = &workflow.shots[index];
        let takes = self.read(shot.takes.as_deref(), shot, problems, |value, entry, problems| {
            syntax::expect_count(value, &keys::TAKES, entry.key.span, problems)
        });
        let retry = self.read(shot.retry.as_deref(), shot, problems, |value, entry, problems| {
            retry::read(value, entry, problems)
        });
        let timeout = self.read(shot.timeout.as_deref(), shot, problems, |value, entry, problems| {
            syntax::expect_duration(value, &keys::TIMEOUT, entry.key.span, problems)
        });
        let own = axes.of_shot(index, self.cx, problems);
        let (Ok(takes), Ok(retry), Ok(timeout), Some(own)) = (takes, retry, timeout, own) else {
            return None;
        };
        let (mut cells, parents) =
            inherit::cells(workflow, index, own, top, refs, shots, &self.cx.work, problems)?;
        matrix::disambiguate(&mut cells);
        let params = self.params.for_shot(shot);
        let asked = self.asked(workflow, shot, &cells);
        let picks =
            picks::resolve(shot, (takes, &asked), &cells, &axes.top_label_names, params, self.cx, problems)?;
        Some(ExpandedShot {
            asked,
            shot,
            index: CellIndex::new(&cells),
            cells,
            parents,
            takes,
            picks,
            retry: retry.unwrap_or_default(),
            timeout,
            first: 0,
            offsets: Vec::new(),
        })
    }

    /// By cell, what was asked for with `--rerun`; empty if nothing was.
    fn asked(&self, workflow: &Workflow, shot: &Shot, cells: &[MatrixCell]) -> Vec<AskedRenders> {
        let Some(asked) = self.cx.options.asked.get(&workflow.name.value).filter(|asked| !asked.is_empty())
        else {
            return Vec::new();
        };
        let of_cell = |cell: &MatrixCell| {
            asked.get(&instance_name(&shot.id.value, &cell.label(), None)).copied().unwrap_or_default()
        };
        let of_cells: Vec<AskedRenders> = cells.iter().map(of_cell).collect();
        if of_cells.iter().any(|asked| *asked != AskedRenders::default()) { of_cells } else { Vec::new() }
    }

    /// The rendered and parsed value of a key; `Ok(None)` if the key is absent.
    fn read<T>(
        &self,
        entry: Option<&'w Entry>,
        shot: &Shot,
        problems: &mut Problems,
        parse: impl FnOnce(&Yaml, &Entry, &mut Problems) -> Option<T>,
    ) -> Result<Option<T>, ErrorReported> {
        let Some(entry) = entry else { return Ok(None) };
        let value = self
            .cx
            .templates
            .render(&entry.value, self.params.for_shot(shot), problems)
            .ok_or(ErrorReported)?;
        if is_left_out(&value) && !is_literal(&entry.value) {
            return Ok(None);
        }
        parse(&value, entry, problems).map(Some).ok_or(ErrorReported)
    }
}
