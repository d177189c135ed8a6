//! Enumerates the instances of every shot (cells and takes) and names them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::axes::{Axes, ErrorReported};
use super::inherit::Parent;
use super::param_axes::AxisValueCheck;
use super::params::Params;
use super::picks::ShotPicks;
use super::references::RefGraph;
use super::retry::{self, RetryPolicy};
use super::{ExpandCx, inherit, picks};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::matrix::{self, CellIndex, MatrixCell};
use crate::syntax::keys::shot as keys;
use crate::syntax::{self, Entry, Shot, Workflow};
use crate::yaml::Yaml;

/// A shot with its cells.
pub(super) struct ExpandedShot<'w> {
    pub(super) shot: &'w Shot,
    pub(super) cells: Vec<MatrixCell>,
    pub(super) index: CellIndex,
    /// For each cell, the cell of the parent shot that it was inherited from.
    pub(super) parents: Vec<Parent>,
    pub(super) takes: Option<u32>,
    /// Which cell, and which take of each cell, is picked.
    pub(super) picks: ShotPicks,
    pub(super) retry: RetryPolicy,
    pub(super) timeout: Option<Duration>,
    /// The index of its first instance.
    first: usize,
}

impl ExpandedShot<'_> {
    fn takes(&self) -> usize {
        self.takes.map_or(1, |takes| takes as usize)
    }

    /// One take, or without one all takes; a shot without takes has one instance in each cell.
    pub(super) fn takes_of(&self, take: Option<u32>) -> impl Iterator<Item = Option<u32>> + use<> {
        let range = match (self.takes, take) {
            (Some(takes), None) => 1..=takes,
            (_, take) => take.unwrap_or_default()..=take.unwrap_or_default(),
        };
        range.map(|take| (take > 0).then_some(take))
    }

    pub(super) fn instance_count(&self) -> usize {
        self.cells.len() * self.takes()
    }

    /// The index of the instance of a cell and, if the shot has takes, a take.
    pub(super) fn instance_index(&self, cell: usize, take: Option<u32>) -> usize {
        self.first + cell * self.takes() + take.map_or(0, |take| take as usize - 1)
    }
}

/// An instance that is enumerated but not rendered.
#[derive(Clone, Debug)]
pub(super) struct Instance {
    pub(super) name: String,
    pub(super) shot: usize,
    pub(super) cell: usize,
    pub(super) take: Option<u32>,
}

/// All shots with their cells, and all instances in file order.
pub(super) struct Expansion<'w> {
    /// The cells of the workflow's own matrix; one empty cell where it has none.
    pub(super) top: Vec<MatrixCell>,
    /// The axes that the labels of `top` have.
    pub(super) top_axes: BTreeSet<Arc<str>>,
    /// By position in the file; `None` for invalid shots.
    pub(super) shots: Vec<Option<ExpandedShot<'w>>>,
    pub(super) instances: Vec<Instance>,
}

impl<'w> Expansion<'w> {
    pub(super) fn shot_of(&self, instance: &Instance) -> &ExpandedShot<'w> {
        match &self.shots[instance.shot] {
            Some(expanded) => expanded,
            None => unreachable!("instances are enumerated from valid shots only"),
        }
    }

    pub(super) fn cell_of(&self, instance: &Instance) -> &MatrixCell {
        &self.shot_of(instance).cells[instance.cell]
    }
}

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
        top_axes: BTreeSet::new(),
        shots: workflow.shots.iter().map(|_| None).collect(),
        instances: Vec::new(),
    };
    let Ok(axes) = Axes::read(workflow, params, cx, problems) else { return nothing() };
    let reader = ShotReader { params, cx };
    let mut shots: Vec<Option<ExpandedShot<'w>>> = workflow.shots.iter().map(|_| None).collect();
    let (mut total, mut values) = (0_usize, 0_usize);
    let mut axis_values = AxisValueCheck::default();
    for &index in &refs.order {
        if problems.full() {
            break;
        }
        let shot = &workflow.shots[index];
        let expanded = reader.read_shot(workflow, index, &axes, refs, &shots, problems);
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
        expanded.first = instances.len();
        for (cell, label) in expanded.cells.iter().map(MatrixCell::label).enumerate() {
            for take in expanded.takes.map_or(vec![None], |takes| (1..=takes).map(Some).collect()) {
                let name = instance_name(&expanded.shot.id.value, &label, take);
                instances.push(Instance { name, shot: index, cell, take });
            }
        }
    }
    Expansion { top: axes.top, top_axes: axes.top_label_names, shots, instances }
}

/// The name of an instance: `harbor@lens=24mm,seed=1#2`.
pub(super) fn instance_name(shot: &str, label: &str, take: Option<u32>) -> String {
    let mut name = shot.to_owned();
    if !label.is_empty() {
        name.push('@');
        name.push_str(label);
    }
    if let Some(take) = take {
        name.push('#');
        name.push_str(&take.to_string());
    }
    name
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
        axes: &Axes,
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
        let own = axes.of_shot(shot, index, self.cx, problems);
        let (Ok(takes), Ok(retry), Ok(timeout), Some(own)) = (takes, retry, timeout, own) else {
            return None;
        };
        let (mut cells, parents) =
            inherit::cells(workflow, index, own, axes, refs, shots, &self.cx.work, problems)?;
        matrix::disambiguate(&mut cells);
        let params = self.params.for_shot(shot);
        let picks = picks::resolve(shot, takes, &cells, &axes.top_label_names, params, self.cx, problems)?;
        Some(ExpandedShot {
            shot,
            index: CellIndex::new(&cells),
            cells,
            parents,
            takes,
            picks,
            retry: retry.unwrap_or_default(),
            timeout,
            first: 0,
        })
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
        parse(&value, entry, problems).map(Some).ok_or(ErrorReported)
    }
}
