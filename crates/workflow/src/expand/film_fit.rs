//! Checks of a film as a whole against the requested lengths of its shots: transitions on both sides of a clip, and its poster.
//!
//! Times are microseconds of the film. Clips whose length is not known yet are not checked.

use super::film_edit::TOLERANCE_MICROS;
use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::{Clip, ClipSource, Node, Transition};
use crate::source::{Span, Spanned};
use crate::units::{EditTime, VideoDuration};

/// What is shown of a clip, and what its video has before and after that.
struct Extent {
    before: i64,
    shown: i64,
    after: i64,
}

impl Extent {
    /// `None` where it is not known: positions in frames, at a rate that the video will have.
    fn new(clip: &Clip, nodes: &[Node]) -> Option<Self> {
        let micros = |time: EditTime| match time {
            EditTime::Micros(micros) => Some(micros),
            EditTime::Frames(0) => Some(0),
            EditTime::Frames(_) => None,
        };
        let length = clip.length.map(micros);
        if matches!(clip.source, ClipSource::Image(_) | ClipSource::Card) {
            // It stands still for as long as its transitions need it.
            return Some(Self { before: i64::MAX / 4, shown: length??, after: i64::MAX / 4 });
        }
        let durations = clip.nodes().iter().filter_map(|ix| nodes.get(ix.index())).map(|node| node.duration);
        let total = i64::try_from(durations.min()?.as_millis()).ok()?.checked_mul(1_000)?;
        let position =
            |time: EditTime| micros(time).map(|value| if value < 0 { total + value } else { value });
        let start = clip.start.map_or(Some(0), position)?.max(0);
        let speed = clip.speed.as_f64();
        let played = |micros: i64| (micros as f64 / speed) as i64;
        let shown = match (clip.end, length) {
            (_, Some(length)) => length?,
            (Some(end), None) => played(position(end)? - start),
            (None, None) => played(total - start),
        };
        let before = played(start);
        Some(Self { before, shown, after: played(total).saturating_sub(before + shown).max(0) })
    }
}

/// Reports a clip that is too short for the transition into it, or for that and its own together. `transitions[i]` is the span of the
/// transition of clip `i`.
pub(super) fn check_transitions(
    clips: &[Clip],
    transitions: &[Option<Span>],
    nodes: &[Node],
    problems: &mut Problems,
) {
    let span_of = |index: usize| transitions.get(index).copied().flatten();
    for (index, pair) in clips.windows(2).enumerate() {
        let [previous, clip] = pair else { continue };
        let (Some(into), Some(span)) = (Half::new(previous, false), span_of(index)) else { continue };
        // A fade at the end of the film lies before it as a whole.
        let out = Half::new(clip, index + 2 == clips.len());
        let Some(extent) = Extent::new(clip, nodes).filter(|extent| extent.shown > 0) else { continue };
        let (head, tail) = (into.taken(extent.before), out.as_ref().map_or(0, |out| out.taken(extent.after)));
        // A transition that is longer than its own clip is reported with that.
        let is_reported = Extent::new(previous, nodes).is_some_and(|before| into.total >= before.shown)
            || out.as_ref().is_some_and(|out| out.total >= extent.shown);
        if is_reported || head + tail <= extent.shown.saturating_add(TOLERANCE_MICROS) {
            continue;
        }
        let which = if out.is_some() {
            "transitions before and after the next clip take"
        } else {
            "transition into the next clip takes"
        };
        let message = format!(
            "the {which} {} s of it, and {} s are shown",
            seconds(head + tail),
            seconds(extent.shown)
        );
        let mut diagnostic = Diagnostic::error("bad-film", span, message)
            .help("shorten the transition, or show more of the clip that follows it");
        if let Some(own) = span_of(index + 1).filter(|own| *own != span && out.is_some()) {
            diagnostic = diagnostic.other(own, "together with this");
        }
        problems.push(diagnostic);
    }
}

/// The part of a transition that a clip has on one of its sides.
struct Half {
    total: i64,
    within: i64,
    is_fade: bool,
}

impl Half {
    /// That of the transition after a clip; `None` without one, or if its length is in frames.
    fn new(clip: &Clip, is_last: bool) -> Option<Self> {
        let Transition { kind, length: EditTime::Micros(total) } = clip.transition? else { return None };
        Some(Self { total, within: if is_last { total } else { total / 2 }, is_fade: kind.is_fade() })
    }

    /// How much it takes of what is shown. A dissolve or a wipe plays as much beyond the cut, which is taken from what is shown where the video
    /// has no more.
    fn taken(&self, beyond: i64) -> i64 {
        self.within + if self.is_fade { 0 } else { (self.within - beyond).max(0) }
    }
}

fn seconds(micros: i64) -> VideoDuration {
    VideoDuration::from_secs_f64(micros as f64 / 1e6)
}

/// Warns of a poster beyond the film's end: its last picture is taken instead.
pub(super) fn check_poster(
    poster: &Spanned<EditTime>,
    clips: &[Clip],
    nodes: &[Node],
    problems: &mut Problems,
) {
    let EditTime::Micros(position) = poster.value else { return };
    let lengths: Option<Vec<i64>> =
        clips.iter().map(|clip| Extent::new(clip, nodes).map(|extent| extent.shown)).collect();
    let Some(lengths) = lengths.filter(|lengths| !lengths.is_empty()) else { return };
    let film: i64 = lengths.iter().sum();
    let tolerance = TOLERANCE_MICROS.saturating_mul(lengths.len() as i64);
    if position.saturating_abs() <= film.saturating_add(tolerance) {
        return;
    }
    let which = if position < 0 { "first" } else { "last" };
    let seconds = seconds(film);
    let message =
        format!("`poster: {}` is not in the film: its {which} picture is taken instead", poster.value);
    problems.push(
        Diagnostic::warning("bad-film", poster.span, message)
            .label(format!("the film has {seconds} s"))
            .help(format!("name a time within {seconds} s, or a shot: `poster: harbor`")),
    );
}
