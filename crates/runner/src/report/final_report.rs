//! The final report of a run, for people: complete for a storyboard, truncated for a sweep.

use std::fmt::Write as _;

use scheduler::{
    Decision, Film, FilmFrames, FilmLoudness, FilmOutcome, FilmSummary, NodeSummary, Outcome, RunSummary,
    StatusKind,
};
use workflow::plan::PickKind;

use super::{Table, messages, sanitize};
use crate::named_workflow::NamedWorkflow;
use crate::project_paths::display_path;
use crate::shell;

/// Maximum number of shots listed. Larger runs list only shots that are not done.
const MAX_SHOTS: usize = 40;
/// In runs of more shots, those that were up to date are counted and not listed.
const MAX_REUSED_SHOTS: usize = 12;
/// Maximum number of films and of picks that are listed.
const MAX_OTHERS: usize = 20;

/// The final report: a table of the shots, then notes. Large runs list only shots that are not done, most urgent first. Where the
/// terminal is too narrow, task ids, decisions and then times are left out, and names are shortened. `file` is the workflow file, quoted for a shell.
pub(crate) fn final_report(summary: &RunSummary, file: &NamedWorkflow, columns: Option<usize>) -> String {
    let is_large = summary.nodes.len() > MAX_SHOTS;
    let is_long = summary.nodes.len() > MAX_REUSED_SHOTS;
    let mut nodes: Vec<&NodeSummary> = summary.nodes.iter().collect();
    // A partial run reports that part.
    nodes.retain(|node| !matches!(node.outcome, Outcome::NotSelected { task: None }));
    if is_long {
        nodes.retain(|node| node.kind() != StatusKind::Reused);
    }
    if is_large {
        nodes.retain(|node| !matches!(node.outcome, Outcome::Done { .. }));
        nodes.sort_by_key(|node| urgency(node.kind()));
    }
    let more = nodes.len().saturating_sub(MAX_SHOTS);
    nodes.truncate(MAX_SHOTS);
    let mut lines = Vec::new();
    if !nodes.is_empty() {
        lines.push(table(&nodes, columns));
    }
    for node in &nodes {
        let text = messages::outcome(&node.outcome, &node.name, file);
        // For shots that never started, and in large runs for detached ones, the table says enough.
        let text = text.filter(|_| match node.outcome {
            Outcome::Failed { .. }
            | Outcome::Indeterminate { .. }
            | Outcome::Missing { .. }
            | Outcome::Unrecorded { .. } => true,
            Outcome::NotStarted => false,
            Outcome::Done { .. }
            | Outcome::Detached { .. }
            | Outcome::AtOtherService { .. }
            | Outcome::Blocked { .. }
            | Outcome::Unpicked { .. }
            | Outcome::NotSelected { .. } => !is_large,
        });
        lines.extend(text.map(|text| format!("{}: {text}", sanitize::line(&node.name))));
    }
    if more > 0 {
        lines.push(format!("and {more} more that are not done; `--format json` lists all"));
    }
    if summary.count(&[StatusKind::Detached]) > 0 {
        lines.push(format!("tasks in flight are kept: `runner run {}` adopts them", file.in_full()));
    }
    let has_several_films = summary.films.len() > 1;
    let mut films: Vec<&FilmSummary> = summary.films.iter().collect();
    films.sort_by_key(|film| matches!(film.outcome, FilmOutcome::Done { .. }) && films_are_many(summary));
    lines.extend(films.iter().take(MAX_OTHERS).map(|film_summary| film(film_summary, has_several_films)));
    if films.len() > MAX_OTHERS {
        lines.push(format!("and {} more films", films.len() - MAX_OTHERS));
    }
    lines.extend(summary.picks.iter().take(MAX_OTHERS).map(|pick| {
        let shot = sanitize::line(&pick.name);
        let quoted = shell::quote(&shot);
        let noun = if pick.kind == PickKind::Take { "takes" } else { "instances" };
        let candidates = pick.candidates;
        format!("{shot}: {candidates} {noun} to pick from; `runner pick {file} {quoted}` lists them")
    }));
    if summary.picks.len() > MAX_OTHERS {
        lines.push(format!("and {} more to pick", summary.picks.len() - MAX_OTHERS));
    }
    if !summary.picks.is_empty() {
        lines.push(format!("`runner ui {file}` shows them side by side, and picks"));
    }
    lines.push(count(summary));
    lines.join("\n") + "\n"
}

fn films_are_many(summary: &RunSummary) -> bool {
    summary.films.len() > MAX_OTHERS
}

