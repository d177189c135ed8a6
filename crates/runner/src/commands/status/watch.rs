//! `status --watch`: redraws on a terminal, otherwise prints a line per change.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::time::Duration;

use scheduler::Timestamp;
use serde_json::Value;

use super::query::{StatusQuery, StatusSnapshot};
use super::record::{StatusLine, StatusRecord, VERSION};
use super::source::StatusSource;
use super::{exit, now, text};
use crate::args::Format;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::report::screen::{Screen, fit};
use crate::shutdown;

/// How often the ledger is read.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

pub(super) async fn watch(
    query: &mut StatusQuery,
    source: &StatusSource,
    format: Format,
    no_ledger: &CommandError,
) -> Result<Exit, CommandError> {
    let mut interrupted = shutdown::shutdown_signal();
    let mut output = WatchOutput::new(format);
    loop {
        let snapshot = match query.read(source).await {
            Ok(Some(snapshot)) => snapshot,
            Ok(None) => {
                errln!("{}", no_ledger.note());
                return Ok(Exit::Done);
            }
            // Locked by a writer: try again.
            Err(error) if error.is_busy() => {
                tokio::time::sleep(REFRESH_INTERVAL).await;
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        output.show(&snapshot, now());
        if !snapshot.is_alive() {
            return Ok(exit(&snapshot));
        }
        tokio::select! {
            () = tokio::time::sleep(REFRESH_INTERVAL) => {}
            _ = interrupted.wait_for(|is_interrupted| *is_interrupted) => return Ok(exit(&snapshot)),
        }
    }
}

enum WatchOutput {
    /// A screen that is redrawn.
    Screen(Screen),
    /// New and changed records, as lines of text or JSON.
    Changes { is_text: bool, latest: HashMap<String, StatusRecord> },
}

impl WatchOutput {
    fn new(format: Format) -> Self {
        let is_text = format == Format::Text;
        if is_text && std::io::stdout().is_terminal() && crate::terminal::supports_cursor() {
            Self::Screen(Screen::stdout())
        } else {
            Self::Changes { is_text, latest: HashMap::new() }
        }
    }

    fn show(&mut self, snapshot: &StatusSnapshot, now: Timestamp) {
        match self {
            Self::Screen(screen) => {
                let (rows, columns) = screen.size();
                let lines = text::lines(snapshot, now, Some(rows));
                let lines: Vec<(String, usize)> =
                    lines.iter().take(rows).map(|line| fit(line, columns)).collect();
                screen.draw(&[], &lines);
            }
            Self::Changes { is_text, latest } => {
                for record in changes(latest, snapshot) {
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

/// The records that are new or differ from `latest`, which is updated.
pub(super) fn changes(
    latest: &mut HashMap<String, StatusRecord>,
    snapshot: &StatusSnapshot,
) -> Vec<StatusRecord> {
    let mut new = Vec::new();
    for record in snapshot.records() {
        let name = match &record {
            StatusRecord::Run(run) => format!("run {}", run.run),
            StatusRecord::Shot(shot) => format!("shot {} {}", shot.run, shot.shot),
            StatusRecord::ActionNeeded(action) => {
                format!("action {} {}", action.shot, action.attempt.as_deref().unwrap_or_default())
            }
            StatusRecord::Totals(_) => "totals".to_owned(),
        };
        if latest.get(&name) != Some(&record) {
            latest.insert(name, record.clone());
            new.push(record);
        }
    }
    new
}

/// A record as a JSON line.
pub(super) fn numbered(record: &StatusRecord, now: Timestamp) -> Value {
    serde_json::json!(StatusLine { version: VERSION, time: now, record })
}
