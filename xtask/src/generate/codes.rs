//! docs/codes.md: every code of `check`, with an example and its fix.

use std::fmt::Write as _;

use contract::Contract;
use workflow::{CODES, CodeExample, code_example};

const HEADER: &str = "\
<!-- Written by `cargo xtask generate` from crates/workflow/src/diagnostic; do not edit. -->
# Codes of errors and warnings

`runner check`, `plan` and `run` report problems of a file with a code, as in `error[unknown-key]`. `runner explain-code CODE` prints what is
below. Codes are stable: a code keeps its meaning.
";

/// The page.
pub(super) fn codes(contract: &Contract) -> Result<String, String> {
    let mut out = HEADER.to_owned();
    for (code, meaning) in CODES {
        let example = code_example(code).ok_or_else(|| format!("`{code}` has no example"))?;
        section(&example, meaning, contract, &mut out);
    }
    Ok(out)
}

fn section(example: &CodeExample, meaning: &str, contract: &Contract, out: &mut String) {
    let mut initial = meaning.chars();
    let meaning: String = initial.next().into_iter().flat_map(char::to_uppercase).chain(initial).collect();
    let _ = write!(out, "\n## {}\n\n{meaning}.\n", example.code);
    for (index, (name, text)) in example.files.iter().enumerate() {
        let language = name.rsplit('.').next().unwrap_or_default();
        if index > 0 {
            let _ = write!(out, "\n`{name}`:\n");
        }
        let _ = write!(out, "\n```{language}\n{text}```\n");
    }
    if let Some(condition) = example.condition() {
        let _ = write!(out, "\n… {condition}.\n");
    }
    if let Some(report) = example.report(engine::MEDIA_GATE, contract) {
        let _ = write!(out, "\n```text\n{}\n```\n", report.render(false).trim_end());
    }
    let _ = write!(out, "\n{}\n", example.help);
    if !example.fix.is_empty() {
        let _ = write!(out, "\n```diff\n{}\n```\n", example.fix);
    }
}
