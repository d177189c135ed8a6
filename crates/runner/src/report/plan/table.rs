//! The plan as a table: the decision for each shot, then totals. Fits 80 columns if the names do.

use std::collections::{BTreeMap, BTreeSet};

use scheduler::Decision;
use workflow::prices::{CostEstimate, EstimateLine, Interval};

use super::document::{PlanDocument, PlannedShot};
use crate::report::Table;
use crate::shell;

/// In plans of more shots, those that are up to date are counted and not listed.
const MAX_REUSED_SHOTS: usize = 12;
/// Instances that are named as those which another one waits for.
const MAX_DEPENDENCIES: usize = 4;
/// Placeholder of an empty cell.
const NONE: &str = "-";

/// The plan as text.
pub(crate) fn table(document: &PlanDocument) -> String {
    let mut sections = vec![shots(document)];
    sections.retain(|section| !section.is_empty());
    sections.extend(reasons(document));
    if !document.totals.lines.is_empty() {
        sections.push(totals(document));
    }
    sections.push(summary(document));
    sections.join("\n")
}

fn shots(document: &PlanDocument) -> String {
    let heads = ["shot", "decision", "after", "model", "res", "seconds", "cost"];
    let mut table = Table::new(heads);
    let is_listed =
        |shot: &&PlannedShot| document.shots.len() <= MAX_REUSED_SHOTS || shot.decision != Decision::Reuse;
    let listed: Vec<&PlannedShot> = document.shots.iter().filter(is_listed).collect();
    if listed.is_empty() {
        return String::new();
    }
    for shot in listed {
        let mut dependencies: Vec<&str> =
            shot.depends_on.iter().map(|dependency| &*dependency.shot).collect();
        dependencies.dedup();
        let others = dependencies.len().saturating_sub(MAX_DEPENDENCIES);
        // A column is as wide as its longest cell.
        let others = if others > 1 { format!(" and {others} more") } else { String::new() };
        dependencies.truncate(if others.is_empty() { usize::MAX } else { MAX_DEPENDENCIES });
        table.row([
            shot.name.clone(),
            shot.decision.as_str().to_owned(),
            if dependencies.is_empty() { NONE.to_owned() } else { dependencies.join(", ") + &others },
            shot.price_inputs.model.clone(),
            resolution_cell(shot.price_inputs.resolution()),
            shot.price_inputs.seconds.to_string(),
            cost(shot),
        ]);
    }
    // A column whose value is the same for all shots is in the totals instead.
    let varies = |property: fn(&PlannedShot) -> (&str, Option<&str>)| {
        document.shots.windows(2).any(|pair| property(&pair[0]) != property(&pair[1]))
    };
    let models = varies(|shot| (&shot.price_inputs.model, shot.price_inputs.resolution()));
    let has_dependencies = document.shots.iter().any(|shot| !shot.depends_on.is_empty());
    table.keep(|column| match heads[column] {
        "after" => has_dependencies,
        "model" | "res" => models || document.totals.lines.is_empty(),
        "cost" => document.prices.is_some(),
        _ => true,
    });
    table.render()
}

fn resolution_cell(resolution: Option<&str>) -> String {
    resolution.unwrap_or("any").to_owned()
}

fn cost(shot: &PlannedShot) -> String {
    match (&shot.cost, shot.decision) {
        (_, Decision::Reuse | Decision::Adopt | Decision::Blocked | Decision::NotSelected) => NONE.to_owned(),
        (Some(cost), Decision::Execute | Decision::Deferred) => cost.to_string(),
        (None, Decision::Execute | Decision::Deferred) => "unpriced".to_owned(),
    }
}

/// The reasons of decisions. That a shot waits for another is in the table.
fn reasons(document: &PlanDocument) -> Option<String> {
    let lines: String = document
        .shots
        .iter()
        .filter(|shot| shot.decision != Decision::Deferred)
        .filter_map(|shot| shot.why.as_ref().map(|why| format!("{}: {why}\n", shot.name)))
        .collect();
    (!lines.is_empty()).then_some(lines)
}

fn totals(document: &PlanDocument) -> String {
    let mut table = Table::new(["service", "model", "res", "sound", "each", "tasks", "seconds", "cost"]);
    for EstimateLine { each, tasks, seconds, cost } in &document.totals.lines {
        let sound = match (each.sound, each.video_input) {
            (true, false) => "yes",
            (false, false) => "no",
            (true, true) => "yes, from video",
            (false, true) => "no, from video",
        };
        table.row([
            each.service.clone().unwrap_or_else(|| NONE.to_owned()),
            each.model.clone(),
            resolution_cell(each.resolution()),
            sound.to_owned(),
            format!("{} s", each.seconds),
            tasks.to_string(),
            seconds.to_string(),
            cost.map_or_else(|| "unpriced".to_owned(), |cost| cost.to_string()),
        ]);
    }
    let services: BTreeSet<_> = document.totals.lines.iter().map(|line| &line.each.service).collect();
    table.keep(|column| match column {
        0 => services.len() > 1,
        7 => document.prices.is_some(),
        _ => true,
    });
    table.render()
}

