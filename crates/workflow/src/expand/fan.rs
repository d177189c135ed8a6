//! Cells and takes: how many instances each shot has, and what they are called.

use std::time::Duration;

use super::axes::Axes;
use super::links::Links;
use super::retry::{self, Retry};
use super::{Cx, inherit, picks};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::matrix::{self, Cell};
use crate::source::Span;
use crate::syntax::{self, Entry, Shot, Workflow};
use crate::template::Scope;
use crate::yaml::Yaml;

/// A shot with its cells.
pub(super) struct Fanned<'w> {
    pub(super) shot: &'w Shot,
    pub(super) cells: Vec<Cell>,
    /// For each cell, the cell of the shot on whose frame it begins, where its axes come from there.
    pub(super) parents: Vec<Option<usize>>,
    pub(super) takes: Option<u32>,
    /// For each cell, the take that others use, where one is picked.
    pub(super) picks: Vec<Option<u32>>,
    pub(super) retry: Retry,
    pub(super) timeout: Option<Duration>,
    /// The position of its first draft.
    first: usize,
}

impl Fanned<'_> {
    fn takes(&self) -> usize {
        self.takes.map_or(1, |takes| takes as usize)
    }

    pub(super) fn instances(&self) -> usize {
        self.cells.len() * self.takes()
    }

    /// The position of the draft of a cell and, where there are takes, a take.
    pub(super) fn draft(&self, cell: usize, take: Option<u32>) -> usize {
        self.first + cell * self.takes() + take.map_or(0, |take| take as usize - 1)
    }
}

/// An instance before it is rendered.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) shot: usize,
    pub(super) cell: usize,
    pub(super) take: Option<u32>,
}

/// All shots with their cells, and all drafts in file order.
pub(super) struct Fan<'w> {
    /// The cells of the workflow's own matrix; one empty cell where it has none.
    pub(super) top: Vec<Cell>,
    /// By position in the file; nothing for shots that are broken.
    pub(super) shots: Vec<Option<Fanned<'w>>>,
    pub(super) drafts: Vec<Draft>,
}

impl<'w> Fan<'w> {
    /// Where the uses of shots by shots become too many to look at, if they do.
    fn too_entangled(&self, links: &Links) -> Option<Span> {
        let mut work = 0_usize;
        for (user, uses) in self.shots.iter().zip(&links.uses) {
            let Some(user) = user else { continue };
            for used in uses {
                let cells = self.shots[used.target].as_ref().map_or(0, |target| target.cells.len());
                let compared = if used.begins_on_it { 1 } else { cells };
                work = work.saturating_add(user.instances().saturating_mul(compared));
                if work > limits::MAX_CELL_COMPARISONS {
                    return Some(used.reference.span);
                }
            }
        }
        None
    }

    pub(super) fn of(&self, draft: &Draft) -> &Fanned<'w> {
        match &self.shots[draft.shot] {
            Some(fanned) => fanned,
            None => unreachable!("drafts are made from fanned shots only"),
        }
    }

    pub(super) fn cell(&self, draft: &Draft) -> &Cell {
        &self.of(draft).cells[draft.cell]
    }
}

