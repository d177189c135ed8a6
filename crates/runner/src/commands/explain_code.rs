//! `runner explain CODE`: what a code of `check` means, an example that produces it, and how to fix that.

use std::path::Path;

use contract::Contract;
use serde_json::{Value, json};
use workflow::{CODES, CodeExample, code_example};

use crate::args::Format;
use crate::error::CommandError;

/// A code with its meaning and its example.
pub(super) struct CodeEntry {
    meaning: &'static str,
    example: CodeExample,
}

/// The code that is named instead of a workflow file, also as it is copied from a message: `error[unknown-key]`. A file of that name counts
/// first, and so does any name that no code has or resembles.
pub(super) fn find(name: &Path) -> Result<Option<CodeEntry>, CommandError> {
    let Some(word) = name.to_str().filter(|_| !name.exists()) else { return Ok(None) };
    let word = word.rsplit_once('[').map_or(word, |(_, word)| word).trim_end_matches(']');
    if !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        return Ok(None);
    }
    let entry = CODES.iter().find(|(code, _)| *code == word).zip(code_example(word));
    if let Some((&(_, meaning), example)) = entry {
        return Ok(Some(CodeEntry { meaning, example }));
    }
    match contract::nearest_name(word, CODES.map(|(code, _)| code)) {
        Some(nearest) => Err(CommandError::invalid(format!("there is no file and no code `{word}`"))
            .hint(format!("did you mean `runner explain {nearest}`?"))),
        None => Ok(None),
    }
}

pub(super) fn explain(CodeEntry { meaning, example }: CodeEntry, format: Format) {
    match format {
        Format::Text => print_text(meaning, &example),
        Format::Json => outln!("{:#}", record(meaning, &example)),
        Format::Ndjson => outln!("{}", record(meaning, &example)),
    }
}

fn print_text(meaning: &str, example: &CodeExample) {
    outln!("{}: {meaning}", example.code);
    for (name, text) in &example.files {
        outln!("\n{name}:\n\n{}", indented(text));
    }
    if let Some(condition) = example.condition() {
        outln!("\n{condition}");
    }
    if let Some(report) = example.report(engine::MEDIA_GATE, Contract::embedded()) {
        outln!("\n{}", report.render(false).trim_end());
    }
    outln!("\nTo fix it: {}", example.help);
    if !example.fix.is_empty() {
        outln!("\n{}", indented(example.fix));
    }
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

fn record(meaning: &str, example: &CodeExample) -> Value {
    let files = example.files.iter().map(|(name, text)| json!({ "name": name, "text": text }));
    json!({
        "code": example.code,
        "meaning": meaning,
        "files": files.collect::<Vec<_>>(),
        "condition": example.condition(),
        "help": example.help,
        "fix": example.fix,
    })
}
