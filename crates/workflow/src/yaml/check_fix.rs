//! Tests of suggestions: what help says is applied, and must be what the author meant.

use crate::diagnostic::Problems;
use crate::source::Source;

/// What is said first about a text: the line, the column, and the message with its help.
pub(super) fn first_problem(text: &str) -> Option<(usize, usize, String)> {
    let source = Source::new("a.yaml", text);
    let mut problems = Problems::default();
    let _tree = super::read(&source, &mut problems);
    let (diagnostics, _) = problems.into_sorted();
    let diagnostic = diagnostics.first()?;
    let position = source.position(diagnostic.primary.span.start());
    let help = diagnostic.help.as_deref().unwrap_or_default();
    Some((position.line, position.column, format!("{}; {help}", diagnostic.message)))
}

/// A text as JSON, if nothing is wrong with it.
pub(super) fn meaning(text: &str) -> Result<String, String> {
    if let Some((line, column, message)) = first_problem(text) {
        return Err(format!("{line}:{column}: {message}"));
    }
    let source = Source::new("a.yaml", text);
    let tree = super::read(&source, &mut Problems::default());
    Ok(tree.map(|tree| tree.to_json().to_string()).unwrap_or_default())
}

/// Checks that a mistake is reported at a location, that the help has the text to write instead of a part of the file, and that the file with
/// it means what the author meant, as JSON.
#[track_caller]
pub(super) fn check_fix(
    text: &str,
    location: (usize, usize),
    (part, instead): (&str, &str),
    expected_meaning: &str,
) {
    let (line, column, message) = first_problem(text).unwrap_or_default();
    assert_eq!((line, column), location, "{message}\n{text}");
    let suggested = instead.trim();
    assert!(message.contains(&format!("`{suggested}`")), "`{suggested}` is not in: {message}\n{text}");
    assert!(text.contains(part), "{part}\n{text}");
    assert_eq!(meaning(&text.replacen(part, instead, 1)).as_deref(), Ok(expected_meaning), "{text}");
}
