//! [`ExternalRenderer`]: an external program as the renderer. docs/service.md documents the protocol.
//!
//! The program is not trusted: its run time, its output and the size of its result are bounded, and the result is validated.

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

use crate::{Job, Progress, RenderError, Renderer, Rendering};

mod output;

use self::output::{FRAMES, OUTPUT};

/// The directory below the data directory that holds the working directories. Cleared when a service starts.
pub const WORKING_DIR: &str = "rendering";

/// A file name in the working directory.
const TASK: &str = "task.json";

/// How often the progress callback is called at least.
const CANCEL_CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long to wait for buffered output after the program has exited.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Longer lines are split.
const MAX_LINE_BYTES: u64 = 4 << 10;
/// Capacity of the channel of lines; a program that writes faster blocks.
const MAX_QUEUED_LINES: usize = 256;
/// Longer messages are truncated, in characters.
const MAX_MESSAGE_CHARS: usize = 500;

/// Runs a program for each job, without a shell and with an environment of `PATH` only.
#[derive(Debug, Clone)]
pub struct ExternalRenderer {
    program: OsString,
    arguments: Vec<OsString>,
    path: Option<OsString>,
    working_dir: PathBuf,
    timeout: Duration,
}

/// Why a command cannot be used as the renderer.
#[derive(Debug, thiserror::Error)]
pub enum ExternalRendererError {
    /// The command is empty.
    #[error("the renderer's command is empty: name a program")]
    Empty,
    /// The program does not exist.
    #[error("the renderer's program {program} is not found: give its whole path, or one that is on PATH")]
    NotFound {
        /// As named in the command.
        program: String,
    },
}

impl ExternalRenderer {
    /// A renderer that runs `words`, a program and its arguments. `path` is the `PATH` for the search and for the program,
    /// `data` the service's data directory, below which each job gets a private working directory, and `timeout` the limit
    /// for one job.
    ///
    /// # Errors
    /// When `words` is empty or the program does not exist.
    pub fn new(
        words: &[String],
        path: Option<OsString>,
        data: &Path,
        timeout: Duration,
    ) -> Result<Self, ExternalRendererError> {
        let (program, arguments) = words.split_first().ok_or(ExternalRendererError::Empty)?;
        let program = find(OsStr::new(program), path.as_deref())
            .ok_or_else(|| ExternalRendererError::NotFound { program: program.clone() })?;
        // Absolute, because the program starts in another directory.
        let working_dir = std::path::absolute(data).unwrap_or_else(|_| data.to_owned()).join(WORKING_DIR);
        let arguments = arguments.iter().map(OsString::from).collect();
        Ok(Self { program: program.into_os_string(), arguments, path, working_dir, timeout })
    }

