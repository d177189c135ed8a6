//! Status as text.

use std::collections::BTreeMap;

use scheduler::StatusKind;
use scheduler::Timestamp;
use workflow::units::Money;

use super::query::StatusSnapshot;
use super::record::{ActionNeeded, ActionReason, Retry, Run, RunLiveness, Shot, StatusRecord, Totals};
use crate::report::{Table, humanize, sanitize};

/// Maximum number of shots, and of things that need action, without a terminal.
const MAX_LINES: usize = 40;

/// Up to this many tasks at one service are listed one by one.
const MAX_TASKS_LISTED: usize = 3;

/// The status as lines; at most `rows` of them, if given.
pub(super) fn lines(snapshot: &StatusSnapshot, now: Timestamp, rows: Option<usize>) -> Vec<String> {
    let mut runs: Vec<String> = snapshot.runs.iter().map(|one| run(one, now)).collect();
    if runs.is_empty() {
        // Finished ones are recorded, and not listed: `--runs 0`.
        let none = if snapshot.has_runs { "no run is alive" } else { "no runs recorded" };
        runs.push(none.to_owned());
    }
    let actions = action_needed(&snapshot.action_needed, now, rows.map_or(MAX_LINES, |rows| rows / 3));
    let totals = totals(&snapshot.totals);
    let taken = runs.len() + actions.len() + usize::from(totals.is_some()) + 3;
    let room = rows.map_or(MAX_LINES, |rows| rows.saturating_sub(taken));
    let mut lines = runs;
    lines.extend(shots(&snapshot.shots, now, room));
    lines.extend(actions);
    if let Some((instances, command)) = &snapshot.asked {
        let names = sanitize::line(&instances.join(", ")).into_owned();
        lines.push(format!("asked for with --rerun and not done: {names}; `{command}` continues"));
    }
    lines.extend(totals);
    lines
}

fn run(run: &Run, now: Timestamp) -> String {
    let since = now.since(run.started_at);
    let state = match (run.state, run.ended_at) {
        (RunLiveness::Alive, _) => format!("alive for {}", humanize(since)),
        (RunLiveness::Ending, _) => format!("alive for {}, shutting down", humanize(since)),
        (RunLiveness::Ended, Some(ended_at)) => {
            format!(
                "ended {} ago, after {}",
                humanize(now.since(ended_at)),
                humanize(ended_at.since(run.started_at))
            )
        }
        (RunLiveness::Ended | RunLiveness::Died, _) => {
            format!("started {} ago and died", humanize(since))
        }
    };
    let counts = run.shots.as_ref().map(|counts| {
        let parts: Vec<String> =
            counts.iter().map(|(count, kind)| format!("{count} {}", kind.as_str())).collect();
        if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
    });
    format!(
        "{}: {state}{} (run {} at {})",
        sanitize::line(&run.workflow),
        counts.unwrap_or_default(),
        run.run,
        sanitize::line(&run.service),
    )
}

/// Shots in flight or failed first; done and waiting ones as far as there is room.
fn shots(shots: &[Shot], now: Timestamp, room: usize) -> Vec<String> {
    let is_open = |shot: &&Shot| {
        !shot.state.is_done() && !matches!(shot.state, StatusKind::Waiting | StatusKind::Pending)
    };
    let mut listed: Vec<&Shot> = shots.iter().filter(is_open).collect();
    listed.extend(shots.iter().filter(|shot| !is_open(shot)));
    let more = listed.len().saturating_sub(room);
    // One line is needed for the count of the rest.
    listed.truncate(if more > 0 { room.saturating_sub(1) } else { room });
    if listed.is_empty() {
        return Vec::new();
    }
    let mut table = Table::new(["shot", "state", "for", "task", ""]);
    for shot in &listed {
        let has_ended =
            shot.state.is_done() || matches!(shot.state, StatusKind::Failed | StatusKind::Unrecorded);
        table.row([
            sanitize::line(&shot.shot).into_owned(),
            status(shot, now),
            if has_ended { "-".to_owned() } else { humanize(now.since(shot.since)) },
            shot.task.as_deref().map_or("-".into(), sanitize::line).into_owned(),
            remark(shot).unwrap_or_default(),
        ]);
    }
    let mut lines = vec![String::new()];
    lines.extend(table.render().lines().map(str::to_owned));
    let hidden = shots.len() - listed.len();
    if hidden > 0 {
        lines.push(format!("and {hidden} more; `--format json` lists them all"));
    }
    lines
}

/// Why a shot failed or waits, or what the service said beside its video.
fn remark(shot: &Shot) -> Option<String> {
    shot.after_run.clone().or_else(|| shot.failure.clone())
}

/// The status of a shot: `in-flight`, `waiting (attempt 2 of 3 in 54 s)`.
fn status(shot: &Shot, now: Timestamp) -> String {
    let Some(Retry { number, of, not_before }) = shot.retry else {
        return shot.state.as_str().to_owned();
    };
    let wait = not_before.since(now);
    let when = if wait.as_secs() == 0 { String::new() } else { format!(" in {}", humanize(wait)) };
    format!("waiting (attempt {number} of {of}{when})")
}

