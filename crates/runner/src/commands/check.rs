//! `runner check`: validates workflow files. Submits and writes nothing.

use std::path::Path;

use serde_json::{Value, json};
use workflow::{CheckOutcome, Report};

use crate::args::{CheckArgs, CheckFormat};
use crate::exit::Exit;
use crate::input_file::LoadError;
use crate::load;
use crate::report::annotations;
use crate::terminal;

pub(crate) fn check(args: &CheckArgs) -> Exit {
    let mut exit = Exit::Done;
    let mut records = Vec::new();
    for file in &args.files {
        let invalid = match load::check(file, &args.overrides) {
            Ok(checked) => {
                let invalid = checked.plan.is_none() || (args.deny_warnings && checked.report.warnings() > 0);
                match args.format {
                    CheckFormat::Text => print_text(file, &checked, invalid),
                    CheckFormat::Json | CheckFormat::Ndjson => {
                        records.extend(checked.report.to_json().into_iter().map(|record| json!(record)));
                    }
                    CheckFormat::Github => print_annotations(&checked.report),
                }
                invalid
            }
            Err(error) => {
                match args.format {
                    CheckFormat::Text => error.print(),
                    CheckFormat::Json | CheckFormat::Ndjson => records.extend(error_records(file, &error)),
                    CheckFormat::Github => match &error {
                        LoadError::Unreadable(reason) => outln!("{}", annotations::unreadable(file, reason)),
                        LoadError::Report(report) => print_annotations(report),
                    },
                }
                true
            }
        };
        if invalid {
            exit = Exit::InvalidInput;
        }
    }
    match args.format {
        CheckFormat::Text | CheckFormat::Github => {}
        CheckFormat::Json => outln!("{}", json!({ "diagnostics": records })),
        CheckFormat::Ndjson => records.iter().for_each(|record| outln!("{record}")),
    }
    exit
}

fn print_text(file: &Path, checked: &CheckOutcome, invalid: bool) {
    err!("{}", checked.report.render(terminal::has_color()));
    if let Some(plan) = &checked.plan
        && !invalid
    {
        let shots = plan.len();
        outln!("{}: ok, {shots} {}", file.display(), if shots == 1 { "shot" } else { "shots" });
    }
}

fn print_annotations(report: &Report) {
    report.to_json().iter().for_each(|diagnostic| outln!("{}", annotations::annotation(diagnostic)));
}

fn error_records(file: &Path, error: &LoadError) -> Vec<Value> {
    match error {
        LoadError::Unreadable(why) => {
            vec![json!({ "code": "unreadable", "severity": "error", "message": why, "file": file })]
        }
        LoadError::Report(report) => report.to_json().into_iter().map(|record| json!(record)).collect(),
    }
}
