//! docs/codes.md: every code of `check`, with the lines that lead to it and those that fix it.

use std::fmt::Write as _;

use workflow::{CODES, CodeExample, code_example};

const HEADER: &str = "\
<!-- Written by `cargo xtask generate` from crates/workflow/src/diagnostic; do not edit. -->
# Codes of errors and warnings

`runner check`, `plan` and `run` report problems of a file with a code, as in `error[unknown-key]`. `runner explain CODE` prints a whole file
that leads to a code, and what is reported of it. Codes are stable: a code keeps its meaning.
";

/// The page.
pub(super) fn codes() -> Result<String, String> {
    let mut out = HEADER.to_owned();
    for (code, meaning) in CODES {
        let example = code_example(code).ok_or_else(|| format!("`{code}` has no example"))?;
        section(&example, meaning, &mut out);
    }
    Ok(out)
}

fn section(example: &CodeExample, meaning: &str, out: &mut String) {
    let mut initial = meaning.chars();
    let meaning: String = initial.next().into_iter().flat_map(char::to_uppercase).chain(initial).collect();
    let _ = write!(out, "\n## {}\n\n{meaning}. {}\n", example.code, example.help);
    if !example.fix.is_empty() {
        let _ = write!(out, "\n```diff\n{}\n```\n", example.fix);
    }
}
