//! What `status` tells people.

use std::collections::BTreeMap;
use std::time::Duration;

use scheduler::Timestamp;
use scheduler::history::Stands;
use workflow::prices::Money;

use super::query::Snapshot;
use super::record::{Open, Outstanding, Record, Run, RunLiveness, Shot, Totals};
use crate::report::{Table, humanize, sanitize};

/// Shots at most, and outstanding things at most, where nobody asks for more.
const MAX_LINES: usize = 40;

/// So many tasks at one service are told one by one.
const MAX_TASKS_LISTED: usize = 3;

/// Everything that was snapshot, as lines. On `rows` lines at most, where that is said.
pub(super) fn lines(snapshot: &Snapshot, now: Timestamp, rows: Option<usize>) -> Vec<String> {
    let mut runs: Vec<String> = snapshot.runs.iter().map(|one| run(one, now)).collect();
    if runs.is_empty() {
        runs.push("no run is on record".to_owned());
    }
    let open = outstanding(&snapshot.outstanding, now, rows.map_or(MAX_LINES, |rows| rows / 3));
    let totals = totals(&snapshot.totals);
    let taken = runs.len() + open.len() + usize::from(totals.is_some()) + 3;
    let room = rows.map_or(MAX_LINES, |rows| rows.saturating_sub(taken));
    let mut lines = runs;
    lines.extend(shots(&snapshot.shots, now, room));
    lines.extend(open);
    lines.extend(totals);
    lines
}

fn run(run: &Run, now: Timestamp) -> String {
    let since = now.since(Timestamp(run.started_at));
    let state = match (run.state, run.ended_at) {
        (RunLiveness::Alive, _) => format!("alive for {}", humanize(since)),
        (RunLiveness::Ending, _) => format!("alive for {}, asked to end", humanize(since)),
        (RunLiveness::Ended, Some(at)) => format!(
            "ended {} ago, after {}",
            humanize(now.since(Timestamp(at))),
            humanize(Timestamp(at).since(Timestamp(run.started_at)))
        ),
        (RunLiveness::Ended | RunLiveness::Died, _) => {
            format!("began {} ago and did not come to its end", humanize(since))
        }
    };
    let counts = run.shots.as_ref().map(|counts| {
        let told: Vec<String> = counts.told().iter().map(|(count, word)| format!("{count} {word}")).collect();
        if told.is_empty() { String::new() } else { format!(": {}", told.join(", ")) }
    });
    format!(
        "{}: {state}{} (run {} at {})",
        sanitize::line(&run.workflow),
        counts.unwrap_or_default(),
        run.run,
        sanitize::line(&run.service),
    )
}

/// Shots that are not done first; of the others only as many as there is room for.
fn shots(shots: &[Shot], now: Timestamp, room: usize) -> Vec<String> {
    let open = |shot: &&Shot| !matches!(shot.state, Stands::Done | Stands::Reused | Stands::Waiting);
    let mut told: Vec<&Shot> = shots.iter().filter(open).collect();
    told.extend(shots.iter().filter(|shot| !open(shot)));
    let more = told.len().saturating_sub(room);
    // The line that counts the rest needs a place itself.
    told.truncate(if more > 0 { room.saturating_sub(1) } else { room });
    if told.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(["shot", "state", "for", "usually", "task", ""]);
    for shot in &told {
        let is_over = matches!(shot.state, Stands::Done | Stands::Reused | Stands::Failed);
        table.row([
            sanitize::line(&shot.shot).into_owned(),
            shot.state.word().to_owned(),
            if is_over { "-".to_owned() } else { humanize(now.since(Timestamp(shot.since))) },
            shot.typical_ms.map_or_else(|| "-".to_owned(), |ms| humanize(Duration::from_millis(ms))),
            shot.task.as_deref().map_or("-".into(), sanitize::line).into_owned(),
            shot.trouble.clone().unwrap_or_default(),
        ]);
    }
    let mut lines = vec![String::new()];
    lines.extend(table.render().lines().map(str::to_owned));
    let hidden = shots.len() - told.len();
    if hidden > 0 {
        lines.push(format!("and {hidden} more; `--format json` lists them all"));
    }
    lines
}

