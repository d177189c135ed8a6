//! The commands that the page has started, as processes of their own: a run goes on if this server is killed, and the ledger
//! is the only thing that they share.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use scheduler::StatusKind;
use serde::Serialize;
use tokio::sync::watch;

use crate::report::stream::ReadLine;

/// Commands that are remembered.
const MAX_COMMANDS: usize = 20;

/// Bytes of standard error that are remembered of each command.
const MAX_OUTPUT: usize = 4096;

/// Longest line of the event stream that is read.
const MAX_LINE: u64 = 1 << 20;

/// A command that the page has started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct StartedCommand {
    #[serde(rename = "job")]
    pub(super) id: String,
    pub(super) action: &'static str,
    pub(super) command: String,
    pub(super) state: CommandState,
    /// The exit code; `null` while it runs, or if it was killed.
    pub(super) exit: Option<i32>,
    /// The end of what it printed on standard error.
    pub(super) output: String,
    /// Percent by shot, of those in flight.
    pub(super) progress: BTreeMap<String, u8>,
    pub(super) counts: OutcomeCounts,
    #[serde(skip)]
    process: u32,
}

/// The state of a started command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum CommandState {
    Running,
    /// It was asked to stop.
    Stopping,
    Ended,
}

/// Shots of a run, without those that it does not select.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct OutcomeCounts {
    pub(super) done: usize,
    /// Failed, missing or indeterminate.
    pub(super) failed: usize,
    /// Without a video when the run was through with them: detached, at another service, blocked, to be picked, or not started.
    pub(super) unfinished: usize,
    /// Not ended yet.
    pub(super) left: usize,
}

/// Why a command cannot be started or stopped.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StartError {
    /// One run of a server at a time.
    #[error("a run is in progress; stop it first, or wait until it ends")]
    Busy,
    /// There is no such command, or it has ended.
    #[error("there is no such job that could be stopped")]
    Unknown,
    /// The system cannot do it.
    #[error("{0}")]
    System(String),
}

/// The commands that a server has started.
#[derive(Debug, Clone)]
pub(super) struct StartedCommands {
    program: PathBuf,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    list: Mutex<CommandList>,
    changed: watch::Sender<Arc<[StartedCommand]>>,
}

#[derive(Debug, Default)]
struct CommandList {
    jobs: VecDeque<StartedCommand>,
    started: u64,
}

impl StartedCommands {
    /// Jobs that run this program.
    pub(super) fn new(program: PathBuf) -> Self {
        let shared = Shared { list: Mutex::default(), changed: watch::Sender::new(Arc::from([])) };
        Self { program, shared: Arc::new(shared) }
    }

    /// The commands, oldest first, whenever one has changed.
    pub(super) fn watch(&self) -> watch::Receiver<Arc<[StartedCommand]>> {
        self.shared.changed.subscribe()
    }

    /// Starts a command; of runs, one at a time. Returns its id.
    pub(super) fn start(
        &self,
        action: &'static str,
        arguments: &[String],
        command: String,
    ) -> Result<String, StartError> {
        let is_run = action == "run";
        let mut list = self.shared.lock();
        if is_run && list.jobs.iter().any(|job| job.action == "run" && job.state != CommandState::Ended) {
            return Err(StartError::Busy);
        }
        let mut process = Command::new(&self.program);
        process.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // A Ctrl-C in the terminal is for the server, which then asks its runs to stop.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut process, 0);
        let child =
            process.spawn().map_err(|error| StartError::System(format!("cannot start it: {error}")))?;
        list.started += 1;
        let id = format!("j{}", list.started);
        let job = StartedCommand {
            id: id.clone(),
            action,
            command,
            state: CommandState::Running,
            exit: None,
            output: String::new(),
            progress: BTreeMap::new(),
            counts: OutcomeCounts::default(),
            process: child.id(),
        };
        list.jobs.push_back(job);
        let oldest_ended = list.jobs.iter().position(|job| job.state == CommandState::Ended);
        if let (true, Some(oldest)) = (list.jobs.len() > MAX_COMMANDS, oldest_ended) {
            list.jobs.remove(oldest);
        }
        self.shared.publish(&list);
        drop(list);
        let (shared, name) = (Arc::clone(&self.shared), id.clone());
        let spawned =
            thread::Builder::new().name(format!("job-{id}")).spawn(move || follow(&shared, &name, child));
        // The process goes on; only what it prints is not read.
        if let Err(error) = spawned {
            tracing::error!(%error, "no thread to follow a command");
        }
        Ok(id)
    }

