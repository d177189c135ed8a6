//! One picture of the live progress: lines that fit a terminal of a given size, whatever its size and however much there is.

use scheduler::Timestamp;
use workflow::prices::Money;

use super::progress::{RunProgress, ShotGroup, UnderWay};
use crate::report::humanize;
use crate::report::screen::{fit, fit_name};

/// Lines for shots at most, however high the terminal is.
const MAX_SHOT_LINES: usize = 20;
/// The widest that a shot's name is shown, and its bar.
const MAX_NAME_WIDTH: usize = 28;
const MAX_BAR_WIDTH: usize = 24;

/// How a piece of a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Plain,
    Dim,
    Good,
    Bad,
    Slow,
}

impl Style {
    fn code(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Dim => "\u{1b}[2m",
            Self::Good => "\u{1b}[32m",
            Self::Bad => "\u{1b}[31m",
            Self::Slow => "\u{1b}[33m",
        }
    }
}

/// The lines, each with its width.
pub(super) fn frame(
    progress: &RunProgress,
    rows: usize,
    columns: usize,
    now: Timestamp,
    color: bool,
) -> Vec<(String, usize)> {
    let Some(started_at) = progress.started_at else { return Vec::new() };
    let under_way = progress.under_way();
    let mut last = vec![counts_line(progress)];
    if rows >= 2 {
        last.push(status_line(progress, started_at, now));
    }
    let room = rows.saturating_sub(last.len()).min(MAX_SHOT_LINES);
    let shown = if under_way.len() > room { room.saturating_sub(1) } else { under_way.len() };
    let name =
        under_way.iter().take(shown).map(|one| fit_name(&one.name, MAX_NAME_WIDTH).1).max().unwrap_or(0);
    let name = name.min(columns / 3).max(1);
    let times: Vec<String> = under_way.iter().take(shown).map(|one| time(progress, one, now)).collect();
    let widest = times.iter().map(String::len).max().unwrap_or(0);
    let mut lines: Vec<Vec<(String, Style)>> = under_way
        .iter()
        .zip(&times)
        .map(|(one, time)| {
            shot_line(one, name, &format!("{time:<widest$}"), progress.is_slow(one, now), columns)
        })
        .collect();
    if under_way.len() > shown && room > 0 {
        lines.push(vec![(format!("  and {} more under way", under_way.len() - shown), Style::Dim)]);
    }
    lines.extend(last);
    lines.into_iter().map(|line| compose(&line, columns, color)).collect()
}

fn time(progress: &RunProgress, one: &UnderWay, now: Timestamp) -> String {
    let time = humanize(now.since(one.since));
    if progress.is_slow(one, now) { format!("{time}, slow") } else { time }
}

/// `  breakwater  ━━━━━━━━────────   43 %  1 min 2 s, slow  in progress`
fn shot_line(one: &UnderWay, name: usize, time: &str, is_slow: bool, columns: usize) -> Vec<(String, Style)> {
    let (shown, width) = fit_name(&one.name, name);
    let mut line = vec![(format!("  {shown}{}", " ".repeat(name - width)), Style::Plain)];
    // What remains beside the name, the percent sign, the time and the words.
    let bar = columns.saturating_sub(name + time.len() + 26).min(MAX_BAR_WIDTH);
    if bar >= 8 {
        let full = one.percent.map_or(0, |percent| usize::from(percent.min(100)) * bar / 100);
        line.push((format!("  {}", "━".repeat(full)), Style::Good));
        line.push(("─".repeat(bar - full), Style::Dim));
    }
    let percent = one.percent.map_or_else(|| "     ".to_owned(), |percent| format!("{percent:>3} %"));
    line.push((format!("  {percent}  "), Style::Plain));
    line.push((format!("{time}  "), if is_slow { Style::Slow } else { Style::Dim }));
    match &one.trouble {
        Some(trouble) => line.push((trouble.clone(), Style::Bad)),
        None => line.push((one.doing.to_owned(), Style::Plain)),
    }
    line
}

/// `12/30 shots done, 4 made before, 4 under way, 10 waiting, 1 failed`
fn counts_line(progress: &RunProgress) -> Vec<(String, Style)> {
    let done = progress.count(ShotGroup::Done) + progress.count(ShotGroup::Reused);
    let mut line = vec![(format!("{done}/{} shots done", progress.all()), Style::Good)];
    let mut add = |count: usize, words: &str, style: Style| {
        if count > 0 {
            line.push((format!(", {count} {words}"), style));
        }
    };
    add(progress.count(ShotGroup::Failed), "failed", Style::Bad);
    add(progress.count(ShotGroup::Outstanding), "outstanding", Style::Slow);
    add(progress.count(ShotGroup::UnderWay), "under way", Style::Plain);
    add(progress.count(ShotGroup::Waiting), "waiting", Style::Plain);
    add(progress.count(ShotGroup::Dropped), "not begun", Style::Slow);
    add(progress.count(ShotGroup::Reused), "made before", Style::Dim);
    if progress.films.1 > 1 {
        add(progress.films.0, "films ended", Style::Plain);
    }
    line
}

/// `1 min 2 s, about 2 min left, 0.40 spent and 0.75 held of 1.50 to 3.00 USD`
fn status_line(progress: &RunProgress, started_at: Timestamp, now: Timestamp) -> Vec<(String, Style)> {
    let mut line = vec![(humanize(now.since(started_at)), Style::Plain)];
    let is_joining = progress.count(ShotGroup::UnderWay) + progress.count(ShotGroup::Waiting) == 0;
    if progress.is_ending {
        line.push((", ending: nothing more is submitted".to_owned(), Style::Slow));
    } else if is_joining && progress.films.0 < progress.films.1 {
        line.push((", joining".to_owned(), Style::Plain));
    } else if let Some(left) = progress.remaining(now) {
        line.push((format!(", about {} left", humanize(left)), Style::Plain));
    }
    if let Some(estimate) = &progress.estimate {
        let money = |micros: i64| Money::from_micros(micros.unsigned_abs());
        line.push((
            format!(
                ", {} spent and {} held of {} {}",
                money(progress.spent.cost),
                money(progress.held.cost),
                estimate.estimate,
                estimate.currency
            ),
            Style::Plain,
        ));
    }
    if progress.slowed > 0 {
        line.push((format!(", slowed down {} times", progress.slowed), Style::Slow));
    }
    line
}

/// Pieces as one line that fits.
fn compose(pieces: &[(String, Style)], columns: usize, color: bool) -> (String, usize) {
    let mut line = String::new();
    let mut taken = 0;
    for (text, style) in pieces {
        let room = columns.saturating_sub(taken);
        if room == 0 {
            break;
        }
        let (shown, width) = fit(text, room);
        taken += width;
        if color && *style != Style::Plain {
            line.push_str(style.code());
            line.push_str(&shown);
            line.push_str("\u{1b}[0m");
        } else {
            line.push_str(&shown);
        }
    }
    (line, taken)
}
