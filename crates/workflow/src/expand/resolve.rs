//! Resolves references to instances: `harbor`, `harbor@seed=3`, `lamp#2`.
//!
//! On axes that the reference names, the value is the named one. On the other axes, the value is that of the referring instance if
//! it has the axis; otherwise every value matches.

use std::cell::RefCell;
use std::collections::HashMap;

use super::dedup::DiagnosticDedup;
use super::expansion::{ExpandedShot, Expansion, Instance, Parent, PickedCells};
use super::reference_errors::{check_take, instances_of, several_matches};
use super::references::unknown_shot;
use crate::diagnostic::{Diagnostic, grouped};
use crate::limits;
use crate::matrix::{Agreement, CellSelector, MatrixCell};
use crate::plan::{ClipSource, NodeIx};
use crate::source::{Span, Spanned};
use crate::syntax::{Entry, ShotRef, Workflow};
use crate::work::WorkBudget;

/// The diagnostic code for a reference to an instance that `when` excludes.
pub(super) const EXCLUDED: &str = "excluded";

/// The instance that a reference resolves to, or the takes or instances of which one is still to be picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ResolvedRef {
    Instance(usize),
    OpenPick(Vec<usize>),
}

/// Resolves references. It knows which instances `when` includes, and which node each of them becomes.
pub(super) struct RefResolver<'a, 'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) expansion: &'a Expansion<'w>,
    ids: HashMap<&'w str, usize>,
    work: &'a WorkBudget,
    nodes: Vec<Option<NodeIx>>,
    /// What is continued in place of an excluded instance; `None` where nothing of its chain is made.
    replaced: RefCell<HashMap<usize, Option<ResolvedRef>>>,
}

/// What a reference that has to match exactly one instance comes to.
enum SingleMatch {
    Made(ResolvedRef),
    /// `when` excludes it: the shot, and the instance if there is one only.
    Excluded(usize, Option<usize>),
    /// The shot is invalid, which is reported elsewhere.
    Invalid,
}

/// A referenced shot with the cells that match.
struct Candidates<'s, 'w> {
    shot: usize,
    target: &'s ExpandedShot<'w>,
    cells: Vec<usize>,
}

impl<'a, 'w> RefResolver<'a, 'w> {
    pub(super) fn new(
        workflow: &'w Workflow,
        expansion: &'a Expansion<'w>,
        included: &[bool],
        work: &'a WorkBudget,
    ) -> Self {
        let mut count = 0;
        let nodes = included
            .iter()
            .map(|included| {
                included.then(|| {
                    count += 1;
                    NodeIx::new(count - 1)
                })
            })
            .collect();
        let ids = workflow.shot_indexes();
        Self { workflow, expansion, ids, work, nodes, replaced: RefCell::default() }
    }

    /// The node that an instance becomes; `None` if it is excluded.
    pub(super) fn node(&self, instance: usize) -> Option<NodeIx> {
        self.nodes[instance]
    }

    /// The number of cells of a shot; 0 if there is no such shot.
    pub(super) fn cells_of(&self, shot: &str) -> usize {
        let index = self.ids.get(shot);
        index
            .and_then(|index| self.expansion.shots[*index].as_ref())
            .map_or(0, |expanded| expanded.cells.len())
    }

    /// Resolves a reference that must match exactly one instance. `Ok(None)` if the referenced shot is invalid, which is reported
    /// elsewhere.
    pub(super) fn resolve_one(
        &self,
        user: &Instance,
        reference: &Spanned<ShotRef>,
        is_first_frame: bool,
    ) -> Result<Option<ResolvedRef>, Box<Diagnostic>> {
        match self.find_one(user, reference, is_first_frame)? {
            SingleMatch::Made(resolved) => Ok(Some(resolved)),
            SingleMatch::Invalid => Ok(None),
            SingleMatch::Excluded(shot, _) => Err(Box::new(
                self.excluded(shot, reference, "is excluded by `when`, and its frame is needed")
                    .help(self.remedy(shot, "start it from another frame")),
            )),
        }
    }