fn summary(document: &PlanDocument) -> String {
    let mut lines = estimate(document);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for shot in &document.shots {
        *counts.entry(shot.decision.as_str()).or_default() += 1;
    }
    let deferred = counts.remove(Decision::Deferred.as_str()).unwrap_or(0);
    counts.remove(Decision::Execute.as_str());
    if deferred > 0 {
        let tasks = if deferred == 1 { "1 task waits".to_owned() } else { format!("{deferred} tasks wait") };
        lines.push(format!("deferred: {tasks} for a frame; submitted then, unless the video exists"));
    }
    if !counts.is_empty() {
        let words: Vec<String> = counts.iter().map(|(word, count)| format!("{word} {count}")).collect();
        lines.push(format!("not submitted: {}", words.join(", ")));
    }
    for film in &document.films {
        let clips = film.clips.len();
        lines.push(format!(
            "film: {} from {clips} {}",
            film.output,
            if clips == 1 { "clip" } else { "clips" }
        ));
    }
    for (shot, candidates) in &document.picks {
        let command = format!("runner pick {} {}", shell::quote(&document.file), shell::quote(shot));
        let condition = if is_rendered(document, shot) { "" } else { ", once they are rendered" };
        lines.push(format!("to pick: one of {candidates} of {shot}{condition}: `{command}`"));
    }
    lines.join("\n") + "\n"
}

/// Whether all candidates of a shot or an instance have videos.
fn is_rendered(document: &PlanDocument, name: &str) -> bool {
    let is_candidate = |shot: &&PlannedShot| {
        &*shot.shot == name || shot.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('#'))
    };
    let mut candidates = document.shots.iter().filter(is_candidate).peekable();
    candidates.peek().is_some() && candidates.all(|shot| shot.decision == Decision::Reuse)
}

/// What would be submitted and its cost, as lines.
pub(crate) fn estimate(document: &PlanDocument) -> Vec<String> {
    std::iter::once(certainty(&document.totals))
        .chain(retries(&document.totals))
        .chain(money(document))
        .collect()
}

/// How much would be submitted, on one line.
fn certainty(totals: &CostEstimate) -> String {
    if totals.tasks.max == 0 {
        return "nothing to submit".to_owned();
    }
    let tasks = if totals.tasks == Interval::exactly(1) { "task" } else { "tasks" };
    let seconds = if totals.seconds.to_string() == "1" { "second" } else { "seconds" };
    format!("to submit: {} {tasks}, {} {seconds} of video", totals.tasks, totals.seconds)
}

/// The retries included in the upper bound.
fn retries(totals: &CostEstimate) -> Option<String> {
    match totals.retries {
        0 => None,
        1 => Some("retries: up to 1 of them, if an attempt fails".to_owned()),
        retries => Some(format!("retries: up to {retries} of them, if attempts fail")),
    }
}

fn money(document: &PlanDocument) -> Vec<String> {
    let totals = &document.totals;
    if totals.tasks.max == 0 {
        return Vec::new();
    }
    let embedded = document.is_free;
    let Some(prices) = &document.prices else {
        return vec![if embedded {
            "cost: none, the embedded service is free".to_owned()
        } else {
            "cost: unknown, there are no prices: fill in `prices.yaml` beside the workflow".to_owned()
        }];
    };
    let mut text = format!("{} {}", totals.cost, prices.currency);
    match totals.unpriced {
        0 => {}
        unpriced if unpriced == totals.tasks.max => "unpriced".clone_into(&mut text),
        1 => text.push_str(", and 1 task without a price"),
        unpriced => text = format!("{text}, and {unpriced} tasks without a price"),
    }
    let mut lines = if embedded {
        vec!["cost: none, the embedded service is free".to_owned(), format!("      at these prices: {text}")]
    } else {
        vec![format!("cost: {text}")]
    };
    lines.push(format!("prices: {}, as of {}", prices.file, prices.as_of));
    lines.push(format!("        {}", prices.source.split_whitespace().collect::<Vec<_>>().join(" ")));
    let mut reasons: Vec<&str> = document
        .shots
        .iter()
        .filter(|shot| matches!(shot.decision, Decision::Execute | Decision::Deferred))
        .filter_map(|shot| shot.unpriced.as_deref())
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    lines.extend(reasons.into_iter().map(|reason| format!("unpriced: {reason}")));
    lines
}
