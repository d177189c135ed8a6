//! Which instance takes which frame of which other, and what else it begins and ends on.

use std::collections::{HashMap, HashSet};

use super::Cx;
use super::fan::{Draft, Fan, Fanned};
use super::links::unknown_shot;
use super::media::{self, Frame, Kind, LocalFiles, Named};
use super::tally::Tally;
use crate::diagnostic::{Diagnostic, Problems, quoted_list};
use crate::matrix;
use crate::plan::{NodeIx, Source};
use crate::source::{Span, Spanned};
use crate::syntax::{self, Entry, ShotRef, Workflow};
use crate::template::Scope;

/// The code of a use of what is left out.
pub(super) const LEFT_OUT: &str = "left-out";

/// What a medium is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    FirstFrame,
    LastFrame,
    Reference(Kind),
}

/// A medium that an instance takes.
#[derive(Clone, Debug)]
pub(super) struct FrameUse {
    pub(super) slot: Slot,
    pub(super) medium: Medium,
    /// The word of the shot that asks for it, and its place.
    pub(super) word: &'static str,
    pub(super) span: Span,
}

/// A medium that the file asks for: the word and its place, the value's place, what it is for.
struct Asked {
    word: &'static str,
    key: Span,
    span: Span,
    slot: Slot,
}

#[derive(Clone, Debug)]
pub(super) enum Medium {
    Url(String),
    File(Source),
    /// A frame of another draft.
    Draft {
        at: usize,
        frame: Frame,
    },
}

/// Which drafts are continued: somebody takes their last frame.
///
/// With one take of a cell all its takes are: which one is picked may change, and none is asked for differently then.
pub(super) fn continued(frames: &[Vec<FrameUse>], fan: &Fan<'_>) -> Vec<bool> {
    let mut cells = HashSet::new();
    for used in frames.iter().flatten() {
        if let Medium::Draft { at, frame: Frame::Last } = used.medium {
            let draft = &fan.drafts[at];
            cells.insert((draft.shot, draft.cell));
        }
    }
    fan.drafts.iter().map(|draft| cells.contains(&(draft.shot, draft.cell))).collect()
}

