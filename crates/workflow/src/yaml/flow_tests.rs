//! Mistakes in brackets, and the text that they lead to.

use crate::diagnostic::Problems;
use crate::source::Source;
use crate::yaml::check_fix::{check_fix, first_problem};

#[test]
fn texts_in_brackets_are_quoted_as_meant() {
    for (text, place, fix, expected) in [
        (
            "- {id: a, prompt: pier #3 at night}\n",
            (1, 24),
            ("prompt: pier #3 at night", "prompt: \"pier #3 at night\""),
            r#"[{"id":"a","prompt":"pier #3 at night"}]"#,
        ),
        (
            "- {prompt: pier #3, at night, seed: 7}\n- {id: b}\n",
            (1, 17),
            ("prompt: pier #3, at night", "prompt: \"pier #3, at night\""),
            r#"[{"prompt":"pier #3, at night","seed":7},{"id":"b"}]"#,
        ),
        (
            "- {id: a, prompt: #3 at night}\n- {id: b}\n",
            (1, 19),
            ("prompt: #3 at night", "prompt: \"#3 at night\""),
            r##"[{"id":"a","prompt":"#3 at night"},{"id":"b"}]"##,
        ),
        ("- [a #1.png, b.png]\n", (1, 6), ("a #1.png", "\"a #1.png\""), r#"[["a #1.png","b.png"]]"#),
        (
            "- {id: a, prompt: 'it's dark'}\n",
            (1, 23),
            ("prompt: 'it's dark'", "prompt: \"it's dark\""),
            r#"[{"id":"a","prompt":"it's dark"}]"#,
        ),
    ] {
        check_fix(text, place, fix, expected);
    }
    let (line, column, message) = first_problem("a:\n  <<: [{b: 1}\n  c: 2\n").unwrap_or_default();
    assert_eq!((line, column), (2, 7), "{message}");
}

#[test]
fn mistakes_in_brackets_are_named_with_help() {
    for (shot, expected_position, message, help) in [
        (
            "  - {id: a, prompt: rain: and wind}\n",
            (2, 25),
            "a second `: ` in an entry begins a mapping",
            "put the text in quotes: `prompt: \"rain: and wind\"`",
        ),
        (
            "  - {id: a prompt: x}\n",
            (2, 18),
            "a second `: ` in an entry begins a mapping",
            "put the text in quotes: `id: \"a prompt: x\"`; if `prompt` is a key, put a comma before it",
        ),
        (
            "  - {id: a, prompt: \"x\" rain}\n",
            (2, 25),
            "text after a closing quote",
            "put the text in quotes: `prompt: '\"x\" rain'`",
        ),
        (
            "  - {id: a, prompt: [wide] rain}\n",
            (2, 28),
            "text after a list or a mapping in brackets",
            "put the text in quotes: `prompt: \"[wide] rain\"`",
        ),
        (
            "  - {id: a, prompt: x {y} z}\n",
            (2, 23),
            "this text needs quotes",
            "put the text in quotes: `prompt: \"x {y} z\"`",
        ),
        (
            "  - {id: a\n     prompt: x}\n",
            (3, 12),
            "a comma is missing at the end of the line above",
            "write `id: a,`",
        ),
        (
            "  - {id: a, seconds: 5\n  - id: b\n",
            (2, 5),
            "this `{` is never closed",
            "add `}` where the mapping ends",
        ),
        (
            "  - id: a\n    prompt: [wide shot\n    seconds: 5\n",
            (3, 13),
            "this `[` is never closed",
            "add `]` where the list ends; if it is text, put it in quotes: `prompt: \"[wide shot\"`",
        ),
        (
            "  - id: a\n    prompt: {rain\n",
            (3, 13),
            "this `{` is never closed",
            "add `}` where the mapping ends; if it is text, put it in quotes: `prompt: \"{rain\"`",
        ),
        (
            "  - {id: a, prompt: [x}\n",
            (2, 21),
            "this `[` is closed by `}`",
            "close the list with `]`; if it is text, put it in quotes: `prompt: \"[x\"`",
        ),
        (
            "  - {id: a, prompt: x]\n",
            (2, 5),
            "this `{` is closed by `]`",
            "close the mapping with `}`; text with brackets in it needs quotes",
        ),
        (
            "  - {id: a, prompt: x}}\n",
            (2, 23),
            "this `}` closes nothing",
            "remove it; text with brackets in it needs quotes",
        ),
        (
            "  - id: a\n    prompt: ]x\n",
            (3, 13),
            "this `]` closes nothing",
            "put the text in quotes: `prompt: \"]x\"`",
        ),
        (
            "  - [wide] rain\n",
            (2, 12),
            "text after a list or a mapping in brackets",
            "put the text in quotes: `- \"[wide] rain\"`",
        ),
        (
            "  - id: a\n    prompt: [a: b: c]\n",
            (3, 18),
            "a second `: ` in an entry begins a mapping",
            "put the text in quotes: `a: \"b: c\"`",
        ),
        (
            "  - {id: a, prompt: \"x, seconds: 5}\n",
            (2, 21),
            "this quote is never closed",
            "write `prompt: \"x\"`",
        ),
    ] {
        let source = Source::new("a.yaml", format!("shots:\n{shot}"));
        let mut problems = Problems::default();
        let _tree = crate::yaml::read(&source, &mut problems);
        let (diagnostics, _) = problems.into_sorted();
        let actual: Vec<_> = diagnostics
            .iter()
            .map(|diagnostic| {
                let position = source.position(diagnostic.primary.span.start());
                (
                    (position.line, position.column),
                    diagnostic.message.as_str(),
                    diagnostic.help.as_deref().unwrap_or_default(),
                )
            })
            .collect();
        assert_eq!(actual, [(expected_position, message, help)], "{shot}");
    }
}
