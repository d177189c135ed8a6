//! Reads the clips of a film: shots by their names, or mappings that edit them.

use std::str::FromStr;

use super::film::shot_ref;
use super::keys::{KeySpec, film as keys};
use super::mapping::Mapping;
use super::value::report_wrong_type;
use super::{ClipSpec, ShotRef};
use crate::diagnostic::{Diagnostic, Problems};
use crate::limits;
use crate::plan::{Transition, TransitionKind};
use crate::source::{Span, Spanned};
use crate::units::EditTime;
use crate::yaml::{Yaml, YamlValue};

/// The length of a fade or a wipe that states none.
const DEFAULT_TRANSITION: EditTime = EditTime::Micros(500_000);

/// One clip; `None` where it names no shot, which is reported.
pub(super) fn read(fallback: Span, value: &Yaml, problems: &mut Problems) -> Option<ClipSpec> {
    if !matches!(value.value, YamlValue::Map(_)) {
        return shot_ref(&keys::SHOTS, fallback, value, problems).map(ClipSpec::whole);
    }
    let map = Mapping::read(value, &keys::CLIP, fallback, problems)?;
    let (key, name) = map.get(&keys::SHOT)?;
    let shot: Spanned<ShotRef> = shot_ref(&keys::SHOT, key.span, name, problems)?;
    let position = |key: &'static KeySpec, problems: &mut Problems| parsed(&map, key, problems);
    let (start, end) = (position(&keys::IN, problems), position(&keys::OUT, problems));
    let length = length(&map, &keys::LENGTH, "bad-film", problems);
    if let (Some(end), Some(length)) = (&end, &length) {
        problems.push(
            Diagnostic::error("bad-film", length.span, "`out` and `length` exclude each other")
                .other(end.span, "the other one")
                .help("remove one of the two"),
        );
    }
    if let (Some(start), Some(end)) = (&start, &end)
        && is_reversed(start.value, end.value)
    {
        let message = format!("nothing lies between `in: {}` and `out: {}`", start.value, end.value);
        problems.push(
            Diagnostic::error("bad-film", end.span, message)
                .other(start.span, "begins here")
                .help("`out` is the position before which the clip ends; it comes after `in`"),
        );
    }
    Some(ClipSpec {
        shot,
        start,
        end,
        length,
        transition: transition(&map, problems),
        gain: parsed(&map, &keys::GAIN, problems),
        mute: map.flag(&keys::MUTE, problems).unwrap_or_default(),
    })
}

/// Whether an end is not after a start, as far as that can be said without the clip.
fn is_reversed(start: EditTime, end: EditTime) -> bool {
    match (start, end) {
        (EditTime::Frames(start), EditTime::Frames(end))
        | (EditTime::Micros(start), EditTime::Micros(end)) => (start < 0) == (end < 0) && end <= start,
        _ => end.is_zero(),
    }
}

/// A key whose value is text, or a number, of a form of its own.
pub(super) fn parsed<T: FromStr>(
    map: &Mapping<'_>,
    key: &'static KeySpec,
    problems: &mut Problems,
) -> Option<Spanned<T>> {
    let (written, value) = map.get(key).filter(|(_, value)| !value.is_null())?;
    let text = match &value.value {
        YamlValue::Text(text) => text.clone(),
        YamlValue::Number(number) => number.to_string(),
        _ => {
            report_wrong_type(key, value, written.span, problems);
            return None;
        }
    };
    if let Ok(parsed) = text.parse() {
        return Some(Spanned::new(parsed, value.span));
    }
    let mut diagnostic = Diagnostic::error(
        "wrong-type",
        value.span.or(written.span),
        format!("`{}` must be {}", key.name, key.shape),
    );
    // A bare number may be frames or seconds.
    diagnostic = match text.parse::<f64>() {
        Ok(_) if text.parse::<u32>().is_ok() && format!("{text}f").parse::<T>().is_ok() => diagnostic
            .help(format!("write `{0}: {text}f` for frames, or `{0}: {text}s` for seconds", key.name)),
        Ok(_) if format!("{text}s").parse::<T>().is_ok() => {
            diagnostic.help(format!("write `{}: {text}s`", key.name))
        }
        Ok(_) if format!("{text}dB").parse::<T>().is_ok() => {
            diagnostic.help(format!("write `{}: {text}dB`", key.name))
        }
        _ => diagnostic.help(format!("write `{}`", key.example)),
    };
    problems.push(diagnostic);
    None
}

