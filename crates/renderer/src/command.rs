//! [`Command`]: a program of somebody's own as the renderer. How it is spoken to is written down in docs/service.md.
//!
//! The program is not trusted to end, to be quiet or to write video: time, output and result are all bounded and checked.

use std::{
    ffi::{OsStr, OsString},
    io::{self, BufRead as _, BufReader, Read, Write as _},
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::{self, Child, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender},
    thread,
    time::{Duration, Instant},
};

use fs_err as fs;
use media::{AudioBuffer, RgbImage, encode_png};
use serde::Serialize;
use tempfile::TempDir;

use crate::{Job, Progress, Quality, RenderError, Renderer, Rendering};

/// Where programs work, below the data directory. Cleared when a service starts.
pub const WORKING_FOLDER: &str = "rendering";

/// The names in the folder that a program starts in.
const TASK: &str = "task.json";
const OUTPUT: &str = "output.mp4";

/// How often the caller is asked whether to go on.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long the last lines are waited for when the program has ended.
const LAST_LINES: Duration = Duration::from_millis(500);
/// Longer lines are cut.
const LINE_BYTES: u64 = 4 << 10;
/// Lines that may wait to be looked at; a program that writes faster is held up.
const LINES_WAITING: usize = 256;
/// Longer messages of a program are cut, in characters.
const MESSAGE_CHARS: usize = 500;
/// The largest video that is taken.
const OUTPUT_BYTES: u64 = 1 << 30;

/// Runs a program for each job. No shell is in between, and of this process's environment it gets nothing but `PATH`.
#[derive(Debug, Clone)]
pub struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    path: Option<OsString>,
    working: PathBuf,
    time_limit: Duration,
}

/// Why a program cannot be a renderer.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// There are no words.
    #[error("the renderer's command is empty: name a program")]
    Empty,
    /// There is no such program.
    #[error("the renderer's program {program} is not found: give its whole path, or one that is on PATH")]
    NotFound {
        /// As it was named.
        program: String,
    },
}

impl Command {
    /// A program and its arguments. `path` is the `PATH` to look in and to hand on, `data` the service's data directory,
    /// below which each job gets a private folder; a program may take `time_limit` for one job.
    ///
    /// # Errors
    /// When there are no words, or the program is not there.
    pub fn new(
        words: &[String],
        path: Option<OsString>,
        data: &Path,
        time_limit: Duration,
    ) -> Result<Self, CommandError> {
        let (program, arguments) = words.split_first().ok_or(CommandError::Empty)?;
        let program = find(OsStr::new(program), path.as_deref())
            .ok_or_else(|| CommandError::NotFound { program: program.clone() })?;
        // The program starts in another folder, so nothing here may depend on this one.
        let working = std::path::absolute(data).unwrap_or_else(|_| data.to_owned()).join(WORKING_FOLDER);
        let arguments = arguments.iter().map(OsString::from).collect();
        Ok(Self { program: program.into_os_string(), arguments, path, working, time_limit })
    }

    fn start(&self, folder: &Path, task: &str) -> io::Result<Running> {
        let mut command = process::Command::new(&self.program);
        command.args(&self.arguments).current_dir(folder).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (sender, lines) = mpsc::sync_channel(LINES_WAITING);
        if let Some(mut stdin) = child.stdin.take() {
            let task = task.to_owned();
            // A program that does not read it must not hold us up. One that closes it early may.
            spawn("renderer-stdin", move || drop(stdin.write_all(task.as_bytes())))?;
        }
        if let Some(stdout) = child.stdout.take() {
            spawn_reader("renderer-stdout", stdout, sender.clone(), |line| ProgramOutput::parse(&line))?;
        }
        if let Some(stderr) = child.stderr.take() {
            spawn_reader("renderer-stderr", stderr, sender, |line| Some(ProgramOutput::Log(line)))?;
        }
        Ok(Running { child, lines })
    }
}

