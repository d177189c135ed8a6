//! The terminal: whether there is one, colours, the log, and how everything else is said.

/// Says a line on standard output, in one piece.
macro_rules! outln {
    ($($said:tt)*) => { $crate::terminal::out(&format!("{}\n", format_args!($($said)*))) };
}

/// Says something on standard output, in one piece.
macro_rules! out {
    ($($said:tt)*) => { $crate::terminal::out(&format!($($said)*)) };
}

/// Says a line on standard error, above the live lines where there are any.
macro_rules! errln {
    ($($said:tt)*) => { $crate::report::live::print(&format!("{}\n", format_args!($($said)*))) };
}

/// Says something on standard error, above the live lines where there are any.
macro_rules! err {
    ($($said:tt)*) => { $crate::report::live::print(&format!($($said)*)) };
}

use std::io::{self, IsTerminal as _, Write};
use std::sync::OnceLock;

use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::args::ColorChoice;
use crate::report::{live, sanitize};
use crate::traces::{Exporting, Traces};

/// What the user said about colours, once, at the start.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Writes to standard output, in one piece whatever its length. That nobody reads any more is the reader's choice, and no error.
pub(crate) fn out(text: &str) {
    let mut out = io::stdout().lock();
    drop(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Sets when to color. Only the first call counts.
pub(crate) fn set_color(when: ColorChoice) {
    COLOR.get_or_init(|| when);
}

/// Whether live lines can be drawn on standard error.
pub(crate) fn is_live() -> bool {
    std::io::stderr().is_terminal() && is_able()
}

/// Whether a terminal, where there is one, can do more than take lines.
pub(crate) fn is_able() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// How wide standard output is, where it is a terminal.
pub(crate) fn columns() -> Option<usize> {
    let out = console::Term::stdout();
    if out.is_term() { out.size_checked().map(|(_, columns)| usize::from(columns)) } else { None }
}

/// Whether standard error takes colours.
pub(crate) fn has_color() -> bool {
    match COLOR.get().copied().unwrap_or(ColorChoice::Auto) {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_live() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
    }
}

/// Standard error, above the live lines where there are any.
struct Log;

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        live::print(&sanitize::without_addresses(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends the log to standard error: errors, decisions (`-v`), requests (`-vv`) or all that this program has to say (`-vvv`). Other libraries
/// are heard when something is wrong. Spans go to a collector besides, where there is one.
pub(crate) fn log(verbose: u8, traces: Traces) -> Exporting {
    let own = match verbose {
        0 => "error",
        1 => "info",
        2 => "debug",
        _ => "trace",
    };
    let others = if verbose == 0 { "error" } else { "warn" };
    let filter = OWN_CRATES.iter().fold(others.to_owned(), |filter, part| format!("{filter},{part}={own}"));
    let told =
        tracing_subscriber::fmt::layer().with_writer(|| Log).with_ansi(has_color()).with_target(verbose > 2);
    tracing_subscriber::registry().with(traces.layer).with(told.with_filter(EnvFilter::new(filter))).init();
    if let Some(note) = traces.note {
        tracing::info!("{note}");
    }
    traces.exporting
}

/// The parts of this program that have something to say.
const OWN_CRATES: [&str; 7] = ["client", "contract", "engine", "media", "runner", "service", "workflow"];
