//! Which instances a reference means: `harbor`, `harbor@seed=3`, `lamp#2`.
//!
//! Axes that a reference names are as named. On those that it leaves open, the instances that are meant have the values of the
//! shot that names them, where it has any; where it has none, all of them are meant.

use std::collections::HashMap;

use super::fan::{Draft, Fan, Fanned};
use super::links::unknown_shot;
use crate::diagnostic::{Diagnostic, quoted_list};
use crate::matrix::{Cell, Wanted};
use crate::plan::{Clip, NodeIx};
use crate::source::Spanned;
use crate::syntax::{Entry, ShotRef, Workflow};

/// The code of a use of what is left out.
pub(super) const LEFT_OUT: &str = "left-out";

/// The draft that is meant, or the takes of which one is still to be picked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Chosen {
    Draft(usize),
    Open(Vec<usize>),
}

/// All drafts with what is decided of them so far: whether they are made, and as which node.
pub(super) struct Stage<'a, 'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) fan: &'a Fan<'w>,
    ids: HashMap<&'w str, usize>,
    nodes: Vec<Option<NodeIx>>,
}

/// A shot that a reference names, with the cells of it that are meant.
struct Meant<'s, 'w> {
    shot: usize,
    target: &'s Fanned<'w>,
    cells: Vec<usize>,
}

impl<'a, 'w> Stage<'a, 'w> {
    pub(super) fn new(workflow: &'w Workflow, fan: &'a Fan<'w>, included: &[bool]) -> Self {
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
        let ids = workflow.shots.iter().enumerate().map(|(at, shot)| (shot.id.value.as_str(), at)).collect();
        Self { workflow, fan, ids, nodes }
    }

    /// The node that a draft becomes; nothing where it is left out.
    pub(super) fn node(&self, draft: usize) -> Option<NodeIx> {
        self.nodes[draft]
    }

    /// How many cells a shot has; none where there is no such shot.
    pub(super) fn cells_of(&self, shot: &str) -> usize {
        let at = self.ids.get(shot);
        at.and_then(|at| self.fan.shots[*at].as_ref()).map_or(0, |fanned| fanned.cells.len())
    }

    /// The one instance whose frame a draft takes; nothing where what keeps it from being known is reported elsewhere.
    pub(super) fn one(
        &self,
        user: &Draft,
        reference: &Spanned<ShotRef>,
        begins_on_it: bool,
    ) -> Result<Option<Chosen>, Box<Diagnostic>> {
        // A cell that was inherited knows whose it is.
        let parent = self.fan.of(user).parents[user.cell].filter(|_| begins_on_it);
        let Some(meant) = self.meant(self.fan.cell(user), reference, parent)? else { return Ok(None) };
        let cell = match meant.cells.as_slice() {
            [only] => *only,
            several => {
                let message = format!(
                    "`{}` means {} instances, and one frame is wanted",
                    reference.value,
                    several.len()
                );
                return Err(Box::new(
                    Diagnostic::error("ambiguous-instance", reference.span, message)
                        .help(instances_of(meant.target)),
                ));
            }
        };
        match self.chosen(meant.target, cell, reference)? {
            Some(chosen) => Ok(Some(chosen)),
            None => Err(Box::new(
                self.left_out(meant.shot, reference, "is left out, and its frame is wanted")
                    .help("give this shot the same `when`, or begin it on something else"),
            )),
        }
    }

    /// All instances whose frames a draft takes as references. What is left out is not among them; at least one is not.
    pub(super) fn several(
        &self,
        user: &Draft,
        reference: &Spanned<ShotRef>,
    ) -> Result<Vec<Chosen>, Box<Diagnostic>> {
        let Some(meant) = self.meant(self.fan.cell(user), reference, None)? else { return Ok(Vec::new()) };
        let chosen = self.chosen_of_all(&meant, reference)?;
        if chosen.is_empty() {
            return Err(Box::new(
                self.left_out(meant.shot, reference, "is left out, and its frame is wanted")
                    .help("give this shot the same `when`, or remove the reference"),
            ));
        }
        Ok(chosen)
    }

    /// What a film shows for a reference, cell by cell, in a cell of the workflow's own matrix. What is left out is not shown; at
    /// least something is.
    pub(super) fn shown(
        &self,
        user: &Cell,
        reference: &Spanned<ShotRef>,
    ) -> Result<Vec<Clip>, Box<Diagnostic>> {
        let Some(meant) = self.meant(user, reference, None)? else { return Ok(Vec::new()) };
        let clips: Vec<Clip> = self
            .chosen_of_all(&meant, reference)?
            .into_iter()
            .filter_map(|chosen| match chosen {
                Chosen::Draft(at) => self.nodes[at].map(Clip::Node),
                Chosen::Open(takes) => Some(Clip::Pick(self.nodes_of(&takes))),
            })
            .collect();
        if clips.is_empty() {
            return Err(Box::new(
                self.left_out(meant.shot, reference, "is left out")
                    .help("remove it here too, or let it be made"),
            ));
        }
        Ok(clips)
    }

    /// The orderings that `needs` asks for: all takes of all instances that are meant, as far as they are made.
    pub(super) fn needs(&self, tally: &mut super::tally::Tally) -> Vec<(NodeIx, NodeIx)> {
        let mut order = Vec::new();
        for (at, draft) in self.fan.drafts.iter().enumerate() {
            let Some(node) = self.nodes[at] else { continue };
            for reference in &self.fan.of(draft).shot.needs {
                match self.all(self.fan.cell(draft), reference) {
                    Ok(before) => order.extend(before.into_iter().map(|before| (before, node))),
                    Err(diagnostic) => tally.add(draft, *diagnostic),
                }
            }
        }
        order
    }

