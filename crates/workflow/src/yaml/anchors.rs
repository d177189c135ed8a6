//! Anchors that were probably meant as text: in `prompt: &rain a pier` the text is `a pier`.

use std::collections::HashMap;

use super::source_text::{is_block_text, properties_before};
use super::{Yaml, YamlValue, as_quoted};
use crate::diagnostic::Diagnostic;
use crate::source::Span;

/// Maximum length of a text that help repeats, in bytes.
const MAX_QUOTED_LEN: usize = 120;

/// Warnings of anchors of plain text that no alias uses, in order. Anchors of other values, and of blocks, drop no text of a line.
pub(super) fn warnings(tree: &Yaml, text: &str) -> Vec<Diagnostic> {
    if !text.contains('&') {
        return Vec::new();
    }
    // What an anchor names is in the tree once for each alias, and once where it is written.
    let mut uses: HashMap<Span, usize> = HashMap::new();
    let mut texts = Vec::new();
    count(tree, text, &mut uses, &mut texts);
    texts.retain(|scalar| uses.get(scalar) == Some(&1));
    texts.sort_unstable();
    texts.into_iter().filter_map(|scalar| warning(scalar, text)).collect()
}

/// Counts the uses of anchored scalars, and collects those that are texts.
fn count(value: &Yaml, text: &str, uses: &mut HashMap<Span, usize>, texts: &mut Vec<Span>) {
    match &value.value {
        YamlValue::List(items) => items.iter().for_each(|item| count(item, text, uses, texts)),
        YamlValue::Map(entries) => {
            for (key, value) in entries {
                // An alias may be a key.
                if let Some(anchored) = uses.get_mut(&key.span) {
                    *anchored += 1;
                }
                count(value, text, uses, texts);
            }
        }
        YamlValue::Text(_) => {
            if anchor_before(value.span, text).is_some() {
                *uses.entry(value.span).or_default() += 1;
                texts.push(value.span);
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => {}
    }
}

/// The anchor of a plain scalar.
fn anchor_before(scalar: Span, text: &str) -> Option<Span> {
    let written = text.get(scalar.range())?;
    if written.is_empty() || written.starts_with(['"', '\'', '|', '>']) || is_block_text(text, scalar.start())
    {
        return None;
    }
    properties_before(text, scalar).find(|word| text[word.range()].starts_with('&'))
}

fn warning(scalar: Span, text: &str) -> Option<Diagnostic> {
    let anchor = anchor_before(scalar, text)?;
    let name = &text[anchor.range()];
    let message = format!("no alias uses the YAML anchor `{name}`: it is no part of the text after it");
    let written = text.get(anchor.start()..scalar.end())?.trim_end();
    let help = if written.len() <= MAX_QUOTED_LEN && !written.contains('\n') {
        format!("if it is text, write {}; else remove it", as_quoted(written))
    } else {
        "if it is text, put the whole text in quotes; else remove it".to_owned()
    };
    Some(Diagnostic::warning("unused-anchor", anchor, message).help(help))
}
