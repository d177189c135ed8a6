//! Aliases that name no anchor above them, and text behind an alias.

use super::as_quoted;
use super::mistakes::MERGE_KEY;
use super::parse_failure::{ParseFailure, key_before};
use crate::diagnostic::{Diagnostic, did_you_mean, quoted_list};
use crate::source::{Source, Span};

/// Maximum length of a text that help repeats, in bytes.
const MAX_QUOTED_LEN: usize = 120;

/// The report of an alias without an anchor.
pub(super) fn unknown(span: Span, source: &Source) -> Diagnostic {
    let text = source.text();
    let name = text.get(span.start()..).and_then(name_after).unwrap_or_default();
    let span = Span::new(span.start(), (span.start() + 1 + name.len()).min(text.len()));
    let error = |message: String, help: String| Diagnostic::error("yaml-syntax", span, message).help(help);
    let anchors: Vec<(usize, &str)> = anchors(text).collect();
    if let Some((offset, _)) = anchors.iter().find(|(_, anchor)| *anchor == name) {
        let line = source.position(*offset).line;
        return error(
            format!("the anchor `&{name}` is further down, in line {line}"),
            "an anchor stands above its aliases: move what it names up, such as below a key `x-anchors:` at the top of the file"
                .to_owned(),
        );
    }
    let above = || anchors.iter().filter(|(offset, _)| *offset < span.start()).map(|(_, anchor)| *anchor);
    let before = text[..span.start()].trim_end();
    let is_merge = before.strip_suffix(':').is_some_and(|key| key.trim_end().ends_with(MERGE_KEY));
    let key = key_before(text, span.start()).map(|key| format!("{key}: ")).unwrap_or_default();
    let rest = text[span.start()..].lines().next().unwrap_or_default().trim_end();
    let is_whole = rest.len() <= MAX_QUOTED_LEN && !rest.contains([',', ']', '}']);
    let quotes = match is_merge {
        true => None,
        false if is_whole => {
            Some(format!("text that begins with `*` needs quotes: `{key}{}`", as_quoted(rest)))
        }
        false => Some("text that begins with `*` needs quotes".to_owned()),
    };
    let help = match (did_you_mean(name, above()), quotes) {
        (Some(meant), None) => starred(&meant),
        (Some(meant), Some(quotes)) => format!("{} {quotes}", starred(&meant)),
        (None, Some(quotes)) => quotes,
        (None, None) if anchors.is_empty() => {
            format!(
                "name the values above this line: `x-{name}: &{name} {{seed: 1}}` at the top level of the file"
            )
        }
        (None, None) => format!("the anchors above this line are {}", quoted_list(above(), 12)),
    };
    error(format!("no anchor is named `{name}`"), help)
}

/// `did you mean …?` with the sign of an alias.
fn starred(help: &str) -> String {
    help.replacen('`', "`*", 1)
}

/// An alias in quotes, which is text, and text behind an alias, which was to be text as a whole.
pub(super) fn mistake(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    if failure.message.contains("merge value") {
        let written = failure.source.slice(failure.span);
        let name = written.trim_matches(['"', '\'']);
        let Some(alias) = name.strip_prefix('*') else {
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_-".contains(c));
            let help = format!(
                "write `{MERGE_KEY}: *{name}`, and `&{name}` above, before the mapping that it merges"
            );
            return is_name
                .then(|| Diagnostic::error("yaml-syntax", failure.span, "a name is no alias").help(help));
        };
        let message = "an alias in quotes is text";
        let help = format!("write `{MERGE_KEY}: *{alias}`");
        return Some(Diagnostic::error("yaml-syntax", failure.span, message).help(help));
    }
    let line = failure.lines[failure.number - 1].trim_end();
    if failure.message.contains("simple key expected")
        && let Some(alias) = line.trim_start().strip_prefix('*').filter(|alias| !alias.contains(' '))
    {
        let message = "an alias on a line of its own belongs to no key";
        return Some(failure.error_at_line(
            failure.number - 1,
            message,
            format!("write `{MERGE_KEY}: *{alias}`"),
        ));
    }
    if !failure.message.contains("did not find expected") {
        return None;
    }
    failure.near_lines().find_map(|index| {
        let line = failure.lines[index].trim_end();
        let (before, value) = line.split_once(": *")?;
        let (name, rest) = value.split_once(' ')?;
        let is_text = !rest.trim_start().is_empty() && !rest.trim_start().starts_with(['#', ':']);
        let start = before.len() + 2;
        let written = &line[start..];
        let key = key_before(line, start)?;
        (is_text && !name.contains(['"', ','])).then(|| {
            let message = format!("text that begins with `*` needs quotes: `*{name}` is an alias");
            let help = format!("write `{key}: {}`", as_quoted(written));
            failure.error(index, start..line.len(), message, help)
        })
    })
}

/// The name of the alias or the anchor that a text begins with.
fn name_after(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(['*', '&'])?;
    let end = rest.find(|c: char| c.is_whitespace() || "[]{},".contains(c)).unwrap_or(rest.len());
    Some(&rest[..end])
}

/// What looks like an anchor in a text: its offset and its name.
fn anchors(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.match_indices('&').filter_map(|(offset, _)| {
        let is_start = text[..offset].ends_with([' ', '\n', '[', '{', ',']) || offset == 0;
        let name = name_after(&text[offset..]).filter(|name| !name.is_empty() && is_start)?;
        Some((offset, name))
    })
}

#[cfg(test)]
mod tests {
    use crate::yaml::check_fix::{check_fix, first_problem, meaning};

    #[test]
    fn misspelled_alias_gets_the_name_of_the_anchor() {
        check_fix(
            "x-night: &night {seed: 1}\nshots:\n  - id: a\n    <<: *nigth\n",
            (4, 9),
            ("*nigth", "*night"),
            r#"{"x-night":{"seed":1},"shots":[{"id":"a","seed":1}]}"#,
        );
    }

    #[test]
    fn anchor_below_its_alias_is_moved_up() {
        let problem = first_problem("a:\n  <<: *n\nx-n: &n {seed: 1}\n");
        let help = "an anchor stands above its aliases: move what it names up, such as below a key `x-anchors:` at the top of the file";
        assert_eq!(problem, Some((2, 7, format!("the anchor `&n` is further down, in line 3; {help}"))));
        assert!(meaning("x-anchors:\n  n: &n {seed: 1}\na:\n  <<: *n\n").is_ok());
    }

    #[test]
    fn alias_without_any_anchor_leads_to_one_or_to_quotes() {
        let (_, _, message) = first_problem("a:\n  <<: *n\n").unwrap_or_default();
        let help = "name the values above this line: `x-n: &n {seed: 1}` at the top level of the file";
        assert_eq!(message, format!("no anchor is named `n`; {help}"));
        assert!(meaning("x-n: &n {seed: 1}\na:\n  <<: *n\n").is_ok());
        check_fix("a:\n  b: *star*\n", (2, 6), ("b: *star*", "b: \"*star*\""), r#"{"a":{"b":"*star*"}}"#);
        check_fix(
            "x: &night 1\na:\n  b: *night owl\n  c: 2\n",
            (3, 6),
            ("b: *night owl", "b: \"*night owl\""),
            r#"{"x":1,"a":{"b":"*night owl","c":2}}"#,
        );
        check_fix(
            "x: &n {b: 1}\na:\n  <<: \"*n\"\n",
            (3, 7),
            ("<<: \"*n\"", "<<: *n"),
            r#"{"x":{"b":1},"a":{"b":1}}"#,
        );
    }
}
