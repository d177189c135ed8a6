//! `runner explain CODE`: what a code of `check` means, an example that produces it, and how to fix that.

use std::path::Path;

use contract::Contract;
use serde_json::{Value, json};
use workflow::{CODES, Code};

use crate::args::Format;
use crate::error::CommandError;

/// The code that is named instead of a workflow file, also as it is copied from a message: `error[unknown-key]`. A file of that name counts
/// first, and so does any name that no code has or resembles.
pub(super) fn find(name: &Path) -> Result<Option<&'static Code>, CommandError> {
    let Some(word) = name.to_str().filter(|_| !name.exists()) else { return Ok(None) };
    let word = word.rsplit_once('[').map_or(word, |(_, word)| word).trim_end_matches(']');
    if !word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
        return Ok(None);
    }
    if let Some(code) = Code::find(word) {
        return Ok(Some(code));
    }
    match contract::nearest_name(word, CODES.iter().map(|code| code.name)) {
        Some(nearest) => Err(CommandError::invalid(format!("there is no file and no code `{word}`"))
            .hint(format!("did you mean `runner explain {nearest}`?"))),
        None => Ok(None),
    }
}

pub(super) fn explain(code: &Code, format: Format) {
    match format {
        Format::Text => print_text(code),
        Format::Json => outln!("{:#}", record(code)),
        Format::Ndjson => outln!("{}", record(code)),
    }
}

fn print_text(code: &Code) {
    outln!("{}: {}", code.name, code.meaning);
    for (name, text) in &code.files {
        outln!("\n{name}:\n\n{}", indented(text));
    }
    if let Some(condition) = code.condition() {
        outln!("\n{condition}");
    }
    if let Some(report) = code.report(engine::MEDIA_GATE, Contract::embedded()) {
        outln!("\n{}", report.render(false).trim_end());
    }
    outln!("\nTo fix it: {}", code.help);
    if !code.fix.is_empty() {
        outln!("\n{}", indented(code.fix));
    }
}

fn indented(text: &str) -> String {
    let lines = text.lines().map(|line| if line.is_empty() { String::new() } else { format!("    {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

fn record(code: &Code) -> Value {
    let files = code.files.iter().map(|(name, text)| json!({ "name": name, "text": text }));
    json!({
        "code": code.name,
        "meaning": code.meaning,
        "files": files.collect::<Vec<_>>(),
        "condition": code.condition(),
        "help": code.help,
        "fix": code.fix,
    })
}
