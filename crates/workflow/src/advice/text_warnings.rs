//! Warnings of texts that are not what was probably meant, as far as the file alone tells.

use super::{comments, dollars};
use crate::diagnostic::{Diagnostic, shortened};
use crate::source::Source;
use crate::yaml::{Yaml, YamlValue};

/// Warnings of what YAML drops from a line, and of what is text although it looks like a template.
///
/// `source` is the file that the tree was read from, and the tree's spans are those of that file.
pub(crate) fn text_warnings(tree: &Yaml, source: &Source) -> Vec<Diagnostic> {
    let text = source.text();
    let mut warnings: Vec<_> = comments::warnings(tree, text).chain(dollars::warnings(tree, text)).collect();
    curly_quotes(tree, text, &mut warnings);
    warnings
}

/// Texts within the quotes of a word processor, which are no quotes in YAML.
fn curly_quotes(value: &Yaml, text: &str, warnings: &mut Vec<Diagnostic>) {
    match &value.value {
        YamlValue::Text(_) => {
            let inner = text
                .get(value.span.range())
                .and_then(|written| written.strip_prefix(['“', '„', '‘'])?.strip_suffix(['”', '“', '’']));
            if let Some(inner) = inner.filter(|inner| !inner.contains(['“', '„', '”'])) {
                let message = "the curly quotes around this text are a part of it";
                let help = format!("write straight ones: `\"{}\"`", shortened(inner));
                warnings.push(Diagnostic::warning("curly-quotes", value.span, message).help(help));
            }
        }
        YamlValue::List(items) => items.iter().for_each(|item| curly_quotes(item, text, warnings)),
        YamlValue::Map(entries) => {
            for (_, value) in entries {
                curly_quotes(value, text, warnings);
            }
        }
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => {}
    }
}
