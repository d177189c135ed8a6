//! Mistakes in a line of YAML that show in the line alone, once the parser has refused it.

use super::as_quoted;
use super::parse_failure::{ParseFailure, entry_of};
use crate::diagnostic::Diagnostic;

/// The mistake that led to a message of the parser, with what was probably meant.
pub(super) fn in_line(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    let ParseFailure { message, number, lines, span, .. } = *failure;
    let line = lines.get(number - 1)?;
    let is_list = message.contains("flow") || message.contains("expected ',' or ']'");
    let squeezed: String = line.chars().filter(|c| !c.is_whitespace()).collect();
    if is_list && [",,", "[,", "{,"].iter().any(|gap| squeezed.contains(gap)) {
        let message = "a value is missing between two commas";
        return Some(
            Diagnostic::error("yaml-syntax", span, message).help("remove one of them, or write the value"),
        );
    }
    let keyed = entry_of(line).split_once(": ").filter(|(key, _)| is_key(key));
    if let Some((message, help)) = keyed.and_then(|(key, value)| quoting(message, key, value.trim())) {
        return Some(Diagnostic::error("yaml-syntax", span, message).help(help));
    }
    if let Some(diagnostic) = sign_alone(failure) {
        return Some(diagnostic);
    }
    if !message.contains("mapping values")
        && !message.contains("simple key")
        && !message.contains("expected key")
    {
        return None;
    }
    failure.near_lines().find_map(|index| {
        let (message, help) = key(lines[index])?;
        Some(failure.error_at_line(index, message, help))
    })
}

/// A value that begins with the sign of an anchor or an alias without a name.
fn sign_alone(failure: &ParseFailure<'_>) -> Option<Diagnostic> {
    failure.near_lines().find_map(|index| {
        let line = failure.lines[index].trim_end();
        let entry = line.trim_start().trim_start_matches("- ");
        let keyed = entry.split_once(": ").filter(|(key, _)| is_key(key));
        let value = keyed.map_or(entry, |(_, value)| value.trim_start());
        let sign = value.chars().next().filter(|sign| matches!(sign, '&' | '*'))?;
        if !value[1..].starts_with([' ', sign]) {
            return None;
        }
        let quoted = as_quoted(value);
        let suggestion = keyed.map_or_else(|| quoted.clone(), |(key, _)| format!("{key}: {quoted}"));
        let message = format!("text that begins with `{sign}` needs quotes");
        let part = line.len() - value.len()..line.len();
        Some(failure.error(index, part, message, format!("write `{suggestion}`")))
    })
}

/// The value of a key, in a block or in brackets, that needs quotes or other ones.
pub(super) fn quoting(message: &str, key: &str, value: &str) -> Option<(&'static str, String)> {
    let is_quoting = message.contains("trailing content") || message.contains("unknown escape");
    if let Some(text) = super::quotes::requoted(value).filter(|_| is_quoting) {
        let message = if value.starts_with('\'') {
            "an apostrophe ends this text: within single quotes it is written twice"
        } else {
            "within double quotes, `\\` begins an escape such as `\\n`"
        };
        return Some((message, format!("write `{key}: {text}`")));
    }
    let in_quotes = |text: &str| format!("put the text in quotes: `{key}: {}`", as_quoted(text));
    if let Some(text) =
        unquoted(value, '\'').filter(|_| message.contains("trailing content after single-quoted"))
    {
        let message = "an apostrophe ends this text: within single quotes it is written twice";
        let help = format!("write it twice: `{key}: '{}'`", text.replace('\'', "''"));
        return Some((message, help));
    }
    if let Some(text) =
        unquoted(value, '"').filter(|_| message.contains("trailing content after double-quoted"))
    {
        return Some(("a quote ends this text: within double quotes it is written `\\\"`", in_quotes(text)));
    }
    if value.starts_with(['[', '{']) && message.contains("expected key") {
        return Some(("text after a list or a mapping in brackets", in_quotes(value)));
    }
    if value.starts_with("- ") && message.contains("block sequence entries") {
        let help = format!("{}; the items of a list are written on lines of their own", in_quotes(value));
        return Some(("a list does not begin in the line of its key", help));
    }
    None
}

