//! Changes a list of a film, that of its clips or of its voices, in the text of a workflow file.

use serde_json::Value;

use super::{EditError, after_colon, parse};
use crate::scaffold::scalar;
use crate::source::Source;
use crate::yaml::{Key, Yaml, YamlValue};

/// An entry of the new list.
#[derive(Debug, Clone, PartialEq)]
pub enum ListEntry {
    /// That of the old list with this index, with its layout and its comments.
    Same(usize),
    /// That of the old list with this index, with its comments and another value.
    Changed(usize, Value),
    /// A new one: the name of a shot, or a mapping.
    New(Value),
}

/// A film of a file, counted from 0, and the key of one of its lists: `shots`, `voice`.
#[derive(Debug, Clone, Copy)]
pub struct FilmList<'a> {
    pub film: usize,
    pub key: &'a str,
}

/// The entries of a film's list, as the file has them. `None` where the film has no such key.
///
/// # Errors
/// [`EditError::Invalid`], and [`EditError::NoFilm`] where the file has no such film.
pub fn film_entries(text: &str, list: FilmList<'_>) -> Result<Option<Vec<Value>>, EditError> {
    let (_, tree) = parse(text)?;
    let (film, _) = find_film(&tree, list.film)?;
    Ok(film.get(list.key).map(|(_, shots)| items(shots).iter().map(|item| item.to_json()).collect()))
}

/// The text with another list. Entries that stay keep their lines and their comments.
///
/// # Errors
/// See [`film_entries`]; [`EditError::Shared`] where the list is written in a way that cannot be changed on its own.
pub fn set_film_entries(text: &str, list: FilmList<'_>, entries: &[ListEntry]) -> Result<String, EditError> {
    let (source, tree) = parse(text)?;
    let (film, path) = find_film(&tree, list.film)?;
    let old = film.get(list.key).map(|(_, shots)| items(shots)).unwrap_or_default();
    let value = |entry: &ListEntry| match entry {
        ListEntry::Same(index) => old.get(*index).map(|item| item.to_json()),
        ListEntry::Changed(_, value) | ListEntry::New(value) => Some(value.clone()),
    };
    let values: Option<Vec<Value>> = entries.iter().map(value).collect();
    let values = values.ok_or(EditError::Invalid)?;
    let mut expected = tree.to_json();
    if let Some(film) = expected.pointer_mut(&path) {
        film[list.key] = Value::Array(values.clone());
    }
    let candidates = [
        film.get(list.key).and_then(|(key, shots)| by_lines(&source, key, shots, entries)),
        film.get(list.key).map(|(key, shots)| as_block_list(&source, key, shots, &values)),
        film.get(list.key).map(|(_, shots)| in_place(&source, shots, &values)),
        first_key(film).map(|key| before(&source, key, list.key, &values)),
        first_key(film).map(|key| before_inline(text, key, list.key, &values)),
    ];
    let line_ends = |candidate: String| {
        if text.contains("\r\n") { candidate.replace("\r\n", "\n").replace('\n', "\r\n") } else { candidate }
    };
    let is_expected = |candidate: &String| parse(candidate).is_ok_and(|(_, tree)| tree.to_json() == expected);
    candidates
        .into_iter()
        .flatten()
        .map(line_ends)
        .find(is_expected)
        .ok_or_else(|| EditError::Shared { name: list.key.to_owned() })
}

/// A film with its JSON pointer.
fn find_film(tree: &Yaml, index: usize) -> Result<(&Yaml, String), EditError> {
    let is_map = |film: &&Yaml| matches!(film.value, YamlValue::Map(_));
    match (tree.get("film"), tree.get("films")) {
        (Some((_, film)), None) if index == 0 && is_map(&film) => Ok((film, "/film".to_owned())),
        (None, Some((_, films))) => match &films.value {
            YamlValue::List(films) => {
                let film = films.get(index).filter(is_map).ok_or(EditError::NoFilm)?;
                Ok((film, format!("/films/{index}")))
            }
            _ => Err(EditError::NoFilm),
        },
        _ => Err(EditError::NoFilm),
    }
}

/// The items of a list; a single value is a list of one.
fn items(shots: &Yaml) -> Vec<&Yaml> {
    match &shots.value {
        YamlValue::List(items) => items.iter().collect(),
        YamlValue::Null => Vec::new(),
        _ => vec![shots],
    }
}

fn first_key(film: &Yaml) -> Option<&Key> {
    match &film.value {
        YamlValue::Map(entries) => entries.first().map(|(key, _)| key),
        _ => None,
    }
}