/// A difference that is not worth mentioning, in LU.
const LOUDNESS_TOLERANCE: f64 = 1.0;

// Indices of the table's columns.
const DECISION_COLUMN: usize = 1;
const STATE_COLUMN: usize = 2;
const TASK_COLUMN: usize = 3;
const TOOK_COLUMN: usize = 4;
const FILE_COLUMN: usize = 5;

/// The order in which a large run lists its shots: lower first.
fn urgency(kind: StatusKind) -> u8 {
    match kind {
        StatusKind::Failed => 0,
        StatusKind::Indeterminate => 1,
        StatusKind::Missing | StatusKind::Unrecorded => 2,
        StatusKind::Detached
        | StatusKind::AtOtherService
        | StatusKind::Submitting
        | StatusKind::InFlight
        | StatusKind::Downloading
        | StatusKind::ClaimedByOtherRun => 3,
        StatusKind::Unpicked => 4,
        StatusKind::Blocked => 5,
        StatusKind::NotStarted | StatusKind::Pending | StatusKind::Waiting | StatusKind::WaitingForRetry => 6,
        StatusKind::NotSelected => 7,
        StatusKind::Done | StatusKind::Reused => 8,
    }
}

fn table(nodes: &[&NodeSummary], columns: Option<usize>) -> String {
    let mut table = Table::new(["shot", "decision", "state", "task", "took", "file"]);
    for node in nodes {
        table.row([
            sanitize::line(&node.name).into_owned(),
            node.decision.map_or("-", scheduler::Decision::as_str).to_owned(),
            node.kind().as_str().to_owned(),
            node.task.as_ref().map_or("-".into(), |task| sanitize::line(task.as_str())).into_owned(),
            duration_cell(node),
            file(node),
        ]);
    }
    // Where every shot is done, its file says so.
    let has_states = nodes.iter().any(|node| !node.kind().is_done());
    let without_columns = |dropped: &[usize]| {
        let mut table = table.clone();
        let is_shown = |column| !dropped.contains(&column) && (has_states || column != STATE_COLUMN);
        table.keep(is_shown);
        (table, (0..FILE_COLUMN).filter(|column| is_shown(*column)).count())
    };
    let (table, _) = without_columns(&[]);
    let Some(columns) = columns.filter(|columns| table.width() > *columns) else { return table.render() };
    let shortened = |dropped: &[usize]| {
        let (mut table, file_column) = without_columns(dropped);
        // The file, then the shot's name.
        table.narrow(file_column, columns);
        table.narrow(0, columns);
        table
    };
    for dropped in [&[TASK_COLUMN][..], &[TASK_COLUMN, DECISION_COLUMN]] {
        let narrower = shortened(dropped);
        if narrower.width() <= columns {
            return narrower.render();
        }
    }
    shortened(&[TASK_COLUMN, DECISION_COLUMN, TOOK_COLUMN]).render()
}

/// The sound of a film, with its loudness where the workflow asks for one.
fn sound(film: &Film) -> String {
    if !film.audio {
        return "silent".to_owned();
    }
    let Some((FilmLoudness { integrated, .. }, target)) =
        film.loudness.and_then(|loudness| Some((loudness, loudness.target?)))
    else {
        return "with sound".to_owned();
    };
    let short = if integrated < target - LOUDNESS_TOLERANCE {
        format!(" instead of {target} LUFS, which would distort it")
    } else {
        String::new()
    };
    format!("with sound at {integrated:.1} LUFS{short}")
}

