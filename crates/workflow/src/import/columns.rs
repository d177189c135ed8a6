//! The meaning of each column of a shot list, by its name.

use crate::csv::Cell;
use crate::diagnostic::{Diagnostic, Problems, quoted_list};

/// The meaning of a column.
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

/// The meanings of the columns, by the cells of the first row. Two columns with one meaning are an error, as is a list without a
/// description.
pub(super) fn read(head: &[Cell], problems: &mut Problems) -> Vec<Column> {
    let columns: Vec<Column> = head.iter().map(|cell| meaning(&cell.text)).collect();
    for (index, column) in columns.iter().enumerate() {
        let first = columns.iter().position(|other| other == column).filter(|first| *first < index);
        if let Some(first) = first
            && *column != Column::Note
        {
            problems.push(
                Diagnostic::error("bad-table", head[index].span, "two columns have the same meaning")
                    .label("again here")
                    .other(head[first].span, "first here")
                    .help("rename one: a column with another name is kept as a note"),
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
                "no column holds the description",
            )
            .help(format!("the first row names the columns; name one {}", quoted_list(known, 3))),
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

/// Lower-case words without punctuation and without words for "number".
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
    fn column_meaning_by_synonym() {
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
