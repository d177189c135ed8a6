//! Keys in brackets without a value, where one was meant: `{id:a}` has no blank after the colon, `{id = a}` another sign, and
//! `{prompt: rain, wind and sea}` a comma in its text.

use super::missing_colons;
use super::mistakes::is_key;
use super::source_text::number_in;
use super::{Key, Yaml, YamlValue, as_quoted};
use crate::diagnostic::{Diagnostic, Problems};
use crate::source::{Source, Span};
use crate::syntax::is_prose;

/// Reports such keys, and reads each as the key and the value that were meant.
pub(super) fn split(tree: &mut Yaml, source: &Source, problems: &mut Problems) {
    match &mut tree.value {
        YamlValue::List(items) => {
            join_cells(items, source, problems);
            for item in items {
                split(item, source, problems);
            }
        }
        YamlValue::Map(entries) => {
            join_texts(entries, source, problems);
            for (key, value) in entries {
                if let Some((name, text, message)) = joined(key, value, source) {
                    problems.push(
                        Diagnostic::error("yaml-syntax", key.span, message)
                            .help(format!("write `{name}: {text}`")),
                    );
                    let (start, end) = (key.span.start(), key.span.end());
                    *value = Yaml::new(scalar(text), Span::new(end - text.len(), end));
                    *key = Key::new(name.to_owned(), Span::new(start, start + name.len()));
                } else {
                    split(value, source, problems);
                }
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {}
    }
}

/// The text of a plain key without a value in brackets.
fn alone<'s>(key: &Key, value: &Yaml, source: &'s Source) -> Option<&'s str> {
    let written = source.slice(key.span);
    let after = source.text().get(key.span.end()..)?.trim_start();
    (value.is_null() && written == key.value && after.starts_with([',', '}'])).then_some(written)
}

/// The key and the value in a key without one, with what is wrong.
fn joined<'s>(key: &Key, value: &Yaml, source: &'s Source) -> Option<(&'s str, &'s str, &'static str)> {
    let written = alone(key, value, source)?;
    if let Some((name, text)) = missing_colons::split(written).filter(|(_, text)| !text.is_empty()) {
        return Some((name, text, "a key has a colon behind it"));
    }
    let sign = written.find([':', '='])?;
    let (name, text) = (written[..sign].trim_end(), written[sign + 1..].trim_start());
    if !is_key(name) || text.is_empty() || text.starts_with(['/', ':', '=']) {
        return None;
    }
    let is_colon = written[sign..].starts_with(':');
    Some((
        name,
        text,
        if is_colon { "a key has a blank after its colon" } else { "a value follows `: `, not `=`" },
    ))
}

/// Reports texts that a comma has ended, and reads them as a whole.
fn join_texts(entries: &mut Vec<(Key, Yaml)>, source: &Source, problems: &mut Problems) {
    let mut dropped = Vec::new();
    let mut index = 1;
    while index < entries.len() {
        let (before, rest) = entries.split_at_mut(index);
        let Some((name, value)) = before.last_mut() else { break };
        index += 1;
        if value.text().is_none_or(|text| text != source.slice(value.span)) {
            continue;
        }
        // A word after a comma in it is hardly a key without a value.
        let is_prose = is_prose(&name.value);
        let is_cell = value.text().is_some_and(is_cell);
        let is_more = |(key, none): &&(Key, Yaml)| {
            alone(key, none, source).is_some_and(|text| match text.split_once('=') {
                // An axis of a cell, such as `pier@look=noir,s=1`.
                Some((axis, _)) => is_cell && is_key(axis),
                None if text.contains(':') => false,
                None => is_prose || text.contains(' ') && missing_colons::split(text).is_none(),
            })
        };
        let more = rest.iter().take_while(is_more).count();
        let Some((last, _)) = more.checked_sub(1).and_then(|last| rest.get(last)) else { continue };
        let span = Span::new(value.span.start(), last.span.end());
        let text = source.slice(span);
        if text.len() <= MAX_TEXT_LEN && !text.contains('\n') {
            let message = format!("in brackets, a comma ends the text of `{}`", name.value);
            let help = format!("put the text in quotes: `{}: {}`", name.value, as_quoted(text));
            problems.push(Diagnostic::error("yaml-syntax", rest[0].0.span, message).help(help));
            *value = Yaml::new(YamlValue::Text(text.to_owned()), span);
            dropped.extend(index - 1..index - 1 + more);
        }
        index += more;
    }
    // In one pass: there may be many.
    let mut dropped = dropped.into_iter().peekable();
    let mut position = 0;
    entries.retain(|_| {
        let is_dropped = dropped.next_if_eq(&position).is_some();
        position += 1;
        !is_dropped
    });
}

/// Whether a text names a cell of a shot, to which further axes may belong.
fn is_cell(text: &str) -> bool {
    text.split_once('@').is_some_and(|(_, cell)| cell.contains('='))
}

