//! What each column of a shot list is for, by the words that people write over it.

use super::csv::Cell;
use crate::diagnostic::{Diagnostic, Problems, quoted_list};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Scene,
    Shot,
    Size,
    Angle,
    Movement,
    Lens,
    Description,
    Dialogue,
    Sound,
    Duration,
    /// Anything else: kept as a note.
    Note,
}

const SYNONYMS: [(Column, &[&str]); 10] = [
    (Column::Scene, &["scene", "sc", "sequence", "seq"]),
    (Column::Shot, &["shot", "id", "setup", "cut", "panel", ""]),
    (Column::Size, &["size", "shot size", "framing", "frame", "shot type", "type", "field size"]),
    (Column::Angle, &["angle", "camera angle", "shot angle", "height"]),
    (Column::Movement, &["movement", "camera movement", "move", "camera move", "motion", "camera"]),
    (Column::Lens, &["lens", "focal length", "lens mm", "mm", "optics"]),
    (
        Column::Description,
        &[
            "description",
            "shot description",
            "action",
            "subject",
            "subject action",
            "prompt",
            "content",
            "image",
            "visual",
        ],
    ),
    (Column::Dialogue, &["dialogue", "dialog", "line", "lines", "vo", "voice over", "voiceover"]),
    (Column::Sound, &["sound", "audio", "sfx", "music", "sound effects"]),
    (
        Column::Duration,
        &["duration", "length", "seconds", "secs", "sec", "time", "dur", "runtime", "est time"],
    ),
];

/// What the columns hold, by the cells of the first row. Problems are a column that stands there twice, and a list without anything to film.
pub(super) fn read(head: &[Cell], problems: &mut Problems) -> Vec<Column> {
    let columns: Vec<Column> = head.iter().map(|cell| meaning(&cell.text)).collect();
    for (at, column) in columns.iter().enumerate() {
        let first = columns.iter().position(|other| other == column).filter(|first| *first < at);
        if let Some(first) = first
            && *column != Column::Note
        {
            problems.push(
                Diagnostic::error("bad-table", head[at].span, "two columns hold the same thing")
                    .label("again here")
                    .other(head[first].span, "first here")
                    .help("rename one: a column with a name of its own is kept as a note"),
            );
        }
    }
    if !columns.contains(&Column::Description) {
        let known = SYNONYMS
            .iter()
            .filter(|(column, _)| *column == Column::Description)
            .flat_map(|(_, names)| names.iter().copied());
        problems.push(
            Diagnostic::error(
                "bad-table",
                head.first().map_or_else(Default::default, |cell| cell.span),
                "no column says what is to be seen",
            )
            .help(format!("the first line names the columns; this one is called {}", quoted_list(known, 3))),
        );
    }
    columns
}

fn meaning(name: &str) -> Column {
    // An empty name is no name; a bare `#` is the number of the shot.
    if name.is_empty() {
        return Column::Note;
    }
    let plain = plain(name);
    SYNONYMS
        .iter()
        .find(|(_, names)| names.contains(&plain.as_str()))
        .map_or(Column::Note, |(column, _)| *column)
}

/// Lower-case words without marks, and without the words that only say that it is a number.
fn plain(name: &str) -> String {
    let letters: String =
        name.chars().map(|c| if c.is_alphanumeric() { c.to_ascii_lowercase() } else { ' ' }).collect();
    let words =
        letters.split_whitespace().filter(|word| !matches!(*word, "no" | "nr" | "number" | "num" | "s"));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_go_by_many_names() {
        for (name, column) in [
            ("Scene #", Column::Scene),
            ("SC.", Column::Scene),
            ("#", Column::Shot),
            ("Shot No.", Column::Shot),
            ("Shot size", Column::Size),
            ("Camera-Angle", Column::Angle),
            ("CAMERA MOVEMENT", Column::Movement),
            ("Lens (mm)", Column::Lens),
            ("Subject / Action", Column::Description),
            ("Voice-over", Column::Dialogue),
            ("Est. time", Column::Duration),
            ("Duration (s)", Column::Duration),
            ("Location", Column::Note),
            ("", Column::Note),
        ] {
            assert_eq!(meaning(name), column, "{name}");
        }
    }
}
