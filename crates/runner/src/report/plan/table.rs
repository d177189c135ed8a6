//! The plan for people: what happens to each shot, then what it comes to. Fits a terminal of 80 columns as far as the names do.

use std::collections::BTreeMap;

use scheduler::Decision;
use workflow::prices::{CostEstimate, EstimateLine, Interval};

use super::document::{Document, Planned};
use crate::report::Table;

/// What stands for something that there is not.
const NONE: &str = "-";

/// The plan as text.
pub(crate) fn table(document: &Document) -> String {
    let mut sections = vec![shots(document)];
    sections.extend(reasons(document));
    if !document.totals.lines.is_empty() {
        sections.push(totals(document));
    }
    sections.push(closing(document));
    sections.join("\n")
}

fn shots(document: &Document) -> String {
    let heads = ["shot", "decision", "after", "model", "at", "s", "cost"];
    let mut table = Table::new(heads);
    for shot in &document.shots {
        let mut after: Vec<&str> =
            shot.depends_on.iter().map(|dependency| dependency.shot.as_str()).collect();
        after.dedup();
        table.row([
            shot.name.clone(),
            shot.decision.as_str().to_owned(),
            if after.is_empty() { NONE.to_owned() } else { after.join(", ") },
            shot.billing.model.clone(),
            at(shot.billing.resolution()),
            shot.billing.seconds.to_string(),
            cost(shot),
        ]);
    }
    // What is the same for all of them stands in the totals.
    let varies = |of: fn(&Planned) -> (&str, Option<&str>)| {
        document.shots.windows(2).any(|pair| of(&pair[0]) != of(&pair[1]))
    };
    let models = varies(|shot| (&shot.billing.model, shot.billing.resolution()));
    let waits = document.shots.iter().any(|shot| !shot.depends_on.is_empty());
    table.keep(|column| match heads[column] {
        "after" => waits,
        "model" | "at" => models || document.totals.lines.is_empty(),
        "cost" => document.prices.is_some(),
        _ => true,
    });
    table.render()
}

fn at(resolution: Option<&str>) -> String {
    resolution.unwrap_or("any").to_owned()
}

fn cost(shot: &Planned) -> String {
    match (&shot.cost, shot.decision) {
        (_, Decision::Reuse | Decision::Adopt | Decision::Blocked | Decision::Unselected) => NONE.to_owned(),
        (Some(cost), Decision::Execute | Decision::Deferred) => cost.to_string(),
        (None, Decision::Execute | Decision::Deferred) => "unpriced".to_owned(),
    }
}

/// What the decisions alone do not say. That a shot waits for another stands in the table.
fn reasons(document: &Document) -> Option<String> {
    let lines: String = document
        .shots
        .iter()
        .filter(|shot| shot.decision != Decision::Deferred)
        .filter_map(|shot| shot.why.as_ref().map(|why| format!("{}: {why}\n", shot.name)))
        .collect();
    (!lines.is_empty()).then_some(lines)
}

fn totals(document: &Document) -> String {
    let mut table = Table::new(["model", "at", "sound", "each", "tasks", "seconds", "cost"]);
    for EstimateLine { each, tasks, seconds, cost } in &document.totals.lines {
        let sound = match (each.sound, each.video_input) {
            (true, false) => "yes",
            (false, false) => "no",
            (true, true) => "yes, from video",
            (false, true) => "no, from video",
        };
        table.row([
            each.model.clone(),
            at(each.resolution()),
            sound.to_owned(),
            format!("{} s", each.seconds),
            tasks.to_string(),
            seconds.to_string(),
            cost.map_or_else(|| "unpriced".to_owned(), |cost| cost.to_string()),
        ]);
    }
    table.keep(|column| column < 6 || document.prices.is_some());
    table.render()
}

fn closing(document: &Document) -> String {
    let mut lines = estimate(document);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for shot in &document.shots {
        *counts.entry(shot.decision.as_str()).or_default() += 1;
    }
    let deferred = counts.remove(Decision::Deferred.as_str()).unwrap_or(0);
    counts.remove(Decision::Execute.as_str());
    if deferred > 0 {
        let them = if deferred == 1 { "1 task waits".to_owned() } else { format!("{deferred} tasks wait") };
        lines.push(format!("deferred: {them} for a frame; submitted unless the video is there then"));
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
    for (shot, takes) in &document.picks {
        lines.push(format!("to pick: one of the {takes} takes of {shot}, once they are made"));
    }
    lines.join("\n") + "\n"
}

/// What is to be submitted and what that costs, in a few lines.
pub(crate) fn estimate(document: &Document) -> Vec<String> {
    std::iter::once(certainty(&document.totals))
        .chain(retries(&document.totals))
        .chain(money(document))
        .collect()
}

/// How much is to be submitted, in one line.
fn certainty(totals: &CostEstimate) -> String {
    if totals.tasks.most == 0 {
        return "nothing to submit".to_owned();
    }
    let tasks = if totals.tasks == Interval::exactly(1) { "task" } else { "tasks" };
    let seconds = if totals.seconds.to_string() == "1" { "second" } else { "seconds" };
    format!("to submit: {} {tasks}, {} {seconds} of video", totals.tasks, totals.seconds)
}

/// What the upper end holds for attempts that may not be needed.
fn retries(totals: &CostEstimate) -> Option<String> {
    match totals.retries {
        0 => None,
        1 => Some("retries: up to 1 of them, where an attempt fails".to_owned()),
        retries => Some(format!("retries: up to {retries} of them, where attempts fail")),
    }
}

fn money(document: &Document) -> Vec<String> {
    let totals = &document.totals;
    if totals.tasks.most == 0 {
        return Vec::new();
    }
    let embedded = document.service == "embedded";
    let Some(prices) = &document.prices else {
        return vec![if embedded {
            "cost: none, the embedded service is free".to_owned()
        } else {
            "cost: not known, there is no table of prices (docs/prices.md)".to_owned()
        }];
    };
    let mut said = format!("{} {}", totals.cost, prices.currency);
    match totals.unpriced {
        0 => {}
        unpriced if unpriced == totals.tasks.most => "unpriced".clone_into(&mut said),
        1 => said.push_str(", and 1 task without a price"),
        unpriced => said = format!("{said}, and {unpriced} tasks without a price"),
    }
    let mut lines = if embedded {
        vec!["cost: none, the embedded service is free".to_owned(), format!("      by these prices: {said}")]
    } else {
        vec![format!("cost: {said}")]
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
