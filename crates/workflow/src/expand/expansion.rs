//! The shots with their cells and picks, and the instances of all.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::retry::RetryPolicy;
use crate::matrix::{CellIndex, MatrixCell};
use crate::options::AskedRenders;
use crate::source::Span;
use crate::syntax::Shot;

/// A shot with its cells.
pub(super) struct ExpandedShot<'w> {
    pub(super) shot: &'w Shot,
    pub(super) cells: Vec<MatrixCell>,
    pub(super) index: CellIndex,
    /// For each cell, the cell of the parent shot that it was inherited from.
    pub(super) parents: Vec<Parent>,
    /// How many candidates the file wants of each cell.
    pub(super) takes: Option<u32>,
    /// By cell, what was asked for with `--rerun`; empty if nothing was.
    pub(super) asked: Vec<AskedRenders>,
    /// Which cell, and which take of each cell, is picked.
    pub(super) picks: ShotPicks,
    pub(super) retry: RetryPolicy,
    pub(super) timeout: Option<Duration>,
    /// The index of its first instance.
    pub(super) first: usize,
    /// By cell, the number of its instances before those of the cell; empty where all cells have as many.
    pub(super) offsets: Vec<usize>,
}

impl ExpandedShot<'_> {
    fn asked(&self, cell: usize) -> AskedRenders {
        self.asked.get(cell).copied().unwrap_or_default()
    }

    /// The candidates of a cell: those that the file wants, and what was asked for beyond; `None` if the shot has no takes.
    pub(super) fn take_count(&self, cell: usize) -> Option<u32> {
        self.takes.map(|takes| takes.max(self.asked(cell).highest().unwrap_or_default()))
    }

    /// The render that is to be made beside the one that counts, because another one is picked.
    fn extra_render(&self, cell: usize) -> Option<u32> {
        let is_picked = self.takes.is_none() && self.picks.takes[cell].is_some();
        self.asked(cell).open.filter(|_| is_picked)
    }

    /// The picked render, for the instance that stands for whichever counts.
    pub(super) fn picked_render(&self, instance: &Instance) -> Option<u32> {
        self.picks.takes[instance.cell].filter(|_| self.takes.is_none() && instance.take.is_none())
    }

    /// The number in the list of renders of the one that an instance stands for, as far as the file decides it.
    pub(super) fn render_number(&self, cell: usize, take: Option<u32>) -> u32 {
        let asked = self.asked(cell);
        take.or(self.picks.takes[cell]).or(asked.open).or(asked.done).unwrap_or(1)
    }

    /// One take, or without one all takes; a shot without takes has one candidate in each cell.
    pub(super) fn takes_of(
        &self,
        cell: usize,
        take: Option<u32>,
    ) -> impl Iterator<Item = Option<u32>> + use<> {
        let range = match (self.take_count(cell), take) {
            (Some(takes), None) => 1..=takes,
            (_, take) => take.unwrap_or_default()..=take.unwrap_or_default(),
        };
        range.map(|take| (take > 0).then_some(take))
    }

    /// What is made of a cell: its takes, or the render that counts and an extra one.
    pub(super) fn instances_of(&self, cell: usize) -> impl Iterator<Item = Option<u32>> + use<> {
        self.takes_of(cell, None).chain(self.extra_render(cell).map(Some))
    }

    fn instance_count_of(&self, cell: usize) -> usize {
        self.take_count(cell).map_or(1, |takes| takes as usize)
            + usize::from(self.extra_render(cell).is_some())
    }

    pub(super) fn instance_count(&self) -> usize {
        if self.asked.is_empty() {
            self.cells.len() * self.takes.map_or(1, |takes| takes as usize)
        } else {
            (0..self.cells.len()).map(|cell| self.instance_count_of(cell)).sum()
        }
    }

    /// Sets the index of its first instance.
    pub(super) fn place(&mut self, first: usize) {
        self.first = first;
        self.offsets = Vec::new();
        if self.asked.is_empty() {
            return;
        }
        let mut next = 0;
        self.offsets = (0..self.cells.len())
            .map(|cell| {
                let offset = next;
                next += self.instance_count_of(cell);
                offset
            })
            .collect();
    }

    /// The index of the instance of a cell and, if the shot has takes, a take.
    pub(super) fn instance_index(&self, cell: usize, take: Option<u32>) -> usize {
        let uniform = || cell * self.takes.map_or(1, |takes| takes as usize);
        let offset = self.offsets.get(cell).copied().unwrap_or_else(uniform);
        let in_cell = match (self.takes, take) {
            (Some(_), Some(take)) => take as usize - 1,
            (None, Some(_)) => 1,
            (_, None) => 0,
        };
        self.first + offset + in_cell
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
    /// The cells of each film that has a matrix of its own.
    pub(super) films: Vec<Option<Vec<MatrixCell>>>,
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

    /// The cells in which a film is made, by its index.
    pub(super) fn cells_of_film(&self, film: usize) -> &[MatrixCell] {
        self.films.get(film).and_then(Option::as_deref).unwrap_or(&self.top)
    }

    pub(super) fn cell_of(&self, instance: &Instance) -> &MatrixCell {
        &self.shot_of(instance).cells[instance.cell]
    }
}

/// The cell of the parent shot that a cell was inherited from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Parent {
    /// There is no parent, or it contributes no axes.
    None,
    Cell(usize),
    /// One of these, once it is picked. The inheriting cell is a placeholder: it has the values of the first, for validation.
    Open(Vec<usize>),
}

/// The picks of a shot.
#[derive(Debug, Default)]
pub(super) struct ShotPicks {
    /// By cell, the picked render.
    pub(super) takes: Vec<Option<u32>>,
    /// By cell, whether it is picked. Empty if no cell is.
    pub(super) cells: Vec<bool>,
    /// Whether one cell is to be picked: without a pick, dependents wait.
    pub(super) is_open: bool,
    /// By cell, the cell of the workflow's matrix that it belongs to. One of each is picked.
    pub(super) groups: Vec<usize>,
    /// Where the file picks the cell.
    pub(super) cell_span: Option<Span>,
    /// Where the file picks the take.
    pub(super) take_span: Option<Span>,
}

/// What a pick makes of several cells that a reference matches.
pub(super) enum PickedCells {
    /// These cells are meant.
    Cells(Vec<usize>),
    /// One of these is to be picked.
    Open(Vec<usize>),
}

impl ShotPicks {
    /// Applies the pick to the cells that a reference matches.
    pub(super) fn narrow(&self, cells: Vec<usize>) -> PickedCells {
        if cells.len() < 2 {
            return PickedCells::Cells(cells);
        }
        let picked: Vec<usize> = cells.iter().copied().filter(|cell| self.is_picked(*cell)).collect();
        match (picked.is_empty(), self.is_open) {
            (false, _) => PickedCells::Cells(picked),
            (true, true) => PickedCells::Open(cells),
            (true, false) => PickedCells::Cells(cells),
        }
    }

    pub(super) fn is_picked(&self, cell: usize) -> bool {
        self.cells.get(cell).is_some_and(|picked| *picked)
    }

    /// Whether the pick may narrow a reference.
    pub(super) fn concerns_cells(&self) -> bool {
        self.is_open || !self.cells.is_empty()
    }

    /// The cell of the workflow's matrix that a cell belongs to.
    pub(super) fn group(&self, cell: usize) -> usize {
        self.groups.get(cell).copied().unwrap_or_default()
    }
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