impl Renderer for Command {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        let folder = private_folder(&self.working).map_err(|error| broken("a folder to work in", &error))?;
        let task =
            write_inputs(job, folder.path()).map_err(|error| broken("the files for the program", &error))?;
        let mut running =
            self.start(folder.path(), &task).map_err(|error| broken("the program's start", &error))?;
        let end = Instant::now() + self.time_limit;
        let frames_total = job.frames_total();
        let mut done = 0;
        let mut message = None;
        let mut log = String::new();
        let status = loop {
            let said = running.lines.recv_timeout(CANCEL_CHECK_INTERVAL);
            match said {
                Ok(ProgramOutput::Percent(percent)) => {
                    done = done.max((u64::from(frames_total) * u64::from(percent) / 100) as u32);
                }
                Ok(ProgramOutput::Message(text)) => message = Some(text),
                Ok(ProgramOutput::Log(line)) => log = line,
                Err(RecvTimeoutError::Timeout) => {}
                // Both pipes are closed; only the end is left to wait for.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(5)),
            }
            if let Some(status) =
                running.child.try_wait().map_err(|error| broken("the program's end", &error))?
            {
                break status;
            }
            if progress(Progress { frames_done: done, frames_total }).is_break() {
                return Err(RenderError::Cancelled);
            }
            if Instant::now() >= end {
                let message = format!("the renderer did not end within {} s", self.time_limit.as_secs());
                return Err(RenderError::Task { code: "render_timed_out", message });
            }
        };
        let last = Instant::now() + LAST_LINES;
        while let Ok(said) = running.lines.recv_timeout(last.saturating_duration_since(Instant::now())) {
            match said {
                ProgramOutput::Message(text) => message = Some(text),
                ProgramOutput::Log(line) => log = line,
                ProgramOutput::Percent(_) => {}
            }
        }
        drop(running);
        if !status.success() {
            tracing::warn!(%status, log, "the renderer's program failed");
            return Err(failure(status, message));
        }
        result(&folder.path().join(OUTPUT), job)
    }
}

/// A program at work. Dropping it ends it, with everything that it has started.
struct Running {
    child: Child,
    lines: Receiver<ProgramOutput>,
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // An error means that nobody is left.
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
        }
        drop(self.child.kill());
        // Killed, so this does not take long; without it a zombie would stay.
        drop(self.child.wait());
    }
}

/// A line of a program.
#[derive(Debug, PartialEq)]
enum ProgramOutput {
    /// `progress 37`, `progress 37%` or `37%`.
    Percent(u8),
    /// `message TEXT`: what to tell whoever submitted the task if it fails.
    Message(String),
    /// A line on standard error.
    Log(String),
}

impl ProgramOutput {
    /// Reads a line of standard output; whatever it does not know is no concern of ours.
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("message ") {
            return Some(Self::Message(text.trim().chars().take(MESSAGE_CHARS).collect()));
        }
        let percent = match line.strip_prefix("progress ") {
            Some(number) => number.trim().trim_end_matches('%'),
            None => line.strip_suffix('%')?,
        };
        let percent: f64 = percent.trim().parse().ok()?;
        percent.is_finite().then(|| Self::Percent(percent.clamp(0.0, 100.0) as u8))
    }
}

fn spawn_reader(
    name: &str,
    pipe: impl Read + Send + 'static,
    sender: SyncSender<ProgramOutput>,
    read: impl Fn(String) -> Option<ProgramOutput> + Send + 'static,
) -> io::Result<()> {
    spawn(name, move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        // Read to the end whatever becomes of the lines: a full pipe would stop the program.
        while matches!((&mut pipe).take(LINE_BYTES).read_until(b'\n', &mut line), Ok(1..)) {
            if let Some(said) = read(String::from_utf8_lossy(&line).trim().to_owned()) {
                drop(sender.send(said));
            }
            line.clear();
        }
    })
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// What the program is told, in `task.json` and on its standard input.
#[expect(clippy::struct_excessive_bools, reason = "the wire has that many switches")]
#[derive(Serialize)]
struct TaskInput<'a> {
    prompt: &'a str,
    width: u32,
    height: u32,
    frame_rate: u32,
    seconds: f64,
    frames: u32,
    seed: u64,
    generate_audio: bool,
    camera_fixed: bool,
    watermark: bool,
    fast: bool,
    inputs: Inputs,
    output: PathBuf,
}

#[derive(Serialize)]
struct Inputs {
    first_frame: Option<PathBuf>,
    last_frame: Option<PathBuf>,
    reference_images: Vec<PathBuf>,
    reference_videos: Vec<PathBuf>,
    reference_audio: Option<PathBuf>,
}

fn private_folder(working: &Path) -> io::Result<TempDir> {
    fs::create_dir_all(working)?;
    tempfile::Builder::new().prefix("task-").tempdir_in(working)
}

/// Writes the inputs and the task, and returns the task's text: one line.
fn write_inputs(job: &Job, folder: &Path) -> io::Result<String> {
    let picture = |name: &str, image: &RgbImage| -> io::Result<PathBuf> {
        let path = folder.join(name);
        fs::write(&path, encode_png(image))?;
        Ok(path)
    };
    let references = job.references.iter().enumerate();
    let mut reference_videos = Vec::new();
    for (number, video) in job.reference_videos.iter().enumerate() {
        // A copy: the original is the store's, and the program may do with its own what it likes.
        let path = folder.join(format!("reference-{}.mp4", number + 1));
        fs::copy(video, &path)?;
        reference_videos.push(path);
    }
    let inputs = Inputs {
        first_frame: job.first_frame.as_ref().map(|image| picture("first_frame.png", image)).transpose()?,
        last_frame: job.last_frame.as_ref().map(|image| picture("last_frame.png", image)).transpose()?,
        reference_images: references
            .map(|(number, image)| picture(&format!("reference-{}.png", number + 1), image))
            .collect::<Result<_, _>>()?,
        reference_videos,
        reference_audio: match &job.reference_audio {
            None => None,
            Some(sound) => {
                let path = folder.join("reference.wav");
                fs::write(&path, wav(sound))?;
                Some(path)
            }
        },
    };
    let told = TaskInput {
        prompt: &job.prompt,
        width: job.width,
        height: job.height,
        frame_rate: job.frame_rate,
        seconds: job.seconds,
        frames: job.frames_total(),
        seed: job.seed,
        generate_audio: job.generate_audio,
        camera_fixed: job.camera_fixed,
        watermark: job.watermark,
        fast: job.quality == Quality::Fast,
        inputs,
        output: folder.join(OUTPUT),
    };
    let text = serde_json::to_string(&told)? + "\n";
    fs::write(folder.join(TASK), &text)?;
    Ok(text)
}

