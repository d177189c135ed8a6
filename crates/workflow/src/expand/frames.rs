//! Which instance takes which frame of which other, and what else it begins and ends on.

use std::collections::HashSet;

use super::Cx;
use super::address::{Chosen, Stage};
use super::fan::Fan;
use super::media::{self, Kind, LocalFiles, Named};
use super::tally::Tally;
use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::{Frame, Source};
use crate::source::{Span, Spanned};
use crate::syntax::{self, ShotRef, Workflow};
use crate::template::Scope;

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
    /// A frame of another draft, or of one of several that is still to be picked.
    Draft {
        chosen: Chosen,
        frame: Frame,
    },
}

/// Which drafts are continued: somebody takes their last frame.
///
/// With one take of a cell all its takes are: which one is picked may change, and none is asked for differently then.
pub(super) fn continued(frames: &[Vec<FrameUse>], fan: &Fan<'_>) -> Vec<bool> {
    let mut cells = HashSet::new();
    for used in frames.iter().flatten() {
        let taken = match &used.medium {
            Medium::Draft { chosen: Chosen::Draft(at), frame: Frame::Last } => Some(*at),
            Medium::Draft { chosen: Chosen::Open(takes), frame: Frame::Last } => takes.first().copied(),
            Medium::Draft { .. } | Medium::Url(_) | Medium::File(_) => None,
        };
        if let Some(at) = taken {
            let draft = &fan.drafts[at];
            cells.insert((draft.shot, draft.cell));
        }
    }
    fan.drafts.iter().map(|draft| cells.contains(&(draft.shot, draft.cell))).collect()
}

/// Finds the media that drafts take; looks at each local file once.
pub(super) struct Frames<'s, 'w> {
    stage: &'s Stage<'s, 'w>,
    files: LocalFiles,
}

impl<'s, 'w> Frames<'s, 'w> {
    pub(super) fn new(stage: &'s Stage<'s, 'w>) -> Self {
        Self { stage, files: LocalFiles::default() }
    }

    /// All media that one draft takes: first frame, last frame, references.
    pub(super) fn of(
        &mut self,
        at: usize,
        scope: &Scope,
        cx: &Cx<'w>,
        tally: &mut Tally,
        problems: &mut Problems,
    ) -> Vec<FrameUse> {
        let workflow: &'w Workflow = self.stage.workflow;
        let shot = &workflow.shots[self.stage.fan.drafts[at].shot];
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
                Slot::Reference(_) => syntax::one_or_many(&rendered),
                Slot::FirstFrame | Slot::LastFrame => std::slice::from_ref(&rendered),
            };
            for item in items {
                let Some(named) = media::read(item, word, entry.key.span, problems) else { continue };
                let asked = Asked { word, slot, span: item.span.or(entry.key.span), key: entry.key.span };
                found.extend(self.media(at, named, &asked, cx, tally));
            }
        }
        found
    }

    fn media(
        &mut self,
        at: usize,
        named: Named,
        asked: &Asked,
        cx: &Cx<'w>,
        tally: &mut Tally,
    ) -> Vec<FrameUse> {
        let Asked { word, slot, span, key } = *asked;
        let (media, kind, span) = match named {
            Named::Shot { reference, frame } => {
                let begins_on_it = word == "first_frame";
                let media = match slot {
                    Slot::Reference(_) => self.frames(at, &reference, frame, tally),
                    Slot::FirstFrame | Slot::LastFrame => {
                        self.frame(at, &reference, frame, begins_on_it, tally).into_iter().collect()
                    }
                };
                (media, Kind::Image, reference.span)
            }
            Named::Url { url, kind } => (vec![Medium::Url(url)], kind.unwrap_or(Kind::Image), span),
            Named::File { path, kind: stated } => match self.files.open(&path, cx) {
                Ok((source, kind)) => (vec![Medium::File(source)], stated.unwrap_or(kind), span),
                Err(message) => {
                    let diagnostic = Diagnostic::error("bad-file", span, format!("`{path}`: {message}"));
                    let help =
                        "files are named from the workflow's folder; a web address begins with `https://`";
                    tally.add(&self.stage.fan.drafts[at], diagnostic.help(help));
                    return Vec::new();
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
                    &self.stage.fan.drafts[at],
                    diagnostic.help("a video or a sound can be one of the `references`"),
                );
                return Vec::new();
            }
        };
        media.into_iter().map(|medium| FrameUse { slot, medium, word, span }).collect()
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
        let draft = &self.stage.fan.drafts[user];
        match self.stage.one(draft, reference, begins_on_it) {
            Ok(chosen) => chosen.map(|chosen| Medium::Draft { chosen, frame }),
            Err(diagnostic) => {
                tally.add(draft, *diagnostic);
                None
            }
        }
    }

    /// A frame of each of the instances that are meant.
    fn frames(
        &self,
        user: usize,
        reference: &Spanned<ShotRef>,
        frame: Frame,
        tally: &mut Tally,
    ) -> Vec<Medium> {
        let draft = &self.stage.fan.drafts[user];
        match self.stage.several(draft, reference) {
            Ok(all) => all.into_iter().map(|chosen| Medium::Draft { chosen, frame }).collect(),
            Err(diagnostic) => {
                tally.add(draft, *diagnostic);
                Vec::new()
            }
        }
    }
}
