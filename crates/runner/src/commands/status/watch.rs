//! Looking again and again: redrawn on a terminal, as lines of what changed elsewhere.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

use scheduler::Millis;
use serde_json::Value;

use super::record::Record;
use super::survey::{Found, Survey};
use super::{VERSION, exit, now, text};
use crate::args::Format;
use crate::commands::complain;
use crate::exit::Exit;
use crate::interrupt;
use crate::report::screen::{Screen, fit};

/// How often the ledger is looked at.
const EVERY: Duration = Duration::from_secs(1);

pub(super) async fn watch(survey: &mut Survey, ledger: &Path, format: Format) -> Exit {
    let mut interrupted = interrupt::interrupts();
    let mut face = Face::of(format);
    loop {
        let found = match survey.look(ledger) {
            Ok(Some(found)) => found,
            Ok(None) => {
                complain(format!("nothing has been run here: there is no ledger {}", ledger.display()));
                return Exit::Done;
            }
            // A writer that is in the way is none for long.
            Err(error) if error.is_busy() => {
                tokio::time::sleep(EVERY).await;
                continue;
            }
            Err(error) => {
                complain(error);
                return Exit::Unusable;
            }
        };
        face.show(&found, now());
        if !found.is_alive() {
            return exit(&found);
        }
        tokio::select! {
            () = tokio::time::sleep(EVERY) => {}
            _ = interrupted.wait_for(|asked| *asked) => return exit(&found),
        }
    }
}

/// How it is shown.
enum Face {
    /// On a terminal, in place of what was shown before.
    Screen(Screen),
    /// What is new, as lines of text or JSON.
    Changes { is_text: bool, known: HashMap<String, Record> },
}

impl Face {
    fn of(format: Format) -> Self {
        let is_text = format == Format::Text;
        if is_text && std::io::stdout().is_terminal() && crate::terminal::is_able() {
            Self::Screen(Screen::stdout())
        } else {
            Self::Changes { is_text, known: HashMap::new() }
        }
    }

    fn show(&mut self, found: &Found, now: Millis) {
        match self {
            Self::Screen(screen) => {
                let (rows, columns) = screen.size();
                let lines = text::lines(found, now, Some(rows));
                let lines: Vec<(String, usize)> =
                    lines.iter().take(rows).map(|line| fit(line, columns)).collect();
                screen.draw(&[], &lines);
            }
            Self::Changes { is_text, known } => {
                for record in changes(known, found) {
                    if *is_text {
                        if let Some(line) = text::change(&record, now) {
                            outln!("{line}");
                        }
                    } else {
                        outln!("{}", numbered(&record, now));
                    }
                }
            }
        }
    }
}

/// What is new since it was looked at last, which `known` has.
pub(super) fn changes(known: &mut HashMap<String, Record>, found: &Found) -> Vec<Record> {
    let mut new = Vec::new();
    for record in found.records() {
        let name = match &record {
            Record::Run(run) => format!("run {}", run.run),
            Record::Shot(shot) => format!("shot {} {}", shot.run, shot.shot),
            Record::Outstanding(open) => {
                format!("open {} {}", open.shot, open.attempt.as_deref().unwrap_or_default())
            }
            Record::Totals(_) => "totals".to_owned(),
        };
        if known.get(&name) != Some(&record) {
            known.insert(name, record.clone());
            new.push(record);
        }
    }
    new
}

/// A record as a line for machines.
pub(super) fn numbered(record: &Record, now: Millis) -> Value {
    let mut line = serde_json::json!({ "version": VERSION, "at": now });
    if let (Value::Object(line), Ok(Value::Object(record))) = (&mut line, serde_json::to_value(record)) {
        line.extend(record);
    }
    line
}