    fn start(&self, dir: &Path, task: &str) -> io::Result<Running> {
        let mut command = process::Command::new(&self.program);
        command.args(&self.arguments).current_dir(dir).env_clear();
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (sender, lines) = mpsc::sync_channel(MAX_QUEUED_LINES);
        if let Some(mut stdin) = child.stdin.take() {
            let task = task.to_owned();
            // On a thread: a program that does not read its input must not block us. Errors of an early close are ignored.
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

impl Renderer for ExternalRenderer {
    fn render(
        &self,
        job: &Job,
        progress: &mut dyn FnMut(Progress) -> ControlFlow<()>,
    ) -> Result<Rendering, RenderError> {
        let dir = private_dir(&self.working_dir)
            .map_err(|error| internal("creating its working directory", &error))?;
        let task = write_inputs(job, dir.path()).map_err(|error| internal("writing its inputs", &error))?;
        let mut running = self.start(dir.path(), &task).map_err(|error| internal("starting it", &error))?;
        let deadline = Instant::now() + self.timeout;
        let frames_total = job.frames_total();
        let mut done = 0;
        let mut message = None;
        let mut log = String::new();
        let status = loop {
            match running.lines.recv_timeout(CANCEL_CHECK_INTERVAL) {
                Ok(ProgramOutput::Percent(percent)) => {
                    done = done.max((u64::from(frames_total) * u64::from(percent) / 100) as u32);
                }
                Ok(ProgramOutput::Message(text)) => message = Some(text),
                Ok(ProgramOutput::Log(line)) => log = line,
                Err(RecvTimeoutError::Timeout) => {}
                // Both pipes are closed; wait for the exit.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(Duration::from_millis(5)),
            }
            if let Some(status) =
                running.child.try_wait().map_err(|error| internal("waiting for it", &error))?
            {
                break status;
            }
            if progress(Progress { frames_done: done, frames_total }).is_break() {
                return Err(RenderError::Cancelled);
            }
            if Instant::now() >= deadline {
                let message = format!("the renderer did not end within {} s", self.timeout.as_secs());
                return Err(RenderError::Task { code: "render_timed_out", message });
            }
        };
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        while let Ok(output) = running.lines.recv_timeout(deadline.saturating_duration_since(Instant::now()))
        {
            match output {
                ProgramOutput::Message(text) => message = Some(text),
                ProgramOutput::Log(line) => log = line,
                ProgramOutput::Percent(_) => {}
            }
        }
        drop(running);
        if !status.success() {
            tracing::warn!(%status, log, "the renderer program failed");
            return Err(failure(status, message));
        }
        output::read(dir.path(), job)
    }
}

/// A running program. Dropping it kills its process group.
struct Running {
    child: Child,
    lines: Receiver<ProgramOutput>,
}

impl Drop for Running {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            // Fails if the group has no processes left.
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
        }
        drop(self.child.kill());
        // Reaps the killed process.
        drop(self.child.wait());
    }
}

/// A line of output of the program.
#[derive(Debug, PartialEq)]
enum ProgramOutput {
    /// `progress 37`, `progress 37%` or `37%`.
    Percent(u8),
    /// `message TEXT`: the error message of the task if it fails.
    Message(String),
    /// A line on standard error.
    Log(String),
}

impl ProgramOutput {
    /// Parses a line of standard output; other lines are ignored.
    fn parse(line: &str) -> Option<Self> {
        let line = line.trim();
        if let Some(text) = line.strip_prefix("message ") {
            return Some(Self::Message(text.trim().chars().take(MAX_MESSAGE_CHARS).collect()));
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
    parse: impl Fn(String) -> Option<ProgramOutput> + Send + 'static,
) -> io::Result<()> {
    spawn(name, move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        // Read to the end even if the receiver is gone: a full pipe would block the program.
        while matches!((&mut pipe).take(MAX_LINE_BYTES).read_until(b'\n', &mut line), Ok(1..)) {
            if let Some(output) = parse(String::from_utf8_lossy(&line).trim().to_owned()) {
                drop(sender.send(output));
            }
            line.clear();
        }
    })
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

/// The input of the program, in `task.json` and on standard input.
#[expect(clippy::struct_excessive_bools, reason = "the API has that many switches")]
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
    frames_dir: PathBuf,
    sound: PathBuf,
}

#[derive(Serialize)]
struct Inputs {
    first_frame: Option<PathBuf>,
    last_frame: Option<PathBuf>,
    reference_images: Vec<PathBuf>,
    reference_videos: Vec<PathBuf>,
    reference_audio: Option<PathBuf>,
}

fn private_dir(working_dir: &Path) -> io::Result<TempDir> {
    // Only this folder: a data directory that was removed or moved must not come into being again.
    match fs::create_dir(working_dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    tempfile::Builder::new().prefix("task-").tempdir_in(working_dir)
}

/// Writes the media inputs and `task.json`; returns its text, one line.
fn write_inputs(job: &Job, dir: &Path) -> io::Result<String> {
    let write_image = |name: &str, image: &RgbImage| -> io::Result<PathBuf> {
        let path = dir.join(name);
        fs::write(&path, encode_png(image))?;
        Ok(path)
    };
    let references = job.references.iter().enumerate();
    let mut reference_videos = Vec::new();
    for (number, video) in job.reference_videos.iter().enumerate() {
        // A copy, because the program may modify it and the original belongs to the store.
        let path = dir.join(format!("reference-{}.mp4", number + 1));
        fs::copy(video, &path)?;
        reference_videos.push(path);
    }
    let inputs = Inputs {
        first_frame: job
            .first_frame
            .as_ref()
            .map(|image| write_image("first_frame.png", image))
            .transpose()?,
        last_frame: job.last_frame.as_ref().map(|image| write_image("last_frame.png", image)).transpose()?,
        reference_images: references
            .map(|(number, image)| write_image(&format!("reference-{}.png", number + 1), image))
            .collect::<Result<_, _>>()?,
        reference_videos,
        reference_audio: match &job.reference_audio {
            None => None,
            Some(audio) => {
                let path = dir.join("reference.wav");
                write_wav(&path, audio)?;
                Some(path)
            }
        },
    };
    let input = TaskInput {
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
        fast: job.fast,
        inputs,
        output: dir.join(OUTPUT),
        frames_dir: dir.join(FRAMES),
        sound: dir.join(output::SOUND),
    };
    fs::create_dir(&input.frames_dir)?;
    let text = serde_json::to_string(&input)? + "\n";
    fs::write(dir.join(TASK), &text)?;
    Ok(text)
}

fn write_wav(path: &Path, audio: &AudioBuffer) -> io::Result<()> {
    let failed = |error: hound::Error| match error {
        hound::Error::IoError(error) => error,
        error => io::Error::other(error),
    };
    let spec = hound::WavSpec {
        channels: audio.channels,
        sample_rate: audio.sample_rate,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut writer = hound::WavWriter::create(path, spec).map_err(failed)?;
    for sample in &audio.samples {
        writer.write_sample((sample * 32_767.0) as i16).map_err(failed)?;
    }
    writer.finalize().map_err(failed)
}

/// The task error for an exit code, as documented in docs/service.md.
fn failure(status: ExitStatus, message: Option<String>) -> RenderError {
    let (code, default) = match status.code() {
        Some(3) => ("input_moderated", "the renderer rejected the prompt or an input".to_owned()),
        Some(4) => ("output_moderated", "the renderer withheld the video".to_owned()),
        Some(5) => ("render_unsupported", "the renderer does not support the request".to_owned()),
        Some(code) => ("render_failed", format!("the renderer failed with exit code {code}")),
        None => ("render_failed", "the renderer was killed by a signal".to_owned()),
    };
    RenderError::Task { code, message: message.unwrap_or(default) }
}

/// An error of this machine: logged in full, reported to the client without paths.
fn internal(what: &str, error: &io::Error) -> RenderError {
    tracing::error!(what, %error, "the renderer program could not be run");
    let message = format!("the renderer could not be run: {what} failed; the service's log has details");
    RenderError::Task { code: "render_failed", message }
}

/// The absolute path of the program: relative to the current directory if it has several components, else searched in `path`.
fn find(program: &OsStr, path: Option<&OsStr>) -> Option<PathBuf> {
    let name = Path::new(program);
    if name.components().count() > 1 {
        return std::path::absolute(name).ok().filter(|file| file.is_file());
    }
    let with_suffix = format!("{}{}", name.display(), std::env::consts::EXE_SUFFIX);
    let dirs = std::env::split_paths(path?);
    dirs.flat_map(|dir| [dir.join(name), dir.join(&with_suffix)]).find(|file| file.is_file())
}

#[cfg(all(test, unix))]
#[path = "external_tests.rs"]
mod tests;