    /// Asks a command to stop, as an interrupt in its terminal would.
    pub(super) fn stop(&self, id: &str) -> Result<(), StartError> {
        let mut list = self.shared.lock();
        let job = list.jobs.iter_mut().find(|job| job.id == id && job.state != CommandState::Ended);
        let job = job.ok_or(StartError::Unknown)?;
        interrupt(job.process).map_err(StartError::System)?;
        job.state = CommandState::Stopping;
        self.shared.publish(&list);
        drop(list);
        Ok(())
    }

    /// Whether a command is running.
    pub(super) fn has_running(&self) -> bool {
        self.shared.lock().jobs.iter().any(|job| job.state != CommandState::Ended)
    }

    /// Asks all commands to stop, and waits until they have ended.
    pub(super) async fn stop_all(&self) {
        let mut watched = self.watch();
        let running: Vec<String> = {
            let list = self.shared.lock();
            list.jobs
                .iter()
                .filter(|job| job.state != CommandState::Ended)
                .map(|job| job.id.clone())
                .collect()
        };
        for job in &running {
            // It may have ended by itself.
            drop(self.stop(job));
        }
        let all_ended =
            |jobs: &Arc<[StartedCommand]>| jobs.iter().all(|job| job.state == CommandState::Ended);
        // An error means that nothing can change any more.
        drop(watched.wait_for(all_ended).await);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, CommandList> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, list: &CommandList) {
        self.changed.send_replace(list.jobs.iter().cloned().collect());
    }

    fn update(&self, id: &str, change: impl FnOnce(&mut StartedCommand)) {
        let mut list = self.lock();
        if let Some(job) = list.jobs.iter_mut().find(|job| job.id == id) {
            change(job);
            self.publish(&list);
        }
    }
}

/// Sends SIGINT.
#[cfg(unix)]
fn interrupt(process: u32) -> Result<(), String> {
    let process = i32::try_from(process).ok().and_then(rustix::process::Pid::from_raw);
    let process = process.ok_or("the process has no id")?;
    rustix::process::kill_process(process, rustix::process::Signal::INT)
        .map_err(|error| format!("cannot interrupt it: {error}"))
}

#[cfg(not(unix))]
fn interrupt(_process: u32) -> Result<(), String> {
    Err("on this system a run cannot be interrupted from the page".to_owned())
}

/// Reads what a process prints until it has ended.
fn follow(shared: &Arc<Shared>, id: &str, mut child: Child) {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        if let Some(stderr) = stderr {
            scope.spawn(move || read_output(shared, id, stderr));
        }
        if let Some(stdout) = stdout {
            read_events(shared, id, stdout);
        }
    });
    let exit = match child.wait() {
        Ok(status) => status.code(),
        Err(error) => {
            tracing::error!(%error, "a command's exit code cannot be read");
            None
        }
    };
    shared.update(id, |job| {
        job.state = CommandState::Ended;
        job.exit = exit;
        job.progress.clear();
    });
}

fn read_output(shared: &Shared, id: &str, mut stderr: impl Read) {
    let mut chunk = [0; 1024];
    let mut tail: Vec<u8> = Vec::new();
    while let Ok(read @ 1..) = stderr.read(&mut chunk) {
        tail.extend_from_slice(&chunk[..read]);
        tail.drain(..tail.len().saturating_sub(MAX_OUTPUT));
        let text = crate::report::sanitize::message(&String::from_utf8_lossy(&tail));
        shared.update(id, |job| job.output = text);
    }
}

/// Lines of the event stream of a run; other commands print text, which is ignored.
fn read_events(shared: &Shared, id: &str, stdout: impl Read) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match stdout.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        match serde_json::from_slice(&line) {
            Ok(ReadLine::Other) | Err(_) => {}
            Ok(event) => shared.update(id, |job| apply(job, event)),
        }
    }
}

