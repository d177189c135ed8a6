//! Checks of a film as a whole against the requested lengths of its shots: transitions on both sides of a clip, and its voices.
//!
//! Times are microseconds of the film. Clips whose length is not known yet are not checked.

use super::film_edit::TOLERANCE_MICROS;
use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::{Clip, ClipSource, Node, Transition, Voice};
use crate::source::Span;
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
        let length = clip.length.map(EditTime::micros);
        if matches!(clip.source, ClipSource::Image(_) | ClipSource::Card) {
            // It stands still for as long as its transitions need it.
            return Some(Self { before: i64::MAX / 4, shown: length??, after: i64::MAX / 4 });
        }
        let durations = clip.nodes().iter().filter_map(|ix| nodes.get(ix.index())).map(|node| node.duration);
        let total = i64::try_from(durations.min()?.as_millis()).ok()?.checked_mul(1_000)?;
        let position =
            |time: EditTime| time.micros().map(|value| if value < 0 { total + value } else { value });
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

/// Warns of a voice that the film's end cuts off. `duration` is how long it speaks, if that is known.
pub(super) fn check_voice(
    voice: &Voice,
    duration: Option<VideoDuration>,
    span: Span,
    clips: &[Clip],
    nodes: &[Node],
    problems: &mut Problems,
) {
    let Some(delay) = voice.delay.map_or(Some(0), EditTime::micros) else { return };
    let before = clips.get(..voice.clip).and_then(|before| length(before, nodes));
    let (Some(before), Some(film)) = (before, length(clips, nodes)) else { return };
    let start = before.saturating_add(delay);
    let end = duration.map_or(start, |duration| start.saturating_add(duration.as_micros()));
    let latest = film.saturating_add(tolerance(clips));
    let (finding, help) = if start >= latest {
        ("begins", "begin it earlier, or make the film longer")
    } else if end > latest {
        ("ends", "begin it earlier, shorten it, or make the film longer")
    } else {
        return;
    };
    let time = if start >= latest { start } else { end };
    let message = format!("this voice {finding} {} s after the film's end", seconds(time - film));
    problems.push(
        Diagnostic::warning("bad-film", span, message)
            .label(format!("the film has {} s", seconds(film)))
            .help(help),
    );
}

/// How long these clips are shown, if that is known of all.
fn length(clips: &[Clip], nodes: &[Node]) -> Option<i64> {
    let mut shown = clips.iter().map(|clip| Extent::new(clip, nodes).map(|extent| extent.shown));
    shown.try_fold(0_i64, |sum, shown| Some(sum.saturating_add(shown?)))
}

/// By how much the videos of these clips may be longer together than requested.
fn tolerance(clips: &[Clip]) -> i64 {
    TOLERANCE_MICROS.saturating_mul(i64::try_from(clips.len()).unwrap_or(i64::MAX))
}
