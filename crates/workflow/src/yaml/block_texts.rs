//! Texts in blocks, which begin with `|` or `>`, and in several lines without quotes.

use super::as_quoted;
use super::indentation::{blanks, levels_above};
use super::parse_failure::{ParseFailure, entry_of, indentation, is_in_text};
use crate::diagnostic::Diagnostic;

/// The mistake in such a text that led to a message of the parser.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let index = failure.number - 1;
    if failure.message.contains("while scanning a block scalar") {
        return beside_sign(index, failure);
    }
    if failure.message.contains("wrongly indented line in block scalar") {
        let message = "a blank line at the beginning of this text has more blanks than the text";
        let help = "remove the blanks in the lines above the text";
        return Some(Diagnostic::error("yaml-syntax", failure.span, message).help(help));
    }
    if !failure.message.contains("did not find expected") && !failure.message.contains("comment intercepting")
    {
        return None;
    }
    deeper_first_line(index, failure).or_else(|| comment_within(index, failure))
}

/// Text in the line of the sign of a block.
fn beside_sign(index: usize, failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let line = failure.lines[index].trim_end();
    let (key, value) = entry_of(line).split_once(": ").filter(|(key, _)| super::mistakes::is_key(key))?;
    let value = value.trim_start();
    let sign = value.get(..1).filter(|sign| matches!(*sign, "|" | ">"))?;
    let rest = &value[1..];
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let rest = rest.strip_prefix(|c: char| c.is_ascii_digit()).unwrap_or(rest);
    let header = &value[..value.len() - rest.len()];
    let text = rest.trim();
    // A quote that is closed in the lines below.
    let is_part = text.matches(['"', '\'']).count() % 2 == 1;
    let help = if is_part {
        format!("write `{key}: {header}`, and the text below it without quotes")
    } else {
        format!(
            "write the text below `{key}: {header}`, indented, or in quotes: `{key}: {}`",
            as_quoted(text)
        )
    };
    let start = line.len() - value.len();
    let part = start..start + sign.len();
    Some(failure.error(index, part, "the text of a block begins in the next line", help))
}

/// A line of a block that is indented less than its first one.
fn deeper_first_line(index: usize, failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let indent = indentation(failure.lines[index]);
    let level = levels_above(index, failure.lines).into_iter().find(|level| level.key.is_some())?;
    let key = level.key.filter(|_| level.column < indent)?;
    let (_, value) = entry_of(failure.lines[level.line]).split_once(':')?;
    let first = (level.line + 1..index).find(|index| !failure.lines[*index].trim().is_empty())?;
    let first_indent = indentation(failure.lines[first]);
    (value.trim().starts_with(['|', '>']) && first_indent > indent).then(|| {
        let message = format!("this line is indented less than the first line of the text of `{key}`");
        let help = format!("indent line {} by {}, like this one", first + 1, blanks(indent));
        failure.error_at_line(index, message, help)
    })
}

/// A comment between the lines of a text without quotes.
fn comment_within(index: usize, failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let comment = failure.line_above(index)?;
    if !failure.lines[comment].trim_start().starts_with('#') || !is_in_text(index, failure.lines) {
        return None;
    }
    let key = levels_above(index, failure.lines).into_iter().find_map(|level| level.key)?;
    let message = format!("this comment is between the lines of the text of `{key}`, and ends it");
    let help = format!(
        "move the comment above `{key}`; if it is text, write `{key}: >-` and the whole text below it"
    );
    Some(failure.error_at_line(comment, message, help))
}

#[cfg(test)]
mod tests {
    use crate::yaml::check_fix::{check_fix, first_problem, meaning};

    #[test]
    fn text_beside_the_sign_of_a_block_goes_below_it() {
        for (text, fix, expected) in [
            ("a: | x\nb: 1\n", ("a: | x", "a: \"x\""), r#"{"a":"x","b":1}"#),
            ("a: |x: y\nb: 1\n", ("a: |x: y", "a: \"x: y\""), r#"{"a":"x: y","b":1}"#),
            ("a: |\"\n  x\n", ("a: |\"", "a: |"), r#"{"a":"x\n"}"#),
            ("a: >-'\n  x\n", ("a: >-'", "a: >-"), r#"{"a":"x"}"#),
        ] {
            check_fix(text, (1, 4), fix, expected);
        }
    }

    #[test]
    fn lines_of_a_block_are_indented_alike() {
        let text = "a:\n  b: |\n      x\n    y\n  c: 1\n";
        let message = "this line is indented less than the first line of the text of `b`; indent line 3 by 4 blanks, like this one";
        assert_eq!(first_problem(text), Some((4, 5, message.to_owned())));
        assert_eq!(
            meaning(&text.replace("      x", "    x")).as_deref(),
            Ok(r#"{"a":{"b":"x\ny\n","c":1}}"#)
        );
    }

    #[test]
    fn comment_within_a_text_is_moved() {
        let text = "a:\n  b: x\n    # wide\n    y\n";
        let message = "this comment is between the lines of the text of `b`, and ends it; \
                       move the comment above `b`; if it is text, write `b: >-` and the whole text below it";
        assert_eq!(first_problem(text), Some((3, 5, message.to_owned())));
        assert_eq!(meaning("a:\n  # wide\n  b: x\n    y\n").as_deref(), Ok(r#"{"a":{"b":"x y"}}"#));
        assert_eq!(
            meaning("a:\n  b: >-\n    x\n    # wide\n    y\n").as_deref(),
            Ok(r#"{"a":{"b":"x # wide y"}}"#)
        );
    }
}
