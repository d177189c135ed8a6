//! `--format ndjson`: what happens, as it happens, one JSON object a line. docs/events.md is its contract.
//!
//! The lines are written by a thread of their own: a reader that is slow, or gone, holds nothing up.

mod convert;
mod line;
mod run_ended;
mod throttle;

use std::io::Write;
use std::sync::mpsc;
use std::thread::JoinHandle;

use engine::Reporter;
use scheduler::{Event, RunState, RunSummary, Timestamp};
use serde_json::Value;

use super::RunInfo;
use crate::exit::Exit;
use line::{EventKind, FilmEnded, Line};
use run_ended::RunEnded;
use throttle::Throttle;

pub(crate) use convert::{amount, budget, ended, film, halt};
pub(crate) use line::{Ended, FilmEnded as Film, Halt, schema};
pub(crate) use run_ended::Amount;

/// Tells a run as lines of JSON.
pub(crate) struct Stream {
    info: RunInfo,
    lines: LineWriter,
    throttle: Throttle,
    is_halted: bool,
}

impl Stream {
    /// A stream that is written to `out`.
    pub(crate) fn new(info: RunInfo, out: impl Write + Send + 'static) -> Self {
        let lines = LineWriter { written: 0, latest: 0, writer: Writer::start(out) };
        Self { info, lines, throttle: Throttle::default(), is_halted: false }
    }

    /// Tells what the run came to, and returns when everything is written.
    pub(crate) fn end(mut self, summary: &RunSummary, spending: Option<Value>, now: Timestamp) {
        for (shot, takes) in &summary.to_pick {
            self.lines.write(now, EventKind::PickNeeded { shot, takes: *takes });
        }
        let ended = RunEnded {
            run: summary.run.as_str(),
            exit: Exit::from_summary(summary).code(),
            shots: summary.nodes.len(),
            submitted: summary.submitted(),
            outcomes: convert::outcomes(summary),
            halt: summary.halt.as_ref().map(convert::halt),
            budget: convert::budget(summary),
            spending,
        };
        self.lines.write(now, EventKind::RunEnded(Box::new(ended)));
        self.lines.writer.finish();
    }

    /// Tells why the run could not go on, and returns when everything is written.
    pub(crate) fn fail(mut self, reason: &str, exit: Exit, now: Timestamp) {
        let reason = super::sanitize::message(reason);
        self.lines.write(now, EventKind::RunBroken { reason, exit: exit.code() });
        self.lines.writer.finish();
    }
}

impl Reporter for Stream {
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        if self.lines.written == 0 {
            let begun = EventKind::RunBegun {
                run: self.info.run.as_str(),
                workflow: state.plan().name(),
                service: &self.info.service,
                shots: state.plan().len(),
                films: state.plan().films().len(),
                jobs: self.info.jobs,
            };
            self.lines.write(now, begun);
        }
        if self.throttle.passes(event, now)
            && let Some(what) = convert::event(state, event)
        {
            self.lines.write(now, what);
        }
        if let Some(halt) = state.halt().filter(|_| !self.is_halted) {
            self.is_halted = true;
            self.lines.write(now, EventKind::Halted(convert::halt(halt)));
        }
        for node in state.changed() {
            if state.node(*node).outcome().is_some() {
                self.throttle.forget(*node);
                let summary = state.node_summary(*node);
                self.lines.write(now, EventKind::ShotEnded(convert::ended(state.plan(), &summary)));
            }
        }
        for (at, outcome) in state.ended_films() {
            let name = state.plan().films().get(at).map_or("", |film| film.output.as_str());
            self.lines.write(now, EventKind::FilmEnded(FilmEnded { name, outcome: convert::film(outcome) }));
        }
    }
}

/// Tells that there is nothing to run.
pub(crate) fn nothing(reason: &str, now: Timestamp) {
    let mut lines = LineWriter { written: 0, latest: 0, writer: Writer::start(std::io::stdout()) };
    lines.write(now, EventKind::NothingToRun { reason: super::sanitize::message(reason) });
    lines.writer.finish();
}

/// Lines with their numbers and times.
struct LineWriter {
    written: u64,
    latest: i64,
    writer: Writer,
}

impl LineWriter {
    fn write(&mut self, now: Timestamp, event: EventKind<'_>) {
        self.written += 1;
        self.latest = self.latest.max(now.0);
        let line = Line { version: line::VERSION, seq: self.written, at: self.latest, event };
        // Text, numbers and maps with text as keys: it can always be written.
        if let Ok(mut text) = serde_json::to_string(&line) {
            text.push('\n');
            self.writer.send(text);
        }
    }
}

/// How many lines are written in one piece at most.
const MAX_BATCH_LINES: usize = 256;

/// Writes what it is sent, in order, as soon as it is there.
struct Writer {
    sender: Option<mpsc::Sender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(mut out: impl Write + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel::<String>();
        let thread = std::thread::spawn(move || {
            while let Ok(mut lines) = receiver.recv() {
                // What came in the meantime goes out with it.
                lines.extend(receiver.try_iter().take(MAX_BATCH_LINES));
                // Nobody reads any more: the run goes on, and what is sent from now on is dropped with the receiver.
                if out.write_all(lines.as_bytes()).and_then(|()| out.flush()).is_err() {
                    break;
                }
            }
        });
        Self { sender: Some(sender), thread: Some(thread) }
    }

    fn send(&self, line: String) {
        if let Some(sender) = &self.sender {
            let _ = sender.send(line);
        }
    }

    fn finish(&mut self) {
        drop(self.sender.take());
        if let Some(thread) = self.thread.take() {
            // It ends with its sender, and a panic in it is no reason to end the run differently.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