/// Joins items of a list in brackets that are axes to the cell before them.
fn join_cells(items: &mut Vec<Yaml>, source: &Source, problems: &mut Problems) {
    let mut joined: Vec<Yaml> = Vec::with_capacity(items.len());
    for item in items.drain(..) {
        let is_axis = item.text().is_some_and(|text| {
            text == source.slice(item.span) && text.split_once('=').is_some_and(|(axis, _)| is_key(axis))
        });
        let cell = joined.last_mut().filter(|cell| {
            is_axis
                && cell.text().is_some_and(|text| is_cell(text) && text == source.slice(cell.span))
                && source.text().get(cell.span.end()..item.span.start()).is_some_and(|gap| gap.trim() == ",")
        });
        let Some(cell) = cell else {
            joined.push(item);
            continue;
        };
        let span = Span::new(cell.span.start(), item.span.end());
        let text = source.slice(span);
        let message = "in brackets, a comma ends the name of a cell";
        problems.push(
            Diagnostic::error("yaml-syntax", item.span, message)
                .help(format!("put the name in quotes: `{}`", as_quoted(text))),
        );
        *cell = Yaml::new(YamlValue::Text(text.to_owned()), span);
    }
    *items = joined;
}

/// Maximum length of a text that help repeats, in bytes.
const MAX_TEXT_LEN: usize = 300;

fn scalar(text: &str) -> YamlValue {
    match text {
        "true" => YamlValue::Bool(true),
        "false" => YamlValue::Bool(false),
        _ => number_in(text).map_or_else(|| YamlValue::Text(text.to_owned()), YamlValue::Number),
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Problems;
    use crate::source::Source;

    fn read(text: &str) -> (Vec<String>, String) {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::default();
        let tree = crate::yaml::read(&source, &mut problems);
        let help = problems.into_sorted().0.into_iter().filter_map(|diagnostic| diagnostic.help).collect();
        (help, tree.map(|tree| tree.to_json().to_string()).unwrap_or_default())
    }

    #[test]
    fn joined_keys_are_reported_and_read_as_meant() {
        let (help, tree) = read("shots:\n  - {id:a, prompt:x, seconds:5}\n");
        assert_eq!(help, ["write `id: a`", "write `prompt: x`", "write `seconds: 5`"]);
        assert_eq!(tree, r#"{"shots":[{"id":"a","prompt":"x","seconds":5}]}"#);
    }

    #[test]
    fn single_word_after_the_comma_of_a_prompt_is_text() {
        let (help, tree) =
            read("a: {prompt: rain, wind, seed: 3}\nb: {prompt: rain, seed}\nc: {x: rain, wind}\n");
        assert_eq!(
            help,
            ["`prompt: \"rain, wind\"`", "`prompt: \"rain, seed\"`"]
                .map(|text| { format!("put the text in quotes: {text}") })
        );
        assert_eq!(
            tree,
            r#"{"a":{"prompt":"rain, wind","seed":3},"b":{"prompt":"rain, seed"},"c":{"x":"rain","wind":null}}"#
        );
    }

    #[test]
    fn texts_that_a_comma_ended_are_read_as_a_whole() {
        let (help, tree) = read("a: {id: a, prompt: rain, wind and sea, over a pier, seconds = 5}\n");
        let text = "rain, wind and sea, over a pier";
        assert_eq!(
            help,
            [format!("put the text in quotes: `prompt: \"{text}\"`"), "write `seconds: 5`".to_owned()]
        );
        assert_eq!(tree, format!(r#"{{"a":{{"id":"a","prompt":"{text}","seconds":5}}}}"#));
    }

    #[test]
    fn axes_of_a_cell_are_joined() {
        let (help, tree) = read("a: {continues: pier@look=noir,s=1, prompt: y}\n");
        assert_eq!(help, ["put the text in quotes: `continues: \"pier@look=noir,s=1\"`"]);
        assert_eq!(tree, r#"{"a":{"continues":"pier@look=noir,s=1","prompt":"y"}}"#);
        let (help, tree) = read("a: [x, pier@look=noir,s=1, {shot: pier@look=noir, s=2}]\n");
        assert_eq!(
            help,
            [
                "put the name in quotes: `\"pier@look=noir,s=1\"`",
                "put the text in quotes: `shot: \"pier@look=noir, s=2\"`"
            ]
        );
        assert_eq!(tree, r#"{"a":["x","pier@look=noir,s=1",{"shot":"pier@look=noir, s=2"}]}"#);
    }

    #[test]
    fn keys_without_a_colon_in_brackets_get_one() {
        let (help, tree) = read("a: {id: b, prompt x, seed 7}\n");
        assert_eq!(help, ["write `prompt: x`", "write `seed: 7`"]);
        assert_eq!(tree, r#"{"a":{"id":"b","prompt":"x","seed":7}}"#);
    }

    #[test]
    fn other_keys_without_a_value_are_left_alone() {
        for text in [
            "a: {b, \"c:d\"}",
            "a: {b: \"c\", \"d e\"}",
            "a: {b: 1, c d}",
            "a: {b: c, d}",
            "a: {http://x}",
            "a: {b:c: d}",
            "b:c:\n",
            "a: {b:c: ~}",
        ] {
            assert_eq!(read(text).0, Vec::<String>::new(), "{text}");
        }
    }
}
