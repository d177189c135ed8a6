//! Tables for people: columns as wide as they need to be.

use engine::state::{FilmOutcome, FilmSummary, NodeSummary, Outcome, RunSummary};
use unicode_width::UnicodeWidthStr as _;

use super::story;
use crate::place::shown;

/// Rows of text in aligned columns.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these column heads.
    pub(crate) fn new<const N: usize>(heads: [&str; N]) -> Self {
        Self { rows: vec![heads.map(str::to_owned).to_vec()] }
    }

    /// Adds a row.
    pub(crate) fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into());
    }

    /// Keeps only the columns that pass; they are counted from 0.
    pub(crate) fn keep(&mut self, passes: impl Fn(usize) -> bool) {
        for row in &mut self.rows {
            let mut column = 0;
            row.retain(|_| {
                column += 1;
                passes(column - 1)
            });
        }
    }

    /// The table as text, each line ended.
    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|column| {
                self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max().unwrap_or(0)
            })
            .collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (cell, width) in row.iter().zip(&widths) {
                line.push_str(cell);
                line.push_str(&" ".repeat(width - cell.width() + 2));
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// What a run came to: a table of the shots, then what needs saying about it.
pub(crate) fn closing(summary: &RunSummary) -> String {
    let mut table = Table::new(["shot", "decision", "task", "seconds", "file"]);
    for node in &summary.nodes {
        table.row([
            node.name.clone(),
            node.decision.map_or("-", engine::state::Decision::word).to_owned(),
            node.task.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string),
            seconds(node),
            file(&node.outcome),
        ]);
    }
    let mut lines = vec![table.render()];
    for node in &summary.nodes {
        lines.extend(story::outcome(&node.outcome).map(|said| format!("{}: {said}", node.name)));
    }
    lines.extend(summary.films.iter().map(|one| film(one, summary.films.len() > 1)));
    lines.extend(summary.to_pick.iter().map(|(shot, takes)| {
        format!("{shot}: {takes} takes are made; look at them, then say `runner pick FILE {shot} TAKE` and run again")
    }));
    lines.push(count(summary));
    lines.join("\n") + "\n"
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
        FilmOutcome::Failed { failure } => format!("{which}: not joined: {}", failure.message),
    }
}

fn count(summary: &RunSummary) -> String {
    let done = summary.count(|outcome| matches!(outcome, Outcome::Done { .. }));
    let all = summary.nodes.len();
    match summary.submitted() {
        0 if done == all => format!("nothing was submitted: all {all} shots were made already"),
        0 => format!("{done} of {all} shots are done, nothing was submitted"),
        submitted => format!("{done} of {all} shots are done, {submitted} submitted"),
    }
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
        Outcome::NotSelected { .. } => "not selected".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_whatever_the_script() {
        let mut table = Table::new(["shot", "n"]);
        table.row(["灯台".to_owned(), "1".to_owned()]);
        table.row(["breakwater".to_owned(), "22".to_owned()]);
        assert_eq!(table.render(), "shot        n\n灯台        1\nbreakwater  22\n");
    }
}