fn film(film: &FilmSummary, one_of_several: bool) -> String {
    let label = if one_of_several { format!("film {}", film.name) } else { "film".to_owned() };
    match &film.outcome {
        FilmOutcome::Done { film } => {
            let sound = sound(film);
            let state = if film.reused { ", up to date" } else { "" };
            let frames = film.frames.map_or_else(String::new, |frames| match frames {
                FilmFrames { encoded: 0, .. } => ", all frames copied".to_owned(),
                FilmFrames { copied: 0, .. } => ", all frames encoded".to_owned(),
                FilmFrames { copied, encoded } => format!(", {copied} frames copied, {encoded} encoded"),
            });
            let path = display_path(&film.path);
            let unmatched = match film.unmatched.as_slice() {
                [] => String::new(),
                clips => {
                    format!("\n  colors not matched, they differ by more than a drift: {}", clips.join(", "))
                }
            };
            format!(
                "film: {path} ({:.1} s, {}x{}, {sound}{state}{frames}){unmatched}",
                film.duration.as_secs_f64(),
                film.width,
                film.height
            )
        }
        FilmOutcome::Pending { missing } => {
            let have = if *missing == 1 { "has" } else { "have" };
            format!("{label}: not joined, {missing} of its shots {have} no video")
        }
        FilmOutcome::Unpicked { picks, .. } => {
            let count = match picks.len() {
                0 => "picks".to_owned(),
                1 => "1 pick".to_owned(),
                more => format!("{more} picks"),
            };
            let mut names: Vec<String> =
                picks.iter().take(MAX_OTHERS).map(|name| sanitize::line(name).into_owned()).collect();
            if picks.len() > MAX_OTHERS {
                names.push(format!("and {} more", picks.len() - MAX_OTHERS));
            }
            let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            format!("{label}: not joined: it waits for {count}{names}")
        }
        FilmOutcome::Failed { failure } => {
            format!("{label}: not joined: {}", sanitize::message(&failure.message))
        }
    }
}

/// A verb agrees with the number that is counted, not with the number that it is counted of: `1 of 2 shots is done`.
fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

fn count(summary: &RunSummary) -> String {
    let done = summary.count(&[StatusKind::Done, StatusKind::Reused]);
    let all = summary.nodes.len();
    let mut kinds: Vec<StatusKind> = StatusKind::ALL.iter().copied().filter(|kind| !kind.is_done()).collect();
    kinds.sort_by_key(|kind| urgency(*kind));
    // The table of a small run shows all of that, except shots that are not selected.
    kinds.retain(|kind| all > MAX_SHOTS || *kind == StatusKind::NotSelected);
    let mut others = String::new();
    for kind in kinds {
        let count = summary.count(&[kind]);
        if count > 0 {
            let _ = write!(others, ", {count} {}", kind.as_str().replace('-', " "));
        }
    }
    let shots = if all == 1 { "shot" } else { "shots" };
    // `0 of 1 shot is done`.
    let are = if all == 1 { "is" } else { is_or_are(done) };
    match summary.submitted() {
        0 if done == all && summary.nodes.iter().all(|node| node.decision == Some(Decision::Reuse)) => {
            let every = if all == 1 { "the".to_owned() } else { format!("all {all}") };
            format!("{every} {shots} {are} up to date, nothing was submitted")
        }
        0 => format!("{done} of {all} {shots} {are} done{others}, nothing was submitted"),
        submitted => {
            let reused = summary.count(&[StatusKind::Reused]);
            if all > MAX_REUSED_SHOTS && reused > 0 {
                let _ = write!(others, ", {reused} up to date");
            }
            let submitted = match summary.accepted_tasks() {
                tasks if tasks > submitted => {
                    let shots = if submitted == 1 { "shot" } else { "shots" };
                    format!("{tasks} tasks for {submitted} {shots}")
                }
                _ => submitted.to_string(),
            };
            format!("{done} of {all} {shots} {are} done{others}, {submitted} submitted")
        }
    }
}

/// Seconds from its submission to its video.
fn duration_cell(node: &NodeSummary) -> String {
    match (&node.outcome, node.took) {
        (Outcome::Done { .. }, Some(took)) => format!("{:.1}", took.as_secs_f64()),
        _ => "-".to_owned(),
    }
}

