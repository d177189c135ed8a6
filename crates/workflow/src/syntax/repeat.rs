//! `repeat`: a shot of several steps in a row, each of which continues the one before, becomes a shot for each step.

use std::collections::{HashMap, HashSet};

use super::keys::shot as keys;
use super::{ClipSourceSpec, ClipSpec, Continues, Entry, FilmSpec, Repeats, Shot, ShotRef, Step, Workflow};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::source::Spanned;
use crate::yaml::{Yaml, YamlValue};

/// The name of the step's number in templates.
pub(crate) const STEP: &str = "step";

/// Replaces each repeated shot by its steps, `walk-1`, `walk-2` and so on. What names the shot itself means its last step; a film shows all of
/// them, and a voice begins with the first. `None` where there are too many steps, which is reported: without them, each template that uses
/// a step and each reference to one would be reported too.
pub(crate) fn apply(workflow: &mut Workflow, problems: &mut Problems) -> Option<()> {
    if workflow.shots.iter().all(|shot| shot.repeat.is_none()) {
        return Some(());
    }
    within_limits(workflow, problems).then_some(())?;
    report_hidden_names(workflow, problems);
    let mut ids: HashSet<String> = workflow.shots.iter().map(|shot| shot.id.value.clone()).collect();
    let mut repeats = Repeats::default();
    let mut shots = Vec::with_capacity(workflow.shots.len());
    for shot in std::mem::take(&mut workflow.shots) {
        let Some(repeat) = shot.repeat.clone() else {
            shots.push(shot);
            continue;
        };
        let base = shot.id.value.clone();
        let id = |step: u32| format!("{base}-{step}");
        for step in 1..=repeat.value {
            if !ids.insert(id(step)) {
                let message = format!("step {step} of `{base}` is named `{}`, as another shot is", id(step));
                problems.push(
                    Diagnostic::error("duplicate-id", shot.id.span, message).help("rename one of them"),
                );
            }
            shots.push(step_of(&shot, step, &repeat));
        }
        repeats.last.insert(base.clone(), shots.len() - 1);
        repeats.steps.insert(base, repeat.value);
    }
    workflow.shots = shots;
    for film in &mut workflow.films {
        show_all_steps(film, &repeats.steps, problems);
    }
    workflow.repeats = repeats;
    Some(())
}

fn step_of(shot: &Shot, step: u32, repeat: &Spanned<u32>) -> Shot {
    let named = |step: u32| format!("{}-{step}", shot.id.value);
    let mut step_shot = shot.clone();
    step_shot.id.value = named(step);
    step_shot.step = Some(Step { shot: shot.id.value.clone(), number: step });
    step_shot.repeat = None;
    if step > 1 {
        let before = ShotRef { shot: named(step - 1), cell: None, take: None };
        step_shot.continues = Some(Continues {
            key: Spanned::new(keys::REPEAT.name.to_owned(), repeat.span),
            shot: Spanned::new(before, repeat.span),
        });
        step_shot.first_frame = None;
    }
    if step < repeat.value {
        step_shot.last_frame = None;
    }
    step_shot
}

/// Bounds the copies that are made.
fn within_limits(workflow: &Workflow, problems: &mut Problems) -> bool {
    let (mut shots, mut bytes) = (workflow.shots.len(), 0_usize);
    for shot in &workflow.shots {
        let Some(repeat) = &shot.repeat else { continue };
        let count = repeat.value as usize;
        shots = shots.saturating_add(count);
        bytes = bytes.saturating_add(count.saturating_mul(size_of_shot(shot)));
        if shots > limits::MAX_REPEATED_SHOTS || bytes > limits::MAX_REPEATED_BYTES {
            let message = format!("with these {} steps the file repeats too much", grouped(count as u128));
            let help = format!(
                "repeated shots have at most {} steps and {} MiB together; put what their steps share into `defaults`",
                grouped(limits::MAX_REPEATED_SHOTS as u128),
                limits::MAX_REPEATED_BYTES >> 20
            );
            problems.push(Diagnostic::error("matrix-too-large", repeat.span, message).help(help));
            return false;
        }
    }
    true
}

