//! Frames of the live view fit every size of terminal and run; an event costs O(changed).

use std::sync::Arc;
use std::time::Duration;

use contract::Contract;
use scheduler::budget::{BudgetCaps, Reservation, TaskPrices};
use scheduler::{
    Artifact, AttemptId, Budget, ExistingWork, Failure, FailureKind, Policy, PollResult, TaskId,
};
use unicode_width::UnicodeWidthStr as _;
use workflow::plan::{Node, NodeIx, Plan};
use workflow::prices::Interval;
use workflow::units::{Money, VideoDuration};
use workflow::{InMemory, Options};

use super::frame::frame;
use super::*;

/// Everything costs half of something.
#[derive(Debug)]
struct Half;

impl TaskPrices for Half {
    fn reservation(&self, _ix: NodeIx, _node: &Node) -> Reservation {
        Reservation { cost: Some(Money::from_micros(500_000)), duration: VideoDuration::from_secs(5) }
    }

    fn actual_cost(&self, _ix: NodeIx, _node: &Node, _video: VideoDuration) -> Option<Money> {
        Some(Money::from_micros(500_000))
    }
}

struct Script {
    state: RunState,
    progress: RunProgress,
    now: Timestamp,
}

impl Script {
    fn new(text: &str, jobs: usize) -> Self {
        let plan: Plan = workflow::load(
            text.as_bytes(),
            "p.yaml",
            &InMemory::default(),
            &Options::default(),
            Contract::embedded(),
        )
        .unwrap_or_else(|report| panic!("{report}"));
        let policy = Policy { max_in_flight: jobs, ..Policy::remote() };
        let estimate = RunEstimate {
            estimate: Interval { min: Money::from_micros(2_000_000), max: Money::from_micros(3_000_000) },
            currency: "EUR".to_owned(),
        };
        let state = RunState::new(Arc::new(plan), "test", policy)
            .with_budget(Budget::new(BudgetCaps::default(), Arc::new(Half)));
        let mut script =
            Self { state, progress: RunProgress::new(Some(estimate)), now: Timestamp(1_000_000) };
        script.on(Event::Started);
        script
    }

    #[expect(clippy::needless_pass_by_value, reason = "events are created at the call")]
    fn on(&mut self, event: Event) {
        let _ = self.state.apply(event.clone(), self.now);
        self.progress.on_event(&self.state, &event, self.now);
    }

    fn pass(&mut self, seconds: i64) {
        self.now = Timestamp(self.now.0 + seconds * 1_000);
    }

    fn lookup_all(&mut self, count: usize) {
        for index in 0..count {
            self.on(Event::LookupDone {
                node: NodeIx::new(index),
                key: "ab".repeat(32),
                existing: ExistingWork::None,
                render: 1,
            });
        }
    }

    fn submitted(&mut self, index: usize) {
        let (node, attempt) = (NodeIx::new(index), AttemptId(format!("r.{index}")));
        self.on(Event::Prepared {
            node,
            attempt: attempt.clone(),
            key: "ab".repeat(32),
            digest: String::new(),
            by_url: true,
            service_independent_key: None,
            reservation: Reservation::default(),
            render: 1,
            parts: Vec::new(),
        });
        self.on(Event::Submitted { node, attempt, task: TaskId(format!("task_{index}")) });
    }

    fn polled(&mut self, index: usize, result: PollResult) {
        self.on(Event::Polled {
            node: NodeIx::new(index),
            attempt: AttemptId(format!("r.{index}")),
            result,
            next: None,
        });
    }

    fn done(&mut self, index: usize) {
        self.polled(
            index,
            PollResult::Completed { url: None, last_frame_url: None, expires_at: None, took: None },
        );
        let artifact = Artifact {
            path: "a.mp4".into(),
            sha256: String::new(),
            first_sha256: None,
            bytes: 1,
            duration: Duration::from_secs(5),
            width: 1,
            height: 1,
            last_frame_url: None,
            expires_at: None,
            modified_at: None,
        };
        let attempt = AttemptId(format!("r.{index}"));
        self.on(Event::Downloaded {
            node: NodeIx::new(index),
            attempt,
            artifact,
            cost: Some(Money::from_micros(500_000)),
        });
    }

    fn frame(&self, rows: usize, columns: usize) -> String {
        let lines = frame(&self.progress, rows, columns, self.now, false);
        assert!(lines.len() <= rows, "{} lines in {rows} rows", lines.len());
        for (line, width) in &lines {
            assert!(line.width() == *width && *width <= columns, "{width} of {columns} columns: {line}");
        }
        lines.into_iter().map(|(line, _)| line + "\n").collect()
    }
}

