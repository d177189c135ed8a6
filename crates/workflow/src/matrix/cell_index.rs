//! An index of cells: which of them a reference means, in time that depends on how many those are.
//!
//! Cells are grouped by their axes. For a reference, the cells of a group are hashed by what the reference fixes: the labels on the
//! axes that it names, and the values on the open axes that it shares with the referring cell. Such a table is made once for each
//! combination of axes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use super::{CellSelector, MatrixCell};
use crate::work::WorkBudget;

/// Cells that are kept in tables at once; beyond it they are dropped and made again.
const MAX_INDEXED: usize = 1_000_000;

/// The index of a list of cells, which is not part of it: every call takes the same list.
#[derive(Debug, Default)]
pub(crate) struct CellIndex {
    groups: Vec<CellGroup>,
    tables: RefCell<LookupTables>,
}

/// Cells with the same axes.
#[derive(Debug)]
struct CellGroup {
    axes: Vec<Arc<str>>,
    /// The axes of the label.
    labelled: Vec<Arc<str>>,
    cells: Vec<u32>,
}

#[derive(Debug, Default)]
struct LookupTables {
    indexed: usize,
    /// By group, named axes and shared axes.
    by_axes: HashMap<TableKey, Rc<Table>>,
}

/// A group, the axes that a selector names, and the shared open ones.
type TableKey = (usize, Vec<String>, Axes);

type Axes = Vec<Arc<str>>;

/// Cells by the hash of what a reference fixes.
type Table = HashMap<u64, Vec<u32>>;

/// Which cells of a group agree with a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    /// Those with equal values on the open axes that both have.
    OpenAxes,
    /// Like `OpenAxes`; where the selector names the whole label, no axis is open.
    OpenPart,
}

impl CellIndex {
    pub(crate) fn new(cells: &[MatrixCell]) -> Self {
        let mut groups: Vec<CellGroup> = Vec::new();
        let mut index_of: HashMap<(Axes, Axes), usize> = HashMap::new();
        let mut last: Option<usize> = None;
        for (index, cell) in cells.iter().enumerate() {
            let same = |group: &CellGroup| {
                group.axes.iter().eq(cell.values.keys())
                    && group.labelled.iter().eq(cell.label.iter().map(|(axis, _)| axis))
            };
            let group = last.filter(|last| same(&groups[*last])).unwrap_or_else(|| {
                let axes: Vec<Arc<str>> = cell.values.keys().cloned().collect();
                let labelled: Vec<Arc<str>> = cell.label.iter().map(|(axis, _)| Arc::clone(axis)).collect();
                *index_of.entry((axes.clone(), labelled.clone())).or_insert_with(|| {
                    groups.push(CellGroup { axes, labelled, cells: Vec::new() });
                    groups.len() - 1
                })
            });
            groups[group].cells.push(index as u32);
            last = Some(group);
        }
        Self { groups, tables: RefCell::default() }
    }

    /// The cells that a selector selects and that agree with `user`, in order; `None` once the budget is exhausted.
    pub(crate) fn find(
        &self,
        cells: &[MatrixCell],
        selector: &CellSelector<'_>,
        user: &MatrixCell,
        agreement: Agreement,
        work: &WorkBudget,
    ) -> Option<Vec<usize>> {
        let Some(named) = selector.named() else { return Some(Vec::new()) };
        let mut indices = Vec::new();
        for (index, group) in self.groups.iter().enumerate() {
            if !work.charge(1) {
                return None;
            }
            if !named.iter().all(|(axis, _)| group.labelled.iter().any(|name| **name == **axis)) {
                continue;
            }
            let shared: Vec<Arc<str>> = if agreement == Agreement::OpenPart && group.is_closed(selector) {
                Vec::new()
            } else {
                let open = group.axes.iter().filter(|axis| !selector.names(axis));
                open.filter(|axis| user.values.contains_key(&**axis)).cloned().collect()
            };
            let hash = hash(named.iter().map(|(_, text)| *text), &shared, user);
            let table = self.table(index, named.iter().map(|(axis, _)| *axis), shared, cells, work)?;
            let Some(candidates) = table.get(&hash) else { continue };
            if !work.charge(candidates.len()) {
                return None;
            }
            // Two different keys may have the same hash.
            let agrees = |cell: &MatrixCell| {
                selector.matches(cell)
                    && match agreement {
                        Agreement::OpenAxes => selector.agrees_on_open_axes(cell, user),
                        Agreement::OpenPart => {
                            group.is_closed(selector) || selector.agrees_on_open_axes(cell, user)
                        }
                    }
            };
            indices.extend(
                candidates.iter().map(|index| *index as usize).filter(|index| agrees(&cells[*index])),
            );
        }
        if self.groups.len() > 1 {
            indices.sort_unstable();
        }
        Some(indices)
    }

    /// Whether a selected cell has a labelled axis that the selector does not name; `None` once the budget is exhausted.
    pub(crate) fn has_open_axes(
        &self,
        cells: &[MatrixCell],
        selector: &CellSelector<'_>,
        work: &WorkBudget,
    ) -> Option<bool> {
        let Some(named) = selector.named() else { return Some(false) };
        for (index, group) in self.groups.iter().enumerate() {
            if group.is_closed(selector)
                || !named.iter().all(|(axis, _)| group.labelled.iter().any(|name| **name == **axis))
            {
                continue;
            }
            let hash = hash(named.iter().map(|(_, text)| *text), &[], &MatrixCell::default());
            let table = self.table(index, named.iter().map(|(axis, _)| *axis), Vec::new(), cells, work)?;
            let selected = table.get(&hash).into_iter().flatten();
            if selected.into_iter().any(|index| selector.matches(&cells[*index as usize])) {
                return Some(true);
            }
        }
        Some(false)
    }

    fn table<'a>(
        &self,
        group: usize,
        named: impl Iterator<Item = &'a str>,
        shared: Vec<Arc<str>>,
        cells: &[MatrixCell],
        work: &WorkBudget,
    ) -> Option<Rc<Table>> {
        let key = (group, named.map(str::to_owned).collect::<Vec<_>>(), shared);
        if let Some(table) = self.tables.borrow().by_axes.get(&key) {
            return Some(Rc::clone(table));
        }
        let members = &self.groups[group].cells;
        if !work.charge(members.len()) {
            return None;
        }
        let (_, named, shared) = &key;
        let mut table = Table::new();
        for index in members {
            let cell = &cells[*index as usize];
            let texts = named.iter().map(|axis| cell.label_on(axis).unwrap_or_default());
            table.entry(hash(texts, shared, cell)).or_default().push(*index);
        }
        let table = Rc::new(table);
        let mut tables = self.tables.borrow_mut();
        if tables.indexed + members.len() > MAX_INDEXED {
            *tables = LookupTables::default();
        }
        tables.indexed += members.len();
        tables.by_axes.insert(key, Rc::clone(&table));
        Some(table)
    }
}

impl CellGroup {
    /// Whether a selector names all of the label.
    fn is_closed(&self, selector: &CellSelector<'_>) -> bool {
        self.labelled.iter().all(|axis| selector.names(axis))
    }
}

/// The hash of the texts on named axes and of a cell's values on shared ones.
fn hash<'a>(texts: impl Iterator<Item = &'a str>, shared: &[Arc<str>], cell: &MatrixCell) -> u64 {
    let mut hasher = DefaultHasher::new();
    texts.for_each(|text| text.hash(&mut hasher));
    for axis in shared {
        if let Some(value) = cell.values.get(&**axis) {
            value.value.hash(&mut hasher);
        }
    }
    hasher.finish()
}
