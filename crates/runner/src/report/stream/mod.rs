//! The event stream of `run --format ndjson`: one JSON object per line, written as events happen. docs/events.md is its contract.
//!
//! A thread of its own writes the lines, so a slow or closed reader does not delay the run.

mod convert;
mod line;
mod outcomes;
mod read;
mod run_finished;
mod throttle;

use std::io::Write;
use std::sync::mpsc;
use std::thread::JoinHandle;

use engine::{FilmProgress, Reporter};
use scheduler::{Event, RunState, RunSummary, Timestamp};
use serde_json::Value;

use super::RunInfo;
use crate::exit::Exit;
use line::{EventKind, EventLine};
use run_finished::RunFinished;
use throttle::Throttle;

pub(crate) use convert::{film, finished_shot, halt};
pub(crate) use line::{Halt, schema};
pub(crate) use outcomes::FilmResult;
pub(crate) use read::ReadLine;
pub(crate) use run_finished::{Amount, Budget, amount, budget};

/// Reports a run as JSON lines.
pub(crate) struct Stream {
    info: RunInfo,
    lines: LineWriter,
    throttle: Throttle,
    halt_reported: bool,
}

impl Stream {
    pub(crate) fn new(info: RunInfo, out: impl Write + Send + 'static) -> Self {
        let lines = LineWriter { written: 0, latest: Timestamp::default(), writer: Writer::start(out) };
        Self { info, lines, throttle: Throttle::default(), halt_reported: false }
    }

    /// Writes the final events and waits until all lines are written.
    pub(crate) fn end(mut self, summary: &RunSummary, spending: Option<Value>, now: Timestamp) {
        for pick in &summary.picks {
            self.lines.write(now, EventKind::PickNeeded { shot: &pick.name, candidates: pick.candidates });
        }
        let finished = RunFinished {
            run: summary.run.as_str(),
            exit: Exit::from_summary(summary).code(),
            shots: summary.nodes.len(),
            submitted: summary.submitted(),
            outcomes: run_finished::outcomes(summary),
            halt: summary.halt.as_ref().map(convert::halt),
            budget: budget(summary),
            spending,
        };
        self.lines.write(now, EventKind::RunFinished(Box::new(finished)));
        self.lines.writer.finish();
    }

    /// Reports that the run was aborted and waits until all lines are written.
    pub(crate) fn fail(mut self, reason: &str, exit: Exit, now: Timestamp) {
        let reason = super::sanitize::message(reason);
        self.lines.write(now, EventKind::RunAborted { reason, exit: exit.code() });
        self.lines.writer.finish();
    }
}

impl Reporter for Stream {
    fn on(&mut self, state: &RunState, event: &Event, now: Timestamp) {
        if self.lines.written == 0 {
            let started = EventKind::RunStarted {
                run: self.info.run.as_str(),
                workflow: state.plan().name(),
                service: &self.info.service,
                shots: state.plan().len(),
                films: state.plan().films().len(),
                jobs: self.info.jobs,
            };
            self.lines.write(now, started);
        }
        if self.throttle.passes(event, now)
            && let Some(kind) = convert::event(state, event)
        {
            self.lines.write(now, kind);
        }
        if let Some(halt) = state.halt().filter(|_| !self.halt_reported) {
            self.halt_reported = true;
            self.lines.write(now, EventKind::Halted(convert::halt(halt)));
        }
        for node in state.changed() {
            if state.node(*node).outcome().is_some() {
                self.throttle.forget(*node);
                let summary = state.node_summary(*node);
                self.lines
                    .write(now, EventKind::ShotFinished(convert::finished_shot(state.plan(), &summary)));
            }
        }
        for (index, outcome) in state.ended_films() {
            let name = state.plan().films().get(index).map_or("", |film| film.output.as_str());
            self.lines
                .write(now, EventKind::FilmFinished(FilmResult { name, outcome: convert::film(outcome) }));
        }
    }

    fn on_join(&mut self, state: &RunState, progress: FilmProgress, now: Timestamp) {
        let film = state.plan().films().get(progress.film);
        if let Some(film) = film.filter(|_| self.throttle.passes_join(progress.film, progress.elapsed)) {
            let FilmProgress { done: frames, all: all_frames, .. } = progress;
            self.lines.write(now, EventKind::FilmProgress { name: &film.output, frames, all_frames });
        }
    }
}

/// Reports that there is nothing to run.
pub(crate) fn nothing(reason: &str, now: Timestamp) {
    let mut lines =
        LineWriter { written: 0, latest: Timestamp::default(), writer: Writer::start(std::io::stdout()) };
    lines.write(now, EventKind::NothingToRun { reason: super::sanitize::message(reason) });
    lines.writer.finish();
}

/// Numbers and timestamps lines.
struct LineWriter {
    written: u64,
    latest: Timestamp,
    writer: Writer,
}

impl LineWriter {
    fn write(&mut self, now: Timestamp, event: EventKind<'_>) {
        self.written += 1;
        self.latest = self.latest.max(now);
        let line = EventLine { version: line::VERSION, seq: self.written, time: self.latest, event };
        // Serialization cannot fail: text, numbers and maps with text keys.
        if let Ok(mut text) = serde_json::to_string(&line) {
            text.push('\n');
            self.writer.send(text);
        }
    }
}

/// Maximum number of lines per write.
const MAX_BATCH_LINES: usize = 256;

/// Writes lines in order on a thread of its own.
struct Writer {
    sender: Option<mpsc::Sender<String>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    fn start(mut out: impl Write + Send + 'static) -> Self {
        let (sender, receiver) = mpsc::channel::<String>();
        let thread = std::thread::spawn(move || {
            while let Ok(mut lines) = receiver.recv() {
                // Batch the lines that arrived meanwhile.
                lines.extend(receiver.try_iter().take(MAX_BATCH_LINES));
                let result = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
                let has_failed = result.is_err();
                crate::terminal::check_output(result);
                if has_failed {
                    // The run continues, and later lines are dropped with the receiver.
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
            // It ends with its sender. A panic in it does not change how the run ends.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
