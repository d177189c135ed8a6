//! Tabs in indentation.

use super::brackets::key_of;
use super::indentation::blanks;
use super::parse_failure::{ParseFailure, entry_of, indentation};
use crate::diagnostic::Diagnostic;

/// The tab that led to a message of the parser.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let index = failure.number - 1;
    // The parser may stop at the end of the line before, or where the block begins whose text is indented by a tab.
    let is_about_tabs = ["found a tab", "tabs disallowed", "with a tab", "tab cannot"]
        .iter()
        .any(|words| failure.message.contains(words));
    let below = (index + 1..failure.lines.len())
        .find(|index| !failure.lines[*index].trim().is_empty())
        .filter(|_| is_about_tabs);
    let index =
        [Some(index), below].into_iter().flatten().find(|index| tab_in(failure.lines[*index]).is_some())?;
    let tab = tab_in(failure.lines[index])?;
    let help = in_block(index, failure).map_or_else(
        || "replace each tab with two spaces".to_owned(),
        |(key, indent)| format!("indent the text of `{key}` by {} in place of the tab", blanks(indent)),
    );
    Some(failure.error(index, tab..tab + 1, "YAML does not allow tabs in indentation", help))
}

/// The tab in the indentation of a line.
fn tab_in(line: &str) -> Option<usize> {
    let indent = indentation(line);
    (line[indent..].starts_with('\t') && !line.trim().is_empty()).then_some(indent)
}

/// The key of the block of text that a line is in, and how far its text is indented.
fn in_block(index: usize, failure: &ParseFailure<'_>) -> Option<(String, usize)> {
    let above = failure.lines[..index].iter().rev().filter(|line| !line.trim().is_empty());
    let mut text = None;
    for line in above {
        let entry = entry_of(line);
        let column = line.len() - entry.len();
        match key_of(entry) {
            Some((key, value)) if value.trim().starts_with(['|', '>']) => {
                return Some((key.to_owned(), text.unwrap_or(column + 2)));
            }
            Some(_) => return None,
            None if tab_in(line).is_none() => text = Some(indentation(line)),
            None => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::yaml::check_fix::{first_problem, meaning};

    #[test]
    fn tabs_are_named_with_the_indentation_in_place_of_them() {
        let message = |help: &str| format!("YAML does not allow tabs in indentation; {help}");
        let block =
            |count| message(&format!("indent the text of `prompt` by {count} blanks in place of the tab"));
        for (text, place, expected, fixed) in [
            ("- id: a\n\tb: 1\n", (2, 1), message("replace each tab with two spaces"), "  "),
            ("- id: a\n  prompt: |\n\ta pier\n", (3, 1), block(4), "    "),
            ("- id: a\n  prompt: >-\n\n\ta pier\n  b: 1\n", (4, 1), block(4), "    "),
            ("- id: a\n  prompt: |\n     a pier\n\tat night\n", (4, 1), block(5), "     "),
            ("- id: a\n  prompt: |\n  \ta pier\n", (3, 3), block(4), "  "),
        ] {
            assert_eq!(first_problem(text), Some((place.0, place.1, expected)), "{text}");
            let fixed = text.replacen('\t', fixed, 1);
            assert!(meaning(&fixed).is_ok(), "{fixed}");
        }
    }
}
