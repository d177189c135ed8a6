//! `--format ndjson`: what happens, as it happens, one JSON object a line. docs/events.md is its contract.
//!
//! The lines are written by a thread of their own: a reader that is slow, or gone, holds nothing up.

mod ending;
mod line;
mod of;
mod throttle;

use std::io::Write;
use std::sync::mpsc;
use std::thread::JoinHandle;

use engine::Reporter;
use scheduler::{Event, Millis, RunState, RunSummary};
use serde_json::Value;

use super::Head;
use crate::exit::Exit;
use ending::RunEnded;
use line::{FilmEnded, Line, What};
use throttle::Throttle;

pub(crate) use ending::Amount;
pub(crate) use line::{Ended, FilmEnded as Film, Halt, schema};
pub(crate) use of::{amount, budget, ended, film, halt};

/// Tells a run as lines of JSON.
pub(crate) struct Stream {
    head: Head,
    lines: Numbered,
    throttle: Throttle,
    is_halted: bool,
}

impl Stream {
    /// A stream that is written to `out`.
    pub(crate) fn new(head: Head, out: impl Write + Send + 'static) -> Self {
        let lines = Numbered { written: 0, latest: 0, writer: Writer::start(out) };
        Self { head, lines, throttle: Throttle::default(), is_halted: false }
    }

    /// Tells what the run came to, and returns when everything is written.
    pub(crate) fn end(mut self, summary: &RunSummary, spending: Option<Value>, now: Millis) {
        for (shot, takes) in &summary.to_pick {
            self.lines.tell(now, What::PickNeeded { shot, takes: *takes });
        }
        let ended = RunEnded {
            run: summary.run.as_str(),
            exit: Exit::of(summary).code(),
            shots: summary.nodes.len(),
            submitted: summary.submitted(),
            outcomes: of::outcomes(summary),
            halt: summary.halt.as_ref().map(of::halt),
            budget: of::budget(summary),
            spending,
        };
        self.lines.tell(now, What::RunEnded(Box::new(ended)));
        self.lines.writer.finish();
    }

    /// Tells why the run could not go on, and returns when everything is written.
    pub(crate) fn broken(mut self, reason: &str, exit: Exit, now: Millis) {
        let reason = super::clean::message(reason);
        self.lines.tell(now, What::RunBroken { reason, exit: exit.code() });
        self.lines.writer.finish();
    }
}

impl Reporter for Stream {
    fn on(&mut self, state: &RunState, event: &Event, now: Millis) {
        if self.lines.written == 0 {
            let begun = What::RunBegun {
                run: self.head.run.as_str(),
                workflow: state.plan().name(),
                service: &self.head.service,
                shots: state.plan().len(),
                films: state.plan().films().len(),
                jobs: self.head.jobs,
            };
            self.lines.tell(now, begun);
        }
        if self.throttle.passes(event, now)
            && let Some(what) = of::event(state, event)
        {
            self.lines.tell(now, what);
        }
        if let Some(halt) = state.halt().filter(|_| !self.is_halted) {
            self.is_halted = true;
            self.lines.tell(now, What::Halted(of::halt(halt)));
        }
        for node in state.changed() {
            if state.node(*node).outcome().is_some() {
                self.throttle.forget(*node);
                let summary = state.node_summary(*node);
                self.lines.tell(now, What::ShotEnded(of::ended(state.plan(), &summary)));
            }
        }
        for (at, outcome) in state.ended_films() {
            let name = state.plan().films().get(at).map_or("", |film| film.output.as_str());
            self.lines.tell(now, What::FilmEnded(FilmEnded { name, outcome: of::film(outcome) }));
        }
    }
}

/// Tells that there is nothing to run.
pub(crate) fn nothing(reason: &str, now: Millis) {
    let mut lines = Numbered { written: 0, latest: 0, writer: Writer::start(std::io::stdout()) };
    lines.tell(now, What::NothingToRun { reason: super::clean::message(reason) });
    lines.writer.finish();
}

/// Lines with their numbers and times.
struct Numbered {
    written: u64,
    latest: i64,
    writer: Writer,
}

impl Numbered {
    fn tell(&mut self, now: Millis, what: What<'_>) {
        self.written += 1;
        self.latest = self.latest.max(now.0);
        let line = Line { version: line::VERSION, seq: self.written, at: self.latest, what };
        // Text, numbers and maps with text as keys: it can always be written.
        if let Ok(mut text) = serde_json::to_string(&line) {
            text.push('\n');
            self.writer.send(text);
        }
    }
}

/// How many lines are written in one piece at most.
const TOGETHER: usize = 256;

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
                lines.extend(receiver.try_iter().take(TOGETHER));
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
