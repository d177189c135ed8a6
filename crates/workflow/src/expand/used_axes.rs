//! The axes of the workflow's matrix that each shot is expanded over: those that it uses, and those of the shots that it takes media of. Cells
//! that differ on the others alone are one cell: they would request, and pay for, the same video.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::free_variables;
use super::references::RefGraph;
use crate::matrix::{CellIndex, CellSelector, MatrixCell};
use crate::syntax::Workflow;
use crate::syntax::keys::shot::NEEDS;
use crate::work::WorkBudget;

type Label = Vec<(Arc<str>, Arc<str>)>;

/// The workflow's cells over some of its axes.
pub(super) struct TopCells {
    pub(super) cells: Vec<MatrixCell>,
    pub(super) index: CellIndex,
}

impl TopCells {
    pub(super) fn new(cells: Vec<MatrixCell>) -> Self {
        Self { index: CellIndex::new(&cells), cells }
    }
}

/// The cells over these axes alone, each once. `None` once the budget is exhausted.
pub(super) fn cells_over(
    cells: &[MatrixCell],
    is_used: impl Fn(&str) -> bool,
    work: &WorkBudget,
) -> Option<Vec<MatrixCell>> {
    let mut seen: HashMap<Label, Vec<usize>> = HashMap::new();
    let mut kept: Vec<MatrixCell> = Vec::new();
    for cell in cells {
        if !work.charge(1 + cell.values.len()) {
            return None;
        }
        let mut cell = cell.clone();
        cell.label.retain(|(axis, _)| is_used(axis));
        cell.values.retain(|axis, _| is_used(axis));
        // Values of one label may differ by more than their names.
        let alike = seen.entry(cell.label.clone()).or_default();
        if !alike.iter().any(|index| has_same_values(&kept[*index], &cell)) {
            alike.push(kept.len());
            kept.push(cell);
        }
    }
    Some(kept)
}

fn has_same_values(one: &MatrixCell, other: &MatrixCell) -> bool {
    let values =
        |cell: &MatrixCell| cell.values.values().map(|value| Arc::clone(&value.value)).collect::<Vec<_>>();
    values(one) == values(other)
}

/// The axes of `top` that each shot is expanded over, by its index; `all` are those that its cells are named by.
pub(super) fn of_shots(
    workflow: &Workflow,
    refs: &RefGraph,
    top: &[MatrixCell],
    all: &BTreeSet<Arc<str>>,
) -> Vec<BTreeSet<Arc<str>>> {
    // What `include` adds to a cell depends on the axes that name the cell.
    let unnamed = |cell: &'_ MatrixCell| {
        cell.values.keys().filter(|axis| cell.label_on(axis).is_none()).cloned().collect::<Vec<_>>()
    };
    let added: HashSet<Arc<str>> = top.iter().flat_map(unnamed).collect();
    let mut used: Vec<BTreeSet<Arc<str>>> = free_variables::of_shots(workflow)
        .into_iter()
        .map(|names| {
            if names.iter().any(|name| added.contains(*name)) {
                return all.clone();
            }
            all.iter().filter(|axis| names.contains(&***axis)).cloned().collect()
        })
        .collect();
    for &index in &refs.order {
        for reference in refs.references[index].iter().filter(|used| used.key != NEEDS.name) {
            let selector = CellSelector::parse(reference.shot_ref.value.cell.as_deref());
            let open = used[reference.target].iter().filter(|axis| !selector.names(axis)).cloned();
            let open: Vec<_> = open.collect();
            used[index].extend(open);
        }
    }
    used
}
