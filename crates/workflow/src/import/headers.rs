//! The usual names of the columns of shot lists, as [`super::columns`] compares them: lower-case, without accents, punctuation and the words
//! below. `headers.txt` lists them by column; others are named with `--column`.

use std::sync::LazyLock;

use super::columns::Column;

/// Words for "number", which say nothing about the meaning of a column.
pub(super) const SKIPPED_WORDS: [&str; 6] = ["no", "nos", "nr", "number", "num", "n"];

/// The names of each column.
pub(super) static HEADERS: LazyLock<Vec<(Column, Vec<&'static str>)>> = LazyLock::new(|| {
    let lines = include_str!("headers.txt").lines().filter_map(|line| line.split_once(": "));
    lines.filter_map(|(name, names)| Some((Column::named(name)?, names.split(", ").collect()))).collect()
});
