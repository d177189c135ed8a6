//! The values of one axis: a list, a range, the rows of a CSV table, or file names.

use std::cell::{Cell as StdCell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::range::FORMS;
use super::table::Table;
use super::value::{self, AxisValue, Values};
use super::{range, table};
use crate::diagnostic::{Diagnostic, Problems, grouped, shortened};
use crate::encoding;
use crate::files::{self, FileError, Files};
use crate::limits;
use crate::source::{Span, Spanned};
use crate::syntax::keys::{KeySpec, matrix as keys};
use crate::syntax::{self, bad_identifier};
use crate::template;
use crate::work::WorkBudget;
use crate::yaml::{Key, Yaml, YamlValue};

/// Where tables and lists of files come from.
pub(crate) struct FileAccess<'a> {
    pub(crate) files: &'a dyn Files,
    pub(crate) work: &'a WorkBudget,
    pub(crate) tables: &'a TableCache,
    pub(crate) odd_cells: &'a template::OddCells,
}

/// What was read from each path, or why that cannot be read.
type FileCache<T, E> = RefCell<HashMap<PathBuf, Result<T, E>>>;

/// The tables and lists of files of a workflow, each read once.
#[derive(Default)]
pub(crate) struct TableCache {
    rows: FileCache<Table<Arc<Value>>, TableError>,
    names: FileCache<Rc<[Arc<Value>]>, String>,
    cells: StdCell<usize>,
    /// The first values of axes that were compared with each other: shots that share a table share its values. They are kept, so that no
    /// other value has their address.
    compared: RefCell<HashMap<Vec<*const Value>, Vec<Arc<Value>>>>,
}

impl TableCache {
    /// Whether axes with these first values, as many as there are, are still to be compared; and notes that they are.
    pub(super) fn is_first_comparison(&self, first_values: Vec<Arc<Value>>) -> bool {
        let addresses = first_values.iter().map(Arc::as_ptr).collect();
        self.compared.borrow_mut().insert(addresses, first_values).is_none()
    }
}

