//! Templates with a `$` before them, as GitHub Actions writes them: in `prompt: ${{ look }}` the `$` is a part of the text. Before a quoted text,
//! such as `{{ '{{' }}`, it is meant to be: `import` writes braces so.

use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::yaml::{Yaml, YamlValue};

/// What such a template begins with.
const OPENING: &str = "${{";

/// Warnings of them, in order.
pub(super) fn warnings(tree: &Yaml, text: &str) -> impl Iterator<Item = Diagnostic> {
    let mut spans = Vec::new();
    if text.contains(OPENING) {
        collect(tree, text, &mut spans);
    }
    // What an anchor names is in the tree once for each alias.
    spans.sort_unstable();
    spans.dedup();
    spans.into_iter().map(|span| {
        Diagnostic::warning(
            "dollar-before-template",
            span,
            "the `$` before this template is a part of the text",
        )
        .help("remove it: a template is `{{ name }}`; a `$` that is meant as text is written `{{ '$' }}`")
    })
}

fn collect(value: &Yaml, text: &str, spans: &mut Vec<Span>) {
    match &value.value {
        YamlValue::Text(_) => {
            let written = text.get(value.span.range()).unwrap_or_default();
            let is_of_name = |(offset, _): &(usize, &str)| {
                let expression = written[offset + OPENING.len()..].trim_start();
                !expression.starts_with(['\'', '"', '\\'])
            };
            spans.extend(written.match_indices(OPENING).filter(is_of_name).map(|(offset, _)| {
                let start = value.span.start() + offset;
                Span::new(start, start + 1)
            }));
        }
        YamlValue::List(items) => items.iter().for_each(|item| collect(item, text, spans)),
        YamlValue::Map(entries) => entries.iter().for_each(|(_, value)| collect(value, text, spans)),
        YamlValue::Null | YamlValue::Bool(_) | YamlValue::Number(_) => {}
    }
}
