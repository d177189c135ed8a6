//! `runner check`: every problem of every file, each at its place; nothing is submitted, nothing written.

use std::path::Path;

use serde_json::{Value, json};
use workflow::CheckOutcome;

use crate::args::{CheckArgs, Format};
use crate::exit::Exit;
use crate::load::{self, LoadError};
use crate::terminal;

pub(crate) fn check(args: &CheckArgs) -> Exit {
    let mut exit = Exit::Done;
    let mut records = Vec::new();
    for file in &args.files {
        let refused = match load::check(file, &args.overrides) {
            Ok(checked) => {
                let refused = checked.plan.is_none() || (args.deny_warnings && checked.report.warnings() > 0);
                match args.format {
                    Format::Text => print_text(file, &checked, refused),
                    Format::Json | Format::Ndjson => {
                        records.extend(checked.report.to_json().into_iter().map(|record| json!(record)));
                    }
                }
                refused
            }
            Err(refused) => {
                match args.format {
                    Format::Text => refused.print(),
                    Format::Json | Format::Ndjson => records.extend(unreadable(file, &refused)),
                }
                true
            }
        };
        if refused {
            exit = Exit::InvalidInput;
        }
    }
    match args.format {
        Format::Text => {}
        Format::Json => outln!("{}", json!({ "diagnostics": records })),
        Format::Ndjson => records.iter().for_each(|record| outln!("{record}")),
    }
    exit
}

fn print_text(file: &Path, checked: &CheckOutcome, refused: bool) {
    err!("{}", checked.report.render(terminal::has_color()));
    if let Some(plan) = &checked.plan
        && !refused
    {
        let shots = plan.len();
        outln!("{}: {shots} {} in order", file.display(), if shots == 1 { "shot is" } else { "shots are" });
    }
}

fn unreadable(file: &Path, refused: &LoadError) -> Vec<Value> {
    match refused {
        LoadError::Unreadable(why) => {
            vec![json!({ "code": "unreadable", "severity": "error", "message": why, "file": file })]
        }
        LoadError::Report(report) => report.to_json().into_iter().map(|record| json!(record)).collect(),
    }
}
