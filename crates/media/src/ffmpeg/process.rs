//! Running of ffmpeg and ffprobe: without standard input or environment, on local files only, within a time limit.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use super::message::readable;
use super::{Ffmpeg, tool};
use crate::MediaError;

/// Containers that ffmpeg may open. Playlists and scripts, which would make it open other files, are excluded.
const FORMATS: &str = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,flv,ogg,asf,ivf,h264,hevc,obu,gif,mp3,aac,flac,wav";

/// Bound on what is read of a report, in bytes: that of progress has a few hundred each half a second.
const MAX_TEXT_BYTES: u64 = 16 << 20;

/// How often the time limit and the cancellation are checked.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// Reads the output of a program.
type Consume<'a> = &'a mut dyn FnMut(&mut dyn Read) -> Result<(), MediaError>;

impl Ffmpeg {
    /// Runs a program and passes its output to `consume`. Killed at the time limit, when it is cancelled, and when `consume` fails.
    pub(super) fn run(
        &self,
        name: &'static str,
        program: Option<&Path>,
        arguments: &[OsString],
        consume: Consume<'_>,
    ) -> Result<(), MediaError> {
        self.run_and_listen(name, program, arguments, consume).map(drop)
    }

    /// As [`Self::run`]; returns what the program writes, which is bounded, and the last line of its messages.
    pub(super) fn text(
        &self,
        name: &'static str,
        program: Option<&Path>,
        arguments: &[OsString],
    ) -> Result<(String, String), MediaError> {
        let mut bytes = Vec::new();
        let complaint = self.run_and_listen(name, program, arguments, &mut |pipe| {
            pipe.take(MAX_TEXT_BYTES)
                .read_to_end(&mut bytes)
                .map(drop)
                .map_err(MediaError::io("cannot read it"))
        })?;
        Ok((String::from_utf8_lossy(&bytes).into_owned(), complaint))
    }

    /// As [`Self::run`]; returns the last line of the program's messages, which is empty where it has none.
    fn run_and_listen(
        &self,
        name: &'static str,
        program: Option<&Path>,
        arguments: &[OsString],
        consume: Consume<'_>,
    ) -> Result<String, MediaError> {
        let program = program.ok_or_else(|| tool(name, "is not at hand"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| tool(name, format!("cannot be started: {error}")).at(program))?;
        let (output, complaints) = (child.stdout.take(), child.stderr.take());
        let child = Mutex::new(child);
        let late = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let (done, watch) = mpsc::channel::<()>();
            let (child, late) = (&child, &late);
            scope.spawn(move || {
                let started = Instant::now();
                while watch.recv_timeout(WATCH_INTERVAL) == Err(mpsc::RecvTimeoutError::Timeout) {
                    let is_late = started.elapsed() >= self.time_limit;
                    if is_late || self.cancellation.is_cancelled() {
                        late.store(is_late, Ordering::Relaxed);
                        end(child);
                        return;
                    }
                }
            });
            let complaint = scope.spawn(move || complaints.map(last_line).unwrap_or_default());
            let consumed = output.map_or(Ok(()), |mut pipe| {
                let outcome = consume(&mut pipe);
                if outcome.is_err() {
                    end(child);
                }
                outcome
            });
            let status = wait(child);
            drop(done);
            let complaint = readable(&complaint.join().unwrap_or_default(), arguments);
            self.cancellation.check()?;
            if late.load(Ordering::Relaxed) {
                return Err(tool(
                    name,
                    format!("took longer than {} seconds and was ended", self.time_limit.as_secs()),
                ));
            }
            consumed?;
            match status {
                Some(status) if status.success() => Ok(complaint),
                _ if complaint.is_empty() => Err(tool(name, "failed without a message")),
                _ => Err(tool(name, format!("failed: {complaint}"))),
            }
        })
    }
}

pub(super) fn restrictions() -> [OsString; 4] {
    ["-protocol_whitelist", "file,pipe", "-format_whitelist", FORMATS].map(OsString::from)
}

/// A name that can be taken neither for an option nor for another protocol.
pub(super) fn file_url(path: &Path) -> OsString {
    let mut url = OsString::from("file:");
    url.push(path);
    url
}

pub(super) fn input(before: &[&str], path: &Path) -> Vec<OsString> {
    let mut arguments: Vec<OsString> =
        ["-nostdin", "-hide_banner", "-loglevel", "error"].iter().map(OsString::from).collect();
    arguments.extend(before.iter().map(OsString::from));
    arguments.extend(restrictions());
    arguments.push(OsStr::new("-i").to_owned());
    arguments.push(file_url(path));
    arguments
}

/// Ends a child that may have ended by itself.
fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // An error here means that it is gone already.
    let _gone = child.kill();
}

/// Waits without holding the lock, so that the time limit can still end the child.
fn wait(child: &Mutex<Child>) -> Option<std::process::ExitStatus> {
    loop {
        let state = child.lock().unwrap_or_else(std::sync::PoisonError::into_inner).try_wait();
        match state {
            Ok(Some(status)) => return Some(status),
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            Err(_) => return None,
        }
    }
}

/// Drains a pipe and returns its last non-empty line.
fn last_line(mut pipe: impl Read) -> String {
    let mut tail = Vec::new();
    let mut block = [0; 4096];
    while let Ok(count) = pipe.read(&mut block) {
        if count == 0 {
            break;
        }
        tail.extend_from_slice(&block[..count]);
        let surplus = tail.len().saturating_sub(4096);
        tail.drain(..surplus);
    }
    let text = String::from_utf8_lossy(&tail);
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().to_owned()
}
