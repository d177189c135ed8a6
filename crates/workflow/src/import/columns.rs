//! The meaning of each column of a shot list, by its name or by the caller's choice.

use super::headers::{HEADERS, SKIPPED_WORDS};
use super::timecode;
use crate::csv::CsvCell;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::source::Span;

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Scene,
    /// The shot's name or number.
    Shot,
    Size,
    Angle,
    Movement,
    Lens,
    Description,
    Dialogue,
    /// What is heard besides.
    Sound,
    /// How long the shot is.
    Duration,
    /// When it begins and ends in the film.
    Start,
    End,
    /// Anything else: kept as a note.
    Note,
}

impl Column {
    /// All meanings by their names, as the caller chooses them.
    pub const NAMES: [(&'static str, Self); 13] = [
        ("scene", Self::Scene),
        ("shot", Self::Shot),
        ("size", Self::Size),
        ("angle", Self::Angle),
        ("movement", Self::Movement),
        ("lens", Self::Lens),
        ("description", Self::Description),
        ("dialogue", Self::Dialogue),
        ("sound", Self::Sound),
        ("duration", Self::Duration),
        ("start", Self::Start),
        ("end", Self::End),
        ("note", Self::Note),
    ];

    /// The meaning of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(known, _)| *known == name).map(|(_, column)| column)
    }

    /// The name of the meaning.
    pub fn as_str(self) -> &'static str {
        Self::NAMES.into_iter().find(|(_, column)| *column == self).map_or("", |(name, _)| name)
    }
}

/// The meaning of a column by the caller's choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnChoice {
    pub column: Column,
    /// The column's name in the list.
    pub header: String,
}

/// Names of columns have fewer words than sentences.
const MAX_HEADER_WORDS: usize = 4;

/// Units after the name of a length: `length in seconds`.
const UNITS: [&str; 7] = ["in", "s", "sec", "secs", "second", "seconds", "秒"];

/// Rows above the one that names the columns: a title, a date, an empty table head.
const MAX_TITLE_ROWS: usize = 10;

/// The row that names the columns, and their meanings.
pub(super) struct HeaderRow {
    pub(super) row: usize,
    pub(super) columns: Vec<Column>,
}

/// Finds the row that names the columns and reads their meanings. Two columns with one meaning are an error, as is a list without a
/// description.
pub(super) fn read(rows: &[Vec<CsvCell>], choices: &[ColumnChoice], problems: &mut Problems) -> HeaderRow {
    let row = head_row(rows, choices);
    let head = rows.get(row).map(Vec::as_slice).unwrap_or_default();
    let start = head.first().map_or_else(Span::default, |cell| cell.span);
    for choice in choices {
        if !head.iter().any(|cell| is_named(cell, &choice.header)) {
            let names = || head.iter().map(|cell| cell.text.as_str()).filter(|name| !name.is_empty());
            let message = format!("no column is named `{}`", choice.header);
            let help = did_you_mean(&choice.header, names())
                .unwrap_or_else(|| format!("the columns are {}", quoted_list(names(), 12)));
            problems.push(Diagnostic::error("bad-table", start, message).help(help));
        }
    }
    let columns = meanings(head, choices);
    for (index, column) in columns.iter().enumerate() {
        let first = columns.iter().position(|other| other == column).filter(|first| *first < index);
        if let Some(first) = first
            && !matches!(column, Column::Note | Column::Sound)
        {
            let name = column.as_str();
            problems.push(
                Diagnostic::error(
                    "bad-table",
                    head[index].span,
                    format!("two columns have the same meaning, {name}"),
                )
                .label("again here")
                .other(head[first].span, "first here")
                .help(choice_of(*column, &head[first].text, &head[index].text)),
            );
        }
    }
    if !columns.contains(&Column::Description) {
        let header_names = HEADERS
            .iter()
            .filter(|(column, _)| *column == Column::Description)
            .flat_map(|(_, names)| names.iter().copied());
        let unread = head.iter().zip(&columns).filter(|(_, column)| **column == Column::Note);
        let longest = unread.map(|(cell, _)| cell.text.as_str()).max_by_key(|name| name.chars().count());
        let example =
            argument(Column::Description, longest.filter(|name| !name.is_empty()).unwrap_or("what is seen"));
        if is_probably_a_shot(head) {
            let message = "the first row seems to be a shot, not the names of the columns";
            problems.push(Diagnostic::error("bad-table", start, message).help(format!(
                "write the names above it, such as `description,duration`; if it has them, say which is the description: `--column {example}`"
            )));
            return HeaderRow { row, columns };
        }
        problems.push(Diagnostic::error("bad-table", start, "no column holds the description").help(
            format!(
                "the first row names the columns; name one {}, or say which it is: `--column {example}`",
                quoted_list(header_names, 3)
            ),
        ));
    }
    HeaderRow { row, columns }
}

/// The help for two columns with the same meaning: the one that is called so, else the second. Names that are the same cannot be told apart.
fn choice_of(column: Column, first: &str, second: &str) -> String {
    if plain(first) == plain(second) {
        return format!("rename one of them, such as `{second} 2`, or remove it");
    }
    let chosen = if plain(first) == column.as_str() { first } else { second };
    format!("choose one: `--column {}`", argument(column, chosen))
}

