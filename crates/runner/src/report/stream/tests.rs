//! The event stream as a reader receives it.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use std::time::Duration;

use contract::Contract;
use scheduler::budget::{BudgetCap, Reservation};
use scheduler::{
    Artifact, AttemptId, ExistingWork, Failure, FailureKind, ModificationTime, Policy, PollResult, Refusal,
    RefusalKind, RunId, TaskId,
};
use workflow::plan::NodeIx;
use workflow::units::{Money, VideoDuration};
use workflow::{InMemory, Options};

use super::*;
use crate::named_workflow::NamedWorkflow;

/// Collects what is written; fails once it is full.
#[derive(Clone)]
struct Buffer {
    bytes: Arc<Mutex<Vec<u8>>>,
    room: usize,
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut bytes_written = self.bytes.lock().unwrap();
        let fits = bytes.len().min(self.room - bytes_written.len());
        if fits == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        bytes_written.extend_from_slice(&bytes[..fits]);
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn new(room: usize) -> Self {
        Self { bytes: Arc::default(), room }
    }

    /// The complete lines.
    fn lines(&self) -> Vec<Value> {
        let text = String::from_utf8(self.bytes.lock().unwrap().clone()).unwrap();
        let complete_lines = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        complete_lines.map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

const THREE: &str = "version: 1
name: pier
defaults: {model: modela-video-2-0-260128, seconds: 5}
shots:
  - {id: pier, prompt: one}
  - {id: sea, continues: pier, prompt: two}
  - {id: sky, prompt: three}
film: {output: pier.mp4, shots: [pier, sea, sky]}
";

/// A scripted run, reported to a stream.
struct Script {
    state: RunState,
    stream: Stream,
    now: Timestamp,
}

impl Script {
    fn new(out: &Buffer) -> Self {
        let plan = workflow::load(
            THREE.as_bytes(),
            "p.yaml",
            &InMemory::default(),
            &Options::default(),
            Contract::embedded(),
        );
        let plan = Arc::new(plan.unwrap_or_else(|report| panic!("{report}")));
        let info = RunInfo {
            run: RunId::from("run-1"),
            file: NamedWorkflow::new(std::path::Path::new("test.yaml"), ""),
            service: "https://api.test".to_owned(),
            jobs: 4,
            estimate: None,
        };
        Self {
            state: RunState::new(plan, "https://api.test", Policy::remote()),
            stream: Stream::new(info, out.clone()),
            now: Timestamp(1_790_000_000_000),
        }
    }

    #[expect(clippy::needless_pass_by_value, reason = "events are created at the call")]
    fn on(&mut self, event: Event) {
        self.now = Timestamp(self.now.0 + 400);
        let _ = self.state.apply(event.clone(), self.now);
        self.stream.on(&self.state, &event, self.now);
    }

    fn end(self) {
        let summary = self.state.clone().into_summary(RunId::from("run-1"));
        self.stream.end(&summary, None, self.now);
    }
}

fn node(index: usize) -> NodeIx {
    NodeIx::new(index)
}

fn attempt(number: usize) -> AttemptId {
    AttemptId(format!("run-1.{number}"))
}

fn lookup(index: usize, existing: ExistingWork) -> Event {
    Event::LookupDone { node: node(index), key: "ab".repeat(32), existing, render: 1 }
}

fn prepared(index: usize) -> Event {
    Event::Prepared {
        node: node(index),
        attempt: attempt(index),
        key: "ab".repeat(32),
        digest: "cd".repeat(32),
        by_url: true,
        service_independent_key: None,
        reservation: Reservation {
            cost: Some(Money::from_micros(250_000)),
            duration: VideoDuration::from_secs(5),
        },
        render: 1,
        parts: Vec::new(),
    }
}

fn submitted(index: usize) -> Event {
    Event::Submitted { node: node(index), attempt: attempt(index), task: TaskId(format!("task_{index}")) }
}

fn polled(index: usize, result: PollResult) -> Event {
    Event::Polled { node: node(index), attempt: attempt(index), result, next: None }
}

fn running(percent: u8) -> PollResult {
    PollResult::Running { progress: Some(percent), status: "in_progress".to_owned(), poll_after: None }
}

fn completed() -> PollResult {
    PollResult::Completed {
        url: Some("https://cdn.test/a.mp4?sig=SECRET".to_owned()),
        last_frame_url: Some("https://cdn.test/a.png?sig=SECRET".to_owned()),
        expires_at: Some(Timestamp(1_790_000_900_000)),
        took: None,
    }
}

fn downloaded(index: usize) -> Event {
    let artifact = Artifact {
        path: "out/pier/pier-ab.mp4".into(),
        sha256: "ef".repeat(32),
        first_sha256: None,
        bytes: 1_234,
        duration: Duration::from_millis(5_040),
        width: 854,
        height: 480,
        last_frame_url: Some("https://cdn.test/a.png?sig=SECRET".to_owned()),
        expires_at: None,
        modified_at: Some(ModificationTime(1)),
    };
    Event::Downloaded {
        node: node(index),
        attempt: attempt(index),
        artifact,
        cost: Some(Money::from_micros(240_000)),
    }
}

#[test]
fn stream_of_a_whole_run() {
    let out = Buffer::new(usize::MAX);
    let mut script = Script::new(&out);
    script.on(Event::Started);
    script.on(lookup(0, ExistingWork::None));
    script.on(lookup(2, ExistingWork::None));
    for event in [
        prepared(0),
        submitted(0),
        prepared(2),
        Event::Indeterminate {
            node: node(2),
            attempt: attempt(2),
            reason: "the connection broke".to_owned(),
            halts: false,
            suggested_task: Some(TaskId::from("task_7")),
        },
        polled(0, running(10)),
        polled(0, running(20)),
        Event::TimerFired,
        polled(0, running(90)),
        polled(0, completed()),
        downloaded(0),
        Event::Interrupted,
    ] {
        script.on(event);
    }
    assert!(script.state.is_over());
    script.end();
    let text: Vec<String> = out.lines().iter().map(Value::to_string).collect();
    insta::assert_snapshot!(text.join("\n"));
}

#[test]
fn stream_lines_are_redacted_and_bounded() {
    let nasty = format!(
        "\u{1b}[2J https://me:SECRET@cdn.test/a?sig=SECRET data:image/png;base64,SECRET {}",
        "very ".repeat(100_000)
    );
    let failure = || Failure {
        kind: FailureKind::Task,
        message: nasty.clone(),
        code: Some(nasty.clone()),
        retry_after: None,
    };
    let refusal =
        || Refusal { kind: RefusalKind::Throttled, failure: failure(), retry_after: Some(Duration::MAX) };
    let out = Buffer::new(usize::MAX);
    let mut script = Script::new(&out);
    script.on(Event::Started);
    let (ix, id) = (node(0), attempt(0));
    for event in [
        Event::PrepareFailed { node: ix, failure: failure() },
        Event::refused(ix, id.clone(), refusal()),
        Event::Indeterminate {
            node: ix,
            attempt: id.clone(),
            reason: nasty.clone(),
            halts: false,
            suggested_task: None,
        },
        polled(0, PollResult::Running { progress: Some(255), status: nasty.clone(), poll_after: None }),
        polled(0, completed()),
        polled(0, PollResult::Failed { failure: failure() }),
        polled(0, PollResult::Unreachable { reason: nasty.clone() }),
        polled(0, PollResult::Throttled { retry_after: None, reason: nasty.clone() }),
        Event::RunConfigured { only: Some(vec![nasty.clone()]), fail_fast: true, several_services: false },
        polled(0, PollResult::Unauthorized { failure: failure() }),
        Event::DownloadFailed { node: ix, attempt: id, failure: failure(), partial_bytes: 0, next: None },
        downloaded(0),
        Event::JoinFailed { index: 0, failure: failure() },
        Event::BudgetExceeded { node: node(2), cap: BudgetCap::Cost },
    ] {
        script.on(event);
    }
    let Script { stream, now, .. } = script;
    stream.fail(&nasty, Exit::Unusable, now);
    let bytes = out.bytes.lock().unwrap().clone();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("https://cdn.test/a?…") && text.contains("run-aborted"), "{text}");
    assert!(!text.contains("SECRET") && !text.contains('\u{1b}'), "{text}");
    for line in text.lines() {
        assert!(line.len() < 8_000, "{} bytes: {line}", line.len());
    }
}

#[test]
fn closed_stream_reader_is_ignored() {
    let out = Buffer::new(2_000);
    let mut script = Script::new(&out);
    script.on(Event::Started);
    for _ in 0..100 {
        script.on(lookup(0, ExistingWork::None));
    }
    script.end();
    assert!(!out.lines().is_empty());
}
