//! `runner explain-code`: what a code of `check` means, an example that produces it, and how to fix that.

use contract::Contract;
use serde_json::{Value, json};
use workflow::{CODES, CodeExample, code_example};

use crate::args::{ExplainCodeArgs, Format};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::Table;

pub(crate) fn explain_code(args: &ExplainCodeArgs) -> Result<Exit, CommandError> {
    let Some(code) = &args.code else {
        list(args.format);
        return Ok(Exit::Done);
    };
    // As it is copied from a message: `error[unknown-key]`.
    let name = code.rsplit_once('[').map_or(code.as_str(), |(_, name)| name).trim_end_matches(']');
    let entry = CODES.iter().find(|(code, _)| *code == name);
    let Some(((_, meaning), example)) = entry.zip(code_example(name)) else {
        let nearest = contract::nearest_name(name, CODES.map(|(code, _)| code));
        let hint = nearest.map_or_else(
            || "`runner explain-code` lists all codes".to_owned(),
            |nearest| format!("did you mean `runner explain-code {nearest}`?"),
        );
        let shown_name = crate::report::sanitize::line(name);
        return Err(CommandError::invalid(format!("there is no code `{shown_name}`")).hint(hint));
    };
    match args.format {
        Format::Text => print_text(meaning, &example),
        Format::Json => outln!("{:#}", record(meaning, &example)),
        Format::Ndjson => outln!("{}", record(meaning, &example)),
    }
    Ok(Exit::Done)
}

fn list(format: Format) {
    let records = || CODES.iter().map(|(code, meaning)| json!({ "code": code, "meaning": meaning }));
    match format {
        Format::Text => {
            let mut table = Table::new(["code", "meaning"]);
            for (code, meaning) in CODES {
                table.row([code.to_owned(), meaning.to_owned()]);
            }
            out!("{}", table.render());
        }
        Format::Json => outln!("{:#}", json!({ "codes": records().collect::<Vec<_>>() })),
        Format::Ndjson => records().for_each(|record| outln!("{record}")),
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
