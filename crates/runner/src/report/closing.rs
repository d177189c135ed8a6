//! What a run came to, for people: complete for a storyboard, short for a sweep.

use engine::state::{FilmOutcome, FilmSummary, NodeSummary, Outcome, RunSummary};

use super::{Table, clean, story};
use crate::place::shown;

/// Up to so many shots all are listed; of more, those that did not end well, and of those as many.
const MOST: usize = 40;
/// Films and picks that are listed.
const MOST_OTHERS: usize = 20;

/// What a run came to: a table of the shots, then what needs saying about it. Of a large run what is done is counted, and what is not comes first.
pub(crate) fn closing(summary: &RunSummary) -> String {
    let is_large = summary.nodes.len() > MOST;
    let mut nodes: Vec<&NodeSummary> = summary.nodes.iter().collect();
    if is_large {
        nodes.retain(|node| !matches!(node.outcome, Outcome::Done { .. }));
        nodes.sort_by_key(|node| pressing(&node.outcome));
    }
    let more = nodes.len().saturating_sub(MOST);
    nodes.truncate(MOST);
    let mut lines = Vec::new();
    if !nodes.is_empty() {
        lines.push(table(&nodes));
    }
    for node in &nodes {
        let said = story::outcome(&node.outcome);
        // Of a large run the table says enough about what never began.
        let said = said.filter(|_| !is_large || pressing(&node.outcome) < NOT_BEGUN);
        lines.extend(said.map(|said| format!("{}: {said}", clean::line(&node.name))));
    }
    if more > 0 {
        lines.push(format!("and {more} more that are not done; `--format json` lists everything"));
    }
    let several = summary.films.len() > 1;
    let mut films: Vec<&FilmSummary> = summary.films.iter().collect();
    films.sort_by_key(|film| matches!(film.outcome, FilmOutcome::Done { .. }) && films_are_many(summary));
    lines.extend(films.iter().take(MOST_OTHERS).map(|one| film(one, several)));
    if films.len() > MOST_OTHERS {
        lines.push(format!("and {} more films", films.len() - MOST_OTHERS));
    }
    lines.extend(summary.to_pick.iter().take(MOST_OTHERS).map(|(shot, takes)| {
        let shot = clean::line(shot);
        format!("{shot}: {takes} takes are made; look at them, then say `runner pick FILE {shot} TAKE` and run again")
    }));
    if summary.to_pick.len() > MOST_OTHERS {
        lines.push(format!("and {} more to pick from", summary.to_pick.len() - MOST_OTHERS));
    }
    lines.push(count(summary));
    lines.join("\n") + "\n"
}

fn films_are_many(summary: &RunSummary) -> bool {
    summary.films.len() > MOST_OTHERS
}

/// From here on an end says that something was never begun.
const NOT_BEGUN: u8 = 4;

/// What asks for attention first.
fn pressing(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Failed { .. } => 0,
        Outcome::Ambiguous { .. } => 1,
        Outcome::Detached { .. } => 2,
        Outcome::Unpicked { .. } => 3,
        Outcome::Blocked { .. } => NOT_BEGUN,
        Outcome::NotBegun => 5,
        Outcome::Done { .. } => 6,
    }
}

fn table(nodes: &[&NodeSummary]) -> String {
    let mut table = Table::new(["shot", "decision", "task", "seconds", "file"]);
    for node in nodes {
        table.row([
            clean::line(&node.name).into_owned(),
            node.decision.map_or("-", engine::state::Decision::word).to_owned(),
            node.task.as_ref().map_or("-".into(), |task| clean::line(task.as_str())).into_owned(),
            seconds(node),
            file(&node.outcome),
        ]);
    }
    table.render()
}

fn film(film: &FilmSummary, one_of_several: bool) -> String {
    let which = if one_of_several { format!("film {}", film.name) } else { "film".to_owned() };
    match &film.outcome {
        FilmOutcome::Done { film } => {
            let sound = if film.audio { "with sound" } else { "silent" };
            let state = if film.reused { ", up to date" } else { "" };
            let path = shown(&film.path);
            format!("film: {path} ({:.1} s, {}x{}, {sound}{state})", film.seconds, film.width, film.height)
        }
        FilmOutcome::Waiting { missing } => {
            format!("{which}: not joined, {missing} of its shots are missing")
        }
        FilmOutcome::Unpicked { missing } => {
            format!("{which}: not joined yet, {missing} of its shots wait for a pick")
        }
        FilmOutcome::Failed { failure } => format!("{which}: not joined: {}", clean::message(&failure.message)),
    }
}

fn count(summary: &RunSummary) -> String {
    let done = summary.count(|outcome| matches!(outcome, Outcome::Done { .. }));
    let all = summary.nodes.len();
    let others = [
        (count_of(summary, 0), "failed"),
        (count_of(summary, 1), "ambiguous"),
        (count_of(summary, 2), "left for a later run"),
        (count_of(summary, 3) + count_of(summary, NOT_BEGUN) + count_of(summary, 5), "not begun"),
    ];
    // A small run has said all of that in its table.
    let others: String = others
        .into_iter()
        .filter(|(count, _)| all > MOST && *count > 0)
        .map(|(count, words)| format!(", {count} {words}"))
        .collect();
    match summary.submitted() {
        0 if done == all => format!("nothing was submitted: all {all} shots were made already"),
        0 => format!("{done} of {all} shots are done{others}, nothing was submitted"),
        submitted => format!("{done} of {all} shots are done{others}, {submitted} submitted"),
    }
}

fn count_of(summary: &RunSummary, kind: u8) -> usize {
    summary.count(|outcome| pressing(outcome) == kind)
}

fn seconds(node: &NodeSummary) -> String {
    match (&node.outcome, node.took) {
        (Outcome::Done { .. }, Some(took)) => format!("{:.1}", took.as_secs_f64()),
        _ => "-".to_owned(),
    }
}

fn file(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Done { artifact, .. } => shown(&artifact.path),
        Outcome::Failed { .. } => "failed".to_owned(),
        Outcome::Ambiguous { .. } => "ambiguous".to_owned(),
        Outcome::Detached { .. } => "still out".to_owned(),
        Outcome::Unpicked { .. } => "waits for a pick".to_owned(),
        Outcome::Blocked { .. } | Outcome::NotBegun => "not begun".to_owned(),
    }
}
