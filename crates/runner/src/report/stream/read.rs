//! Lines of an event stream as a program reads them that follows the run of another process.

use scheduler::StatusKind;
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
        shot: String,
        /// Its progress, if the service reports it.
        percent: Option<u8>,
    },
    /// A shot has an outcome.
    ShotFinished { shot: String, outcome: ReadOutcome },
    #[serde(other)]
    Other,
}

/// An outcome without its details: the state in which it leaves its shot, which has the name of [`super::finished::Outcome`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct ReadOutcome {
    #[serde(rename = "outcome")]
    pub(crate) state: StatusKind,
}

#[cfg(test)]
mod tests {
    use scheduler::{StatusKind, Timestamp};
    use serde_json::Value;

    use super::super::line::{self, EventKind, EventLine};
    use super::super::outcomes::{FinishedShot, Outcome};
    use super::{ReadLine, ReadOutcome};

    fn read(event: EventKind<'_>) -> ReadLine {
        let line = EventLine { version: line::VERSION, seq: 1, time: Timestamp(1), event };
        serde_json::from_str(&serde_json::to_string(&line).unwrap()).unwrap()
    }

    #[test]
    fn lines_of_the_stream_are_read_by_their_names() {
        let started = EventKind::RunStarted {
            run: "r",
            workflow: "w",
            service: "rehearsal",
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

    #[test]
    fn every_outcome_of_the_stream_is_read() {
        let finished = FinishedShot {
            shot: "a",
            decision: None,
            outcome: Outcome::Blocked { by: "b" },
            task: None,
            took: None,
            retries: 0,
        };
        let expected = ReadOutcome { state: StatusKind::Blocked };
        let line = read(EventKind::ShotFinished(finished));
        assert_eq!(line, ReadLine::ShotFinished { shot: "a".to_owned(), outcome: expected });
        let schema = line::schema();
        let variants = schema["$defs"]["Outcome"]["oneOf"].as_array().unwrap();
        assert_eq!(variants.len(), 11);
        for variant in variants {
            let name = &variant["properties"]["outcome"]["const"];
            let outcome: ReadOutcome =
                serde_json::from_value(serde_json::json!({ "outcome": name, "reason": "any" })).unwrap();
            assert_eq!(outcome.state.as_str(), name);
        }
        assert!(serde_json::from_value::<ReadOutcome>(Value::Null).is_err());
    }
}