    fn all(&self, user: &Cell, reference: &Spanned<ShotRef>) -> Result<Vec<NodeIx>, Box<Diagnostic>> {
        let Some(meant) = self.meant(user, reference, None)? else { return Ok(Vec::new()) };
        let takes: Vec<Option<u32>> = match (meant.target.takes, reference.value.take) {
            (Some(takes), None) => (1..=takes).map(Some).collect(),
            (_, take) => {
                check_take(meant.target, reference)?;
                vec![take]
            }
        };
        let drafts =
            meant.cells.iter().flat_map(|cell| takes.iter().map(|take| meant.target.draft(*cell, *take)));
        Ok(drafts.filter_map(|draft| self.nodes[draft]).collect())
    }

    /// The nodes of drafts that are made.
    pub(super) fn nodes_of(&self, drafts: &[usize]) -> Vec<NodeIx> {
        drafts.iter().filter_map(|draft| self.nodes[*draft]).collect()
    }

    /// The cells that a reference means; `known` where that is one that is known already.
    fn meant(
        &self,
        user: &Cell,
        reference: &Spanned<ShotRef>,
        known: Option<usize>,
    ) -> Result<Option<Meant<'_, 'w>>, Box<Diagnostic>> {
        let Some(&shot) = self.ids.get(reference.value.shot.as_str()) else {
            return Err(Box::new(unknown_shot(reference, self.workflow)));
        };
        let Some(target) = &self.fan.shots[shot] else { return Ok(None) };
        if let Some(known) = known {
            return Ok(Some(Meant { shot, target, cells: vec![known] }));
        }
        let wanted = Wanted::parse(reference.value.cell.as_deref());
        let is_meant = |cell: &Cell| wanted.matches(cell) && wanted.leaves_open_alike(cell, user);
        let cells: Vec<usize> =
            target.cells.iter().enumerate().filter(|(_, cell)| is_meant(cell)).map(|(at, _)| at).collect();
        if cells.is_empty() {
            let message =
                format!("no instance of `{}` is meant by `{}`", target.shot.id.value, reference.value);
            return Err(Box::new(
                Diagnostic::error("no-matching-instance", reference.span, message).help(instances_of(target)),
            ));
        }
        Ok(Some(Meant { shot, target, cells }))
    }

    /// The take of a cell that is used: the one that is named, else the one that is picked, else the only one there is. Nothing
    /// where it is left out.
    fn chosen(
        &self,
        target: &Fanned<'_>,
        cell: usize,
        reference: &Spanned<ShotRef>,
    ) -> Result<Option<Chosen>, Box<Diagnostic>> {
        check_take(target, reference)?;
        let made = |take| Some(target.draft(cell, take)).filter(|at| self.nodes[*at].is_some());
        Ok(match (target.takes, reference.value.take.or(target.picks[cell])) {
            (Some(takes), None) => {
                let open: Vec<usize> = (1..=takes).filter_map(|take| made(Some(take))).collect();
                match open.as_slice() {
                    [] => None,
                    [only] => Some(Chosen::Draft(*only)),
                    _ => Some(Chosen::Open(open)),
                }
            }
            (_, take) => made(take).map(Chosen::Draft),
        })
    }

    fn chosen_of_all(
        &self,
        meant: &Meant<'_, '_>,
        reference: &Spanned<ShotRef>,
    ) -> Result<Vec<Chosen>, Box<Diagnostic>> {
        let chosen = meant.cells.iter().map(|cell| self.chosen(meant.target, *cell, reference));
        chosen.filter_map(Result::transpose).collect()
    }

    fn left_out(&self, shot: usize, reference: &Spanned<ShotRef>, what: &str) -> Diagnostic {
        let shot = &self.workflow.shots[shot];
        let when = shot.when.as_ref().map_or(shot.id.span, Entry::span);
        Diagnostic::error(LEFT_OUT, reference.span, format!("`{}` {what}", reference.value))
            .other(when, "left out here")
    }
}

/// Whether the take that is named is one that there is.
fn check_take(target: &Fanned<'_>, reference: &Spanned<ShotRef>) -> Result<(), Box<Diagnostic>> {
    let id = &target.shot.id.value;
    let (message, help) = match (target.takes, reference.value.take) {
        (None, Some(_)) => (format!("`{id}` has no takes"), format!("write `{id}`")),
        (Some(takes), Some(take)) if take > takes => (
            format!("`{id}` has {takes} takes, and none is {take}"),
            format!("name one from `{id}#1` to `{id}#{takes}`"),
        ),
        _ => return Ok(()),
    };
    Err(Box::new(Diagnostic::error("bad-pick", reference.span, message).help(help)))
}

fn instances_of(target: &Fanned<'_>) -> String {
    let id = &target.shot.id.value;
    let names: Vec<String> = target
        .cells
        .iter()
        .take(5)
        .map(|cell| {
            let label = cell.label();
            if label.is_empty() { id.clone() } else { format!("{id}@{label}") }
        })
        .collect();
    let rest = target.cells.len().saturating_sub(5);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("its instances are {}{more}", quoted_list(names.iter().map(String::as_str), 5))
}
