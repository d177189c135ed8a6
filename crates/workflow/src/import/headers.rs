//! The usual names of the columns of shot lists, as [`super::columns`] compares them: lower-case, without accents, punctuation and the words
//! below. Others are named with `--column`.

use super::columns::Column;

/// Words for "number", which say nothing about the meaning of a column.
pub(super) const SKIPPED_WORDS: [&str; 6] = ["no", "nos", "nr", "number", "num", "n"];

/// The names of each column.
pub(super) const HEADERS: [(Column, &[&str]); 10] = [
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
    (
        Column::Dialogue,
        &["dialogue", "dialog", "line", "lines", "vo", "voice over", "voiceover", "narration"],
    ),
    (Column::Sound, &["sound", "audio", "sfx", "music", "sound effects"]),
    (
        Column::Duration,
        &[
            "duration",
            "duration s",
            "duration sec",
            "duration in s",
            "duration in seconds",
            "length",
            "length in s",
            "length in seconds",
            "seconds",
            "secs",
            "sec",
            "time",
            "dur",
            "runtime",
            "est time",
        ],
    ),
];
