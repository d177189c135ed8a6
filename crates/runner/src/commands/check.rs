//! `runner check`: every problem of every file, each at its place; nothing is submitted, nothing written.

use serde_json::json;

use crate::args::{Check, Format};
use crate::exit::Exit;
use crate::load::{self, Refused};

pub(crate) fn check(args: &Check) -> Exit {
    let mut exit = Exit::Done;
    let mut records = Vec::new();
    for file in &args.files {
        match load::load(file, &args.params) {
            Ok(plan) if args.format == Format::Text => {
                let shots = plan.len();
                println!(
                    "{}: {shots} {} are in order",
                    file.display(),
                    if shots == 1 { "shot" } else { "shots" }
                );
            }
            Ok(_) => {}
            Err(refused) => {
                exit = Exit::InvalidInput;
                match (args.format, &refused) {
                    (Format::Text, _) => refused.print(),
                    (Format::Json | Format::Ndjson, Refused::Report(report)) => {
                        records.extend(report.records().into_iter().map(|record| json!(record)));
                    }
                    (Format::Json | Format::Ndjson, Refused::Unreadable(why)) => {
                        records.push(json!({ "code": "unreadable", "severity": "error", "message": why, "file": file }));
                    }
                }
            }
        }
    }
    match args.format {
        Format::Text => {}
        Format::Json => println!("{}", json!({ "diagnostics": records })),
        Format::Ndjson => records.iter().for_each(|record| println!("{record}")),
    }
    exit
}
