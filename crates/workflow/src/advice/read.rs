//! Reads a file's tree, and reports what is wrong with its YAML.

use super::syntax_failure;
use crate::diagnostic::{Diagnostic, Problems, grouped};
use crate::limits;
use crate::source::{Source, Span};
use crate::syntax;
use crate::yaml::{self, Failure, FailureKind, Yaml};

/// The tree, with numbers as they are written where they are names; `None` if the text is not YAML. Duplicate keys are reported, and the
/// first is used.
pub(crate) fn read(source: &Source, problems: &mut Problems) -> Option<Yaml> {
    let (tree, failures) = yaml::parse(source);
    for failure in &failures {
        problems.push(diagnostic(failure, source));
    }
    let mut tree = tree?;
    syntax::keep_written_names(&mut tree, source);
    Some(tree)
}

fn diagnostic(failure: &Failure, source: &Source) -> Diagnostic {
    let span = failure.span;
    let wrong = |message: &str, help: &str| Diagnostic::error("yaml-syntax", span, message).help(help);
    match &failure.kind {
        FailureKind::RepeatedKey { key, first } => repeated_key(key, span, *first, source),
        FailureKind::Limit => beyond(span),
        FailureKind::UnknownAnchor => wrong(
            &format!("no anchor above is named `{}`", source.slice(span).trim_start_matches('*')),
            "an anchor such as `&night` stands above its aliases; text that begins with `*` needs quotes",
        ),
        FailureKind::RecursiveAnchor => wrong(
            "an anchor may not contain itself",
            "remove this alias, or move it out of what its anchor names",
        ),
        FailureKind::NoMappingToMerge => wrong(
            "`<<` takes an alias of a mapping",
            "write `<<: *night`, with `x-night: &night {seed: 1}` above it",
        ),
        FailureKind::SecondDocument => {
            wrong("a second document begins here", "remove the `---`; a workflow is one document")
        }
        FailureKind::NotFinite(value) => wrong(
            &format!("`{value}` is not a finite number"),
            &format!("write a number; if it is text, put it in quotes: `\"{value}\"`"),
        ),
        FailureKind::Tag(tag) => wrong(
            &format!("the tag `{tag}` is not supported"),
            "remove it; text that begins with `!` needs quotes",
        ),
        FailureKind::LongKey => Diagnostic::error("bad-key", span, "this key is far too long"),
        FailureKind::EmptyKey => Diagnostic::error("bad-key", span, "a key must be text, not empty")
            .help("write the name of the key; one such as `~` or `null` is put in quotes"),
        FailureKind::CompoundKey
            if source.text().get(..span.end()).is_some_and(|before| before.ends_with("{{")) =>
        {
            wrong("a value that begins with `{{` needs quotes", "write \"{{ name }}\"")
        }
        FailureKind::CompoundKey => {
            Diagnostic::error("bad-key", span, "a key must be text, not a list or a mapping")
                .help("quote text that begins with `[`, `{` or `{{`: a template is written as \"{{ name }}\"")
        }
        FailureKind::Syntax { class, message } => syntax_failure::diagnostic(*class, message, span, source),
    }
}

/// A key that its mapping already has. A second `id` probably begins an item whose dash is missing.
fn repeated_key(key: &str, span: Span, first: Option<Span>, source: &Source) -> Diagnostic {
    let again = Diagnostic::error("duplicate-key", span, format!("the key `{key}` is duplicate"));
    let line = source.text().get(span.start()..).and_then(|rest| rest.lines().next());
    let item = line.map(str::trim_end).filter(|item| key == "id" && !item.contains([',', '}', '`']));
    let help = match item {
        Some(item) => format!(
            "keep one of the two; if another shot begins here, write `- {item}`, its dash below the one above"
        ),
        None => "keep one of the two".to_owned(),
    };
    match first {
        Some(first) => again.label("again here").other(first, "first here").help(help),
        None => again.help(help),
    }
}

fn beyond(span: Span) -> Diagnostic {
    Diagnostic::error("yaml-limit", span, "this file has too many values or aliases, or nests too deeply").help(format!(
        "a workflow has at most {} values, those inside aliases counted where they are used, {} levels of nesting and \
         {} aliases",
        grouped(limits::MAX_YAML_NODES as u128),
        limits::MAX_YAML_DEPTH,
        grouped(limits::MAX_YAML_ALIASES as u128)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_texts_where_the_format_has_names_and_texts_and_nowhere_in_metadata() {
        for (text, expected) in [
            (
                "{id: 1_1, at: 1_1, description: 1.10, cast: [1_1]}",
                r#"{"id":"1_1","at":"1_1","description":"1.10","cast":["1_1"]}"#,
            ),
            ("{metadata: {id: 1.10, at: 1.10}, seed: 1_1}", r#"{"metadata":{"id":1.1,"at":1.1},"seed":11}"#),
            (
                "{params: {title: 1.10, n: 1.10, id: 1_1, seed: 1_1}}",
                r#"{"params":{"title":"1.10","n":1.1,"id":"1_1","seed":11}}"#,
            ),
            (
                "{matrix: {n: [1.10], range: {from: 1_0, to: 2_0}}}",
                r#"{"matrix":{"n":["1.10"],"range":{"from":10,"to":20}}}"#,
            ),
        ] {
            let mut problems = Problems::default();
            let tree = read(&Source::new("test.yaml", text), &mut problems).expect("a tree");
            assert_eq!(tree.to_json().to_string(), expected);
            assert!(!problems.any(), "{text}");
        }
    }
}
