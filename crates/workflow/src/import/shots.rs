//! Rows to shots: ids, prompts, lengths, notes, and which shot continues which.

use std::ops::RangeInclusive;

use super::columns::{self, Column, ColumnChoice, HeaderRow};
use super::listing::{Ids, ListedShot, SpokenLine};
use super::{dialogue, timecode};
use crate::csv::CsvCell;
use crate::diagnostic::{Diagnostic, Problems};
use crate::letters::name_slug;
use crate::limits;
use crate::source::Span;
use crate::units::VideoDuration;

/// Abbreviated shot sizes, written out for the model.
const SIZES: &str = include_str!("sizes.txt");

/// Angles that are written without the word "angle".
const ANGLES: [&str; 4] = ["low", "high", "dutch", "canted"];

/// The shots of a list. `durations` is the model's range in whole seconds.
pub(super) fn read(
    rows: &[Vec<CsvCell>],
    choices: &[ColumnChoice],
    durations: &RangeInclusive<u32>,
    chain_scenes: bool,
    problems: &mut Problems,
) -> Vec<ListedShot> {
    if rows.is_empty() {
        problems.push(
            Diagnostic::error("empty-file", Span::default(), "this list is empty")
                .help("the first line names the columns, such as `scene,shot,size,description,duration`"),
        );
        return Vec::new();
    }
    let HeaderRow { row: head_row, columns } = columns::read(rows, choices, problems);
    if problems.any() {
        return Vec::new();
    }
    let (head, rows) = (&rows[head_row], &rows[head_row + 1..]);
    if rows.is_empty() {
        problems.error("no-shots", head[0].span, "this list names its columns and lists no shots");
    }
    let mut ids = Ids::default();
    let mut scene = String::new();
    let mut shots: Vec<ListedShot> = Vec::with_capacity(rows.len());
    for (index, cells) in rows.iter().enumerate() {
        if let Some(extra) =
            cells.get(head.len()..).and_then(|rest| rest.iter().find(|cell| !cell.text.is_empty()))
        {
            problems.push(Diagnostic::error("bad-table", extra.span, "this cell is below no column").help(
                format!(
                    "the first line names {} columns; text with the separator in it needs quotes, in Markdown `\\|`",
                    head.len()
                ),
            ));
            continue;
        }
        let row = ShotRow { head, columns: &columns, cells };
        let Some(prompt) = row.prompt(problems) else { continue };
        // Spreadsheets write a scene once, at its first shot.
        let own = row.text(Column::Scene);
        let begins_scene = !own.is_empty() && own != scene;
        if begins_scene {
            own.clone_into(&mut scene);
        }
        let before = shots.last().filter(|_| chain_scenes && !scene.is_empty() && !begins_scene);
        let continues = before.map(|before| before.id.clone());
        shots.push(ListedShot {
            continues,
            id: row.id(&scene, index + 1, &mut ids, problems),
            scene: begins_scene.then(|| scene.clone()),
            prompt,
            note: row.note(),
            dialogue: row.dialogue(problems),
            is_audible: row.cell(Column::Dialogue).or(row.cell(Column::Sound)).is_some(),
            seconds: row.seconds(durations, problems),
        });
    }
    shots
}

struct ShotRow<'a> {
    head: &'a [CsvCell],
    columns: &'a [Column],
    cells: &'a [CsvCell],
}

