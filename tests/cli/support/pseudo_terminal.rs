//! The program on a pseudo-terminal, and what its screen shows.

use std::io::Read as _;
use std::num::NonZeroU16;
use std::os::unix::ffi::OsStringExt as _;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::wait_until;

/// More rows than any of the tests writes.
const ROWS: u16 = 40;

/// What every frame of the live view begins with: it erases the one before.
const FRAME_START: &[u8] = b"\r\x1b[0J";

/// A program on a terminal of its own.
pub(crate) struct Terminal {
    child: Child,
    columns: u16,
    written: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    /// Starts the program with its standard output and error on a terminal of this width.
    pub(crate) fn start(mut command: Command, columns: u16) -> Self {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&controller).expect("the terminal is ours");
        unlockpt(&controller).expect("the terminal is ours");
        let name = ptsname(&controller, Vec::new()).expect("the terminal has a name");
        let size = Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&controller, size).expect("the terminal has a size");
        let path = std::ffi::OsString::from_vec(name.into_bytes());
        let user =
            fs_err::OpenOptions::new().read(true).write(true).open(path).expect("the terminal can be opened");
        let user = user.into_file();
        let child = command
            .env("TERM", "xterm-256color")
            .stdout(user.try_clone().expect("a second handle"))
            .stderr(user)
            .spawn()
            .expect("the program can be started");
        // The command holds the program's side of the terminal.
        drop(command);
        let written = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&written);
        let reader = std::thread::spawn(move || {
            let mut controller = std::fs::File::from(controller);
            let mut chunk = [0; 4096];
            // Linux ends the stream with an error when the last handle of the other side is closed.
            while let Ok(length @ 1..) = controller.read(&mut chunk) {
                shared.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..length]);
            }
        });
        Self { child, columns, written, reader }
    }

    /// All that was written so far.
    fn written(&self) -> Vec<u8> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The screen before the latest frame, which may have arrived in part. There is a new one each second at least.
    fn whole_screen(&self) -> Screen {
        let written = self.written();
        let latest = written.windows(FRAME_START.len()).rposition(|bytes| bytes == FRAME_START);
        Screen::after(&written[..latest.unwrap_or_default()], self.columns)
    }

    /// Waits until the screen shows some text, which stays on it, and returns the screen.
    pub(crate) fn wait_for(&self, text: &str) -> Screen {
        wait_until(text, || self.whole_screen().text.contains(text));
        self.whole_screen()
    }

    /// Sends the program an interrupt.
    pub(crate) fn interrupt(&self) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("the program runs");
    }

    /// Waits for the program's end: its exit code and the last screen.
    pub(crate) fn end(mut self) -> (Option<i32>, Screen) {
        let status = self.child.wait().expect("the program ends");
        self.reader.join().expect("the reader ends with the program");
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        (status.code(), Screen::after(&written, self.columns))
    }
}

/// What a terminal shows, and what it was asked to do besides.
#[derive(Debug)]
pub(crate) struct Screen {
    /// The rows, without spaces at their ends.
    pub(crate) text: String,
    pub(crate) bells: usize,
    /// Texts of notifications (OSC 9).
    pub(crate) notifications: Vec<String>,
    /// Addresses of links (OSC 8).
    pub(crate) links: Vec<String>,
    /// Sequences that the terminal does not know.
    pub(crate) unknown: usize,
}

#[derive(Default)]
struct Requests {
    bells: usize,
    notifications: Vec<String>,
    links: Vec<String>,
    unknown: usize,
}

impl vt100::Callbacks for Requests {
    fn audible_bell(&mut self, _: &mut vt100::Screen) {
        self.bells += 1;
    }

    fn unhandled_osc(&mut self, _: &mut vt100::Screen, parameters: &[&[u8]]) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        match parameters {
            [b"9", words] => self.notifications.push(text(words)),
            [b"8", _, address] if !address.is_empty() => self.links.push(text(address)),
            [b"8", ..] => {}
            _ => self.unknown += 1,
        }
    }

    fn unhandled_csi(&mut self, _: &mut vt100::Screen, _: Option<u8>, _: Option<u8>, _: &[&[u16]], _: char) {
        self.unknown += 1;
    }

    fn unhandled_escape(&mut self, _: &mut vt100::Screen, _: Option<u8>, _: Option<u8>, last: u8) {
        // The end of a link.
        self.unknown += usize::from(last != b'\\');
    }
}

impl Screen {
    fn after(written: &[u8], columns: u16) -> Self {
        let size = |count| NonZeroU16::new(count).expect("a terminal has rows and columns");
        let mut parser = vt100::Parser::new_with_callbacks(size(ROWS), size(columns), 0, Requests::default());
        parser.process(written);
        let text = parser.screen().rows(0, columns).collect::<Vec<String>>().join("\n").trim_end().to_owned();
        let requests = std::mem::take(parser.callbacks_mut());
        Self {
            text,
            bells: requests.bells,
            notifications: requests.notifications,
            links: requests.links,
            unknown: requests.unknown,
        }
    }
}
