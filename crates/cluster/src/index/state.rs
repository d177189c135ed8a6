//! The entries of an index. Pure.

use engine::ledger::RunRow;
use scheduler::{RunId, Timestamp};
use serde::{Deserialize, Serialize};

/// The key of the index of all workflows. No workflow has it, see [`index_key`].
pub(crate) const ALL_RUNS: &str = "all";
/// Entries of an index, at most. The oldest runs that have ended are left out first.
const MAX_RUNS: usize = 256;

/// The key of a workflow's index.
pub(crate) fn index_key(workflow: &str) -> String {
    format!("workflow:{workflow}")
}

/// A run, as an index has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunEntry {
    pub run: RunId,
    pub workflow: String,
    /// The identity of its service.
    pub service: String,
    pub started: Timestamp,
    /// When all of its nodes and films had ended.
    #[serde(default)]
    pub ended: Option<Timestamp>,
}

impl From<RunEntry> for RunRow {
    fn from(entry: RunEntry) -> Self {
        Self {
            run: entry.run,
            workflow: entry.workflow,
            arguments: None,
            service: entry.service,
            started_at: entry.started,
            ended_at: entry.ended,
            is_alive: entry.ended.is_none(),
        }
    }
}

/// The end of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunEnded {
    pub run: RunId,
    #[serde(rename = "at")]
    pub time: Timestamp,
}

/// Runs, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RunList(Vec<RunEntry>);

impl RunList {
    /// Adds a run. Adding it again changes nothing.
    pub(crate) fn add(&mut self, entry: RunEntry) {
        if self.0.iter().any(|indexed| indexed.run == entry.run) {
            return;
        }
        let position = self.0.partition_point(|indexed| indexed.started <= entry.started);
        self.0.insert(position, entry);
        if self.0.len() > MAX_RUNS {
            let oldest = self.0.iter().position(|indexed| indexed.ended.is_some()).unwrap_or_default();
            self.0.remove(oldest);
        }
    }

    /// Records the end of a run.
    pub(crate) fn end(&mut self, ended: &RunEnded) {
        if let Some(entry) = self.0.iter_mut().find(|entry| entry.run == ended.run) {
            entry.ended.get_or_insert(ended.time);
        }
    }

    /// The entries, the latest first.
    pub(crate) fn latest_first(mut self) -> Vec<RunEntry> {
        self.0.reverse();
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: i64) -> RunEntry {
        RunEntry {
            run: RunId(format!("r{number}")),
            workflow: "lamp".to_owned(),
            service: "http://127.0.0.1:1".to_owned(),
            started: Timestamp(number),
            ended: None,
        }
    }

    #[test]
    fn list_is_bounded_and_keeps_runs_that_are_alive() {
        let mut list = RunList::default();
        list.add(entry(0));
        for number in 1..=i64::try_from(MAX_RUNS).unwrap() {
            list.add(entry(number));
            list.end(&RunEnded { run: RunId(format!("r{number}")), time: Timestamp(number + 5) });
        }
        let runs = list.latest_first();
        assert_eq!(runs.len(), MAX_RUNS);
        assert_eq!(runs.first().map(|run| run.run.as_str()), Some("r256"));
        let names: Vec<&str> = runs.iter().rev().take(2).map(|run| run.run.as_str()).collect();
        assert_eq!(names, ["r0", "r2"]);
    }

    #[test]
    fn message_that_comes_twice_changes_nothing() {
        let mut list = RunList::default();
        let ended = |time| RunEnded { run: "r1".into(), time: Timestamp(time) };
        list.add(entry(1));
        list.end(&ended(5));
        list.add(entry(1));
        list.end(&ended(9));
        assert_eq!(list.latest_first(), [RunEntry { ended: Some(Timestamp(5)), ..entry(1) }]);
    }
}