/// The values of an axis; `None` if it is invalid, which is reported.
pub(super) fn values(
    key: &Key,
    value: &Yaml,
    file_access: &FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Values> {
    if let Some(wrong) = bad_identifier(key) {
        problems.push(wrong);
        return None;
    }
    let values = match &value.value {
        YamlValue::List(items) => {
            items.iter().map(|item| bounded_value(item, key, problems)).collect::<Option<Values>>()?
        }
        YamlValue::Map(_) if value.get(keys::CSV.name).is_some() => rows(key, value, file_access, problems)?,
        YamlValue::Map(_) if value.get(keys::FILES.name).is_some() => {
            names(key, value, file_access, problems)?
        }
        YamlValue::Map(_) => range::values(key, value, problems)?,
        _ => {
            let message = format!("the axis `{}` must be a list", key.value);
            let help = match &value.value {
                YamlValue::Text(text) if [keys::CSV.name, keys::FILES.name].contains(&key.value.as_str()) => {
                    format!("give the axis a name: `row: {{{}: \"{text}\"}}`; {FORMS}", key.value)
                }
                YamlValue::Text(text) if is_short(text) => {
                    format!("write `{}: [{text}]`; {FORMS}", key.value)
                }
                YamlValue::Number(number) => format!("write `{}: [{number}]`; {FORMS}", key.value),
                _ => FORMS.to_owned(),
            };
            problems.push(
                Diagnostic::error("bad-matrix", value.span.or(key.span), message)
                    .label(format!("this is {}", value.kind()))
                    .help(help),
            );
            return None;
        }
    };
    if values.is_empty() {
        let message = format!("the axis `{}` has no value", key.value);
        let help = match &value.value {
            YamlValue::Map(_) => "its table has no rows: add some below the names of its columns".to_owned(),
            _ => format!("write its values, such as `{}: [a, b]`, or remove the axis", key.value),
        };
        problems.push(Diagnostic::error("bad-matrix", key.span, message).help(help));
        return None;
    }
    Some(values)
}

/// Whether a text can be an item of a list in brackets as it is.
fn is_short(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || " ,_-.".contains(c);
    !text.trim().is_empty() && text.len() <= 200 && text.chars().all(is_plain)
}

/// A value of an axis; `None` if it is too large, which is reported.
pub(super) fn bounded_value(value: &Yaml, key: &Key, problems: &mut Problems) -> Option<AxisValue> {
    let span = value_span(value, key);
    let json = value.to_json();
    if template::size(&json) <= limits::MAX_AXIS_VALUE_BYTES {
        return Some(value::value(json, span));
    }
    let message =
        format!("a value on `{}` is larger than {} KiB", key.value, limits::MAX_AXIS_VALUE_BYTES / 1024);
    problems.push(
        Diagnostic::error("matrix-too-large", span, message)
            .help("put what is large into a parameter, and name it by the axis: `{{ looks[look] }}`"),
    );
    None
}

/// The span of a value; of a map, the span of its first key.
pub(super) fn value_span(value: &Yaml, key: &Key) -> Span {
    match &value.value {
        YamlValue::Map(entries) => entries.first().map_or(value.span, |(first, _)| first.span),
        _ => value.span.or(key.span),
    }
}

/// `{csv: cast.csv}`: a value for each row.
fn rows(key: &Key, value: &Yaml, file_access: &FileAccess<'_>, problems: &mut Problems) -> Option<Values> {
    let (name, span) = only_key(key, value, &keys::CSV, problems)?;
    let path = match path(&name) {
        Ok(path) => path,
        Err(why) => {
            problems.push(bad_file(&name, &why, span));
            return None;
        }
    };
    let mut cached = file_access.tables.rows.borrow_mut();
    let rows = cached.entry(path).or_insert_with_key(|path| table_of(path, file_access));
    match rows {
        Ok(Table { rows, odd_cells }) => {
            let paths = odd_cells.iter().map(|cell| {
                let place = format!("`{name}` has `{}` in line {}", shortened(&cell.text), cell.line);
                (format!("{}.{}", key.value, cell.column), place)
            });
            file_access.odd_cells.borrow_mut().extend(paths);
            Some(rows.iter().map(|row| Spanned::new(Arc::clone(row), span)).collect())
        }
        Err(TableError { why, is_unreadable: true }) => {
            problems.push(bad_file(&name, why, span));
            None
        }
        Err(TableError { why, .. }) => {
            problems.error("bad-file", span, format!("`{name}`: {why}"));
            None
        }
    }
}

/// Why a table has no rows.
struct TableError {
    why: String,
    /// Whether the file could not be read at all.
    is_unreadable: bool,
}

fn table_of(path: &Path, file_access: &FileAccess<'_>) -> Result<Table<Arc<Value>>, TableError> {
    let unreadable = |error: FileError| TableError { why: error.to_string(), is_unreadable: true };
    let wrong = |why: String| TableError { why, is_unreadable: false };
    let bytes = file_access.files.read(path, limits::MAX_CSV_BYTES).map_err(unreadable)?;
    let text = encoding::decode(&bytes).map_err(|error| wrong(format!("{error}; {}", error.help())))?;
    let cells = &file_access.tables.cells;
    let left = limits::MAX_CSV_CELLS.saturating_sub(cells.get());
    let Table { rows, odd_cells } = table::table(text, left).map_err(wrong)?;
    cells.set(cells.get() + rows.iter().filter_map(Value::as_object).map(Map::len).sum::<usize>());
    if rows.iter().any(|row| template::size(row) > limits::MAX_AXIS_VALUE_BYTES) {
        return Err(wrong(format!("a row is larger than {} KiB", limits::MAX_AXIS_VALUE_BYTES / 1024)));
    }
    Ok(Table { rows: rows.into_iter().map(Arc::new).collect(), odd_cells })
}

/// `{files: "stills/*.png"}`: a value for each file, sorted by name.
fn names(key: &Key, value: &Yaml, file_access: &FileAccess<'_>, problems: &mut Problems) -> Option<Values> {
    let (name, span) = only_key(key, value, &keys::FILES, problems)?;
    let mut cached = file_access.tables.names.borrow_mut();
    let matches = path(&name).map(|path| {
        &*cached.entry(path).or_insert_with_key(|path| {
            let names = matching(path, file_access.files)?;
            Ok(names.into_iter().map(|name| Arc::new(Value::String(name))).collect())
        })
    });
    let why = match matches.as_ref().map(|matches| matches.as_ref()) {
        Ok(Ok(names)) if names.is_empty() => "there is no such file",
        Ok(Ok(names)) => {
            return Some(names.iter().map(|name| Spanned::new(Arc::clone(name), span)).collect());
        }
        Ok(Err(why)) | Err(why) => why,
    };
    problems.push(bad_file(&name, why, span));
    None
}

fn bad_file(name: &str, why: &str, span: Span) -> Diagnostic {
    Diagnostic::error("bad-file", span, format!("`{name}`: {why}"))
        .help("files are named from the workflow's folder")
}

fn only_key(key: &Key, value: &Yaml, only: &KeySpec, problems: &mut Problems) -> Option<(String, Span)> {
    let YamlValue::Map(entries) = &value.value else { return None };
    if let Some((other, _)) = entries.iter().find(|(other, _)| other.value != only.name) {
        let message = format!("`{}` does not go together with `{}`", other.value, only.name);
        problems.push(Diagnostic::error("bad-matrix", other.span, message).help(FORMS));
        return None;
    }
    let (_, value) = value.get(only.name)?;
    let text = syntax::expect_text(value, only, key.span, problems)?;
    Some((text.value, text.span.or(key.span)))
}

fn path(name: &str) -> Result<PathBuf, String> {
    files::normalize_relative(name)
        .ok_or_else(|| "a workflow's files lie in its own folder or below".to_owned())
}

/// The files that match a glob pattern, as paths with `/`. `*` and `?` do not match `/`; `**` matches any number of folders.
fn matching(pattern: &Path, files: &dyn Files) -> Result<Vec<String>, String> {
    let text = slashes(pattern);
    let wild = |part: &str| part.contains(['*', '?', '[']);
    let matcher = glob::Pattern::new(&text).map_err(|error| format!("this is no pattern: {}", error.msg))?;
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let parts: Vec<&str> = text.split('/').collect();
    let fixed = parts.iter().take(parts.len() - 1).take_while(|part| !wild(part)).count();
    let start: PathBuf = parts[..fixed].iter().collect();
    let depth = if parts.contains(&"**") { limits::MAX_GLOB_DEPTH } else { parts.len() - fixed };

    let mut paths = Vec::new();
    let mut examined = 0_usize;
    let mut pending = vec![(start, 1_usize)];
    while let Some((folder, level)) = pending.pop() {
        let entries = match files.list(&folder, limits::MAX_DIR_ENTRIES) {
            Ok(entries) => entries,
            // Subfolders that cannot be read are skipped.
            Err(FileError::Outside | FileError::Unreadable(_)) if level > 1 => continue,
            Err(error) => return Err(error.to_string()),
        };
        examined = examined.saturating_add(entries.len());
        if examined > limits::MAX_DIR_ENTRIES {
            let max_files = grouped(limits::MAX_DIR_ENTRIES as u128);
            return Err(format!("more than {max_files} files would have to be looked at"));
        }
        for entry in entries {
            let path = folder.join(&entry.name);
            if entry.folder {
                if level < depth && !entry.name.starts_with('.') {
                    pending.push((path, level + 1));
                }
            } else {
                let path = slashes(&path);
                if matcher.matches_with(&path, options) {
                    paths.push(path);
                }
            }
        }
    }
    paths.sort_unstable();
    Ok(paths)
}

fn slashes(path: &Path) -> String {
    path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::InMemory;

    #[test]
    fn file_patterns_match_sorted_by_name() {
        let files = ["a/2.png", "a/10.png", "a/x.jpg", "a/b/3.png", "a/.hidden.png", "c.png"]
            .into_iter()
            .fold(InMemory::default(), |files, name| files.with(name, *b"x"));
        let matches = |pattern: &str| matching(Path::new(pattern), &files).unwrap();
        assert_eq!(matches("a/*.png"), ["a/10.png", "a/2.png"]);
        assert_eq!(matches("a/**/*.png"), ["a/10.png", "a/2.png", "a/b/3.png"]);
        assert_eq!(matches("*/[x-z].*"), ["a/x.jpg"]);
        assert_eq!(matches("*.png"), ["c.png"]);
        assert_eq!(matches("c.png"), ["c.png"]);
        assert_eq!(matching(Path::new("nowhere/*.png"), &files), Err("there is no such file".to_owned()));
        assert!(matching(Path::new("a/[.png"), &files).is_err());
    }
}
