//! Tags, which the parser drops.

use super::failure::{Failure, FailureKind};
use super::words::{is_block_text, properties_before};
use super::{Yaml, YamlValue};
use crate::source::Span;

/// The tags of YAML's own types.
const CORE_TAGS: [&str; 7] = ["!!str", "!!int", "!!float", "!!bool", "!!null", "!!seq", "!!map"];
/// Of a file that is full of tags, not all are failures.
const MAX_FAILURES: usize = 100;

/// Adds a failure for each tag that is not one of YAML's own types.
pub(super) fn refuse(tree: &Yaml, text: &str, failures: &mut Vec<Failure>) {
    // Most files have none.
    if text.contains('!') {
        refuse_in(tree, text, failures);
    }
}

fn refuse_in(tree: &Yaml, text: &str, failures: &mut Vec<Failure>) {
    add(before(text, tree.span), text, failures);
    match &tree.value {
        YamlValue::List(items) => items.iter().for_each(|item| refuse_in(item, text, failures)),
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                add(before_key(text, key.span), text, failures);
                refuse_in(value, text, failures);
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) | YamlValue::Text(_) => {}
    }
}

fn add(tag: Option<Span>, text: &str, failures: &mut Vec<Failure>) {
    let Some(span) = tag.filter(|_| failures.len() < MAX_FAILURES) else { return };
    let tag = &text[span.range()];
    if !CORE_TAGS.contains(&tag) {
        failures.push(Failure { kind: FailureKind::Tag(tag.to_owned()), span });
    }
}

/// The tag that stands before a key in its line, if there is one.
fn before_key(text: &str, key: Span) -> Option<Span> {
    let tag = before(text, key)?;
    let between = text.get(tag.end()..key.start())?;
    (!between.contains(['\n', '\r'])).then_some(tag)
}

/// The tag that stands right before a value, or before its anchor or the indicator of its block, if there is one.
fn before(text: &str, span: Span) -> Option<Span> {
    let start = span.start();
    let starts_like_tag = text.get(span.range()).is_some_and(|written| written.starts_with('!'));
    if starts_like_tag && !is_block_text(text, start) {
        let length = text[start..].find(|c: char| c.is_whitespace() || ",]}".contains(c));
        return Some(Span::new(start, start + length.unwrap_or(text.len() - start)));
    }
    properties_before(text, span).find(|word| text[word.range()].starts_with('!'))
}
