//! The values of one axis: a list, a range, the rows of a CSV table, or file names.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::{AxisValue, Values, range, table};
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::encoding;
use crate::files::{self, FileError, Files};
use crate::limits;
use crate::source::{Span, Spanned};
use crate::syntax::keys::{KeySpec, matrix as keys};
use crate::syntax::{self, identifier};
use crate::yaml::{Key, Yaml, YamlValue};

/// Where tables and lists of files come from.
#[derive(Clone, Copy)]
pub(crate) struct FileAccess<'a> {
    pub(crate) files: &'a dyn Files,
    /// Whether they may lie outside the workflow's folder.
    pub(crate) outside: bool,
}

const FORMS: &str = "an axis is a list, a range `{from: 1, to: 5}`, a table `{csv: cast.csv}` or files `{files: \"stills/*.png\"}`";

/// The values of an axis; `None` if it is invalid, which is reported.
pub(super) fn values(
    key: &Key,
    value: &Yaml,
    file_access: FileAccess<'_>,
    problems: &mut Problems,
) -> Option<Values> {
    if let Err(message) = identifier(&key.value) {
        problems.error("bad-name", key.span, message);
        return None;
    }
    let values = match &value.value {
        YamlValue::List(items) => {
            items.iter().map(|item| self::value(item.to_json(), value_span(item, key))).collect()
        }
        YamlValue::Map(_) if value.get(keys::CSV.name).is_some() => rows(key, value, file_access, problems)?,
        YamlValue::Map(_) if value.get(keys::FILES.name).is_some() => {
            names(key, value, file_access, problems)?
        }
        YamlValue::Map(_) => range::values(key, value, problems)?,
        _ => {
            let message = format!("the axis `{}` must be a list", key.value);
            let help = match &value.value {
                YamlValue::Text(text) if !text.contains(['{', '}', '[', ']', '\n']) => {
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
        problems.error("bad-matrix", key.span, format!("the axis `{}` has no value", key.value));
        return None;
    }
    Some(values)
}

/// A value of an axis.
pub(super) fn value(value: Value, span: Span) -> AxisValue {
    Spanned::new(Arc::new(value), span)
}

/// The span of a value; of a map, the span of its first key.
pub(super) fn value_span(value: &Yaml, key: &Key) -> Span {
    match &value.value {
        YamlValue::Map(entries) => entries.first().map_or(value.span, |(first, _)| first.span),
        _ => value.span.or(key.span),
    }
}

/// `{csv: cast.csv}`: a value for each row.
fn rows(key: &Key, value: &Yaml, file_access: FileAccess<'_>, problems: &mut Problems) -> Option<Values> {
    let (name, span) = only_key(key, value, &keys::CSV, problems)?;
    let bytes = path(&name, file_access.outside).and_then(|path| {
        file_access.files.read(&path, limits::MAX_CSV_BYTES).map_err(|error| error.to_string())
    });
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(why) => {
            problems.push(bad_file(&name, &why, span));
            return None;
        }
    };
    let text = encoding::decode(&bytes).map_err(|error| format!("{error}; {}", error.help()));
    match text.and_then(table::rows) {
        Ok(rows) => Some(rows.into_iter().map(|row| self::value(row, span)).collect()),
        Err(why) => {
            problems.error("bad-file", span, format!("`{name}`: {why}"));
            None
        }
    }
}

/// `{files: "stills/*.png"}`: a value for each file, sorted by name.
fn names(key: &Key, value: &Yaml, file_access: FileAccess<'_>, problems: &mut Problems) -> Option<Values> {
    let (name, span) = only_key(key, value, &keys::FILES, problems)?;
    let found = path(&name, file_access.outside).and_then(|path| matching(&path, file_access.files));
    match found {
        Ok(names) if names.is_empty() => {
            problems.push(bad_file(&name, "there is no such file", span));
            None
        }
        Ok(names) => Some(names.into_iter().map(|name| self::value(Value::String(name), span)).collect()),
        Err(why) => {
            problems.push(bad_file(&name, &why, span));
            None
        }
    }
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

fn path(name: &str, outside: bool) -> Result<PathBuf, String> {
    match files::normalize_relative(name) {
        Some(path) => Ok(path),
        None if outside && !name.is_empty() => Ok(PathBuf::from(name)),
        None => Err("a workflow's files lie in its own folder or below".to_owned()),
    }
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

    let mut found = Vec::new();
    let mut looked_at = 0_usize;
    let mut pending = vec![(start, 1_usize)];
    while let Some((folder, level)) = pending.pop() {
        let entries = match files.list(&folder, limits::MAX_DIR_ENTRIES) {
            Ok(entries) => entries,
            // Subfolders that cannot be read are skipped.
            Err(FileError::Outside | FileError::Unreadable(_)) if level > 1 => continue,
            Err(trouble) => return Err(trouble.to_string()),
        };
        looked_at = looked_at.saturating_add(entries.len());
        if looked_at > limits::MAX_DIR_ENTRIES {
            let most = grouped(limits::MAX_DIR_ENTRIES as u128);
            return Err(format!("more than {most} files would have to be looked at"));
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
                    found.push(path);
                }
            }
        }
    }
    found.sort_unstable();
    Ok(found)
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
        let found = |pattern: &str| matching(Path::new(pattern), &files).unwrap();
        assert_eq!(found("a/*.png"), ["a/10.png", "a/2.png"]);
        assert_eq!(found("a/**/*.png"), ["a/10.png", "a/2.png", "a/b/3.png"]);
        assert_eq!(found("*/[x-z].*"), ["a/x.jpg"]);
        assert_eq!(found("*.png"), ["c.png"]);
        assert_eq!(found("c.png"), ["c.png"]);
        assert_eq!(matching(Path::new("nowhere/*.png"), &files), Err("there is no such file".to_owned()));
        assert!(matching(Path::new("a/[.png"), &files).is_err());
    }
}