/// All drafts with what is decided of them so far: whether they are made, and as which node.
pub(super) struct Stage<'a, 'w> {
    pub(super) workflow: &'w Workflow,
    pub(super) fan: &'a Fan<'w>,
    ids: HashMap<&'w str, usize>,
    nodes: Vec<Option<NodeIx>>,
    files: LocalFiles,
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
        Self { workflow, fan, ids, nodes, files: LocalFiles::default() }
    }

    /// The node that a draft becomes; nothing where it is left out.
    pub(super) fn node(&self, draft: usize) -> Option<NodeIx> {
        self.nodes[draft]
    }

    /// All media that one draft takes: first frame, last frame, references.
    pub(super) fn frames_of(
        &mut self,
        at: usize,
        scope: &Scope,
        cx: &Cx<'w>,
        tally: &mut Tally,
        problems: &mut Problems,
    ) -> Vec<FrameUse> {
        let workflow: &'w Workflow = self.workflow;
        let shot = &workflow.shots[self.fan.drafts[at].shot];
        let mut found = Vec::new();
        if let Some(continues) = &shot.continues
            && let Some(medium) = self.frame(at, &continues.shot, Frame::Last, true, tally)
        {
            found.push(FrameUse {
                slot: Slot::FirstFrame,
                medium,
                word: "continues",
                span: continues.shot.span,
            });
        }
        let words = [
            (&shot.first_frame, "first_frame", Slot::FirstFrame),
            (&shot.last_frame, "last_frame", Slot::LastFrame),
            (&shot.references, "references", Slot::Reference(Kind::Image)),
        ];
        for (entry, word, slot) in words {
            let Some(entry) = entry else { continue };
            let Some(rendered) = cx.templates.render(&entry.value, scope, problems) else { continue };
            let items = match slot {
                Slot::Reference(_) => syntax::items(&rendered),
                Slot::FirstFrame | Slot::LastFrame => std::slice::from_ref(&rendered),
            };
            for item in items {
                let Some(named) = media::read(item, word, entry.key.span, problems) else { continue };
                let asked = Asked { word, slot, span: item.span.or(entry.key.span), key: entry.key.span };
                found.extend(self.medium(at, named, &asked, cx, tally));
            }
        }
        found
    }

    fn medium(
        &mut self,
        at: usize,
        named: Named,
        asked: &Asked,
        cx: &Cx<'w>,
        tally: &mut Tally,
    ) -> Option<FrameUse> {
        let Asked { word, slot, span, key } = *asked;
        let (medium, kind, span) = match named {
            Named::Shot { reference, frame } => {
                let medium = self.frame(at, &reference, frame, word == "first_frame", tally)?;
                (medium, Kind::Image, reference.span)
            }
            Named::Url { url, kind } => (Medium::Url(url), kind.unwrap_or(Kind::Image), span),
            Named::File { path, kind: stated } => match self.files.open(&path, cx) {
                Ok((source, kind)) => (Medium::File(source), stated.unwrap_or(kind), span),
                Err(message) => {
                    let diagnostic = Diagnostic::error("bad-file", span, format!("`{path}`: {message}"));
                    let help =
                        "files are named from the workflow's folder; a web address begins with `https://`";
                    tally.add(&self.fan.drafts[at], diagnostic.help(help));
                    return None;
                }
            },
        };
        let slot = match slot {
            Slot::Reference(_) => Slot::Reference(kind),
            frame if kind == Kind::Image => frame,
            _ => {
                let diagnostic = Diagnostic::error("bad-medium", span, format!("`{word}` is an image"))
                    .label(format!(
                        "this is {} {}",
                        if kind == Kind::Audio { "an" } else { "a" },
                        kind.word()
                    ))
                    .other(key, "a frame is a still image");
                tally.add(
                    &self.fan.drafts[at],
                    diagnostic.help("a video or a sound can be one of the `references`"),
                );
                return None;
            }
        };
        Some(FrameUse { slot, medium, word, span })
    }

    /// A frame of the one instance that is meant.
    fn frame(
        &self,
        user: usize,
        reference: &Spanned<ShotRef>,
        frame: Frame,
        begins_on_it: bool,
        tally: &mut Tally,
    ) -> Option<Medium> {
        let draft = &self.fan.drafts[user];
        match self.one(draft, reference, begins_on_it) {
            Ok(Some(at)) => Some(Medium::Draft { at, frame }),
            Ok(None) => None,
            Err(diagnostic) => {
                tally.add(draft, *diagnostic);
                None
            }
        }
    }

    /// The one draft that a reference means; nothing where that is reported elsewhere.
    fn one(
        &self,
        user: &Draft,
        reference: &Spanned<ShotRef>,
        begins_on_it: bool,
    ) -> Result<Option<usize>, Box<Diagnostic>> {
        let Some((shot, target)) = self.target(reference)? else { return Ok(None) };
        let parent =
            self.fan.of(user).parents[user.cell].filter(|_| begins_on_it && reference.value.cell.is_none());
        let cells = match parent {
            Some(parent) => vec![parent],
            None => self.cells(Some(user), target, reference),
        };
        let cell = match cells.as_slice() {
            [only] => *only,
            [] => {
                return Err(Box::new(
                    Diagnostic::error(
                        "no-matching-instance",
                        reference.span,
                        format!(
                            "no instance of `{}` is meant by `{}`",
                            target.shot.id.value, reference.value
                        ),
                    )
                    .help(instances_of(target)),
                ));
            }
            several => {
                return Err(Box::new(
                    Diagnostic::error(
                        "ambiguous-instance",
                        reference.span,
                        format!(
                            "`{}` means {} instances, and one frame is wanted",
                            reference.value,
                            several.len()
                        ),
                    )
                    .help(instances_of(target)),
                ));
            }
        };
        let take = take_of(target, reference)?;
        let at = target.draft(cell, take);
        if self.nodes[at].is_none() {
            let when = self.workflow.shots[shot].when.as_ref().map_or(target.shot.id.span, Entry::place);
            return Err(Box::new(
                Diagnostic::error(
                    LEFT_OUT,
                    reference.span,
                    format!("`{}` is left out, and its frame is wanted", reference.value),
                )
                .other(when, "left out here")
                .help("give this shot the same `when`, or begin it on something else"),
            ));
        }
        Ok(Some(at))
    }

    /// All drafts that a reference means: where nobody's cell narrows them, the whole group. Those left out are not
    /// among them.
    pub(super) fn group(
        &self,
        user: Option<&Draft>,
        reference: &Spanned<ShotRef>,
        all_takes: bool,
    ) -> Result<Vec<usize>, Box<Diagnostic>> {
        let Some((shot, target)) = self.target(reference)? else { return Ok(Vec::new()) };
        let cells = self.cells(user, target, reference);
        if cells.is_empty() {
            return Err(Box::new(
                Diagnostic::error(
                    "no-matching-instance",
                    reference.span,
                    format!("no instance of `{}` is meant by `{}`", target.shot.id.value, reference.value),
                )
                .help(instances_of(target)),
            ));
        }
        let takes: Vec<Option<u32>> = match (target.takes, reference.value.take) {
            (Some(takes), None) if all_takes => (1..=takes).map(Some).collect(),
            _ => vec![take_of(target, reference)?],
        };
        let all: Vec<usize> =
            cells.iter().flat_map(|cell| takes.iter().map(|take| target.draft(*cell, *take))).collect();
        let made: Vec<usize> = all.into_iter().filter(|at| self.nodes[*at].is_some()).collect();
        if made.is_empty() && !all_takes {
            let when = self.workflow.shots[shot].when.as_ref().map_or(target.shot.id.span, Entry::place);
            return Err(Box::new(
                Diagnostic::error(LEFT_OUT, reference.span, format!("`{}` is left out", reference.value))
                    .other(when, "left out here")
                    .help("remove it here too, or let it be made"),
            ));
        }
        Ok(made)
    }

    fn target(&self, reference: &Spanned<ShotRef>) -> Result<Option<(usize, &Fanned<'w>)>, Box<Diagnostic>> {
        match self.ids.get(reference.value.shot.as_str()) {
            Some(&at) => Ok(self.fan.shots[at].as_ref().map(|fanned| (at, fanned))),
            None => Err(Box::new(unknown_shot(reference, self.workflow))),
        }
    }

    fn cells(&self, user: Option<&Draft>, target: &Fanned<'_>, reference: &Spanned<ShotRef>) -> Vec<usize> {
        let meant = |cell: &matrix::Cell| match (&reference.value.cell, user) {
            (Some(wanted), _) => matrix::label_matches(cell, wanted),
            (None, Some(user)) => cell.agrees_with(self.fan.cell(user)),
            (None, None) => true,
        };
        target.cells.iter().enumerate().filter(|(_, cell)| meant(cell)).map(|(at, _)| at).collect()
    }

    /// The orderings that `needs` asks for.
    pub(super) fn needs(&self, tally: &mut Tally) -> Vec<(NodeIx, NodeIx)> {
        let mut order = Vec::new();
        for (at, draft) in self.fan.drafts.iter().enumerate() {
            let Some(node) = self.nodes[at] else { continue };
            for reference in &self.fan.of(draft).shot.needs {
                match self.group(Some(draft), reference, true) {
                    Ok(group) => {
                        order
                            .extend(group.into_iter().filter_map(|before| Some((self.nodes[before]?, node))));
                    }
                    Err(diagnostic) => tally.add(draft, *diagnostic),
                }
            }
        }
        order
    }
}