/// 16-bit WAV.
fn wav(sound: &AudioBuffer) -> Vec<u8> {
    let bytes = u32::try_from(sound.samples.len() * 2).unwrap_or(u32::MAX);
    let frame = sound.channels * 2;
    let mut file = Vec::with_capacity(bytes as usize + 44);
    file.extend(b"RIFF");
    file.extend(bytes.saturating_add(36).to_le_bytes());
    file.extend(b"WAVEfmt \x10\0\0\0\x01\0");
    file.extend(sound.channels.to_le_bytes());
    file.extend(sound.sample_rate.to_le_bytes());
    file.extend((sound.sample_rate * u32::from(frame)).to_le_bytes());
    file.extend(frame.to_le_bytes());
    file.extend(b"\x10\0data");
    file.extend(bytes.to_le_bytes());
    file.extend(sound.samples.iter().flat_map(|sample| ((sample * 32_767.0) as i16).to_le_bytes()));
    file
}

/// Exit codes as task errors; docs/service.md lists them.
fn failure(status: ExitStatus, message: Option<String>) -> RenderError {
    let (code, otherwise) = match status.code() {
        Some(3) => ("input_moderated", "the renderer refuses the prompt or an input".to_owned()),
        Some(4) => ("output_moderated", "the renderer withholds the video".to_owned()),
        Some(5) => ("render_unsupported", "the renderer cannot do what the request asks for".to_owned()),
        Some(code) => ("render_failed", format!("the renderer failed with exit code {code}")),
        None => ("render_failed", "the renderer was ended by a signal".to_owned()),
    };
    RenderError::Task { code, message: message.unwrap_or(otherwise) }
}

/// The video counts when it is one: indexed, with pictures of which the last can be decoded.
fn result(output: &Path, job: &Job) -> Result<Rendering, RenderError> {
    let refuse = |why: String| {
        let message = format!("the renderer ended well but its video cannot be used: {why}");
        RenderError::Task { code: "render_failed", message }
    };
    let size = std::fs::symlink_metadata(output).map_err(|_| refuse(format!("there is no {OUTPUT}")))?;
    // No link either: what it points to may be anything on this machine.
    if !size.is_file() || size.len() > OUTPUT_BYTES {
        return Err(refuse(format!("{OUTPUT} is no regular file of at most {} MiB", OUTPUT_BYTES >> 20)));
    }
    let mp4 = fs::read(output).map_err(|error| broken("the video", &error))?;
    let in_the_bytes = |error: media::MediaError| refuse(error.to_string());
    let probe = media::probe_bytes(&mp4).map_err(in_the_bytes)?;
    let last_frame = media::last_frame_bytes(&mp4).map_err(in_the_bytes)?;
    if (last_frame.width(), last_frame.height()) != (job.width, job.height) {
        tracing::warn!(
            asked = format!("{}x{}", job.width, job.height),
            made = format!("{}x{}", last_frame.width(), last_frame.height()),
            seconds = probe.duration.as_secs_f64(),
            "the renderer's video has another size than the one asked for"
        );
    }
    Ok(Rendering { mp4, last_frame })
}

/// The machine refuses something: said in the log, and without paths to whoever submitted the task.
fn broken(what: &str, error: &io::Error) -> RenderError {
    tracing::error!(what, %error, "the renderer's program could not be served");
    let message = format!("the renderer could not be run: {what} failed; the service's log says more");
    RenderError::Task { code: "render_failed", message }
}

/// The program's whole path: as given when it has a folder in it, else the first on `path`.
fn find(program: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let given = Path::new(program);
    if given.components().count() > 1 {
        return std::path::absolute(given).ok().filter(|file| file.is_file());
    }
    let name = format!("{}{}", given.display(), std::env::consts::EXE_SUFFIX);
    let folders = std::env::split_paths(path?);
    folders.flat_map(|folder| [folder.join(given), folder.join(&name)]).find(|file| file.is_file())
}

#[cfg(all(test, unix))]
#[path = "command_tests.rs"]
mod tests;
