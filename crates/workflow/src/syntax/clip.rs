//! Reads the clips of a film: shots by their names, or mappings that edit them.

use std::str::FromStr;

use super::keys::{KeySpec, film as keys};
use super::mapping::Mapping;
use super::shot_ref::{group_name, shot_ref};
use super::value::{expect_choice, expect_seconds, report_wrong_type};
use super::{ClipSourceSpec, ClipSpec, TitleSpec};
use crate::diagnostic::{Diagnostic, Problems, nearest};
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
    let source = source(&map, problems)?;
    let position = |key: &'static KeySpec, problems: &mut Problems| parsed(&map, key, problems);
    let (start, end) = (position(&keys::IN, problems), position(&keys::OUT, problems));
    let length = shown_length(&map, problems);
    match source {
        ClipSourceSpec::Card => refuse_on_card(&map, problems),
        ClipSourceSpec::Group(_) => refuse_on_group(&map, problems),
        ClipSourceSpec::Shot(_) | ClipSourceSpec::File(_) => {}
    }
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
        source,
        start,
        end,
        length,
        speed: parsed(&map, &keys::SPEED, problems),
        title: title(&map, problems),
        transition: transition(&map, problems),
        gain: parsed(&map, &keys::GAIN, problems),
        mute: map.flag(&keys::MUTE, problems).unwrap_or_default(),
    })
}

fn source(map: &Mapping<'_>, problems: &mut Problems) -> Option<ClipSourceSpec> {
    let sources = [&keys::SHOT, &keys::CLIP_GROUP, &keys::CLIP_FILE];
    let mut written =
        sources.into_iter().filter_map(|key| map.get(key).map(|(name, value)| (key, name, value)));
    let Some((key, name, value)) = written.next() else {
        if map.get(&keys::TITLE).is_some() {
            return Some(ClipSourceSpec::Card);
        }
        // A misspelled key of these is reported as such.
        let is_source = |name: &str| sources.iter().any(|key| key.name == name);
        let mut meant = map.others().filter_map(|(key, _)| nearest(&key.value, keys::CLIP.names()));
        // So is the name of a shot that is a key: its value is the clip's mapping.
        if meant.any(is_source) || map.others().any(|(_, value)| matches!(value.value, YamlValue::Map(_))) {
            return None;
        }
        let message = "this clip shows nothing";
        problems.push(Diagnostic::error("missing-key", map.span(), message).help(keys::CLIP.help()));
        return None;
    };
    if let Some((other, other_name, _)) = written.next() {
        let message = format!("`{}` and `{}` exclude each other", key.name, other.name);
        problems.push(
            Diagnostic::error("bad-film", other_name.span, message)
                .other(name.span, "the other one")
                .help("write two clips, one after the other"),
        );
        return None;
    }
    match key.name {
        "shot" => shot_ref(key, name.span, value, problems).map(ClipSourceSpec::Shot),
        "group" => group_name(value, key, name, problems).map(ClipSourceSpec::Group),
        _ => map.entry(&keys::CLIP_FILE).map(ClipSourceSpec::File),
    }
}

/// What a card does not have.
fn refuse_on_card(map: &Mapping<'_>, problems: &mut Problems) {
    for key in [&keys::IN, &keys::OUT, &keys::SPEED, &keys::GAIN, &keys::MUTE] {
        if let Some((written, _)) = map.get(key) {
            let message = format!("a title on black has no `{}`", key.name);
            let help = format!("remove `{}`, or name the `shot` or `file` that is shown", key.name);
            problems.push(Diagnostic::error("bad-film", written.span, message).help(help));
        }
    }
}

/// What belongs to a single shot.
fn refuse_on_group(map: &Mapping<'_>, problems: &mut Problems) {
    for key in [&keys::IN, &keys::OUT, &keys::LENGTH, &keys::SECONDS] {
        if let Some((written, _)) = map.get(key) {
            let message = format!("a group has no `{}`", key.name);
            let help = "name its shots one by one to trim them";
            problems.push(Diagnostic::error("bad-film", written.span, message).help(help));
        }
    }
    if let Some((written, _)) = map.get(&keys::TITLE) {
        let help = "write the title before it, on black, or over one of its shots";
        problems.push(Diagnostic::error("bad-film", written.span, "a group has no `title`").help(help));
    }
}

fn title(map: &Mapping<'_>, problems: &mut Problems) -> Option<TitleSpec> {
    let style = map.get(&keys::STYLE).filter(|(_, value)| !value.is_null());
    let Some(text) = map.entry(&keys::TITLE) else {
        if let Some((key, _)) = style {
            let message = "`style` says where a `title` stands, and there is none";
            problems.push(
                Diagnostic::error("bad-film", key.span, message).help("add a `title`, or remove `style`"),
            );
        }
        return None;
    };
    Some(TitleSpec { text, style: map.choice(&keys::STYLE, &keys::STYLES, problems) })
}

/// `length`, or `seconds`, which is the same as a number.
fn shown_length(map: &Mapping<'_>, problems: &mut Problems) -> Option<Spanned<EditTime>> {
    let length = length(map, &keys::LENGTH, "bad-film", problems);
    let Some((key, value)) = map.get(&keys::SECONDS).filter(|(_, value)| !value.is_null()) else {
        return length;
    };
    if let Some(length) = length {
        problems.push(
            Diagnostic::error("bad-film", key.span, "`seconds` and `length` both say how long it is shown")
                .other(length.span, "the other one")
                .help("remove one of the two"),
        );
        return Some(length);
    }
    let seconds = expect_seconds(value, &keys::SECONDS, key.span, problems)?;
    Some(Spanned::new(EditTime::from_duration(seconds), value.span.or(key.span)))
}

/// Whether an end is not after a start, as far as that is known without the clip.
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
    // A bare number may be frames or seconds.
    let is_number = text.parse::<u32>().is_ok_and(|number| number > 0);
    let is_fit = |unit: &str| format!("{text}{unit}").parse::<T>().is_ok();
    let help = if is_number && is_fit("f") && is_fit("s") {
        format!("write `{0}: {text}f` for frames, or `{0}: {text}s` for seconds", key.name)
    } else {
        format!("write `{}`", key.example())
    };
    let message = format!("`{}` must be {}", key.name, key.shape);
    problems.push(Diagnostic::error("wrong-type", value.span.or(written.span), message).help(help));
    None
}

/// A length greater than zero.
pub(super) fn length(
    map: &Mapping<'_>,
    key: &'static KeySpec,
    code: &'static str,
    problems: &mut Problems,
) -> Option<Spanned<EditTime>> {
    let is_length = |time: &EditTime| !time.is_negative() && !time.is_zero();
    let length: Spanned<EditTime> = parsed(map, key, problems)?;
    if is_length(&length.value) {
        return Some(length);
    }
    let message = format!("`{}` must be longer than zero", key.name);
    problems.push(Diagnostic::error(code, length.span, message).help(format!("write `{}`", key.example())));
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
        problems.push(Diagnostic::error("bad-film", map.span(), message).help(keys::TRANSITION_KINDS.help()));
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
        let choices = if kind.name == keys::FADE.name { &keys::COLORS } else { &keys::DIRECTIONS };
        let kind = expect_choice(value, kind, choices, written.span, problems)?;
        Transition { kind, length: stated_length.map_or(DEFAULT_TRANSITION, |length| length.value) }
    };
    Some(Spanned::new(transition, map.span()))
}

/// The size of a film's frames.
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