fn outstanding(open: &[Outstanding], now: Timestamp, room: usize) -> Vec<String> {
    if open.is_empty() {
        return Vec::new();
    }
    let told = grouped(open, now);
    let mut lines = vec![String::new(), "outstanding:".to_owned()];
    lines.extend(told.iter().take(room.max(1)).map(|line| format!("  {line}")));
    if told.len() > room.max(1) {
        lines.push(format!("  and {} more", told.len() - room.max(1)));
    }
    lines
}

/// Tasks that are out, where there are many, are one thing to do: together by their service.
fn grouped(open: &[Outstanding], now: Timestamp) -> Vec<String> {
    let mut out: BTreeMap<&str, Vec<&Outstanding>> = BTreeMap::new();
    for open in open.iter().filter(|open| open.what == Open::Out) {
        out.entry(&open.service).or_default().push(open);
    }
    out.retain(|_, tasks| tasks.len() > MAX_TASKS_LISTED);
    let together = out.iter().filter_map(|(service, tasks)| {
        let longest = tasks.iter().min_by_key(|open| open.since)?;
        Some(format!(
            "{} tasks are out at {}, the longest for {}; {}",
            tasks.len(),
            sanitize::line(service),
            humanize(now.since(Timestamp(longest.since))),
            longest.remedy
        ))
    });
    let alone = open.iter().filter(|open| open.what != Open::Out || !out.contains_key(open.service.as_str()));
    together.chain(alone.map(|open| one(open, now))).collect()
}

fn one(open: &Outstanding, now: Timestamp) -> String {
    let shot = sanitize::line(&open.shot);
    let ago = humanize(now.since(Timestamp(open.since)));
    let service = sanitize::line(&open.service);
    let usually = open
        .typical_ms
        .map(|ms| format!(", where {} are usual", humanize(Duration::from_millis(ms))))
        .unwrap_or_default();
    let held = open.held.filter(|held| *held > 0);
    let held = held.map(|held| format!(", up to {}", money(held))).unwrap_or_default();
    let what = match open.what {
        Open::Out => {
            let task = open.task.as_deref().map(sanitize::line).unwrap_or_default();
            format!("task {task} is out at {service} for {ago}{usually}{held}")
        }
        Open::Unaccounted => {
            format!("submitted to {service} {ago} ago, and nobody knows whether it was accepted{held}")
        }
        Open::Pick => "no take is picked".to_owned(),
    };
    format!("{shot}: {what}; {}", open.remedy)
}

fn totals(totals: &Totals) -> Option<String> {
    let told = |amount: &crate::report::stream::Amount| {
        let tasks = if amount.tasks == 1 { "task" } else { "tasks" };
        let cost = if amount.cost == 0 { String::new() } else { format!(", {}", money(amount.cost)) };
        format!("{} {tasks}, {} s of video{cost}", amount.tasks, amount.video_ms as f64 / 1e3)
    };
    let Totals { held, spent } = totals;
    if held.tasks == 0 && spent.tasks == 0 {
        return None;
    }
    Some(format!("in all: held for {}; spent on {}", told(held), told(spent)))
}

/// An amount in the currency of the user's table, which the ledger does not know.
fn money(micros: i64) -> String {
    Money::from_micros(micros.unsigned_abs()).to_string()
}

/// A record that is new or has changed, as a line of its own.
pub(super) fn change(record: &Record, now: Timestamp) -> Option<String> {
    match record {
        Record::Run(one) => Some(run(one, now)),
        Record::Shot(shot) => {
            let task = shot.task.as_deref().map(|task| format!(", task {}", sanitize::line(task)));
            let trouble = shot.trouble.as_deref().map(|trouble| format!(": {trouble}"));
            Some(format!(
                "{}: {}{}{}",
                sanitize::line(&shot.shot),
                shot.state.word(),
                task.unwrap_or_default(),
                trouble.unwrap_or_default()
            ))
        }
        Record::Outstanding(open) => Some(format!("outstanding: {}", one(open, now))),
        Record::Totals(all) => totals(all),
    }
}
