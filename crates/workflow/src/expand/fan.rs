//! Cells and takes: how many instances each shot has, and what they are called.

use std::time::Duration;

use super::Cx;
use super::links::Links;
use crate::bounds;
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::matrix::{self, Cell};
use crate::source::Span;
use crate::syntax::{self, Entry, Shot, Workflow};
use crate::template::Scope;
use crate::yaml::{Yaml, YamlValue};

/// A shot with its cells.
pub(super) struct Fanned<'w> {
    pub(super) shot: &'w Shot,
    pub(super) cells: Vec<Cell>,
    /// For each cell, the cell of the shot on whose frame it begins, where that is one of several.
    pub(super) parents: Vec<Option<usize>>,
    pub(super) takes: Option<u32>,
    pub(super) pick: Option<u32>,
    pub(super) retry: u32,
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
                if work > bounds::COMPARISONS {
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

pub(super) fn fan<'w>(
    workflow: &'w Workflow,
    links: &Links,
    params: &Scope,
    cx: &Cx<'w>,
    problems: &mut Problems,
) -> Fan<'w> {
    let mut shots: Vec<Option<Fanned<'w>>> = workflow.shots.iter().map(|_| None).collect();
    let mut total = 0_usize;
    for &at in &links.order {
        let words = Words { params, cx };
        let shot = &workflow.shots[at];
        let fanned = words.fan(shot, at, links, &shots, problems);
        if links.broken[at] {
            continue;
        }
        let Some(mut fanned) = fanned else { continue };
        matrix::tell_apart(&mut fanned.cells);
        total = total.saturating_add(fanned.instances());
        if total > bounds::INSTANCES {
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
                .help(format!("a plan has at most {} instances", grouped(bounds::INSTANCES as u128))),
            );
            return Fan { shots: workflow.shots.iter().map(|_| None).collect(), drafts: Vec::new() };
        }
        shots[at] = Some(fanned);
    }
    let mut drafts = Vec::with_capacity(total);
    for (at, fanned) in shots.iter_mut().enumerate() {
        let Some(fanned) = fanned else { continue };
        fanned.first = drafts.len();
        for (cell, label) in fanned.cells.iter().map(Cell::label).enumerate() {
            for take in fanned.takes.map_or(vec![None], |takes| (1..=takes).map(Some).collect()) {
                drafts.push(Draft { name: name(&fanned.shot.id.value, &label, take), shot: at, cell, take });
            }
        }
    }
    let fan = Fan { shots, drafts };
    if let Some(used) = fan.too_entangled(links) {
        problems.push(
            Diagnostic::error(
                "matrix-too-large",
                used,
                format!(
                    "more than {} pairs of cells would have to be compared",
                    grouped(bounds::COMPARISONS as u128)
                ),
            )
            .help("name fewer shots, or single cells of them"),
        );
        return Fan { shots: workflow.shots.iter().map(|_| None).collect(), drafts: Vec::new() };
    }
    fan
}