/// The lines of each item of a block list are put into the new order.
fn by_lines(source: &Source, key: &Key, shots: &Yaml, entries: &[ListEntry]) -> Option<String> {
    let text = source.text();
    let YamlValue::List(old) = &shots.value else { return None };
    let line_start = |offset: usize| text[..offset].rfind('\n').map_or(0, |end| end + 1);
    let line_end = |offset: usize| text[offset..].find('\n').map_or(text.len(), |end| offset + end + 1);
    let first_line = line_end(key.span.end());
    // The dash is on the item's own line.
    let mut dashes = Vec::new();
    for item in old {
        let start = line_start(item.span.start());
        let indent = text[start..].len() - text[start..].trim_start_matches(' ').len();
        if !text[start + indent..].starts_with('-') || dashes.last().is_some_and(|(last, _)| *last >= start) {
            return None;
        }
        dashes.push((start, indent));
    }
    let end = line_end(extent(source, old.last()?));
    // Comments above an item belong to it.
    let mut starts: Vec<usize> = Vec::new();
    for (index, (dash, _)) in dashes.iter().enumerate() {
        let mut start = *dash;
        let floor = if index == 0 { first_line } else { line_end(dashes[index - 1].0) };
        while start > floor {
            let above = line_start(start - 1);
            if above < floor || !text[above..start].trim_start().starts_with('#') {
                break;
            }
            start = above;
        }
        starts.push(start);
    }
    starts.push(end);
    let mut list = String::new();
    let mut push = |lines: &str| {
        list.push_str(lines);
        if !lines.ends_with('\n') {
            list.push('\n');
        }
    };
    for entry in entries {
        match entry {
            ListEntry::Same(index) => push(text.get(starts[*index]..*starts.get(index + 1)?)?),
            ListEntry::Changed(index, value) => {
                let item = &old[*index];
                let (begin, finish) = (item.span.start(), extent(source, item));
                let lines = text.get(starts[*index]..begin)?;
                let rest = text.get(finish..*starts.get(index + 1)?)?;
                push(&format!("{lines}{}{rest}", written(value, false)));
            }
            ListEntry::New(value) => {
                push(&format!("{}- {}", " ".repeat(dashes.first()?.1), written(value, false)));
            }
        }
    }
    Some(format!("{}{list}{}", &text[..starts[0]], &text[end..]))
}

/// The value becomes a block list; a comment after it stays on the key's line.
fn as_block_list(source: &Source, key: &Key, shots: &Yaml, values: &[Value]) -> String {
    let text = source.text();
    let colon = after_colon(text, key.span.end());
    let end = extent(source, shots).max(colon);
    let (after, rest) = text[end..].split_once('\n').unwrap_or((&text[end..], ""));
    format!("{}{}\n{}{rest}", &text[..colon], after.trim_end(), block(source, key, values))
}

/// The value becomes a flow list where it is.
fn in_place(source: &Source, shots: &Yaml, values: &[Value]) -> String {
    let text = source.text();
    let end = extent(source, shots);
    format!("{}{}{}", &text[..shots.span.start()], flow(values), &text[end..])
}

/// The offset at which a value ends. Spans of lists and mappings are those of their first character.
fn extent(source: &Source, value: &Yaml) -> usize {
    let (text, start) = (source.text(), value.span.start());
    let own = start + source.slice(value.span).trim_end().len();
    let children = match &value.value {
        YamlValue::List(items) => items.iter().map(|item| extent(source, item)).max(),
        YamlValue::Map(entries) => {
            entries.iter().map(|(key, value)| extent(source, value).max(key.span.end())).max()
        }
        _ => None,
    };
    let is_collection = matches!(value.value, YamlValue::List(_) | YamlValue::Map(_));
    if is_collection && text[start..].starts_with(['[', '{']) {
        return flow_end(text, start);
    }
    children.unwrap_or(own).max(own)
}

/// The offset after the bracket that closes the one at `start`.
fn flow_end(text: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut before = ' ';
    let mut characters = text[start..].char_indices();
    while let Some((offset, c)) = characters.next() {
        match (quote, c) {
            (Some('"'), '\\') => {
                characters.next();
            }
            (Some(open), _) => {
                if open == c {
                    quote = None;
                }
            }
            // Inside of a word it is no quote.
            (None, '"' | '\'') if matches!(before, ' ' | '\n' | '[' | '{' | ',' | ':') => quote = Some(c),
            (None, '#') if before.is_whitespace() => {
                let _comment = characters.by_ref().find(|(_, c)| *c == '\n');
            }
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return start + offset + 1;
                }
            }
            (None, _) => {}
        }
        before = c;
    }
    text.len()
}

/// A block list before the film's first key.
fn before(source: &Source, key: &Key, list: &str, values: &[Value]) -> String {
    let (text, position) = (source.text(), key.span.start());
    let indent = indent(source, key);
    format!("{}{list}:\n{}{indent}{}", &text[..position], block(source, key, values), &text[position..])
}

