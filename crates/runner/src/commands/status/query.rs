//! From the ledger to records. What was read once of a run is kept, so that looking again costs what has happened since.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::time::Duration;

use engine::LedgerError;
use engine::ledger::{InFlightAttempt, LedgerReader, RunRow};
use scheduler::history::{History, Stands};
use scheduler::{AttemptId, RunId};

use super::record::{Counts, Open, Outstanding, Record, Run, RunLiveness, Shot, Totals};
use crate::report::{sanitize, stream};

/// How long tasks take as a rule, by attempt.
type Typical = HashMap<AttemptId, Duration>;

/// What is looked for.
#[derive(Debug)]
pub(crate) struct StatusQuery {
    /// What a person calls the workflow file.
    pub(crate) file: String,
    /// How many runs that have ended are shown.
    pub(crate) ended: u32,
    /// The takes of which none is picked, where a workflow was named.
    pub(crate) unpicked: Option<Unpicked>,
    pub(crate) histories: HashMap<RunId, History>,
}

/// What of a workflow is to be picked.
#[derive(Debug)]
pub(crate) struct Unpicked {
    /// The workflow's name.
    pub(crate) workflow: String,
    /// Each shot or instance with the names of its takes.
    pub(crate) shots: Vec<(String, Vec<String>)>,
}

/// What was snapshot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Snapshot {
    pub(crate) runs: Vec<Run>,
    pub(crate) shots: Vec<Shot>,
    pub(crate) outstanding: Vec<Outstanding>,
    pub(crate) totals: Totals,
}

impl Snapshot {
    /// Whether a run is alive.
    pub(crate) fn is_alive(&self) -> bool {
        self.runs.iter().any(|run| matches!(run.state, RunLiveness::Alive | RunLiveness::Ending))
    }

    /// All of it, one record each.
    pub(crate) fn records(&self) -> Vec<Record> {
        let runs = self.runs.iter().cloned().map(Record::Run);
        let shots = self.shots.iter().cloned().map(Record::Shot);
        let outstanding = self.outstanding.iter().cloned().map(Record::Outstanding);
        runs.chain(shots).chain(outstanding).chain([Record::Totals(self.totals.clone())]).collect()
    }
}

impl StatusQuery {
    /// Looks at the ledger; `None` where there is none.
    pub(crate) fn read(&mut self, ledger: &Path) -> Result<Option<Snapshot>, LedgerError> {
        let Some(reader) = LedgerReader::open(ledger)? else { return Ok(None) };
        let rows = reader.runs(self.ended)?;
        let is_anyone_alive = rows.iter().any(|row| row.is_alive);
        // Shots are shown of the runs that are alive, or else of the latest.
        let shown: Vec<&RunRow> = rows
            .iter()
            .enumerate()
            .filter(|(at, row)| row.is_alive || !is_anyone_alive && *at == 0)
            .map(|(_, row)| row)
            .collect();
        self.histories.retain(|run, _| shown.iter().any(|row| row.run == *run));
        for row in &shown {
            let history = self.histories.entry(row.run.clone()).or_default();
            for event in reader.events(&row.run, history.latest())? {
                history.on(event);
            }
        }
        let open = reader.in_flight_attempts()?;
        let typical = reader.typical_durations(&open)?;
        let (held, spent) = reader.spending()?;
        let totals = Totals { held: stream::amount(held), spent: stream::amount(spent) };
        Ok(Some(Snapshot {
            runs: rows.iter().map(|row| self.run(row)).collect(),
            shots: shown.iter().flat_map(|row| self.shots(row, &typical)).collect(),
            outstanding: self.outstanding(&rows, &open, &typical),
            totals,
        }))
    }

    fn run(&self, row: &RunRow) -> Run {
        let history = self.histories.get(&row.run);
        let counts = history.map(|history| {
            let mut counts = Counts::default();
            history.shots().for_each(|(_, known)| counts.add(known.standing));
            counts
        });
        let state = match (row.is_alive, row.ended_at) {
            (true, _) if history.is_some_and(History::is_interrupted) => RunLiveness::Ending,
            (true, _) => RunLiveness::Alive,
            (false, Some(_)) => RunLiveness::Ended,
            (false, None) => RunLiveness::Died,
        };
        Run {
            run: row.run.to_string(),
            workflow: row.workflow.clone(),
            service: row.service.clone(),
            state,
            started_at: row.started_at.0,
            ended_at: row.ended_at.map(|at| at.0),
            shots: counts,
        }
    }