fn name(shot: &str, label: &str, take: Option<u32>) -> String {
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
        shot: &'w Shot,
        at: usize,
        links: &Links,
        shots: &[Option<Fanned<'w>>],
        problems: &mut Problems,
    ) -> Option<Fanned<'w>> {
        let takes = self.word(shot.takes.as_ref(), problems, |value, entry, problems| {
            syntax::count(value, "takes", bounds::TAKES, entry.key.span, problems)
        });
        let most = takes.as_ref().ok().copied().flatten().map_or(bounds::TAKES, u64::from);
        let pick = self.word(
            shot.pick.as_ref().filter(|_| shot.takes.is_some()),
            problems,
            |value, entry, problems| syntax::count(value, "pick", most, entry.key.span, problems),
        );
        let retry = self.word(shot.retry.as_ref(), problems, retry);
        let timeout = self.word(shot.timeout.as_ref(), problems, |value, entry, problems| {
            syntax::duration(value, "timeout", entry.key.span, problems)
        });
        let own = self.word(shot.matrix.as_ref(), problems, |value, entry, problems| {
            matrix::cells(&entry.key, value, problems)
        });
        let (Ok(takes), Ok(pick), Ok(retry), Ok(timeout), Ok(own)) = (takes, pick, retry, timeout, own)
        else {
            return None;
        };
        let alone = own.unwrap_or_else(|| vec![Cell::default()]);
        let (cells, parents) = inherit(shot, alone, at, links, shots, problems)?;
        Some(Fanned { shot, cells, parents, takes, pick, retry: retry.unwrap_or(1), timeout, first: 0 })
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

/// `retry: 3` or `retry: {attempts: 3}`.
fn retry(value: &Yaml, entry: &Entry, problems: &mut Problems) -> Option<u32> {
    let YamlValue::Map(entries) = &value.value else {
        return syntax::count(value, "retry", bounds::ATTEMPTS, entry.key.span, problems);
    };
    match entries.as_slice() {
        [(key, value)] if key.value == "attempts" => {
            syntax::count(value, "attempts", bounds::ATTEMPTS, key.span, problems)
        }
        _ => {
            let wrong = entries.iter().find(|(key, _)| key.value != "attempts");
            problems.push(
                Diagnostic::error(
                    "unknown-word",
                    wrong.map_or(entry.key.span, |(key, _)| key.span),
                    "`retry` is a number of attempts",
                )
                .help("write `retry: 3` or `retry: {attempts: 3}`"),
            );
            None
        }
    }
}

type Cells = (Vec<Cell>, Vec<Option<usize>>);

/// A shot that begins on a frame of a fanned-out shot has that shot's axes before its own; on axes that both have,
/// the values must be the same.
fn inherit(
    shot: &Shot,
    alone: Vec<Cell>,
    at: usize,
    links: &Links,
    shots: &[Option<Fanned<'_>>],
    problems: &mut Problems,
) -> Option<Cells> {
    let parents = vec![None; alone.len()];
    let Some(used) =
        links.uses[at].iter().find(|used| used.begins_on_it && used.reference.value.cell.is_none())
    else {
        return Some((alone, parents));
    };
    let parent = shots[used.target].as_ref()?;
    if parent.cells.iter().all(|cell| cell.values.is_empty()) {
        return Some((alone, parents));
    }
    let pairs = parent.cells.len().saturating_mul(alone.len());
    if pairs > bounds::INSTANCES * 100 {
        problems.push(
            Diagnostic::error(
                "matrix-too-large",
                used.reference.span,
                format!("this crosses {} cells", grouped(pairs as u128)),
            )
            .help(format!("a plan has at most {} instances", grouped(bounds::INSTANCES as u128))),
        );
        return None;
    }
    let (mut cells, mut parents) = (Vec::new(), Vec::new());
    let mut used_own = vec![false; alone.len()];
    for (parent_at, theirs) in parent.cells.iter().enumerate() {
        for (own_at, ours) in alone.iter().enumerate() {
            if theirs.agrees_with(ours) {
                used_own[own_at] = true;
                cells.push(theirs.joined_with(ours));
                parents.push(Some(parent_at));
            }
        }
    }
    let lonely = used_own.iter().position(|used| !used).map(|own_at| &alone[own_at]);
    if let Some(cell) = lonely {
        let place = shot.matrix.as_ref().map_or(shot.id.span, |entry| entry.key.span);
        problems.push(
            Diagnostic::error(
                "no-matching-instance",
                place,
                format!("no instance of `{}` agrees with the cell `{}`", used.reference.value.shot, cell.label()),
            )
            .other(used.reference.span, "it begins on a frame of this shot")
            .help("a shot that begins on a fanned-out shot's frame has that shot's axes; drop the axis here, or give it the same values"),
        );
        return None;
    }
    Some((cells, parents))
}