/// The take that is used: the one that is named, or the one that is picked.
fn take_of(target: &Fanned<'_>, reference: &Spanned<ShotRef>) -> Result<Option<u32>, Box<Diagnostic>> {
    let id = &target.shot.id.value;
    match (target.takes, reference.value.take.or(target.pick)) {
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Box::new(
            Diagnostic::error("bad-pick", reference.span, format!("`{id}` has no takes"))
                .help(format!("write `{id}`")),
        )),
        (Some(takes), Some(take)) if take <= takes => Ok(Some(take)),
        (Some(takes), Some(take)) => Err(Box::new(
            Diagnostic::error(
                "bad-pick",
                reference.span,
                format!("`{id}` has {takes} takes, and none is {take}"),
            )
            .help(format!("name one from `{id}#1` to `{id}#{takes}`")),
        )),
        (Some(takes), None) => {
            let place = target.shot.takes.as_ref().map_or(target.shot.id.span, |entry| entry.key.span);
            Err(Box::new(
                Diagnostic::error(
                    "pick-needed",
                    reference.span,
                    format!("`{id}` has {takes} takes, and one is wanted"),
                )
                .other(place, "the takes are made here")
                .help(format!("add `pick: 1` to `{id}`, or name a take: `{id}#1`")),
            ))
        }
    }
}

fn instances_of(target: &Fanned<'_>) -> String {
    let id = &target.shot.id.value;
    let names: Vec<String> = target
        .cells
        .iter()
        .take(50)
        .map(|cell| {
            let label = cell.label();
            if label.is_empty() { id.clone() } else { format!("{id}@{label}") }
        })
        .collect();
    let rest = target.cells.len().saturating_sub(5);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("its instances are {}{more}", quoted_list(names.iter().take(5).map(String::as_str), 5))
}