    fn shots(&self, row: &RunRow, typical: &Typical) -> Vec<Shot> {
        let Some(history) = self.histories.get(&row.run) else { return Vec::new() };
        history
            .shots()
            .map(|(name, known)| Shot {
                run: row.run.to_string(),
                shot: name.to_owned(),
                state: known.standing,
                since: known.since.0,
                attempt: known.attempt.as_ref().map(ToString::to_string),
                task: known.task.as_ref().map(ToString::to_string),
                typical_ms: known.attempt.as_ref().and_then(|attempt| millis(typical.get(attempt))),
                trouble: known.trouble.as_deref().map(sanitize::message),
            })
            .collect()
    }

    fn outstanding(&self, rows: &[RunRow], open: &[InFlightAttempt], typical: &Typical) -> Vec<Outstanding> {
        let alive = rows.iter().filter(|row| row.is_alive);
        let looked_after: BTreeSet<&str> = alive
            .filter_map(|row| self.histories.get(&row.run))
            .flat_map(History::shots)
            .filter(|(_, known)| known.standing.is_under_way())
            .filter_map(|(_, known)| known.attempt.as_ref().map(scheduler::AttemptId::as_str))
            .collect();
        let attempts = open.iter().filter(|open| !looked_after.contains(open.attempt.as_str())).map(|open| {
            let file = &self.file;
            let (what, remedy) = match &open.task {
                Some(_) => (Open::Out, format!("adopted by `runner run {file}`")),
                None if open.service == "embedded" => (
                    Open::Unaccounted,
                    format!("`runner run {file}` asks the embedded service what became of it"),
                ),
                None => (
                    Open::Unaccounted,
                    format!(
                        "look at your account there, then `runner resolve {file} {} --adopt TASK`, `--resubmit` or `--abandon`",
                        open.attempt
                    ),
                ),
            };
            Outstanding {
                what,
                shot: open.node.clone(),
                workflow: open.workflow.clone(),
                service: open.service.clone(),
                since: open.since.0,
                attempt: Some(open.attempt.to_string()),
                task: open.task.as_ref().map(ToString::to_string),
                held: open.held,
                typical_ms: millis(typical.get(&open.attempt)),
                trouble: open.trouble.as_deref().map(sanitize::message),
                remedy,
            }
        });
        attempts.chain(self.picks(rows)).collect()
    }

    /// Takes of which none is picked, as far as the latest run of the workflow has videos of them.
    fn picks(&self, rows: &[RunRow]) -> Vec<Outstanding> {
        let Some(Unpicked { workflow, shots }) = &self.unpicked else { return Vec::new() };
        let Some(row) = rows.iter().find(|row| row.workflow == *workflow) else { return Vec::new() };
        let Some(history) = self.histories.get(&row.run) else { return Vec::new() };
        let made: HashMap<&str, i64> = history
            .shots()
            .filter(|(_, known)| matches!(known.standing, Stands::Done | Stands::Reused))
            .map(|(name, known)| (name, known.since.0))
            .collect();
        shots
            .iter()
            .filter_map(|(shot, takes)| {
                let since = takes.iter().filter_map(|take| made.get(take.as_str())).max()?;
                Some(Outstanding {
                    what: Open::Pick,
                    shot: shot.clone(),
                    workflow: workflow.clone(),
                    service: row.service.clone(),
                    since: *since,
                    attempt: None,
                    task: None,
                    held: None,
                    typical_ms: None,
                    trouble: None,
                    remedy: format!(
                        "look at its {} takes, then `runner pick {} {shot} TAKE` and run again",
                        takes.len(),
                        self.file
                    ),
                })
            })
            .collect()
    }
}

fn millis(duration: Option<&Duration>) -> Option<u64> {
    duration.and_then(|duration| u64::try_from(duration.as_millis()).ok())
}
