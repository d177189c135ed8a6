//! Scenes in JSON, as rows below the names of all their members.

use indexmap::IndexMap;
use serde_json::Value;
use serde_json::value::RawValue;

use super::columns::{ColumnChoice, has_head};
use crate::csv::{CsvCell, CsvError};
use crate::limits;
use crate::source::Span;

type Members<'t> = IndexMap<String, &'t RawValue>;

/// Objects around the list of scenes, at most.
const MAX_DEPTH: usize = 4;

const FORM: &str = r#"write a list of scenes: `[{"description": "a pier in the rain", "duration": 5}]`"#;

/// The rows of the list of scenes that a text is or has somewhere below its keys: the first one that names columns of a shot list, or
/// the first one.
pub(super) fn rows(text: &str, choices: &[ColumnChoice]) -> Result<Vec<Vec<CsvCell>>, CsvError> {
    let text_error = |error: serde_json::Error| {
        let before = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len);
        let at = (before.sum::<usize>() + error.column()).saturating_sub(1).min(text.len());
        CsvError::new(Span::new(at, at), format!("this is not JSON: {error}"), FORM)
    };
    let whole: &RawValue = serde_json::from_str(text.trim_start_matches('\u{feff}')).map_err(text_error)?;
    let mut lists = Vec::new();
    find_lists(whole, MAX_DEPTH, &mut lists);
    let tables = lists.iter().map(|scenes| table(text, scenes)).collect::<Result<Vec<_>, _>>()?;
    let chosen = tables.iter().position(|rows| has_head(&rows[..1], choices)).unwrap_or_default();
    let none = || CsvError::new(Span::default(), "this file has no list of scenes", FORM);
    tables.into_iter().nth(chosen).ok_or_else(none)
}

/// The lists of objects in a value.
fn find_lists<'t>(value: &'t RawValue, depth: usize, lists: &mut Vec<Vec<(&'t RawValue, Members<'t>)>>) {
    if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(value.get()) {
        let scenes = items.into_iter().map(|item| Some((item, serde_json::from_str(item.get()).ok()?)));
        lists.extend(scenes.collect::<Option<Vec<_>>>().filter(|scenes| !scenes.is_empty()));
    } else if let Ok(members) = serde_json::from_str::<Members<'_>>(value.get())
        && depth > 0
    {
        members.values().for_each(|member| find_lists(member, depth - 1, lists));
    }
}

fn table(text: &str, scenes: &[(&RawValue, Members<'_>)]) -> Result<Vec<Vec<CsvCell>>, CsvError> {
    let span = |value: &RawValue| {
        let start = value.get().as_ptr().addr() - text.as_ptr().addr();
        Span::new(start, start + value.get().len())
    };
    let mut columns: IndexMap<String, CsvCell> = IndexMap::new();
    let mut rows = vec![Vec::new()];
    let mut count = 0;
    for (scene, members) in scenes {
        let start = span(scene).start();
        let absent = CsvCell::new(String::new(), Span::new(start, start + 1));
        let mut row = Vec::new();
        for (name, value) in members {
            let span = span(value);
            let Ok(value) = serde_json::from_str(value.get()) else {
                return Err(CsvError::new(span, "this is nested too deep", "write a text or a number"));
            };
            for (name, text) in flat(name, &value).into_iter().filter(|(_, text)| !text.is_empty()) {
                let name_cell = CsvCell::new(name.clone(), span);
                let entry = columns.entry(name);
                let column = entry.index();
                entry.or_insert(name_cell);
                row.resize(row.len().max(column + 1), absent.clone());
                row[column] = CsvCell::new(text.trim().to_owned(), span);
            }
        }
        count += row.len();
        if columns.len() > limits::MAX_CSV_COLUMNS || count > limits::MAX_CSV_CELLS {
            let (columns, cells) = (limits::MAX_CSV_COLUMNS, limits::MAX_CSV_CELLS);
            let message = format!("a list has at most {columns} keys, and {cells} values in all");
            return Err(CsvError::new(absent.span, message, "split the list"));
        }
        rows.push(if row.is_empty() { vec![absent] } else { row });
    }
    rows[0] = columns.into_values().collect();
    Ok(rows)
}

/// A member as cells: one for each member of an object in it, by the names of both.
fn flat(name: &str, value: &Value) -> Vec<(String, String)> {
    match value {
        Value::Object(members) => {
            members.iter().flat_map(|(inner, value)| flat(&format!("{name}.{inner}"), value)).collect()
        }
        _ => vec![(name.to_owned(), cell_text(value))],
    }
}

/// The text of a cell. Items of a list stand one after the other; those with a colon, such as lines of dialogue with their speakers, on
/// lines of their own. An object in a list is its values.
fn cell_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(cell_text).collect();
            let has_lines = items.iter().any(|item| item.contains([':', '：']));
            items.join(if has_lines { "\n" } else { ", " })
        }
        Value::Object(members) => members.values().map(cell_text).collect::<Vec<_>>().join(": "),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}
