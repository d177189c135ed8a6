//! A frame of the live view: lines that fit a terminal of any size.

use scheduler::Timestamp;

use super::progress::{ActiveShot, RunProgress};
use crate::report::humanize;
use crate::report::screen::{fit, fit_name};

/// Maximum number of lines for shots.
const MAX_SHOT_LINES: usize = 20;
/// Maximum width of a shot's name, and of its progress bar.
const MAX_NAME_WIDTH: usize = 28;
const MAX_BAR_WIDTH: usize = 24;

/// The style of a part of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Dim,
    Good,
    Bad,
    Attention,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Bad => "\u{1b}[31m",
            Self::Attention => "\u{1b}[33m",
        }
    }
}

/// The lines, each with its display width.
pub(super) fn frame(
    progress: &RunProgress,
    rows: usize,
    columns: usize,
    now: Timestamp,
    color: bool,
) -> Vec<(String, usize)> {
    let Some(started_at) = progress.started_at else { return Vec::new() };
    let active = progress.active();
    let mut last = vec![counts_line(progress)];
    if rows >= 2 {
        last.push(status_line(progress, started_at, now));
    }
    let room = rows.saturating_sub(last.len()).min(MAX_SHOT_LINES);
    let shown_count = if active.len() > room { room.saturating_sub(1) } else { active.len() };
    let name =
        active.iter().take(shown_count).map(|shot| fit_name(&shot.name, MAX_NAME_WIDTH).1).max().unwrap_or(0);
    let name = name.min(columns / 3).max(1);
    let times: Vec<String> =
        active.iter().take(shown_count).map(|shot| humanize(now.since(shot.since))).collect();
    let time_width = times.iter().map(String::len).max().unwrap_or(0);
    let mut lines: Vec<Vec<(String, Style)>> = active
        .iter()
        .zip(&times)
        .map(|(shot, time)| shot_line(shot, name, &format!("{time:<time_width$}"), columns))
        .collect();
    if active.len() > shown_count && room > 0 {
        lines.push(vec![(format!("  and {} more active", active.len() - shown_count), Style::Dim)]);
    }
    lines.extend(last);
    lines.into_iter().map(|line| compose(&line, columns, color)).collect()
}

/// `  breakwater  ━━━━━━━━────────   43 %  1 min 2 s  in progress`
fn shot_line(shot: &ActiveShot, name: usize, time: &str, columns: usize) -> Vec<(String, Style)> {
    let (shown_name, width) = fit_name(&shot.name, name);
    let mut line = vec![(format!("  {shown_name}{}", " ".repeat(name - width)), Style::Plain)];
    // What is left beside name, percentage, time and activity.
    let bar = columns.saturating_sub(name + time.len() + 26).min(MAX_BAR_WIDTH);
    if bar >= 8 {
        let full = shot.percent.map_or(0, |percent| usize::from(percent.min(100)) * bar / 100);
        line.push((format!("  {}", "━".repeat(full)), Style::Good));
        line.push(("─".repeat(bar - full), Style::Dim));
    }
    let percent = shot.percent.map_or_else(|| "     ".to_owned(), |percent| format!("{percent:>3} %"));
    line.push((format!("  {percent}  "), Style::Plain));
    line.push((format!("{time}  "), Style::Dim));
    match &shot.failure {
        Some(failure) => line.push((failure.clone(), Style::Bad)),
        None => line.push((shot.activity.to_owned(), Style::Plain)),
    }
    line
}

/// `12/30 shots done, 1 failed, 4 active, 10 waiting, 4 reused`
fn counts_line(progress: &RunProgress) -> Vec<(String, Style)> {
    let done = progress.done();
    let mut line = vec![(format!("{done}/{} shots done", progress.all()), Style::Good)];
    let mut add = |count: usize, words: &str, style: Style| {
        if count > 0 {
            line.push((format!(", {count} {words}"), style));
        }
    };
    add(progress.failed(), "failed", Style::Bad);
    add(progress.action_needed(), "need action", Style::Attention);
    add(progress.in_progress(), "active", Style::Plain);
    add(progress.waiting(), "waiting", Style::Plain);
    add(progress.not_started(), "not started", Style::Attention);
    add(progress.reused(), "reused", Style::Dim);
    if progress.films.1 > 1 {
        add(progress.films.0, "films ended", Style::Plain);
    }
    line
}

/// `1 min 2 s, about 2 min left, 0.40 spent, 0.75 reserved of 1.50 to 3.00 USD`
fn status_line(progress: &RunProgress, started_at: Timestamp, now: Timestamp) -> Vec<(String, Style)> {
    let mut line = vec![(humanize(now.since(started_at)), Style::Plain)];
    let is_joining = progress.in_progress() + progress.waiting() == 0;
    if progress.is_ending {
        line.push((", finishing: nothing more is submitted".to_owned(), Style::Attention));
    } else if is_joining && progress.films.0 < progress.films.1 {
        let joining = match progress.joined_frames() {
            Some((done, all)) => format!(", joining: {done} of {all} frames"),
            None => ", joining".to_owned(),
        };
        line.push((joining, Style::Plain));
    } else if let Some(remaining) = progress.remaining(now) {
        line.push((format!(", about {} left", humanize(remaining)), Style::Plain));
    }
    if let Some(estimate) = &progress.estimate {
        line.push((
            format!(
                ", {} spent, {} reserved of {} {}",
                progress.spent.cost, progress.reserved.cost, estimate.estimate, estimate.currency
            ),
            Style::Plain,
        ));
    }
    if progress.throttled > 0 {
        let times =
            if progress.throttled == 1 { "once".to_owned() } else { format!("{} times", progress.throttled) };
        line.push((format!(", throttled {times}"), Style::Attention));
    }
    let submission_wait =
        progress.submissions_held_until.map(|until| until.since(now)).filter(|wait| wait.as_secs() > 0);
    if let Some(wait) = submission_wait.filter(|_| progress.waiting() > 0 && !progress.is_ending) {
        line.push((format!(", next submission in {}", humanize(wait)), Style::Attention));
    }
    line
}

/// Joins parts to one line that fits.
fn compose(pieces: &[(String, Style)], columns: usize, color: bool) -> (String, usize) {
    let mut line = String::new();
    let mut taken = 0;
    for (text, style) in pieces {
        let room = columns.saturating_sub(taken);
        if room == 0 {
            break;
        }
        let (fitted, width) = fit(text, room);
        taken += width;
        if color && *style != Style::Plain {
            line.push_str(style.code());
            line.push_str(&fitted);
            line.push_str("\u{1b}[0m");
        } else {
            line.push_str(&fitted);
        }
    }
    (line, taken)
}