fn apply(job: &mut StartedCommand, event: ReadLine) {
    match event {
        ReadLine::RunStarted { shots } => {
            job.counts = OutcomeCounts { left: shots, ..OutcomeCounts::default() }
        }
        ReadLine::Progress { shot, percent } => {
            job.progress.insert(shot, percent.unwrap_or(0));
        }
        ReadLine::ShotFinished { shot, outcome } => {
            job.progress.remove(&shot);
            let counts = &mut job.counts;
            counts.left = counts.left.saturating_sub(1);
            match outcome.state {
                StatusKind::Done | StatusKind::Reused => counts.done += 1,
                StatusKind::Failed
                | StatusKind::Missing
                | StatusKind::Unrecorded
                | StatusKind::Indeterminate => counts.failed += 1,
                StatusKind::Detached
                | StatusKind::AtOtherService
                | StatusKind::Blocked
                | StatusKind::Unpicked
                | StatusKind::NotStarted => counts.unfinished += 1,
                // Not selected, or no state of a shot that has ended.
                StatusKind::NotSelected
                | StatusKind::InFlight
                | StatusKind::Submitting
                | StatusKind::Downloading
                | StatusKind::WaitingForRetry
                | StatusKind::Waiting
                | StatusKind::Pending
                | StatusKind::ClaimedByOtherRun => {}
            }
        }
        ReadLine::Other => {}
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(jobs: &StartedCommands, action: &'static str, script: &str) -> Result<String, StartError> {
        jobs.start(action, &["-c".to_owned(), script.to_owned()], script.to_owned())
    }

    async fn wait_until_ended(jobs: &StartedCommands) -> Vec<StartedCommand> {
        let mut watched = jobs.watch();
        let all_ended =
            |jobs: &Arc<[StartedCommand]>| jobs.iter().all(|job| job.state == CommandState::Ended);
        watched.wait_for(all_ended).await.map(|jobs| jobs.to_vec()).unwrap_or_default()
    }

    #[tokio::test]
    async fn job_follows_the_event_stream() {
        let jobs = StartedCommands::new("sh".into());
        let script = r#"echo '{"kind":"run-started","shots":9}'; echo 'no JSON'
            echo '{"kind":"prepared","shot":"a"}'
            echo '{"kind":"progress","shot":"a","percent":40}'; echo '{"kind":"progress","shot":"b"}'
            echo '{"kind":"shot-finished","shot":"a","outcome":{"outcome":"done"}}'
            for outcome in failed missing unrecorded detached at-other-service blocked unpicked not-started not-selected; do
                echo '{"kind":"shot-finished","shot":"b","outcome":{"outcome":"'"$outcome"'"}}'
            done
            printf 'line \033[31mred' >&2; exit 3"#;
        shell(&jobs, "run", script).unwrap();
        let job = &wait_until_ended(&jobs).await[0];
        assert_eq!(job.counts, OutcomeCounts { done: 1, failed: 3, unfinished: 5, left: 0 });
        assert_eq!((job.exit, job.progress.len()), (Some(3), 0));
        assert!(job.output.starts_with("line") && !job.output.contains('\u{1b}'), "{}", job.output);
    }

    #[tokio::test]
    async fn one_run_at_a_time() {
        let jobs = StartedCommands::new("sh".into());
        let folder = tempfile::tempdir().unwrap();
        let end = folder.path().join("end");
        let script = format!("until [ -e '{}' ]; do sleep 0.01; done", end.display());
        let run = shell(&jobs, "run", &script).unwrap();
        assert_eq!(shell(&jobs, "run", "true"), Err(StartError::Busy));
        shell(&jobs, "pick", "true").unwrap();
        fs_err::write(end, "").unwrap();
        let ended = wait_until_ended(&jobs).await;
        assert_eq!(ended.iter().map(|job| job.exit).collect::<Vec<_>>(), [Some(0), Some(0)]);
        assert_eq!(jobs.stop(&run), Err(StartError::Unknown));
        assert!(shell(&jobs, "run", "true").is_ok());
        jobs.stop_all().await;
    }

    #[tokio::test]
    async fn old_jobs_are_forgotten() {
        let jobs = StartedCommands::new("sh".into());
        for _ in 0..MAX_COMMANDS + 2 {
            shell(&jobs, "pick", "true").unwrap();
            wait_until_ended(&jobs).await;
        }
        assert_eq!(wait_until_ended(&jobs).await.len(), MAX_COMMANDS);
    }
}