/// A length greater than zero.
pub(super) fn length(
    map: &Mapping<'_>,
    key: &'static KeySpec,
    code: &'static str,
    problems: &mut Problems,
) -> Option<Spanned<EditTime>> {
    let length: Spanned<EditTime> = parsed(map, key, problems)?;
    if !length.value.is_negative() && !length.value.is_zero() {
        return Some(length);
    }
    let message = format!("`{}` must be longer than zero", key.name);
    problems.push(Diagnostic::error(code, length.span, message).help(format!("write `{}`", key.example)));
    None
}

fn transition(map: &Mapping<'_>, problems: &mut Problems) -> Option<Spanned<Transition>> {
    let (key, value) = map.get(&keys::TRANSITION).filter(|(_, value)| !value.is_null())?;
    if value.text() == Some("cut") {
        return None;
    }
    let map = Mapping::read(value, &keys::TRANSITION_KINDS, key.span, problems)?;
    let stated_length = length(&map, &keys::TRANSITION_LENGTH, "bad-film", problems);
    let kinds: Vec<_> = [&keys::DISSOLVE, &keys::FADE, &keys::WIPE]
        .into_iter()
        .filter_map(|kind| map.get(kind).map(|(written, value)| (kind, written, value)))
        .collect();
    let [(kind, written, value)] = kinds.as_slice() else {
        let message = "a transition is one of `dissolve`, `fade` and `wipe`";
        problems.push(Diagnostic::error("bad-film", map.span(), message).help(keys::TRANSITION_KINDS.help));
        return None;
    };
    let transition = if kind.name == keys::DISSOLVE.name {
        if let Some(length) = &stated_length {
            let message = "`dissolve` and `length` both state a length";
            problems.push(Diagnostic::error("bad-film", length.span, message).help("remove `length`"));
        }
        let length = length(&map, &keys::DISSOLVE, "bad-film", problems)?.value;
        Transition { kind: TransitionKind::Dissolve, length }
    } else {
        let kind = match (kind.name, value.text()) {
            ("fade", Some("black")) => TransitionKind::FadeBlack,
            ("fade", Some("white")) => TransitionKind::FadeWhite,
            ("wipe", Some("left")) => TransitionKind::WipeLeft,
            ("wipe", Some("right")) => TransitionKind::WipeRight,
            _ => {
                report_wrong_type(kind, value, written.span, problems);
                return None;
            }
        };
        Transition { kind, length: stated_length.map_or(DEFAULT_TRANSITION, |length| length.value) }
    };
    Some(Spanned::new(transition, map.span()))
}

/// The size of a film's picture.
pub(super) fn frame_size(film: &Mapping<'_>, problems: &mut Problems) -> Option<Spanned<(u32, u32)>> {
    let (key, value) = film.get(&keys::SIZE).filter(|(_, value)| !value.is_null())?;
    let size = value.text().and_then(|text| {
        let (width, height) = text.split_once(['x', '×'])?;
        let side = |text: &str| {
            let side: u32 = text.trim().parse().ok()?;
            ((16..=limits::MAX_FILM_SIDE).contains(&side) && side.is_multiple_of(2)).then_some(side)
        };
        Some((side(width)?, side(height)?))
    });
    if size.is_none() {
        report_wrong_type(&keys::SIZE, value, key.span, problems);
    }
    size.map(|size| Spanned::new(size, value.span))
}