fn running(percent: u8) -> PollResult {
    PollResult::Running { progress: Some(percent), status: "in_progress".to_owned(), poll_after: None }
}

const SWEEP: &str = "version: 1
name: sweep
defaults: {model: modela-video-2-0-260128, seconds: 5}
shots:
  - {id: harbor, prompt: '{{ look }} {{ seed }}', matrix: {look: [noir, pastel], seed: {from: 1, to: 15}}}
";

#[test]
fn frame_shows_active_shots_and_cost() {
    let mut script = Script::new(SWEEP, 8);
    script.lookup_all(30);
    for index in 0..8 {
        script.submitted(index);
    }
    script.pass(20);
    for index in 0..4 {
        script.done(index);
    }
    script.pass(12);
    for index in 8..12 {
        script.submitted(index);
    }
    script.pass(3);
    script.polled(8, running(40));
    script.polled(
        9,
        PollResult::Unreachable { reason: "no connection\u{1b}[2J: connection refused".to_owned() },
    );
    let failure = Failure::new(FailureKind::InputModerated, "no");
    script.polled(10, PollResult::Failed { failure });
    insta::assert_snapshot!(script.frame(23, 79));
    insta::assert_snapshot!("narrow", script.frame(14, 59));
    insta::assert_snapshot!("tiny", script.frame(4, 30));
    let colored: String =
        frame(&script.progress, 23, 79, script.now, true).into_iter().map(|(line, _)| line + "\n").collect();
    assert!(colored.contains("\u{1b}[2m35 s") && !colored.contains("[2J"), "{colored}");
}

#[test]
fn frame_fits_every_terminal_size() {
    let mut script = Script::new(SWEEP, 30);
    script.lookup_all(30);
    for index in 0..30 {
        script.submitted(index);
        script.pass(1);
    }
    for (rows, columns) in [(1, 8), (2, 20), (3, 200), (5, 40), (14, 59), (23, 79), (60, 300)] {
        let frame = script.frame(rows, columns);
        assert!(frame.contains("0/30") || columns < 10, "{frame}");
    }
}

/// By the processor clock of this thread: on a busy machine others have their turns in between.
#[cfg(unix)]
#[test]
fn event_cost_is_independent_of_run_size() {
    let processor_time = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).expect("it counts up from zero")
    };
    let text = |count: usize| SWEEP.replace("{from: 1, to: 15}", &format!("{{from: 1, to: {}}}", count / 2));
    let time = |count: usize| {
        let mut script = Script::new(&text(count), 8);
        for index in 0..count {
            script.on(Event::LookupDone {
                node: NodeIx::new(index),
                key: "ab".repeat(32),
                existing: ExistingWork::None,
                render: 1,
            });
        }
        for index in 0..8 {
            script.submitted(index);
        }
        let started = processor_time();
        for percent in 0..100 {
            for index in 0..8 {
                let event = Event::Polled {
                    node: NodeIx::new(index),
                    attempt: AttemptId(format!("r.{index}")),
                    result: running(percent),
                    next: None,
                };
                let _ = script.state.apply(event.clone(), script.now);
                script.progress.on_event(&script.state, &event, script.now);
            }
            script.frame(23, 79);
        }
        processor_time().saturating_sub(started)
    };
    // A view that visits every shot would take a thousand times as long.
    let (few, many) = (time(100), time(20_000));
    assert!(many < few * 50 + std::time::Duration::from_millis(500), "{few:?} and {many:?}");
}

const FILM: &str = "version: 1
name: film
defaults: {model: modela-video-2-0-260128, seconds: 5}
shots:
  - {id: harbor, prompt: one}
film: {output: harbor.mp4}
";

#[test]
fn frame_counts_the_frames_of_a_film_that_is_joined() {
    let mut script = Script::new(FILM, 8);
    script.lookup_all(1);
    script.submitted(0);
    script.done(0);
    assert!(script.frame(10, 79).contains(", joining, "), "{}", script.frame(10, 79));
    for done in [120, 240] {
        script.progress.on_join(FilmProgress { film: 0, done, all: 336, elapsed: Duration::ZERO });
    }
    assert!(script.frame(10, 79).contains(", joining: 240 of 336 frames, "), "{}", script.frame(10, 79));
}
