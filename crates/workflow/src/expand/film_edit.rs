//! Checks of a film's edit against the requested lengths of its shots, before anything is paid for.
//!
//! Videos may come out a little longer or shorter than requested, and their frame rate is not known yet: only what cannot fit is an error.

use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::{Clip, ClipSource, Node};
use crate::source::{Span, Spanned};
use crate::syntax::ClipSpec;
use crate::units::{EditTime, VideoDuration};

/// How much longer than requested a video may be.
pub(super) const TOLERANCE_MICROS: i64 = 250_000;
/// The highest frame rate of a video that is reckoned with.
const MAX_FRAME_RATE: i64 = 60;
/// Shorter lengths are no frame at any frame rate: they are rounded to the nearest.
const HALF_FRAME_MICROS: i64 = 1_000_000 / (2 * MAX_FRAME_RATE);

/// What a clip shows, as far as it is known before it is there.
pub(super) struct ClipContent<'a> {
    name: &'a str,
    /// `None` where it is not known.
    length: Option<VideoDuration>,
    is_own: bool,
    is_still: bool,
}

impl<'a> ClipContent<'a> {
    /// Videos of nodes: the shortest of several candidates, because any of them may be picked.
    pub(super) fn nodes(name: &'a str, source: &ClipSource, nodes: &[Node]) -> Self {
        let lengths = source.nodes().iter().filter_map(|ix| nodes.get(ix.index())).map(|node| node.duration);
        Self { name, length: lengths.min(), is_own: false, is_still: false }
    }

    /// A video of one's own.
    pub(super) fn file(name: &'a str, length: Option<VideoDuration>) -> Self {
        Self { name, length, is_own: true, is_still: false }
    }

    /// What stands still for as long as it is shown.
    pub(super) fn still(name: &'a str) -> Self {
        Self { name, length: None, is_own: true, is_still: true }
    }
}

/// Reports what does not fit the clip that is shown. `is_last` says that the film ends with it.
pub(super) fn check(clip: &ClipSpec, source: &ClipContent<'_>, is_last: bool, problems: &mut Problems) {
    if let Some(transition) = &clip.transition
        && is_last
        && !transition.value.kind.is_fade()
    {
        let message = "there is no next clip for this transition: the film ends here";
        problems.push(
            Diagnostic::error("bad-film", transition.span, message)
                .help("remove it, or end the film with `transition: {fade: black}`"),
        );
    }
    if let Some(length) = &clip.length
        && let EditTime::Micros(micros) = length.value
        && micros < HALF_FRAME_MICROS
    {
        let message = format!("a length of {} is shorter than a frame of any film", length.value);
        problems.push(
            Diagnostic::error("bad-film", length.span, message)
                .help("show it longer, such as `2s`, or for one frame: `1f`"),
        );
        return;
    }
    if source.is_still {
        if let Some(EditTime::Micros(length)) = clip.length.as_ref().map(|length| length.value) {
            // Of a transition to another clip, half lies before the cut.
            check_transition(
                clip,
                source.name,
                (length, if is_last { length } else { 2 * length }),
                problems,
            );
        }
        return;
    }
    let Some(length) = source.length else { return };
    let micros = i64::try_from(length.as_millis()).unwrap_or(i64::MAX / 1_000) * 1_000;
    let outside = |subject: String, time: &Spanned<EditTime>, problems: &mut Problems| {
        let message = format!("{subject} is not in the video of `{}`", source.name);
        let (label, help) = if source.is_own {
            (format!("the file has {length} s"), format!("stay within {length} s"))
        } else {
            let help = format!("stay within {length} s, or make the shot longer");
            (format!("{length} s of video are requested"), help)
        };
        problems.push(Diagnostic::error("bad-film", time.span, message).label(label).help(help));
    };
    if let Some(start) = &clip.start
        && (!is_within(start.value, micros, false) || is_rounded_to(start.value, micros))
    {
        outside(format!("`in: {}`", start.value), start, problems);
        return;
    }
    if let Some(end) = &clip.end
        && !is_within(end.value, micros, true)
    {
        outside(format!("`out: {}`", end.value), end, problems);
        return;
    }
    if let Some(end) = &clip.end
        && shows_nothing(clip.start.as_ref().map_or(EditTime::ZERO, |start| start.value), end.value, micros)
    {
        let message = format!("nothing of `{}` lies before `out: {}`", source.name, end.value);
        let mut diagnostic = Diagnostic::error("bad-film", end.span, message).help(
            "`out` is the position before which the clip ends; leave it out to show the clip to its end",
        );
        if let Some(start) = &clip.start {
            diagnostic = diagnostic.other(start.span, "begins here");
        }
        problems.push(diagnostic);
        return;
    }
    let rest = match clip.start.as_ref().map(|start| start.value) {
        Some(EditTime::Micros(start)) if start >= 0 => micros - start,
        Some(EditTime::Micros(start)) => -start,
        Some(EditTime::Frames(_)) | None => micros,
    };
    // From here on in film time.
    let speed = clip.speed.as_ref().map_or(1.0, |speed| speed.value.as_f64());
    let rest = (rest as f64 / speed) as i64;
    if let Some(shown) = &clip.length
        && !is_within(shown.value, rest, true)
    {
        match &clip.speed {
            None => outside(format!("a length of {}", shown.value), shown, problems),
            Some(speed) => {
                let max_length = VideoDuration::from_secs_f64(rest as f64 / 1e6);
                let message = format!(
                    "a length of {} is longer than `{}` at speed {}",
                    shown.value, source.name, speed.value
                );
                problems.push(
                    Diagnostic::error("bad-film", shown.span, message)
                        .label(format!("at this speed it lasts {max_length} s"))
                        .help(format!("stay within {max_length} s, or play it more slowly")),
                );
            }
        }
    }
    check_transition(clip, source.name, (rest, rest), problems);
}

