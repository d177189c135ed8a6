//! docs/codes.md: every code of `check`, with the lines that lead to it and those that fix it.

use std::fmt::Write as _;

use workflow::{CODES, Code};

const HEADER: &str = "\
<!-- Written by `cargo xtask generate` from crates/workflow/src/diagnostic; do not edit. -->
# Codes of errors and warnings

`runner check`, `plan` and `run` report problems of a file with a code, as in `error[unknown-key]`. `runner explain CODE` prints a whole file
that leads to a code, and what is reported of it. Codes are stable: a code keeps its meaning.
";

/// The page.
pub(super) fn codes() -> String {
    let mut out = HEADER.to_owned();
    CODES.iter().for_each(|code| section(code, &mut out));
    out
}

fn section(code: &Code, out: &mut String) {
    let mut initial = code.meaning.chars();
    let meaning: String = initial.next().into_iter().flat_map(char::to_uppercase).chain(initial).collect();
    let _ = write!(out, "\n## {}\n\n{meaning}. {}\n", code.name, code.help);
    if !code.fix.is_empty() {
        let _ = write!(out, "\n```diff\n{}\n```\n", code.fix);
    }
}