/// About the memory of a shot's own values, in bytes.
fn size_of_shot(shot: &Shot) -> usize {
    let Shot { first_frame, last_frame, matrix, when, salt, fields, dialogue, needs, .. } = shot;
    let entries = [first_frame, last_frame, matrix, when, salt].into_iter().flatten().chain(fields);
    let lines = dialogue.iter().flat_map(|line| [Some(&line.text), line.speaker.as_ref()]).flatten();
    entries.chain(lines).map(|entry| size(&entry.value)).sum::<usize>() + 512 + 128 * needs.len()
}

fn size(value: &Yaml) -> usize {
    size_of::<Yaml>()
        + match &value.value {
            YamlValue::Text(text) => text.len(),
            YamlValue::List(items) => items.iter().map(size).sum(),
            YamlValue::Map(entries) => {
                entries.iter().map(|(key, value)| 64 + key.value.len() + size(value)).sum()
            }
            YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => 0,
        }
}

/// A parameter or an axis with the name of the step's number would be hidden by it.
fn report_hidden_names(workflow: &Workflow, problems: &mut Problems) {
    let axes = |matrix: &Entry| match &matrix.value.value {
        YamlValue::Map(entries) => entries.iter().find(|(key, _)| key.value == STEP).map(|(key, _)| key.span),
        _ => None,
    };
    let of_shots =
        workflow.shots.iter().filter(|shot| shot.repeat.is_some()).filter_map(|shot| shot.matrix.as_ref());
    let hidden = workflow.matrix.iter().chain(of_shots).filter_map(axes);
    let params = workflow.all_params().filter(|param| param.key.value == STEP).map(|param| param.key.span);
    for span in hidden.chain(params) {
        let message = format!("`{STEP}` is the number of the step in shots with `repeat`");
        problems.push(Diagnostic::error("bad-name", span, message).help("give this another name"));
    }
}

/// Shows each repeated shot of a film step by step: it begins where the entry says in the first, and ends in the last, where its transition is.
fn show_all_steps(film: &mut FilmSpec, steps: &HashMap<String, u32>, problems: &mut Problems) {
    let step_ref =
        |named: &ShotRef, step: u32| ShotRef { shot: format!("{}-{step}", named.shot), ..named.clone() };
    for voice in &mut film.soundtrack.voices {
        if let Some(shot_ref) = voice.at.as_mut().filter(|shot_ref| steps.contains_key(&shot_ref.value.shot))
        {
            shot_ref.value = step_ref(&shot_ref.value, 1);
        }
    }
    let repeats = |clip: &ClipSpec| match &clip.source {
        ClipSourceSpec::Shot(named) => steps.get(&named.value.shot).map(|count| (named.clone(), *count)),
        ClipSourceSpec::Group(_) | ClipSourceSpec::File(_) | ClipSourceSpec::Card => None,
    };
    let Some(clips) = film.clips.as_mut().filter(|clips| clips.iter().any(|clip| repeats(clip).is_some()))
    else {
        return;
    };
    let mut shown = Vec::with_capacity(clips.len());
    for clip in std::mem::take(clips) {
        let Some((named, count)) = repeats(&clip) else {
            shown.push(clip);
            continue;
        };
        if let Some(length) = &clip.length {
            let message =
                format!("`{}` is shown in {count} steps, which have lengths of their own", named.value);
            let help = format!("name a step, such as `{}-1`, or write `in` and `out`", named.value.shot);
            problems.push(Diagnostic::error("bad-film", length.span, message).help(help));
        }
        for step in 1..=count {
            let mut step_clip = clip.clone();
            step_clip.source = ClipSourceSpec::Shot(Spanned::new(step_ref(&named.value, step), named.span));
            if step > 1 {
                (step_clip.start, step_clip.title) = (None, None);
            }
            if step < count {
                (step_clip.end, step_clip.transition) = (None, None);
            }
            shown.push(step_clip);
        }
    }
    *clips = shown;
}