    /// Resolves `continues`, as [`Self::resolve_one`] does. In place of an excluded instance, what that continues is taken: the nearest in the
    /// chain that is made.
    pub(super) fn resolve_continued(
        &self,
        user: &Instance,
        reference: &Spanned<ShotRef>,
    ) -> Result<Option<ResolvedRef>, Box<Diagnostic>> {
        let (mut current, mut named) = (user, reference);
        let mut skipped: Vec<usize> = Vec::new();
        let result = loop {
            match self.find_one(current, named, true)? {
                SingleMatch::Invalid => return Ok(None),
                SingleMatch::Made(resolved) => break Some(resolved),
                SingleMatch::Excluded(_, None) => break None,
                SingleMatch::Excluded(_, Some(instance)) => {
                    if let Some(cached) = self.replaced.borrow().get(&instance) {
                        break cached.clone();
                    }
                    skipped.push(instance);
                    current = &self.expansion.instances[instance];
                    let Some(before) = &self.expansion.shot_of(current).shot.continues else { break None };
                    named = &before.shot;
                }
            }
        };
        let mut replaced = self.replaced.borrow_mut();
        replaced.extend(skipped.into_iter().map(|instance| (instance, result.clone())));
        drop(replaced);
        if result.is_some() {
            return Ok(result);
        }
        let Some(&shot) = self.ids.get(reference.value.shot.as_str()) else { return Ok(None) };
        let reason = match &self.workflow.shots[shot].continues {
            None => "is excluded by `when`, and its frame is needed",
            Some(_) => "is excluded by `when`, and nothing that it continues is made: a frame is needed",
        };
        let diagnostic = self.excluded(shot, reference, reason);
        Err(Box::new(diagnostic.help(self.remedy(shot, "start it from another frame"))))
    }

    fn find_one(
        &self,
        user: &Instance,
        reference: &Spanned<ShotRef>,
        is_first_frame: bool,
    ) -> Result<SingleMatch, Box<Diagnostic>> {
        // An inherited cell has its parent's index: no search is needed.
        let parent = match &self.expansion.shot_of(user).parents[user.cell] {
            parent if is_first_frame => parent,
            _ => &Parent::None,
        };
        let Some(candidates) = self.candidates(self.expansion.cell_of(user), reference, parent)? else {
            return Ok(SingleMatch::Invalid);
        };
        let target = candidates.target;
        let (resolved, only) = match target.picks.narrow(candidates.cells) {
            PickedCells::Cells(cells) => match cells.as_slice() {
                [only] => {
                    let mut all = target
                        .takes_of(*only, None)
                        .map(|take| target.instance_index(*only, take))
                        .peekable();
                    let first = all.peek().copied();
                    // Where another take is made, the named or picked one is wanted.
                    let is_made = all.any(|index| self.nodes[index].is_some());
                    (self.resolve_take(target, *only, reference)?, first.filter(|_| !is_made))
                }
                several => {
                    return Err(Box::new(several_matches(target, several.len(), reference)));
                }
            },
            PickedCells::Open(cells) => (self.open_pick(target, &cells, reference)?, None),
        };
        Ok(resolved.map_or(SingleMatch::Excluded(candidates.shot, only), SingleMatch::Made))
    }

    /// Resolves a reference that may match several instances. Excluded ones are skipped; at least one has to be left.
    pub(super) fn resolve_many(
        &self,
        user: &Instance,
        reference: &Spanned<ShotRef>,
    ) -> Result<Vec<ResolvedRef>, Box<Diagnostic>> {
        let Some(candidates) = self.candidates(self.expansion.cell_of(user), reference, &Parent::None)?
        else {
            return Ok(Vec::new());
        };
        let (shot, resolved) = (candidates.shot, self.resolve_takes(candidates, reference)?);
        if resolved.is_empty() {
            return Err(Box::new(
                self.excluded(shot, reference, "is excluded by `when`, and its frame is needed")
                    .help(self.remedy(shot, "remove the reference")),
            ));
        }
        Ok(resolved)
    }