fn action_needed(actions: &[ActionNeeded], now: Timestamp, room: usize) -> Vec<String> {
    if actions.is_empty() {
        return Vec::new();
    }
    let listed = grouped(actions, now);
    let mut lines = vec![String::new(), "action needed:".to_owned()];
    lines.extend(listed.iter().take(room.max(1)).map(|line| format!("  {line}")));
    if listed.len() > room.max(1) {
        lines.push(format!("  and {} more", listed.len() - room.max(1)));
    }
    lines
}

/// Lines of actions needed. Tasks in flight at one service that one action covers are grouped.
fn grouped(actions: &[ActionNeeded], now: Timestamp) -> Vec<String> {
    let group = |entry: &ActionNeeded| (entry.service.clone(), entry.action.clone());
    // Those that no shot asks for are told one by one: each has a command of its own.
    let mut in_flight: BTreeMap<(String, String), Vec<&ActionNeeded>> = BTreeMap::new();
    for entry in actions.iter().filter(|entry| entry.reason == ActionReason::InFlight) {
        in_flight.entry(group(entry)).or_default().push(entry);
    }
    in_flight.retain(|_, tasks| tasks.len() > MAX_TASKS_LISTED);
    let grouped = in_flight.iter().filter_map(|((service, _), tasks)| {
        let longest = tasks.iter().min_by_key(|entry| entry.since)?;
        Some(format!(
            "{} tasks are in flight at {}, the longest for {}; {}",
            tasks.len(),
            sanitize::line(service),
            humanize(now.since(longest.since)),
            longest.action
        ))
    });
    let others = actions
        .iter()
        .filter(|entry| entry.reason != ActionReason::InFlight || !in_flight.contains_key(&group(entry)));
    grouped.chain(others.map(|entry| action_line(entry, now))).collect()
}

fn action_line(entry: &ActionNeeded, now: Timestamp) -> String {
    let shot = sanitize::line(&entry.shot);
    let ago = humanize(now.since(entry.since));
    let service = sanitize::line(&entry.service);
    let reserved = entry.reserved.filter(|reserved| *reserved > Money::ZERO);
    let reserved = reserved.map(|reserved| format!(", up to {reserved}")).unwrap_or_default();
    let description = match entry.reason {
        ActionReason::Missing => {
            let task = entry.task.as_deref().map(sanitize::line).unwrap_or_default();
            format!(
                "task {task} of {service} is missing: the service did not know it, or had no intact video of it, when it was last asked"
            )
        }
        ActionReason::Replaced => {
            let task = entry.task.as_deref().map(sanitize::line).unwrap_or_default();
            format!("task {task} of {service} is paid for and has no video, and a retry has replaced it")
        }
        ActionReason::NoFile => {
            let task = entry.task.as_deref().map(sanitize::line).unwrap_or_default();
            format!("the video of task {task} of {service} is not on disk, and could not be downloaded again")
        }
        ActionReason::Unrecorded => "its video is there, and the ledger does not know it".to_owned(),
        ActionReason::InFlight | ActionReason::Unclaimed => {
            let task = entry.task.as_deref().map(sanitize::line).unwrap_or_default();
            format!("task {task} has been in flight at {service} for {ago}{reserved}")
        }
        ActionReason::Indeterminate => {
            format!(
                "indeterminate: submitted to {service} {ago} ago, and may or may not have been accepted{reserved}"
            )
        }
        ActionReason::Unpicked => "not picked yet".to_owned(),
    };
    format!("{shot}: {description}; {}", entry.action)
}

/// The totals. The ledger does not record the currency of its amounts.
fn totals(totals: &Totals) -> Option<String> {
    let text = |amount: &crate::report::stream::Amount| {
        let tasks = if amount.tasks == 1 { "task" } else { "tasks" };
        let cost = if amount.cost == Money::ZERO { String::new() } else { format!(", {}", amount.cost) };
        format!("{} {tasks}, {} s of video{cost}", amount.tasks, amount.duration)
    };
    let Totals { reserved, spent } = totals;
    if reserved.tasks == 0 && spent.tasks == 0 {
        return None;
    }
    Some(format!("total: {} reserved; {} spent", text(reserved), text(spent)))
}

/// A new or changed record as one line.
pub(super) fn change(record: &StatusRecord, now: Timestamp) -> Option<String> {
    match record {
        StatusRecord::Run(one) => Some(run(one, now)),
        StatusRecord::Shot(shot) => {
            let task = shot.task.as_deref().map(|task| format!(", task {}", sanitize::line(task)));
            let failure = remark(shot).map(|remark| format!(": {remark}"));
            Some(format!(
                "{}: {}{}{}",
                sanitize::line(&shot.shot),
                status(shot, now),
                task.unwrap_or_default(),
                failure.unwrap_or_default()
            ))
        }
        StatusRecord::ActionNeeded(action) => Some(format!("action needed: {}", action_line(action, now))),
        StatusRecord::Totals(all) => totals(all),
    }
}
