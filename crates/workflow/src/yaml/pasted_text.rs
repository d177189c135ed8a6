//! Lines of other programs in a file: of a merge that was not finished, of Markdown, of a second document.

use super::brackets::key_of;
use super::parse_failure::{ParseFailure, lines_of};
use crate::diagnostic::Diagnostic;
use crate::source::Source;

/// What version control writes around the two sides of a conflict. A line of seven `=` is between them.
const CONFLICT: [&str; 2] = ["<<<<<<< ", ">>>>>>> "];

/// What begins and ends a block of code in Markdown.
const FENCES: [&str; 2] = ["```", "~~~"];

/// The first such line, if there is one.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    conflict(failure).or_else(|| fence(failure))
}

/// A conflict anywhere in the file: where it leads to an error depends on its two sides.
fn conflict(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let [begin, end] = CONFLICT.map(|sign| failure.lines.iter().position(|line| line.starts_with(sign)));
    let (begin, end) = (begin?, end?);
    (begin < end).then(|| {
        let help = format!(
            "between this line and line {}, keep what you need of the two sides, and remove the lines that begin with `<<<<<<<`, \
             `=======` and `>>>>>>>`",
            end + 1
        );
        failure.error_at_line(begin, "a merge left a conflict here, which is not resolved", help)
    })
}

/// A line of Markdown at the mistake, or above it.
fn fence(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let is_fence = |index: &usize| {
        failure.lines.get(*index).is_some_and(|line| FENCES.iter().any(|fence| line.starts_with(fence)))
    };
    let index = failure.near_lines().find(is_fence)?;
    let other = (index + 1..failure.lines.len()).find(is_fence);
    let is_prose_above = failure.lines[..index]
        .iter()
        .any(|line| line.starts_with(char::is_alphabetic) && key_of(line).is_none());
    let help = match other {
        Some(other) if is_prose_above => {
            format!("keep only what is between this line and line {}", other + 1)
        }
        Some(other) => format!("remove this line and line {}", other + 1),
        None => "remove this line".to_owned(),
    };
    Some(failure.error_at_line(index, "this line is Markdown, and not YAML", help))
}

/// The help for a second document, by which of the documents is a workflow.
pub(super) fn other_document(source: &Source) -> String {
    let lines = lines_of(source);
    let is_border = |line: &str| line == "---" || line.starts_with("--- ") || line.trim_end() == "...";
    let is_content = |index: &usize| {
        let line = lines[*index].trim();
        !line.is_empty() && !line.starts_with('#') && !is_border(lines[*index])
    };
    let Some(first) = (0..lines.len()).find(is_content) else { return ONE_WORKFLOW.to_owned() };
    let Some(border) = (first..lines.len()).find(|index| is_border(lines[*index])) else {
        return ONE_WORKFLOW.to_owned();
    };
    let is_workflow = |lines: &[&str]| {
        lines.iter().any(|line| ["version:", "shots:"].iter().any(|key| line.starts_with(key)))
    };
    let number = border + 1;
    match (is_workflow(&lines[..border]), is_workflow(&lines[border..])) {
        (false, true) => format!(
            "a file holds one workflow, which begins below the `---` in line {number}: remove that line and what is above it"
        ),
        (true, false) if !(border..lines.len()).any(|index| is_content(&index)) => {
            format!("remove the `---` in line {number}")
        }
        (true, false) => {
            format!("a file holds one workflow: remove the `---` in line {number} and what follows")
        }
        _ => ONE_WORKFLOW.to_owned(),
    }
}

/// The help where each document may be a workflow.
const ONE_WORKFLOW: &str = "a file holds one workflow: make what follows the `---` line a file of its own";

#[cfg(test)]
mod tests {
    use crate::yaml::check_fix::{first_problem, meaning};

    #[test]
    fn conflicts_are_reported_wherever_the_parser_stops() {
        let message = |end: usize| {
            format!(
                "a merge left a conflict here, which is not resolved; between this line and line {end}, keep what you need of the two \
                 sides, and remove the lines that begin with `<<<<<<<`, `=======` and `>>>>>>>`"
            )
        };
        for (text, line, end) in [
            ("shots:\n<<<<<<< HEAD\n  - {id: a}\n=======\n  - {id: b}\n>>>>>>> x\n", 2, 6),
            ("shots:\n  - id: a\n<<<<<<< HEAD\n    b: 1\n=======\n    b: 2\n>>>>>>> x\n", 3, 7),
            ("a: |\n  x\n<<<<<<< HEAD\n  y\n=======\n  z\n>>>>>>> x\n", 3, 7),
        ] {
            assert_eq!(first_problem(text), Some((line, 1, message(end))), "{text}");
        }
    }

    #[test]
    fn fences_are_removed() {
        let fenced = |help: &str| format!("this line is Markdown, and not YAML; {help}");
        for (text, line, help) in [
            ("```yaml\na: 1\nb: 2\n```\n", 1, "remove this line and line 4"),
            ("~~~\na: 1\nb: 2\n~~~\n", 1, "remove this line and line 4"),
            ("a: 1\nb: 2\n```\n", 3, "remove this line"),
            (
                "Here it is:\n\n```yaml\na: 1\nb: 2\n```\n",
                3,
                "keep only what is between this line and line 6",
            ),
        ] {
            assert_eq!(first_problem(text), Some((line, 1, fenced(help))), "{text}");
            let kept: Vec<&str> = text.lines().filter(|line| line.contains(": ")).collect();
            assert_eq!(meaning(&kept.join("\n")).as_deref(), Ok(r#"{"a":1,"b":2}"#));
        }
    }

    #[test]
    fn help_for_two_documents_keeps_the_workflow() {
        for (text, help) in [
            (
                "---\ntitle: x\n---\nversion: 1\nshots: []\n",
                "a file holds one workflow, which begins below the `---` in line 3: remove that line and what is above it",
            ),
            ("version: 1\nshots: []\n---\n", "remove the `---` in line 3"),
            (
                "version: 1\nshots: []\n---\nnotes\n",
                "a file holds one workflow: remove the `---` in line 3 and what follows",
            ),
            (
                "shots: []\n---\nshots: []\n",
                "a file holds one workflow: make what follows the `---` line a file of its own",
            ),
        ] {
            let (_, _, message) = first_problem(text).unwrap_or_default();
            assert_eq!(message, format!("a second document begins here; {help}"), "{text}");
        }
    }
}