/// Fans all shots out. Where that cannot be done for reasons that concern all of them, nothing is fanned out.
pub(super) fn fan<'w>(
    workflow: &'w Workflow,
    links: &Links,
    params: &Scope,
    cx: &Cx<'w>,
    problems: &mut Problems,
) -> Fan<'w> {
    let nothing = || Fan {
        top: vec![Cell::default()],
        shots: workflow.shots.iter().map(|_| None).collect(),
        drafts: Vec::new(),
    };
    let Ok(axes) = Axes::read(workflow, params, cx, problems) else { return nothing() };
    let words = Words { params, cx };
    let mut shots: Vec<Option<Fanned<'w>>> = workflow.shots.iter().map(|_| None).collect();
    let mut total = 0_usize;
    for &at in &links.order {
        let shot = &workflow.shots[at];
        let fanned = words.fan(workflow, at, &axes, links, &shots, problems);
        if links.broken[at] {
            continue;
        }
        let Some(fanned) = fanned else { continue };
        total = total.saturating_add(fanned.instances());
        if total > limits::MAX_INSTANCES {
            problems.push(
                Diagnostic::error(
                    "matrix-too-large",
                    shot.matrix.as_ref().or(shot.takes.as_ref()).map_or(shot.id.span, |entry| entry.key.span),
                    format!(
                        "with the {} instances of this shot the plan has {}",
                        grouped(fanned.instances() as u128),
                        grouped(total as u128)
                    ),
                )
                .help(format!("a plan has at most {} instances", grouped(limits::MAX_INSTANCES as u128))),
            );
            return nothing();
        }
        shots[at] = Some(fanned);
    }
    let mut drafts = Vec::with_capacity(total);
    for (at, fanned) in shots.iter_mut().enumerate() {
        let Some(fanned) = fanned else { continue };
        fanned.first = drafts.len();
        for (cell, label) in fanned.cells.iter().map(Cell::label).enumerate() {
            for take in fanned.takes.map_or(vec![None], |takes| (1..=takes).map(Some).collect()) {
                let name = instance_name(&fanned.shot.id.value, &label, take);
                drafts.push(Draft { name, shot: at, cell, take });
            }
        }
    }
    let fan = Fan { top: axes.top, shots, drafts };
    if let Some(used) = fan.too_entangled(links) {
        let most = grouped(limits::MAX_CELL_COMPARISONS as u128);
        let message = format!("more than {most} pairs of cells would have to be compared");
        problems.push(
            Diagnostic::error("matrix-too-large", used, message)
                .help("name fewer shots, or single cells of them"),
        );
        return nothing();
    }
    fan
}

/// How an instance is named: `harbor@lens=24mm,seed=1#2`.
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

/// Reads the words of a shot that hold for all its instances; their templates know the parameters.
struct Words<'a, 'w> {
    params: &'a Scope,
    cx: &'a Cx<'w>,
}

impl<'w> Words<'_, 'w> {
    fn fan(
        &self,
        workflow: &'w Workflow,
        at: usize,
        axes: &Axes,
        links: &Links,
        shots: &[Option<Fanned<'w>>],
        problems: &mut Problems,
    ) -> Option<Fanned<'w>> {
        let shot = &workflow.shots[at];
        let takes = self.word(shot.takes.as_ref(), problems, |value, entry, problems| {
            syntax::expect_count(value, "takes", limits::MAX_TAKES, entry.key.span, problems)
        });
        let retry = self.word(shot.retry.as_ref(), problems, |value, entry, problems| {
            retry::read(value, entry, problems)
        });
        let timeout = self.word(shot.timeout.as_ref(), problems, |value, entry, problems| {
            syntax::expect_duration(value, "timeout", entry.key.span, problems)
        });
        let own = axes.of_shot(shot, at, self.cx, problems);
        let (Ok(takes), Ok(retry), Ok(timeout), Some(own)) = (takes, retry, timeout, own) else {
            return None;
        };
        let (mut cells, parents) = inherit::cells(workflow, at, own, &axes.top, links, shots, problems)?;
        matrix::tell_apart(&mut cells);
        let picks = picks::of(shot, takes, &cells, self.params, self.cx, problems)?;
        Some(Fanned {
            shot,
            cells,
            parents,
            takes,
            picks,
            retry: retry.unwrap_or_default(),
            timeout,
            first: 0,
        })
    }

    /// The word's value; `Ok(None)` where it is not given.
    fn word<T>(
        &self,
        entry: Option<&'w Entry>,
        problems: &mut Problems,
        read: impl FnOnce(&Yaml, &Entry, &mut Problems) -> Option<T>,
    ) -> Result<Option<T>, Reported> {
        let Some(entry) = entry else { return Ok(None) };
        let value = self.cx.templates.render(&entry.value, self.params, problems).ok_or(Reported)?;
        read(&value, entry, problems).map(Some).ok_or(Reported)
    }
}

/// Something is wrong, and is among the problems already.
struct Reported;
