//! Lines of an event stream as a program reads them that follows the run of another process.

use serde::Deserialize;

/// A line, as far as it is read. Its names are those of [`super::line::EventKind`], which a test compares.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum ReadLine {
    /// The run is recorded.
    RunStarted {
        /// Number of its shots.
        shots: usize,
    },
    /// A task is queued or in progress.
    Progress {
        /// Its shot.
        shot: String,
        /// Its progress, if the service reports it.
        percent: Option<u8>,
    },
    /// A shot has an outcome.
    ShotFinished {
        /// The shot.
        shot: String,
        /// The outcome.
        outcome: ReadOutcome,
    },
    /// Any other line.
    #[serde(other)]
    Other,
}

/// An outcome without its details. Its names are those of [`super::finished::Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub(crate) enum ReadOutcome {
    /// The video is on disk.
    Done,
    /// It failed.
    Failed,
    /// Its submission may or may not have been accepted.
    Indeterminate,
    /// Its task is left to a later run.
    Detached,
    /// The same work is in flight, or may be, at another service.
    AtOtherService,
    /// The service does not know its task.
    Missing,
    /// Its video is there, and the ledger does not know it.
    Unrecorded,
    /// A shot that it depends on is not done.
    Blocked,
    /// It waits for picks.
    Unpicked,
    /// The run ended first.
    NotStarted,
    /// It is not selected.
    NotSelected,
}

#[cfg(test)]
mod tests {
    use scheduler::Timestamp;
    use serde_json::Value;

    use super::super::line::{self, EventKind, EventLine, Failure, FailureKind, Video};
    use super::super::outcomes::{FinishedShot, Outcome};
    use super::{ReadLine, ReadOutcome};

    fn read(event: EventKind<'_>) -> ReadLine {
        let line = EventLine { version: line::VERSION, seq: 1, time: Timestamp(1), event };
        serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap()
    }

    /// The outcome of the stream whose name is read as this one.
    fn stream_outcome(outcome: ReadOutcome) -> Outcome<'static> {
        let reason = || "a reason".to_owned();
        match outcome {
            ReadOutcome::Done => Outcome::Done {
                artifact: Video {
                    path: "a.mp4".to_owned(),
                    sha256: String::new(),
                    bytes: 1,
                    duration: std::time::Duration::from_secs(4),
                    width: 2,
                    height: 2,
                },
            },
            ReadOutcome::Failed => Outcome::Failed {
                failure: Failure { kind: FailureKind::Task, message: reason(), code: None },
            },
            ReadOutcome::Indeterminate => {
                Outcome::Indeterminate { attempt: "r.1", reason: reason(), suggested_task: None }
            }
            ReadOutcome::Detached => Outcome::Detached { reason: reason() },
            ReadOutcome::AtOtherService => {
                Outcome::AtOtherService { service: "https://a.test", attempt: "r.1", reason: reason() }
            }
            ReadOutcome::Missing => Outcome::Missing { reason: reason() },
            ReadOutcome::Unrecorded => Outcome::Unrecorded { reason: reason() },
            ReadOutcome::Blocked => Outcome::Blocked { by: "b" },
            ReadOutcome::Unpicked => Outcome::Unpicked { picks: vec!["a#1", "a#2"] },
            ReadOutcome::NotStarted => Outcome::NotStarted,
            ReadOutcome::NotSelected => Outcome::NotSelected,
        }
    }

    #[test]
    fn lines_of_the_stream_are_read_by_their_names() {
        let started = EventKind::RunStarted {
            run: "r",
            workflow: "w",
            service: "embedded",
            shots: 3,
            films: 0,
            jobs: 2,
        };
        assert_eq!(read(started), ReadLine::RunStarted { shots: 3 });
        let progress = EventKind::Progress {
            shot: "a \"quoted\" name",
            attempt: "r.1",
            task: None,
            status: "queued".to_owned(),
            percent: None,
        };
        let expected = ReadLine::Progress { shot: "a \"quoted\" name".to_owned(), percent: None };
        assert_eq!(read(progress), expected);
        assert_eq!(read(EventKind::Interrupted), ReadLine::Other);
    }

    /// All of the schema's outcomes, so that a new one is counted before it is written.
    #[test]
    fn every_outcome_of_the_stream_is_read() {
        let schema = line::schema();
        let variants = schema["$defs"]["Outcome"]["oneOf"].as_array().unwrap();
        assert_eq!(variants.len(), 11);
        for variant in variants {
            let name = &variant["properties"]["outcome"]["const"];
            let outcome: ReadOutcome =
                serde_json::from_value(serde_json::json!({ "outcome": name })).unwrap();
            assert_eq!(&serde_json::to_value(stream_outcome(outcome)).unwrap()["outcome"], name);
            let finished = FinishedShot {
                shot: "a",
                decision: None,
                outcome: stream_outcome(outcome),
                task: None,
                took: None,
                retries: 0,
                warning: None,
            };
            let line = read(EventKind::ShotFinished(finished));
            assert_eq!(line, ReadLine::ShotFinished { shot: "a".to_owned(), outcome });
        }
        assert!(serde_json::from_value::<ReadOutcome>(Value::Null).is_err());
    }
}