/// Whether a first row has a sentence or a length.
fn is_probably_a_shot(head: &[CsvCell]) -> bool {
    head.iter().any(|cell| {
        cell.text.split_whitespace().count() > MAX_HEADER_WORDS || timecode::parse(&cell.text).is_some()
    })
}

/// The value of `--column`, quoted for a shell where that is needed.
fn argument(column: Column, header: &str) -> String {
    let argument = format!("{}={header}", column.as_str());
    if header.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')) {
        return argument;
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

/// Whether a row names columns.
pub(super) fn has_head(rows: &[Vec<CsvCell>], choices: &[ColumnChoice]) -> bool {
    find_head(rows, choices).is_some()
}

/// The first row that names a column of the description and another one, or all that the caller chose; else the first row.
fn head_row(rows: &[Vec<CsvCell>], choices: &[ColumnChoice]) -> usize {
    find_head(rows, choices).unwrap_or_default()
}

fn find_head(rows: &[Vec<CsvCell>], choices: &[ColumnChoice]) -> Option<usize> {
    let is_header = |row: &Vec<CsvCell>| {
        let columns = meanings(row, choices);
        let count = columns.iter().filter(|column| **column != Column::Note).count();
        columns.contains(&Column::Description) && count > 1
    };
    let chosen = |row: &Vec<CsvCell>| {
        !choices.is_empty()
            && choices.iter().all(|choice| row.iter().any(|cell| is_named(cell, &choice.header)))
    };
    let first = rows.iter().take(MAX_TITLE_ROWS);
    first.clone().position(is_header).or_else(|| first.clone().position(chosen))
}

fn meanings(head: &[CsvCell], choices: &[ColumnChoice]) -> Vec<Column> {
    // Beside a number, `Shot` is what kind of shot it is.
    let is_numbered = head.iter().any(|cell| !cell.text.is_empty() && plain(&cell.text).is_empty())
        && !head.iter().any(|cell| meaning(&cell.text) == Column::Size);
    head.iter()
        .map(|cell| {
            if let Some(choice) = choices.iter().rev().find(|choice| is_named(cell, &choice.header)) {
                return choice.column;
            }
            let column = match meaning(&cell.text) {
                Column::Shot if is_numbered && plain(&cell.text) == Column::Shot.as_str() => Column::Size,
                column => column,
            };
            // A chosen column replaces those that would have its meaning by their names.
            let is_taken = choices.iter().any(|choice| choice.column == column);
            if is_taken { Column::Note } else { column }
        })
        .collect()
}

fn is_named(cell: &CsvCell, header: &str) -> bool {
    let header = header.trim();
    cell.text.trim().to_lowercase() == header.to_lowercase()
}

fn meaning(name: &str) -> Column {
    // An empty name is no name; a bare `#` is the number of the shot.
    if name.is_empty() {
        return Column::Note;
    }
    let plain = plain(name);
    if plain.is_empty() {
        return Column::Shot;
    }
    let column =
        |name: &str| HEADERS.iter().find(|(_, names)| names.contains(&name)).map(|(column, _)| *column);
    if let Some(column) = column(&plain) {
        return column;
    }
    let mut words: Vec<&str> = plain.split(' ').collect();
    while words.len() > 1 && words.last().is_some_and(|word| UNITS.contains(word)) {
        words.pop();
    }
    let is_time = |column: &Column| matches!(column, Column::Duration | Column::Start | Column::End);
    column(&words.join(" ")).filter(is_time).unwrap_or(Column::Note)
}

/// Lower-case words without accents, punctuation and [`SKIPPED_WORDS`].
fn plain(name: &str) -> String {
    let letters: String =
        name.to_lowercase().chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let words = letters.split_whitespace().filter(|word| !SKIPPED_WORDS.contains(word));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn column_meaning_by_header() {
        for (names, column) in [
            ("Scene #|SC.|Scene No.|Sequence", Column::Scene),
            ("#|Shot No.|ID|Setup", Column::Shot),
            ("Shot size|Framing|Shot type", Column::Size),
            ("Camera-Angle", Column::Angle),
            ("CAMERA MOVEMENT|Camera", Column::Movement),
            ("Lens (mm)|Focal length", Column::Lens),
            ("Subject / Action|Image", Column::Description),
            ("Voice-over|Dialog", Column::Dialogue),
            ("SFX|Music", Column::Sound),
            (
                "Est. time|Duration (s)|duration (sec)|duration sec|duration in s|length in seconds|duration_seconds|时长(秒)|时长（秒）",
                Column::Duration,
            ),
            ("start_time|Start (s)", Column::Start),
            ("end_time", Column::End),
            ("Location|Größe|", Column::Note),
        ] {
            for name in names.split('|') {
                assert_eq!(meaning(name), column, "{name}");
            }
        }
    }

    /// A name has one meaning, and is written as names are compared.
    #[test]
    fn headers_are_unique_and_plain() {
        let all: Vec<&str> = HEADERS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        for (index, name) in all.iter().enumerate() {
            assert!(!all[..index].contains(name), "{name} is listed twice");
            assert_eq!(plain(name), *name);
        }
        for (_, column) in Column::NAMES {
            assert_eq!(meaning(column.as_str()), column);
        }
    }
}
