//! One picture of the live view: lines that fit a terminal of a given size, whatever its size and however much there is.

use scheduler::Millis;
use workflow::prices::Money;

use super::view::{Class, UnderWay, View};
use crate::report::lasting;
use crate::report::screen::{fit, fit_name};

/// Lines for shots at most, however high the terminal is.
const MOST_LINES: usize = 20;
/// The widest that a shot's name is shown, and its bar.
const WIDEST_NAME: usize = 28;
const WIDEST_BAR: usize = 24;

/// How a piece of a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Plain,
    Dim,
    Good,
    Bad,
    Slow,
}

impl Look {
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
    view: &View,
    rows: usize,
    columns: usize,
    now: Millis,
    colour: bool,
) -> Vec<(String, usize)> {
    let Some(began) = view.began else { return Vec::new() };
    let under_way = view.under_way();
    let mut last = vec![whole(view)];
    if rows >= 2 {
        last.push(course(view, began, now));
    }
    let room = rows.saturating_sub(last.len()).min(MOST_LINES);
    let shown = if under_way.len() > room { room.saturating_sub(1) } else { under_way.len() };
    let name = under_way.iter().take(shown).map(|one| fit_name(&one.name, WIDEST_NAME).1).max().unwrap_or(0);
    let name = name.min(columns / 3).max(1);
    let times: Vec<String> = under_way.iter().take(shown).map(|one| time(view, one, now)).collect();
    let widest = times.iter().map(String::len).max().unwrap_or(0);
    let mut lines: Vec<Vec<(String, Look)>> = under_way
        .iter()
        .zip(&times)
        .map(|(one, time)| shot(one, name, &format!("{time:<widest$}"), view.is_slow(one, now), columns))
        .collect();
    if under_way.len() > shown && room > 0 {
        lines.push(vec![(format!("  and {} more under way", under_way.len() - shown), Look::Dim)]);
    }
    lines.extend(last);
    lines.into_iter().map(|line| compose(&line, columns, colour)).collect()
}

fn time(view: &View, one: &UnderWay, now: Millis) -> String {
    let time = lasting(now.since(one.since));
    if view.is_slow(one, now) { format!("{time}, slow") } else { time }
}

/// `  breakwater  ━━━━━━━━────────   43 %  1 min 2 s, slow  in progress`
fn shot(one: &UnderWay, name: usize, time: &str, is_slow: bool, columns: usize) -> Vec<(String, Look)> {
    let (shown, width) = fit_name(&one.name, name);
    let mut line = vec![(format!("  {shown}{}", " ".repeat(name - width)), Look::Plain)];
    // What remains beside the name, the percent sign, the time and the words.
    let bar = columns.saturating_sub(name + time.len() + 26).min(WIDEST_BAR);
    if bar >= 8 {
        let full = one.percent.map_or(0, |percent| usize::from(percent.min(100)) * bar / 100);
        line.push((format!("  {}", "━".repeat(full)), Look::Good));
        line.push(("─".repeat(bar - full), Look::Dim));
    }
    let percent = one.percent.map_or_else(|| "     ".to_owned(), |percent| format!("{percent:>3} %"));
    line.push((format!("  {percent}  "), Look::Plain));
    line.push((format!("{time}  "), if is_slow { Look::Slow } else { Look::Dim }));
    match &one.trouble {
        Some(trouble) => line.push((trouble.clone(), Look::Bad)),
        None => line.push((one.doing.to_owned(), Look::Plain)),
    }
    line
}

/// `12/30 shots done, 4 made before, 4 under way, 10 waiting, 1 failed`
fn whole(view: &View) -> Vec<(String, Look)> {
    let done = view.count(Class::Done) + view.count(Class::Reused);
    let mut line = vec![(format!("{done}/{} shots done", view.all()), Look::Good)];
    let mut add = |count: usize, words: &str, look: Look| {
        if count > 0 {
            line.push((format!(", {count} {words}"), look));
        }
    };
    add(view.count(Class::Failed), "failed", Look::Bad);
    add(view.count(Class::Outstanding), "outstanding", Look::Slow);
    add(view.count(Class::UnderWay), "under way", Look::Plain);
    add(view.count(Class::Waiting), "waiting", Look::Plain);
    add(view.count(Class::Dropped), "not begun", Look::Slow);
    add(view.count(Class::Reused), "made before", Look::Dim);
    if view.films.1 > 1 {
        add(view.films.0, "films ended", Look::Plain);
    }
    line
}

/// `1 min 2 s, about 2 min left, 0.40 spent and 0.75 held of 1.50 to 3.00 USD`
fn course(view: &View, began: Millis, now: Millis) -> Vec<(String, Look)> {
    let mut line = vec![(lasting(now.since(began)), Look::Plain)];
    let is_joining = view.count(Class::UnderWay) + view.count(Class::Waiting) == 0;
    if view.is_ending {
        line.push((", ending: nothing more is submitted".to_owned(), Look::Slow));
    } else if is_joining && view.films.0 < view.films.1 {
        line.push((", joining".to_owned(), Look::Plain));
    } else if let Some(left) = view.remaining(now) {
        line.push((format!(", about {} left", lasting(left)), Look::Plain));
    }
    if let Some(worth) = &view.worth {
        let money = |micros: i64| Money::from_micros(micros.unsigned_abs());
        line.push((
            format!(
                ", {} spent and {} held of {} {}",
                money(view.spent.cost),
                money(view.held.cost),
                worth.estimate,
                worth.currency
            ),
            Look::Plain,
        ));
    }
    if view.slowed > 0 {
        line.push((format!(", slowed down {} times", view.slowed), Look::Slow));
    }
    line
}

/// Pieces as one line that fits.
fn compose(pieces: &[(String, Look)], columns: usize, colour: bool) -> (String, usize) {
    let mut line = String::new();
    let mut taken = 0;
    for (text, look) in pieces {
        let room = columns.saturating_sub(taken);
        if room == 0 {
            break;
        }
        let (shown, width) = fit(text, room);
        taken += width;
        if colour && *look != Look::Plain {
            line.push_str(look.code());
            line.push_str(&shown);
            line.push_str("\u{1b}[0m");
        } else {
            line.push_str(&shown);
        }
    }
    (line, taken)
}
