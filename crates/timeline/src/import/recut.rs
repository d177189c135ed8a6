//! From an editor's cut back to the clips of a film.

use workflow::plan::{Clip, ClipSource, Film, Transition};
use workflow::units::{EditTime, FrameRate, Speed};

use super::{ImportedEdit, ImportedItem, ImportedTransition, frames};
use crate::clock::{Pace, scale_down, scale_up};
use crate::error::ResolveError;
use crate::export::ClipInfo;
use crate::facts::ClipFacts;
use crate::model::{Item, Timeline};
use crate::resolve;

/// A clip that a cut may show.
#[derive(Clone, Debug)]
pub struct CandidateClip {
    /// What it shows.
    pub source: ClipSource,
    /// The facts about it.
    pub facts: ClipFacts,
    /// What is recorded about it.
    pub info: ClipInfo,
}

/// A film as an editor has cut it.
#[derive(Clone, Debug)]
pub struct Recut {
    /// Its clips in order.
    pub entries: Vec<RecutEntry>,
    /// What a film cannot show as the editor has it, in words.
    pub notes: Vec<String>,
}

/// A clip of the cut.
#[derive(Clone, Debug, PartialEq)]
pub struct RecutEntry {
    /// The index of the candidate that it shows.
    pub candidate: usize,
    /// The clip, edited.
    pub clip: Clip,
    /// Whether it begins or ends elsewhere than the film's own clip.
    pub is_trimmed: bool,
    /// Whether it is played at another speed than the film's own clip.
    pub has_new_speed: bool,
    /// Whether another transition follows it.
    pub has_new_transition: bool,
}

impl Recut {
    /// Whether the film is as it was: `count` clips in their order.
    pub fn is_unchanged(&self, count: usize) -> bool {
        let is_same =
            |(index, entry): (usize, &RecutEntry)| entry.candidate == index && entry.is_as_written();
        self.entries.len() == count && self.entries.iter().enumerate().all(is_same)
    }
}

impl RecutEntry {
    /// Whether it shows what the candidate does in the film.
    pub fn is_as_written(&self) -> bool {
        !self.is_trimmed && !self.has_new_speed && !self.has_new_transition
    }
}

/// Why a cut cannot be taken over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecutError {
    /// There is no clip in it.
    #[error("the cut shows no clip")]
    Empty,
    /// It shows what is not of the workflow: the clips' positions and names.
    #[error("the cut shows clips that are not of this workflow: {}", .0.join(", "))]
    Unknown(Vec<String>),
    /// It does not fit the clips' files.
    #[error(transparent)]
    Edit(#[from] ResolveError),
}

/// Takes the order, the trims, the speeds and the transitions of a cut over into a film.
///
/// `candidates` begins with the clips of the film, in its order; `timeline` is the film as it was exported. `continues` says whether a node begins
/// on the last frame of another one. Clips keep what the cut says nothing about: their levels and their titles. Trims are stated only where
/// the film would show something else without them.
///
/// # Errors
/// See [`RecutError`].
pub fn recut(
    film: &Film,
    timeline: &Timeline,
    candidates: &[CandidateClip],
    edit: &ImportedEdit,
    continues: &dyn Fn(&ClipSource, &ClipSource) -> bool,
) -> Result<Recut, RecutError> {
    let names: Vec<(&str, &ClipInfo)> =
        candidates.iter().map(|clip| (clip.facts.name.as_str(), &clip.info)).collect();
    let mut notes: Vec<String> = edit.notes().collect();
    let items: Vec<&ImportedItem> = edit.items.iter().filter(|item| item.is_enabled).collect();
    let mut unknown = Vec::new();
    let mut used = vec![false; film.clips.len()];
    let mut entries = Vec::new();
    let mut ranges = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let Some(matched) = item.media.matching(&names) else {
            let name = item.media.file.as_ref().unwrap_or(&item.media.name);
            unknown.push(format!("{} (`{name}`)", index + 1));
            continue;
        };
        let range = Range::new(item, &candidates[matched].facts, timeline.frame_rate);
        // A video may be shown several times.
        let is_same = |candidate: &usize| {
            let (clip, match_clip) = (&candidates[*candidate], &candidates[matched]);
            clip.source == match_clip.source && clip.facts.name == match_clip.facts.name
        };
        let all: Vec<usize> = (0..film.clips.len()).filter(is_same).collect();
        let unused = || all.iter().copied().filter(|candidate| !used[*candidate]);
        let exact =
            unused().find(|candidate| timeline.items.get(*candidate).is_some_and(|item| range.is_of(item)));
        let chosen = exact.or_else(|| unused().next()).unwrap_or(matched);
        if let Some(used) = used.get_mut(chosen) {
            *used = true;
        }
        let own = film.clips.get(chosen);
        let mut clip = own.cloned().unwrap_or_else(|| Clip::whole(candidates[chosen].source.clone()));
        let is_last = index + 1 == items.len();
        let transition = item.transition.filter(|transition| !is_last || !plays_handles(*transition));
        if transition.is_none() && item.transition.is_some() {
            notes.push(
                "the transition after the last clip was left out: a film ends with a fade or a cut"
                    .to_owned(),
            );
        }
        let before = own.and_then(|_| timeline.items.get(chosen)).and_then(|item| item.transition);
        let rate = timeline.frame_rate;
        let has_new_transition = before.map(|transition| (transition.kind, transition.frames()))
            != transition
                .map(|transition| (transition.kind, scale_down(transition.frames, transition.rate, rate)));
        if has_new_transition {
            clip.transition = transition
                .map(|transition| Transition { kind: transition.kind, length: length(transition, rate) });
        }
        let has_new_speed = clip.speed != range.speed;
        clip.speed = range.speed;
        entries.push(RecutEntry {
            candidate: chosen,
            clip,
            is_trimmed: false,
            has_new_speed,
            has_new_transition,
        });
        ranges.push(range);
    }
    if !unknown.is_empty() {
        return Err(RecutError::Unknown(unknown));
    }
    if entries.is_empty() {
        return Err(RecutError::Empty);
    }
    let resolved = |entries: &[RecutEntry]| {
        let film = Film { clips: entries.iter().map(|entry| entry.clip.clone()).collect(), ..film.clone() };
        let facts: Vec<ClipFacts> =
            entries.iter().map(|entry| candidates[entry.candidate].facts.clone()).collect();
        let continued: Vec<bool> =
            entries.windows(2).map(|pair| continues(&pair[0].clip.source, &pair[1].clip.source)).collect();
        resolve(&film, &facts, &continued)
    };
    let first = resolved(&entries);
    for (index, (entry, range)) in entries.iter_mut().zip(&ranges).enumerate() {
        let is_right = first.as_ref().is_ok_and(|first| range.is_of(&first.items[index]));
        if !is_right {
            range.apply(&mut entry.clip, &candidates[entry.candidate].facts, timeline.frame_rate);
            entry.is_trimmed = true;
        }
    }
    let last = resolved(&entries)?;
    for (index, (item, range)) in last.items.iter().zip(&ranges).enumerate() {
        if !range.is_of(item) {
            let name = &item.source.name;
            if let Some(frames) = range.frames {
                let shown = item.frames;
                notes.push(format!(
                    "clip {} (`{name}`) is shown for {shown} frames instead of {frames}: its transitions need the others",
                    index + 1,
                ));
                continue;
            }
            let (end, range_end) = (item.first + item.clip_frames, range.first + range.clip_frames);
            notes.push(format!(
                "clip {} (`{name}`) shows its frames {} to {end} instead of {} to {range_end}: its transitions need the others",
                index + 1,
                item.first,
                range.first,
            ));
        }
    }
    Ok(Recut { entries, notes })
}