fn file(node: &NodeSummary) -> String {
    match &node.outcome {
        Outcome::Done { artifact, .. } => display_path(&artifact.path),
        Outcome::Failed { .. }
        | Outcome::Indeterminate { .. }
        | Outcome::Missing { .. }
        | Outcome::Unrecorded { .. }
        | Outcome::Detached { .. }
        | Outcome::AtOtherService { .. }
        | Outcome::Unpicked { .. }
        | Outcome::Blocked { .. }
        | Outcome::NotStarted
        | Outcome::NotSelected { .. } => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use scheduler::budget::{Amount, BudgetCaps};
    use scheduler::{
        Artifact, Attempt, AttemptId, AttemptState, Failure, FailureKind, RunId, TaskId, Timestamp,
    };

    use super::*;

    #[test]
    fn loudness_is_named_where_it_is_asked_for() {
        let sound = |audio, loudness| {
            sound(&Film {
                path: "film.mp4".into(),
                duration: Duration::from_secs(1),
                width: 2,
                height: 2,
                audio,
                clips_digest: String::new(),
                reused: false,
                loudness,
                frames: None,
                unmatched: Vec::new(),
            })
        };
        let loudness_at = |integrated, target| Some(FilmLoudness { integrated, true_peak: -1.0, target });
        assert_eq!(sound(false, None), "silent");
        assert_eq!(sound(true, None), "with sound");
        assert_eq!(sound(true, loudness_at(-14.0, None)), "with sound");
        assert_eq!(sound(true, loudness_at(-16.04, Some(-16.0))), "with sound at -16.0 LUFS");
        assert_eq!(
            sound(true, loudness_at(-11.5, Some(-5.0))),
            "with sound at -11.5 LUFS instead of -5 LUFS, which would distort it"
        );
    }

    fn summary(outcomes: Vec<Outcome>) -> RunSummary {
        let nodes = outcomes.into_iter().enumerate().map(|(index, outcome)| {
            let (state, task) = match &outcome {
                Outcome::Done { task, .. } => (Some(AttemptState::Completed), Some(task.clone())),
                Outcome::Failed { task, .. } => (Some(AttemptState::Failed), task.clone()),
                Outcome::Indeterminate { .. } => (Some(AttemptState::Indeterminate), None),
                Outcome::Detached { task, .. } => (Some(AttemptState::Submitted), Some(task.clone())),
                Outcome::Missing { task, .. } => (Some(AttemptState::Missing), Some(task.clone())),
                Outcome::AtOtherService { task, .. } => (Some(AttemptState::Submitted), task.clone()),
                Outcome::NotStarted
                | Outcome::Unrecorded { .. }
                | Outcome::Blocked { .. }
                | Outcome::Unpicked { .. }
                | Outcome::NotSelected { .. } => (None, None),
            };
            let attempt =
                |state| Attempt::new(AttemptId(format!("r.{index}")), state, Timestamp(1_790_000_000_000));
            NodeSummary {
                name: format!("harbor@seed={index}"),
                decision: Some(Decision::Execute),
                outcome,
                task,
                took: None,
                attempts: state.map(attempt).into_iter().collect(),
            }
        });
        RunSummary {
            run: RunId::from("r"),
            nodes: nodes.collect(),
            films: Vec::new(),
            picks: Vec::new(),
            halt: None,
            unusable: Vec::new(),
            caps: BudgetCaps::default(),
            held: Amount::default(),
            spent: Amount::default(),
        }
    }

    fn done(index: usize) -> Outcome {
        let artifact = Artifact {
            path: "a.mp4".into(),
            sha256: String::new(),
            first_sha256: None,
            bytes: 1,
            duration: Duration::from_secs(5),
            width: 1,
            height: 1,
            last_frame_url: None,
            expires_at: None,
            modified_at: None,
        };
        Outcome::Done { artifact, task: TaskId(format!("task_{index}")) }
    }

    #[test]
    fn large_run_lists_unfinished_shots_and_counts() {
        let mut outcomes = vec![Outcome::NotStarted; 3];
        outcomes.extend((0..4_990).map(done));
        let failure = Failure::new(FailureKind::Task, "no\u{1b}[2J https://a.test/x?sig=SECRET");
        outcomes.push(Outcome::Indeterminate {
            attempt: AttemptId::from("r.1"),
            reason: "cut".to_owned(),
            suggested_task: Some(TaskId::from("task 7")),
        });
        outcomes.push(Outcome::Detached { task: TaskId::from("task_late"), reason: "late".to_owned() });
        outcomes.extend((0..5).map(|index| Outcome::Failed {
            failure: failure.clone(),
            task: Some(TaskId(format!("task_failed_{index}"))),
        }));
        let report = final_report(
            &summary(outcomes),
            &NamedWorkflow::new(std::path::Path::new("sweep.yaml"), ""),
            None,
        );
        insta::assert_snapshot!(report);
        assert!(!report.contains("SECRET") && !report.contains('\u{1b}'), "{report}");
    }

    #[test]
    fn large_failed_run_is_truncated() {
        let failure = Failure::new(FailureKind::Task, "no");
        let mut outcomes = vec![Outcome::NotStarted; 5_000];
        outcomes.push(Outcome::Failed { failure, task: Some(TaskId::from("task_failed")) });
        let report = final_report(
            &summary(outcomes),
            &NamedWorkflow::new(std::path::Path::new("sweep.yaml"), ""),
            Some(40),
        );
        assert!(report.lines().count() < MAX_SHOTS + 10, "{report}");
        assert!(report.contains("and 4961 more") && report.contains("5000 not started"), "{report}");
        assert!(!report.contains("task_"), "the task column is left out: {report}");
    }
}