impl ShotRow<'_> {
    fn cell(&self, column: Column) -> Option<&CsvCell> {
        let index = self.columns.iter().position(|other| *other == column)?;
        self.cells.get(index).filter(|cell| !cell.text.is_empty())
    }

    fn text(&self, column: Column) -> &str {
        self.cell(column).map_or("", |cell| cell.text.as_str())
    }

    fn dialogue(&self, problems: &mut Problems) -> Vec<SpokenLine> {
        let Some(cell) = self.cell(Column::Dialogue) else { return Vec::new() };
        let lines = dialogue::lines(&cell.text);
        if lines.len() > limits::MAX_DIALOGUE_LINES {
            let message = format!("this cell has more than {} lines of dialogue", limits::MAX_DIALOGUE_LINES);
            problems.push(Diagnostic::error("bad-table", cell.span, message).help("split the shot"));
        }
        lines
    }

    /// What is heard, of all columns of sound.
    fn sound(&self) -> String {
        let cells = self.columns.iter().zip(self.cells).filter(|(column, _)| **column == Column::Sound);
        let sounds = cells.map(|(_, cell)| one_line(&cell.text)).filter(|text| !text.is_empty());
        sounds.collect::<Vec<_>>().join(", ")
    }

    /// The prompt: framing, description, camera movement, dialogue and sound, in sentences on one line.
    fn prompt(&self, problems: &mut Problems) -> Option<String> {
        let size = self.text(Column::Size);
        let mut sizes = SIZES.lines().filter_map(|line| line.split_once(": "));
        let size = sizes.find(|(short, _)| size.eq_ignore_ascii_case(short)).map_or(size, |(_, long)| long);
        let lens = self.text(Column::Lens);
        let digits = lens.trim_end_matches(['m', 'M', ' ']);
        let lens = if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-') {
            format!("{digits} mm lens")
        } else {
            lens.to_owned()
        };
        let angle = self.text(Column::Angle);
        // Sheets say `low` where a sentence needs `low angle`; `eye level` and `overhead` are whole as they are.
        let is_short = ANGLES.iter().any(|short| angle.eq_ignore_ascii_case(short));
        let angle = if is_short { format!("{} angle", angle.to_lowercase()) } else { angle.to_owned() };
        let framing: Vec<String> =
            [size, &angle, &lens].into_iter().map(one_line).filter(|part| !part.is_empty()).collect();
        let dialogue = spoken(&dialogue::lines(self.text(Column::Dialogue)));
        let sentences = [
            sentence(&framing.join(", ")),
            sentence(&one_line(self.text(Column::Description))),
            sentence(&one_line(self.text(Column::Movement))),
            dialogue,
            match self.sound().as_str() {
                "" => String::new(),
                sound => sentence(&format!("Sound: {sound}")),
            },
        ];
        let prompt =
            sentences.into_iter().filter(|sentence| !sentence.is_empty()).collect::<Vec<_>>().join(" ");
        let span = self.cells.first().map_or(Span::default(), |cell| cell.span);
        if prompt.is_empty() {
            problems.push(
                Diagnostic::error("no-prompt", span, "this row has no description")
                    .help("write a description, or remove the row"),
            );
            return None;
        }
        if prompt.len() > limits::MAX_TEMPLATE_BYTES / 2 {
            let kib = limits::MAX_TEMPLATE_BYTES / 2 / 1024;
            problems.error("bad-table", span, format!("this row gives a prompt of more than {kib} KiB"));
            return None;
        }
        Some(prompt)
    }

    /// A unique id of scene and shot.
    fn id(&self, scene: &str, number: usize, ids: &mut Ids, problems: &mut Problems) -> String {
        let (scene, shot) = (name_slug(scene), name_slug(self.text(Column::Shot)));
        let mut id = match (scene.as_str(), shot.as_str()) {
            ("", "") => format!("shot-{number}"),
            ("", shot) if shot.bytes().all(|byte| byte.is_ascii_digit()) => format!("shot-{shot}"),
            ("", shot) => shot.to_owned(),
            (scene, "") => format!("{scene}-shot-{number}"),
            // `12A` of scene 12 has its scene in its name.
            (scene, shot) if shot.len() > scene.len() && shot.starts_with(scene) && !is_number(shot) => {
                shot.to_owned()
            }
            (scene, shot) => format!("{scene}-{shot}"),
        };
        if is_number(&id) {
            id = format!("shot-{id}");
        }
        let (free, is_taken) = ids.free(&id);
        if let Some(cell) = self.cell(Column::Shot).filter(|_| is_taken) {
            problems.push(Diagnostic::warning(
                "renamed-shot",
                cell.span,
                format!("another shot is called `{id}` already, so this one is called `{free}`"),
            ));
        }
        free
    }

    /// The cells of the other columns, each with its column's name.
    fn note(&self) -> String {
        let named_cells = self.columns.iter().zip(self.head).zip(self.cells);
        named_cells
            .filter(|((column, _), _)| **column == Column::Note)
            .map(|((_, head), cell)| (one_line(&head.text), one_line(&cell.text)))
            .filter(|(_, text)| !text.is_empty())
            .map(|(name, text)| if name.is_empty() { text } else { format!("{name}: {text}") })
            .collect::<Vec<_>>()
            .join("; ")
    }

    fn seconds(&self, durations: &RangeInclusive<u32>, problems: &mut Problems) -> Option<u32> {
        let (cell, length) = if let Some(cell) = self.cell(Column::Duration) {
            (cell, timecode::parse(&cell.text))
        } else {
            let (start, end) = (self.cell(Column::Start)?, self.cell(Column::End)?);
            (end, timecode::between(&start.text, &end.text))
        };
        let Some(length) = length else {
            problems.push(
                Diagnostic::error("bad-duration", cell.span, "this is not a length of time")
                    .help("write seconds, such as `4`, `4s` or `0:04`; an end is after its start"),
            );
            return None;
        };
        let (min, max) = (u64::from(*durations.start()), u64::from(*durations.end()));
        let whole_seconds = length.as_millis().div_ceil(1_000);
        let possible = whole_seconds.clamp(min, max);
        if VideoDuration::from_secs(possible) != length {
            problems.push(Diagnostic::warning(
                "length-changed",
                cell.span,
                format!(
                    "the model renders whole seconds from {min} to {max}, so {length} s become {possible}"
                ),
            ));
        }
        u32::try_from(possible).ok()
    }
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Dialogue as a part of a prompt.
fn spoken(lines: &[SpokenLine]) -> String {
    let quoted = |line: &SpokenLine| match &line.speaker {
        Some(speaker) => format!("{speaker}: “{}”", one_line(&line.text)),
        None => format!("Spoken: “{}”", one_line(&line.text)),
    };
    if lines.iter().any(|line| line.speaker.is_some()) {
        return lines.iter().map(quoted).collect::<Vec<_>>().join(" ");
    }
    let texts: Vec<String> = lines.iter().map(|line| one_line(&line.text)).collect();
    if texts.is_empty() { String::new() } else { format!("Spoken: “{}”", texts.join(" ")) }
}

/// Text on one line, with single spaces.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// With a capital letter in front and a mark at the end.
fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let Some(first) = chars.next() else { return String::new() };
    let mut out: String = first.to_uppercase().chain(chars).collect();
    if !out.ends_with(['.', '!', '?', '…', '"', '”', ':', '。', '！', '？', '」']) {
        out.push('.');
    }
    out
}
