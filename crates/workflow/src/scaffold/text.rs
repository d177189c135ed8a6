//! YAML text of a workflow: scalars that parse back to the same value, folded text, escaped templates.

use std::fmt::Write as _;

use crate::diagnostic::visible;
use crate::letters::{name_slug, truncated};
use crate::limits;
use crate::yaml::to_yaml;

/// The width at which text is folded.
const WIDTH: usize = 110;

/// The first lines of a new workflow.
pub(crate) fn head(lines: &[&str]) -> String {
    let mut out = String::from(
        "# `runner schema > workflow.schema.json` writes the schema with which an editor completes and checks this file.\n\
         # yaml-language-server: $schema=workflow.schema.json\n#\n",
    );
    for line in lines {
        out.push_str("# ");
        out.push_str(&visible(line));
        out.push('\n');
    }
    out
}

/// A name for the workflow in a file.
pub fn name_for(stem: &str) -> String {
    let slug = name_slug(stem);
    let name = truncated(&slug, limits::MAX_NAME_CHARS, limits::MAX_NAME_BYTES).trim_end_matches('-');
    if name.is_empty() { "storyboard".to_owned() } else { name.to_owned() }
}

/// Text as a YAML scalar on one line.
pub(crate) fn scalar(text: &str) -> String {
    let written = to_yaml(&text).unwrap_or_default();
    let written = written.trim_end_matches('\n');
    // The writer's other styles take several lines. JSON's quotes are YAML's.
    if written.is_empty() || written.contains('\n') || text.chars().any(needs_escape) {
        return quoted(text);
    }
    written.to_owned()
}

/// A field with a text: on one line where it fits, else folded.
pub(crate) fn field(indent: &str, name: &str, text: &str) -> String {
    let line = format!("{indent}{name}: {}\n", scalar(text));
    let plain = !text.chars().any(needs_escape) && text.split(' ').all(|word| !word.is_empty());
    if line.chars().count() <= WIDTH + 1 || !plain {
        return line;
    }
    let mut out = format!("{indent}{name}: >-");
    let mut width = usize::MAX;
    for word in text.split(' ') {
        let length = word.chars().count();
        if width.saturating_add(length + 1) > WIDTH {
            out.push('\n');
            out.push_str(indent);
            out.push_str("  ");
            width = indent.len() + 2;
        } else {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += length;
    }
    out.push('\n');
    out
}

/// Text as a template that renders to it.
pub(crate) fn prompt(text: &str) -> String {
    if ["{{", "{%", "{#"].iter().any(|opening| text.contains(opening)) {
        text.replace('{', "{{ \"{\" }}")
    } else {
        text.to_owned()
    }
}

/// Whether a character must be escaped in some YAML style.
fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if needs_escape(c) => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::diagnostic::Problems;
    use crate::source::Source;

    /// The value of `a` as the workflow's own reader sees it.
    fn read_back(yaml: &str) -> String {
        let mut problems = Problems::default();
        let tree = crate::advice::read(&Source::new("a.yaml", yaml), &mut problems);
        assert!(!problems.any(), "{yaml}");
        let tree = tree.unwrap();
        let text = tree.get("a").and_then(|(_, value)| value.text());
        text.unwrap_or_else(|| panic!("not text: {yaml}")).to_owned()
    }

    #[test]
    fn scalar_quotes_text_that_yaml_reads_as_another_type() {
        for text in [
            "yes",
            "1",
            "1-2",
            "null",
            "~",
            "- a",
            "a: b",
            "#a",
            "*a",
            "&a",
            "{a",
            "[a",
            "",
            " a",
            "a ",
            "0x1f",
            "1e3",
            "'",
            "\"",
            "a\tb",
            "=",
            "<<",
            "@a",
            "%a",
            "|",
            ">",
            "!a",
            "2026-01-01",
            "\\",
            "a #b",
        ] {
            assert_eq!(read_back(&format!("a: {}\n", scalar(text))), text);
            assert_eq!(read_back(&field("", "a", text)), text);
        }
    }

    #[test]
    fn name_for_yields_valid_names() {
        assert_eq!(name_for("My Film (v2)"), "my-film-v2");
        assert_eq!(name_for("映画"), "映画");
        assert_eq!(name_for("🎬"), "storyboard");
        assert_eq!(name_for(&"x".repeat(99)).len(), crate::limits::MAX_NAME_CHARS);
    }

    proptest! {
        #[test]
        fn text_round_trips_through_yaml(text in "\\PC*|.*|[ a-z:#'\"{}%-]{0,300}") {
            prop_assert_eq!(read_back(&format!("a: {}\n", scalar(&text))), text.clone());
            prop_assert_eq!(read_back(&field("", "a", &text)), text.clone());
            prop_assert_eq!(read_back(&format!("x:\n- y: 1\n{}", field("  ", "a", &text)).replace("x:\n- y: 1\n  a", "a")), text);
        }
    }
}