/// The frames that a cut shows of a clip; of what stands still only their number counts.
struct Range {
    first: u64,
    clip_frames: u64,
    /// How many frames of the film they last, where their speed is changed.
    frames: Option<u64>,
    speed: Speed,
    is_still: bool,
    /// Frames of the clip by which positions may differ and mean the same: as many as one frame of the document, where that counts
    /// at another rate.
    tolerance: u64,
}

impl Range {
    fn new(item: &ImportedItem, facts: &ClipFacts, film_rate: FrameRate) -> Self {
        let is_still = facts.is_still();
        let own = if is_still { film_rate } else { facts.frame_rate };
        let speed = if is_still { Speed::NORMAL } else { item.speed };
        let counted = item.range.map(|range| range.rate).filter(|rate| *rate != own);
        let tolerance = counted.map_or(0, |rate| scale_up(1, rate, own));
        let all = Self { first: 0, clip_frames: facts.frames, frames: None, speed, is_still, tolerance };
        if !speed.is_normal() {
            let (first, frames) = match item.range {
                Some(range) => {
                    let first = scale_down(range.start, range.rate, own);
                    (first, scale_down(range.frames, range.rate, film_rate))
                }
                None => (0, scale_down(facts.frames, Pace::new(own, speed), film_rate)),
            };
            return Self { first, frames: Some(frames), ..all };
        }
        match item.range {
            Some(range) => {
                let first = scale_down(range.start, range.rate, own);
                let end = scale_up(range.start.saturating_add(range.frames), range.rate, own);
                let end = if is_still { end } else { end.min(facts.frames) };
                Self { first, clip_frames: end.saturating_sub(first), ..all }
            }
            None => all,
        }
    }

    fn is_of(&self, item: &Item) -> bool {
        let is_near = |one: u64, other: u64| one.abs_diff(other) <= self.tolerance;
        let is_as_long = match self.frames {
            Some(frames) => frames == item.frames,
            None => is_near(self.clip_frames, item.clip_frames),
        };
        self.speed == item.speed && is_as_long && (self.is_still || is_near(self.first, item.first))
    }

    fn apply(&self, clip: &mut Clip, facts: &ClipFacts, film_rate: FrameRate) {
        if self.is_still {
            clip.length = Some(frames(self.clip_frames));
            return;
        }
        let end = self.first.saturating_add(self.clip_frames);
        clip.start = (self.first > 0).then(|| frames(self.first));
        if let Some(count) = self.frames {
            let rest = facts.frames.saturating_sub(self.first);
            let longest = scale_down(rest, Pace::new(facts.frame_rate, self.speed), film_rate);
            clip.end = None;
            clip.length = (count < longest).then(|| frames(count));
            return;
        }
        clip.end = (end < facts.frames).then(|| frames(end));
        clip.length = None;
    }
}

fn plays_handles(transition: ImportedTransition) -> bool {
    crate::model::ItemTransition { kind: transition.kind, before: 0, after: 0 }.plays_handles()
}

/// A length in frames where the document counts as the film does.
fn length(transition: ImportedTransition, rate: FrameRate) -> EditTime {
    if transition.rate == rate {
        return frames(transition.frames);
    }
    let micros = u128::from(transition.frames) * 1_000_000 * u128::from(transition.rate.denominator())
        / u128::from(transition.rate.numerator());
    EditTime::Micros(i64::try_from(micros).unwrap_or(i64::MAX))
}
