//! The terminal: output macros, colors, capabilities, the log.

/// Prints a line to standard output in one write.
macro_rules! outln {
    ($($message:tt)*) => { $crate::terminal::out(&format!("{}\n", format_args!($($message)*))) };
}

/// Prints to standard output in one write.
macro_rules! out {
    ($($message:tt)*) => { $crate::terminal::out(&format!($($message)*)) };
}

/// Prints a line to standard error, above the live view if there is one; broken at spaces where the terminal is too narrow for it.
macro_rules! errln {
    ($($message:tt)*) => { $crate::terminal::error_line(&format!("{}\n", format_args!($($message)*))) };
}

/// Prints to standard error, above the live view if there is one.
macro_rules! err {
    ($($message:tt)*) => { $crate::report::live::print(&format!($($message)*)) };
}

use std::io::{self, IsTerminal as _, Write};
use std::sync::OnceLock;

use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::args::ColorChoice;
use crate::report::{live, sanitize, screen};

/// The `--color` flag, set once at start.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// The first error of standard output.
static OUTPUT_ERROR: OnceLock<String> = OnceLock::new();

/// Notes whether standard output could be written. What fails does not end a command, which may be a run that has paid for tasks: the exit
/// code of the program says it ([`output_error`]). A closed pipe is not an error: its reader has read enough.
pub(crate) fn check_output(written: io::Result<()>) {
    if let Err(error) = written
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        OUTPUT_ERROR.get_or_init(|| error.to_string());
    }
}

/// Why standard output is incomplete, if it is.
pub(crate) fn output_error() -> Option<&'static str> {
    OUTPUT_ERROR.get().map(String::as_str)
}

/// Writes to standard output at once.
pub(crate) fn out(text: &str) {
    let mut out = io::stdout().lock();
    check_output(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}

/// Writes a line to standard error, as wide as the terminal.
pub(crate) fn error_line(text: &str) {
    let stderr = console::Term::stderr();
    let columns = stderr.is_term().then(|| stderr.size_checked()).flatten();
    match columns {
        Some((_, columns)) => live::print(&screen::wrapped(text, usize::from(columns))),
        None => live::print(text),
    }
}

/// Writes a document to standard output as indented JSON, piece by piece.
pub(crate) fn out_json(document: &impl serde::Serialize) {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from);
    check_output(written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()));
}

/// Sets when to color. Only the first call counts.
pub(crate) fn set_color(choice: ColorChoice) {
    COLOR.get_or_init(|| choice);
}

/// Rings the bell and shows a notification (OSC 9), if standard error is a terminal.
pub(crate) fn notify(text: &str) {
    if is_live() {
        drop(io::stderr().write_all(format!("\u{1b}]9;{}\u{7}\u{7}", sanitize::line(text)).as_bytes()));
    }
}

/// Whether a live view can be drawn on standard error.
pub(crate) fn is_live() -> bool {
    std::io::stderr().is_terminal() && supports_cursor()
}

/// Whether the terminal, if there is one, can move its cursor.
pub(crate) fn supports_cursor() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// The width of standard output, if it is a terminal.
pub(crate) fn columns() -> Option<usize> {
    let out = console::Term::stdout();
    if out.is_term() { out.size_checked().map(|(_, columns)| usize::from(columns)) } else { None }
}

/// Whether to use colors on standard error.
pub(crate) fn has_color() -> bool {
    match COLOR.get().copied().unwrap_or(ColorChoice::Auto) {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_live() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
    }
}

/// Standard error, above the live view if there is one.
struct LogWriter;

impl Write for LogWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        live::print(&sanitize::redact_urls(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Sends the log to standard error: errors, decisions (`-v`), requests (`-vv`) or everything (`-vvv`). Of other libraries only warnings and
/// errors are logged.
pub(crate) fn log(verbose: u8) {
    let own_level = match verbose {
        0 => LevelFilter::ERROR,
        1 => LevelFilter::INFO,
        2 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let other_level = if verbose == 0 { LevelFilter::ERROR } else { LevelFilter::WARN };
    let filter =
        Targets::new().with_default(other_level).with_targets(OWN_CRATES.map(|part| (part, own_level)));
    let stderr = tracing_subscriber::fmt::layer()
        .with_writer(|| LogWriter)
        .with_ansi(has_color())
        .with_target(verbose > 2);
    tracing_subscriber::registry().with(stderr.with_filter(filter)).init();
}

/// The crates of this program.
const OWN_CRATES: [&str; 7] = ["client", "contract", "engine", "media", "runner", "service", "workflow"];