    /// The clips of a film for a reference, in one cell of the workflow's own matrix. Excluded instances are skipped; at least one
    /// has to be left.
    pub(super) fn clips(
        &self,
        user: &MatrixCell,
        reference: &Spanned<ShotRef>,
    ) -> Result<Vec<ClipSource>, Box<Diagnostic>> {
        let Some(candidates) = self.candidates(user, reference, &Parent::None)? else {
            return Ok(Vec::new());
        };
        let shot = candidates.shot;
        let clips: Vec<ClipSource> = self
            .resolve_takes(candidates, reference)?
            .into_iter()
            .filter_map(|resolved| match resolved {
                ResolvedRef::Instance(index) => self.nodes[index].map(ClipSource::Node),
                ResolvedRef::OpenPick(candidates) => Some(ClipSource::Pick(self.nodes_of(&candidates))),
            })
            .collect();
        if clips.is_empty() {
            return Err(Box::new(
                self.excluded(shot, reference, "is excluded by `when`")
                    .help("remove it here too, or change its `when`"),
            ));
        }
        Ok(clips)
    }

    /// The ordering edges of `needs`: from all takes of all matching instances that are included.
    pub(super) fn order_edges(&self, dedup: &mut DiagnosticDedup) -> Vec<(NodeIx, NodeIx)> {
        let mut order = Vec::new();
        for (index, instance) in self.expansion.instances.iter().enumerate() {
            let Some(node) = self.nodes[index] else { continue };
            for reference in &self.expansion.shot_of(instance).shot.needs {
                if self.work.is_exhausted() || dedup.is_full() {
                    return order;
                }
                match self.nodes_before(self.expansion.cell_of(instance), reference) {
                    Ok(before) => order.extend(before.into_iter().map(|before| (before, node))),
                    Err(diagnostic) => dedup.add(instance, *diagnostic),
                }
                if order.len() > limits::MAX_ORDER_EDGES {
                    let max_pairs = grouped(limits::MAX_ORDER_EDGES as u128);
                    let message = format!("more than {max_pairs} pairs of instances wait for each other");
                    let help = "let one shot need the group, and the others that shot";
                    dedup.add(
                        instance,
                        Diagnostic::error("matrix-too-large", reference.span, message).help(help),
                    );
                    return order;
                }
            }
        }
        order
    }

    fn nodes_before(
        &self,
        user: &MatrixCell,
        reference: &Spanned<ShotRef>,
    ) -> Result<Vec<NodeIx>, Box<Diagnostic>> {
        let Some(candidates) = self.candidates(user, reference, &Parent::None)? else {
            return Ok(Vec::new());
        };
        let target = candidates.target;
        let mut nodes = Vec::new();
        for cell in candidates.cells {
            check_take(target, cell, reference)?;
            let takes = target.takes_of(cell, reference.value.take);
            nodes.extend(takes.filter_map(|take| self.nodes[target.instance_index(cell, take)]));
        }
        Ok(nodes)
    }

    /// The nodes of those instances that are included.
    pub(super) fn nodes_of(&self, instances: &[usize]) -> Vec<NodeIx> {
        instances.iter().filter_map(|instance| self.nodes[*instance]).collect()
    }

    /// The cells that a reference matches; those of `known` if they are known already.
    fn candidates(
        &self,
        user: &MatrixCell,
        reference: &Spanned<ShotRef>,
        parent: &Parent,
    ) -> Result<Option<Candidates<'_, 'w>>, Box<Diagnostic>> {
        let Some(&shot) = self.ids.get(reference.value.shot.as_str()) else {
            return Err(Box::new(unknown_shot(reference, self.workflow)));
        };
        let Some(target) = &self.expansion.shots[shot] else { return Ok(None) };
        match parent {
            Parent::None => {}
            Parent::Cell(cell) => return Ok(Some(Candidates { shot, target, cells: vec![*cell] })),
            Parent::Open(cells) => return Ok(Some(Candidates { shot, target, cells: cells.clone() })),
        }
        let selector = CellSelector::parse(reference.value.cell.as_deref());
        let matching = target.index.find(&target.cells, &selector, user, Agreement::OpenAxes, self.work);
        let Some(cells) = matching else { return Err(Box::new(too_much_work(reference.span))) };
        if cells.is_empty() {
            let message =
                format!("no instance of `{}` is meant by `{}`", target.shot.id.value, reference.value);
            return Err(Box::new(
                Diagnostic::error("no-matching-instance", reference.span, message).help(instances_of(target)),
            ));
        }
        Ok(Some(Candidates { shot, target, cells }))
    }

