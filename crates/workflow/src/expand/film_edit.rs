//! Checks of a film's edit against the requested lengths of its shots, before anything is paid for.
//!
//! Videos may come out a little longer or shorter than requested, and their frame rate is not known yet: only what cannot fit is an error.

use crate::diagnostic::{Diagnostic, Problems};
use crate::plan::{Clip, ClipSource, Node, TransitionKind};
use crate::source::{Span, Spanned};
use crate::syntax::ClipSpec;
use crate::units::{EditTime, VideoDuration};

/// How much longer than requested a video may be.
const TOLERANCE_MICROS: i64 = 250_000;
/// The highest frame rate of a video that is reckoned with.
const MAX_FRAME_RATE: i64 = 60;

/// Reports what does not fit the clip that is shown. `is_last` says that the film ends with it.
pub(super) fn check(
    clip: &ClipSpec,
    source: &ClipSource,
    nodes: &[Node],
    is_last: bool,
    problems: &mut Problems,
) {
    if let Some(transition) = &clip.transition
        && is_last
        && !matches!(transition.value.kind, TransitionKind::FadeBlack | TransitionKind::FadeWhite)
    {
        let message = "there is no next clip for this transition: the film ends here";
        problems.push(
            Diagnostic::error("bad-film", transition.span, message)
                .help("remove it, or end the film with `transition: {fade: black}`"),
        );
    }
    // The shortest of several candidates, because any of them may be picked.
    let lengths = source.nodes().iter().filter_map(|ix| nodes.get(ix.index())).map(|node| node.duration);
    let Some(length) = lengths.min() else { return };
    let micros = i64::try_from(length.as_millis()).unwrap_or(i64::MAX / 1_000) * 1_000;
    let outside = |key: &str, time: &Spanned<EditTime>, problems: &mut Problems| {
        let message = format!("`{key}: {}` is not in the video of `{}`", time.value, clip.shot.value);
        problems.push(
            Diagnostic::error("bad-film", time.span, message)
                .label(format!("{length} s of video are requested"))
                .help(format!("stay within {length} s, or make the shot longer")),
        );
    };
    if let Some(start) = &clip.start
        && !is_within(start.value, micros, false)
    {
        outside("in", start, problems);
        return;
    }
    if let Some(end) = &clip.end
        && !is_within(end.value, micros, true)
    {
        outside("out", end, problems);
    }
    let rest = match clip.start.as_ref().map(|start| start.value) {
        Some(EditTime::Micros(start)) if start >= 0 => micros - start,
        Some(EditTime::Micros(start)) => -start,
        Some(EditTime::Frames(_)) | None => micros,
    };
    if let Some(shown) = &clip.length
        && !is_within(shown.value, rest, true)
    {
        outside("length", shown, problems);
    }
    if let Some(transition) = &clip.transition
        && !is_within(transition.value.length, rest, false)
    {
        let message = format!(
            "a transition of {} is longer than what is shown of `{}`",
            transition.value.length, clip.shot.value
        );
        let rest = VideoDuration::from_secs_f64(rest as f64 / 1e6);
        problems.push(
            Diagnostic::error("bad-film", transition.span, message)
                .label(format!("at most {rest} s are shown"))
                .help("shorten the transition, or show more of the shot"),
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

/// Whether a position or length may be within a video of this length.
fn is_within(time: EditTime, micros: i64, may_be_end: bool) -> bool {
    let most = if may_be_end { micros.saturating_add(TOLERANCE_MICROS) } else { micros.saturating_sub(1) };
    match time {
        EditTime::Micros(time) if time < 0 => -time <= micros.saturating_add(TOLERANCE_MICROS),
        EditTime::Micros(time) => time <= most,
        EditTime::Frames(frames) => {
            frames.saturating_abs() <= most.saturating_mul(MAX_FRAME_RATE) / 1_000_000
        }
    }
}