/// A key without a blank behind it, a `=`.
fn key(line: &str) -> Option<(&'static str, String)> {
    let text = line.trim();
    let dash = if text.starts_with("- ") { "- " } else { "" };
    let text = text.trim_start_matches("- ");
    let end = text.find([':', '='])?;
    let (key, rest) = (text[..end].trim_end(), &text[end + 1..]);
    if !is_key(key) && key != MERGE_KEY || rest.trim().is_empty() {
        return None;
    }
    if text[end..].starts_with('=') {
        return Some(("a value follows `: `, not `=`", format!("write `{dash}{key}: {}`", rest.trim())));
    }
    (!rest.starts_with([' ', '/']))
        .then(|| ("a key has a blank after its colon", format!("write `{dash}{key}: {rest}`")))
}

/// The key that puts the values of an anchor into a mapping.
pub(super) const MERGE_KEY: &str = "<<";

pub(super) fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// The text between the quotes at the ends of a value.
fn unquoted(value: &str, quote: char) -> Option<&str> {
    value.strip_prefix(quote)?.strip_suffix(quote)
}

#[cfg(test)]
mod tests {
    use crate::diagnostic::Problems;
    use crate::source::Source;

    #[test]
    fn mistakes_in_a_line_are_named_with_help() {
        for (shot, expected_line, help) in [
            ("  - id:a\n    prompt: p\n", 2, "write `- id: a`"),
            ("  -id: a\n   prompt: p\n", 2, "write `- id: a`"),
            ("  - id: a\n    prompt:p\n", 3, "write `prompt: p`"),
            ("  - id: a\n    prompt: p\n    seconds = 5\n", 4, "write `seconds: 5`"),
            ("  - id: a\n    prompt: 'the keeper's lamp'\n", 3, "write `prompt: \"the keeper's lamp\"`"),
            (
                "  - id: a\n    image: \"C:\\stills\\a.png\"\n",
                3,
                "write `/` between folders, `image: \"C:/stills/a.png\"`; text is written in single quotes",
            ),
            (
                "  - id: a\n    prompt: \"He says \"go\" now\"\n",
                3,
                "put the text in quotes: `prompt: 'He says \"go\" now'`",
            ),
            (
                "  - id: a\n    prompt: [wide shot] x\n",
                3,
                "put the text in quotes: `prompt: \"[wide shot] x\"`",
            ),
            (
                "  - id: a\n    prompt: - a\n",
                3,
                "put the text in quotes: `prompt: \"- a\"`; the items of a list are written on lines of their own",
            ),
            (
                "  - id: a\n    prompt: | a\n",
                3,
                "write the text below `prompt: |`, indented, or in quotes: `prompt: \"a\"`",
            ),
            ("  - id: a\n    prompt: & sea at night\n", 3, "write `prompt: \"& sea at night\"`"),
            ("  - id: a\n    prompt: * sea\n    seed: 3\n", 3, "write `prompt: \"* sea\"`"),
            ("  - id: a\n    prompt: a: b\n", 3, "put the text in quotes: `prompt: \"a: b\"`"),
        ] {
            let source = Source::new("a.yaml", format!("shots:\n{shot}"));
            let mut problems = Problems::default();
            let _tree = crate::yaml::read(&source, &mut problems);
            let (diagnostics, _) = problems.into_sorted();
            let line =
                diagnostics.first().map(|diagnostic| source.position(diagnostic.primary.span.start()).line);
            assert_eq!(
                (line, diagnostics.first().and_then(|diagnostics| diagnostics.help.as_deref())),
                (Some(expected_line), Some(help)),
                "{shot}"
            );
        }
    }
}