/// Reports a transition that is too long for what is shown. In microseconds, with the longest that fits.
fn check_transition(clip: &ClipSpec, name: &str, (rest, max): (i64, i64), problems: &mut Problems) {
    if let Some(transition) = &clip.transition
        && !is_within(transition.value.length, max, false)
    {
        let message =
            format!("a transition of {} is longer than what is shown of `{}`", transition.value.length, name);
        let rest = VideoDuration::from_secs_f64(rest as f64 / 1e6);
        problems.push(
            Diagnostic::error("bad-film", transition.span, message)
                .label(format!("at most {rest} s are shown"))
                .help("shorten the transition, or show more of the clip"),
        );
    }
}

/// Warns of subtitles of a film in which nobody speaks. `nodes` are empty where they are not known.
pub(super) fn check_subtitles(
    output: &str,
    span: Span,
    clips: &[Clip],
    nodes: &[Node],
    problems: &mut Problems,
) {
    let shown = || clips.iter().flat_map(Clip::nodes).filter_map(|ix| nodes.get(ix.index()));
    if shown().next().is_some() && shown().all(|node| node.dialogue.is_none()) {
        problems.push(
            Diagnostic::warning(
                "no-dialogue",
                span,
                format!("nobody speaks in film `{output}`: it has no subtitles"),
            )
            .help("write what is said in a shot: `dialogue: Who is there?`"),
        );
    }
}

/// Everything that is said in a film.
pub(super) fn spoken(clips: &[Clip], nodes: &[Node]) -> String {
    let shown = clips.iter().flat_map(Clip::nodes).filter_map(|ix| nodes.get(ix.index()));
    let lines = shown.flat_map(|node| node.dialogue.iter().flat_map(|lines| lines.iter()));
    lines.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// Whether a clip ends where it begins, or before. Positions in frames are compared among themselves.
fn shows_nothing(start: EditTime, end: EditTime, micros: i64) -> bool {
    let position = |time: EditTime| match time {
        EditTime::Micros(value) => Some(if value < 0 { micros + value } else { value }),
        EditTime::Frames(0) => Some(0),
        EditTime::Frames(_) => None,
    };
    match (start, end) {
        (EditTime::Frames(start), EditTime::Frames(end)) if (start < 0) == (end < 0) => end <= start,
        _ => position(start).zip(position(end)).is_some_and(|(start, end)| end - start < HALF_FRAME_MICROS),
    }
}

/// Whether a position is closer to an end than half a frame.
fn is_rounded_to(time: EditTime, end: i64) -> bool {
    matches!(time, EditTime::Micros(micros) if end - micros < HALF_FRAME_MICROS)
}

/// Whether a position or length may be within a video of this length.
fn is_within(time: EditTime, micros: i64, may_be_end: bool) -> bool {
    let max = if may_be_end { micros.saturating_add(TOLERANCE_MICROS) } else { micros.saturating_sub(1) };
    match time {
        EditTime::Micros(time) if time < 0 => -time <= micros.saturating_add(TOLERANCE_MICROS),
        EditTime::Micros(time) => time <= max,
        EditTime::Frames(frames) => frames.saturating_abs() <= max.saturating_mul(MAX_FRAME_RATE) / 1_000_000,
    }
}