    /// The take of a cell that a reference resolves to: the named one, else the picked one, else the only one. `None` if it is
    /// excluded.
    fn resolve_take(
        &self,
        target: &ExpandedShot<'_>,
        cell: usize,
        reference: &Spanned<ShotRef>,
    ) -> Result<Option<ResolvedRef>, Box<Diagnostic>> {
        check_take(target, cell, reference)?;
        let made =
            |take| Some(target.instance_index(cell, take)).filter(|index| self.nodes[*index].is_some());
        Ok(match (target.take_count(cell), reference.value.take.or(target.picks.takes[cell])) {
            (None, _) => made(None).map(ResolvedRef::Instance),
            (Some(takes), None) => {
                let open: Vec<usize> = (1..=takes).filter_map(|take| made(Some(take))).collect();
                match open.as_slice() {
                    [] => None,
                    [only] => Some(ResolvedRef::Instance(*only)),
                    _ => Some(ResolvedRef::OpenPick(open)),
                }
            }
            (_, take) => made(take).map(ResolvedRef::Instance),
        })
    }

    fn resolve_takes(
        &self,
        candidates: Candidates<'_, '_>,
        reference: &Spanned<ShotRef>,
    ) -> Result<Vec<ResolvedRef>, Box<Diagnostic>> {
        let target = candidates.target;
        match target.picks.narrow(candidates.cells) {
            PickedCells::Cells(cells) => {
                let resolved = cells.iter().map(|cell| self.resolve_take(target, *cell, reference));
                resolved.filter_map(Result::transpose).collect()
            }
            PickedCells::Open(cells) => Ok(self.open_pick(target, &cells, reference)?.into_iter().collect()),
        }
    }

    /// The candidates of which one is to be picked: the takes of several cells. `None` if all are excluded.
    fn open_pick(
        &self,
        target: &ExpandedShot<'_>,
        cells: &[usize],
        reference: &Spanned<ShotRef>,
    ) -> Result<Option<ResolvedRef>, Box<Diagnostic>> {
        let mut open: Vec<usize> = Vec::new();
        for cell in cells {
            check_take(target, *cell, reference)?;
            let picked = target.picks.takes[*cell].filter(|_| target.takes.is_some());
            let takes = target.takes_of(*cell, reference.value.take.or(picked));
            let instances = takes.map(|take| target.instance_index(*cell, take));
            open.extend(instances.filter(|index| self.nodes[*index].is_some()));
        }
        Ok(match open.as_slice() {
            [] => None,
            [only] => Some(ResolvedRef::Instance(*only)),
            _ => Some(ResolvedRef::OpenPick(open)),
        })
    }

    /// What to do where a shot is excluded in the cell of one that needs it.
    fn remedy(&self, shot: usize, other: &str) -> String {
        let mut instances = self.expansion.instances.iter().zip(&self.nodes);
        let made = instances.find(|(instance, node)| instance.shot == shot && node.is_some());
        match made.and_then(|(instance, _)| instance.name.split('#').next()) {
            Some(name) if name.contains('@') => {
                format!("name one that is made, such as `{name}`, give this shot the same `when`, or {other}")
            }
            _ => format!("give this shot the same `when`, or {other}"),
        }
    }

    fn excluded(&self, shot: usize, reference: &Spanned<ShotRef>, reason: &str) -> Diagnostic {
        let shot = &self.workflow.shots[shot];
        let when = shot.when.as_ref().map_or(shot.id.span, Entry::span);
        Diagnostic::error(EXCLUDED, reference.span, format!("`{}` {reason}", reference.value))
            .other(when, "excluded here")
    }
}

/// The diagnostic for a reference at which the work budget is exhausted.
pub(super) fn too_much_work(span: Span) -> Diagnostic {
    Diagnostic::error("matrix-too-large", span, "the references up to this one ask for too much work")
        .help("name fewer shots, or single cells of them")
}
