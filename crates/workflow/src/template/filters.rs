//! Filters beside those of minijinja, or in place of them.

use std::io::Write as _;

use minijinja::value::{Kwargs, Rest, Value, ValueOrKwargs, from_args};
use minijinja::{Error, ErrorKind, State};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize as _;

use super::compare::number_of;
use super::tables::CsvTables;
use super::writer::BoundedWriter;
use crate::csv::CsvCell;
use crate::limits;

/// The most spaces of a level of JSON.
const MAX_INDENT: usize = 16;

/// The digits of a width or a precision in the text of `format`, at most.
const MAX_SIZE_DIGITS: usize = 4;

fn invalid_operation(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message.into())
}

fn too_large() -> Error {
    invalid_operation(format!("this gives more than {} KiB of text", limits::MAX_RENDERED_BYTES / 1024))
}

/// Text as part of a name: lower-case ASCII letters and digits, each run of other characters as one dash.
pub(crate) fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// `| slug`: see [`slug`].
pub(super) fn slug_filter(value: &Value) -> String {
    slug(&value.to_string())
}

/// `| tojson`: a value as JSON, with `indent=2` over several lines.
///
/// minijinja's filter of this name also escapes `<`, `>`, `&` and `'`, which prompts are full of.
pub(super) fn tojson(value: &Value, kwargs: &Kwargs) -> Result<String, Error> {
    let indent = kwargs.get::<Option<usize>>("indent")?.unwrap_or_default();
    kwargs.assert_all_used()?;
    if indent > MAX_INDENT {
        return Err(invalid_operation(format!("`indent` is at most {MAX_INDENT}")));
    }
    let mut out = BoundedWriter::default();
    let written = if indent == 0 {
        serde_json::to_writer(&mut out, value)
    } else {
        let spaces = " ".repeat(indent);
        let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter))
    };
    match written {
        _ if out.is_full => Err(too_large()),
        Err(error) => Err(invalid_operation(format!("this cannot be written as JSON: {error}"))),
        Ok(()) => Ok(String::from_utf8_lossy(&out.text).into_owned()),
    }
}

/// `| map(attribute='name')`, `| map('upper')`. A member that an item lacks is an error, and no empty text.
pub(super) fn map(
    state: &mut State<'_, '_>,
    value: Value,
    args: Rest<ValueOrKwargs>,
) -> Result<Vec<Value>, Error> {
    let members = minijinja::filters::map(state, value, args)?;
    if members.iter().any(Value::is_undefined) {
        return Err(invalid_operation("an item of the list has no such member"));
    }
    Ok(members)
}

/// `| format(…)`, with numbers that keep their text as numbers.
pub(super) fn format(state: &mut State<'_, '_>, text: &Value, args: Rest<Value>) -> Result<Value, Error> {
    let mut numbers = text.as_str().unwrap_or_default().split(|c: char| !c.is_ascii_digit());
    if numbers.any(|digits| digits.len() > MAX_SIZE_DIGITS) {
        return Err(invalid_operation(format!(
            "a number in this text has more than {MAX_SIZE_DIGITS} digits"
        )));
    }
    let mut values = vec![text.clone()];
    values.extend(args.0.into_iter().map(|value| number_of(&value).map_or(value, Value::from)));
    let (text, args) = from_args(&values)?;
    minijinja::filters::format(state, text, args)
}

/// `| join(', ')`, within the bound of what a template makes.
pub(super) fn join(list: &Value, separator: Option<&str>) -> Result<String, Error> {
    let mut out = BoundedWriter::default();
    for (index, item) in list.try_iter()?.enumerate() {
        let before = separator.filter(|_| index > 0).unwrap_or_default();
        write!(out, "{before}{item}").map_err(|_| too_large())?;
    }
    Ok(String::from_utf8_lossy(&out.text).into_owned())
}

/// `| replace('a', 'b')`, within the bound of what a template makes.
pub(super) fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let made = text.len() + text.matches(from).count() * to.len();
    if made > limits::MAX_RENDERED_BYTES { Err(too_large()) } else { Ok(text.replace(from, to)) }
}

/// `| shuffle(seed)`: a pseudo-random permutation of a list that depends on the seed only.
pub(super) fn shuffle(value: &Value, seed: i64) -> Result<Value, Error> {
    let mut items: Vec<Value> = value.try_iter()?.take(limits::MAX_CSV_ROWS + 1).collect();
    if items.len() > limits::MAX_CSV_ROWS {
        return Err(invalid_operation(format!("`shuffle` takes at most {} items", limits::MAX_CSV_ROWS)));
    }
    let mut rng = SplitMix64::seed_from_u64(seed as u64);
    for index in (1..items.len()).rev() {
        items.swap(index, (rng.next_u64() % (index as u64 + 1)) as usize);
    }
    Ok(Value::from(items))
}

/// `| csv`: the rows of a CSV text as maps by the names in its first row; with `header=false`, as lists.
///
/// A table that was read before is not read again: every instance of a shot asks for the same one.
pub(super) fn csv(value: &Value, kwargs: &Kwargs, tables: &CsvTables) -> Result<Value, Error> {
    let header = kwargs.get::<Option<bool>>("header")?.unwrap_or(true);
    kwargs.assert_all_used()?;
    if let Some(rows) = tables.table(value, header) {
        return Ok(rows);
    }
    let text = value.as_str().ok_or_else(|| invalid_operation("`csv` reads text"))?;
    let rows = read_csv(text, header)?;
    tables.remember(value, header, &rows);
    Ok(rows)
}

fn read_csv(text: &str, header: bool) -> Result<Value, Error> {
    let located = |error: crate::csv::CsvError| invalid_operation(error.located(text));
    let texts = |row: Vec<CsvCell>| row.into_iter().map(|cell| cell.text).collect::<Vec<String>>();
    if !header {
        let rows = crate::csv::read(text, limits::MAX_CSV_ROWS).map_err(located)?;
        return Ok(rows.into_iter().map(|row| Value::from(texts(row))).collect());
    }
    let (names, rows) =
        crate::csv::read_table(text, limits::MAX_CSV_ROWS, limits::MAX_CSV_CELLS).map_err(located)?;
    let names = texts(names);
    let maps = rows
        .into_iter()
        .map(|row| Value::from_pairs(names.iter().cloned().zip(texts(row).into_iter().map(Value::from))));
    Ok(maps.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slug_keeps_ascii_letters_and_digits() {
        assert_eq!(slug("35 mm film, Overcast!"), "35-mm-film-overcast");
        assert_eq!(slug("—"), "");
    }

    #[test]
    fn shuffle_is_deterministic_by_seed() {
        let list = Value::from((0..10).collect::<Vec<i64>>());
        let shuffled = shuffle(&list, 7).unwrap().to_string();
        assert_eq!(shuffled, shuffle(&list, 7).unwrap().to_string());
        assert_ne!(shuffled, shuffle(&list, 8).unwrap().to_string());
        assert_eq!(shuffled, "[8, 1, 5, 9, 0, 4, 3, 2, 6, 7]");
    }
}