/// A flow list before the film's first key.
fn before_inline(text: &str, key: &Key, list: &str, values: &[Value]) -> String {
    let position = key.span.start();
    format!("{}{list}: {}, {}", &text[..position], flow(values), &text[position..])
}

fn indent(source: &Source, key: &Key) -> String {
    " ".repeat(source.position(key.span.start()).column.saturating_sub(1))
}

fn block(source: &Source, key: &Key, values: &[Value]) -> String {
    let indent = indent(source, key);
    let lines: Vec<String> =
        values.iter().map(|value| format!("{indent}  - {}\n", written(value, false))).collect();
    lines.concat()
}

fn flow(values: &[Value]) -> String {
    let items: Vec<String> = values.iter().map(|value| written(value, true)).collect();
    format!("[{}]", items.join(", "))
}

/// A value on one line. In a flow collection, text is quoted where it may be misread.
fn written(value: &Value, in_flow: bool) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{name}: {}", written(value, true))).collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(values) => flow(values),
        Value::String(text) if in_flow => {
            let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | ' ');
            let plain = scalar(text);
            if plain == *text && text.chars().all(is_plain) { plain } else { value.to_string() }
        }
        Value::String(text) => scalar(text),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shots(film: usize) -> FilmList<'static> {
        FilmList { film, key: "shots" }
    }

    const FILE: &str = "version: 1
shots: [{id: a}, {id: b}]
film:
  output: film.mp4
  # What is shown.
  shots:
    # It opens quietly.
    - a   # wide
    - {shot: b, in: 1s}  # close

    - shot: a
      in: 2s
  size: 1280x720
# The end.
";

    #[test]
    fn lines_and_comments_go_with_their_entries() {
        let entries = [
            ListEntry::Changed(1, json!({"shot": "b", "in": "30f", "title": "a, b"})),
            ListEntry::Same(0),
            ListEntry::New(json!("b#2")),
            ListEntry::Same(2),
            ListEntry::New(json!({"shot": "a@look=noir,move=pan", "transition": {"dissolve": "12f"}})),
        ];
        insta::assert_snapshot!(set_film_entries(FILE, shots(0), &entries).unwrap());
        let crlf = FILE.replace('\n', "\r\n");
        let edited = set_film_entries(&crlf, shots(0), &entries).unwrap();
        assert_eq!(edited.replace("\r\n", "\n"), set_film_entries(FILE, shots(0), &entries).unwrap());
        let all = [0, 1, 2].map(ListEntry::Same);
        assert_eq!(
            set_film_entries(FILE, shots(0), &all).unwrap().replace("\n\n", "\n"),
            FILE.replace("\n\n", "\n")
        );
    }

    #[test]
    fn every_layout_can_be_changed() {
        let entries = [ListEntry::New(json!("b")), ListEntry::New(json!({"shot": "a", "out": "-5f"}))];
        let list = json!(["b", {"shot": "a", "out": "-5f"}]);
        let edited =
            set_film_entries("film:\n  shots: [a, b] # two\n  size: 2x2\n", shots(0), &entries).unwrap();
        assert_eq!(
            edited,
            "film:\n  shots: # two\n    - b\n    - {shot: a, out: \"-5f\"}\n  size: 2x2\n".replace('"', "")
        );
        for (text, film) in [
            ("film:\n  shots: [a, b]\n  size: 2x2\n", 0),
            ("film:\n  shots: a # one\n  size: 2x2\n", 0),
            ("film: {output: a.mp4, shots: [a]}\n", 0),
            ("film: {output: a.mp4}\n", 0),
            ("film:\n  output: a.mp4\n", 0),
            ("films:\n  - output: a.mp4\n    shots: [a]\n  - {output: b.mp4, shots: [a]}\n", 0),
            ("films:\n  - output: a.mp4\n    shots: [a]\n  - {output: b.mp4, shots: [a]}\n", 1),
            ("film:\n  output: a.mp4\n  shots:\n  - a\n  - b\nname: x", 0),
            ("film:\n  output: a.mp4\n  shots:\n    - a\n    - b", 0),
        ] {
            let edited = set_film_entries(text, shots(film), &entries).unwrap();
            assert_eq!(
                film_entries(&edited, shots(film)).unwrap(),
                Some(list.as_array().unwrap().clone()),
                "{edited}"
            );
        }
        assert_eq!(set_film_entries("film: {output: a.mp4}", shots(1), &entries), Err(EditError::NoFilm));
        assert_eq!(set_film_entries("shots: []", shots(0), &entries), Err(EditError::NoFilm));
        let shared = "x: &list [a]\nfilm: {shots: *list}\n";
        let edited = set_film_entries(shared, shots(0), &entries);
        assert!(edited.is_err() || edited.is_ok_and(|text| text.starts_with("x: &list [a]\n")));
    }
}
