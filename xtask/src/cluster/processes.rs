//! The processes of a cluster: the nodes of the server, workers at one address, and clients.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::admin;
use super::failpoint::StepFile;
use super::server::{Server, ServerProgram, append_to, free_port};

/// The API key of the service.
pub(super) const KEY: &str = "sk-cluster-0123456789";
/// How long a worker may take until it listens.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// How long a worker that is told to end may take: longer than the time for which it drains.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(150);

/// A cluster of one server and some workers. Dropping it kills all of them.
pub(super) struct Cluster {
    program: PathBuf,
    worker_program: PathBuf,
    pub(super) server: Server,
    workers: Vec<Child>,
    worker_port: u16,
    worker_args: Vec<String>,
    service: (String, String),
    folder: TempDir,
}

impl Cluster {
    pub(super) fn start(
        server: &ServerProgram,
        program: &Path,
        workers: usize,
        service: (&str, &str),
        worker_args: &[&str],
    ) -> Result<Self, String> {
        Self::start_with(server, program, program, workers, service, worker_args)
    }

    /// A cluster whose workers are another program, which can be made to end at a step of its work.
    pub(super) fn start_with(
        server: &ServerProgram,
        program: &Path,
        worker_program: &Path,
        workers: usize,
        (base_url, key): (&str, &str),
        worker_args: &[&str],
    ) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        fs_err::create_dir_all(folder.path().join("store")).map_err(|error| error.to_string())?;
        let mut cluster = Self {
            program: program.to_owned(),
            worker_program: worker_program.to_owned(),
            server: Server::start(server, &folder.path().join("restate"))?,
            workers: Vec::new(),
            worker_port: free_port()?,
            worker_args: worker_args.iter().map(|arg| (*arg).to_owned()).collect(),
            service: (base_url.to_owned(), key.to_owned()),
            folder,
        };
        cluster.start_workers(workers)?;
        for node in 0..cluster.server.len() {
            let ingress = cluster.server.ingress_port(node);
            wait_until(START_TIMEOUT, "the workers did not register", || {
                Ok(admin::reaches_workers(ingress))
            })?;
        }
        Ok(cluster)
    }

    fn start_workers(&mut self, count: usize) -> Result<(), String> {
        for index in 0..count {
            let worker = self.spawn_worker(index)?;
            self.workers.push(worker);
        }
        Ok(())
    }

    /// The ingress of a node that is up.
    pub(super) fn engine(&self) -> String {
        self.engine_at(0)
    }

    fn engine_at(&self, node: usize) -> String {
        format!("http://127.0.0.1:{}/", self.server.ingress_port(node))
    }

    pub(super) fn store(&self) -> String {
        format!("file://{}", self.folder.path().join("store").display())
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn worker_ids(&self) -> Vec<u32> {
        self.workers.iter().map(Child::id).collect()
    }

    /// The file by which workers are told to end at a step.
    pub(super) fn step_file(&self) -> StepFile {
        StepFile::new(self.folder.path())
    }

    /// Kills a worker and starts another one in its place.
    pub(super) fn kill_worker(&mut self, index: usize) -> Result<(), String> {
        let index = index % self.workers.len();
        let new = self.spawn_worker(index)?;
        let mut old = std::mem::replace(&mut self.workers[index], new);
        old.kill().and_then(|()| old.wait()).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The worker that has the connection from this port; `None` where the system does not say it.
    pub(super) fn worker_with_port(&self, port: u16) -> Option<usize> {
        let table = std::fs::read_to_string("/proc/net/tcp").ok()?;
        let port_suffix = format!(":{port:04X}");
        let line = table.lines().find(|line| {
            line.split_whitespace().nth(1).is_some_and(|address| address.ends_with(&port_suffix))
        })?;
        let socket = PathBuf::from(format!("socket:[{}]", line.split_whitespace().nth(9)?));
        self.workers.iter().position(|worker| {
            let files = std::fs::read_dir(format!("/proc/{}/fd", worker.id()));
            let mut files = files.into_iter().flatten().flatten();
            files.any(|file| std::fs::read_link(file.path()).is_ok_and(|link| link == socket))
        })
    }

    /// Starts another worker for each one that has ended. Returns how many there were.
    pub(super) fn replace_ended_workers(&mut self) -> Result<usize, String> {
        let mut replaced = 0;
        for index in 0..self.workers.len() {
            if self.workers[index].try_wait().map_err(|error| error.to_string())?.is_some() {
                self.workers[index] = self.spawn_worker(index)?;
                replaced += 1;
            }
        }
        Ok(replaced)
    }

    /// Registers workers at a new address, as a new version does, waits until nothing that the old ones began is open, and tells the old ones
    /// to end, which they have to do by themselves.
    pub(super) fn upgrade(&mut self) -> Result<(), String> {
        let old_url = format!("http://127.0.0.1:{}/", self.worker_port);
        let old = std::mem::take(&mut self.workers);
        let count = old.len();
        self.worker_port = free_port()?;
        let new_url = format!("http://127.0.0.1:{}/", self.worker_port);
        self.start_workers(count)?;
        let admin = self.server.admin_port(0);
        wait_until(START_TIMEOUT, "the new workers did not register", || {
            Ok(admin::deployment(admin, &new_url)?.is_some())
        })?;
        let deployment = admin::deployment(admin, &old_url)?.ok_or("the old workers are not registered")?;
        wait_until(DRAIN_TIMEOUT, "invocations of the old workers did not end", || {
            Ok(admin::open_invocations(admin, &deployment)? == 0)
        })?;
        old.into_iter().try_for_each(|worker| {
            signal(&worker, "TERM")?;
            wait_for_success(worker, DRAIN_TIMEOUT, "a worker that was told to end")
        })
    }

    /// A command of the program, on this cluster.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        self.command_at(0, args)
    }

    /// A command of the program that uses this node, or another one if it is down.
    pub(super) fn command_at(&self, node: usize, args: &[&str]) -> Command {
        self.command_of(&self.program, node, args)
    }

    fn command_of(&self, program: &Path, node: usize, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("RUNNER_ENGINE", self.engine_at(node))
            .env("RUNNER_STORE", self.store())
            .env_remove("RUNNER_BASE_URL")
            .env_remove("RUNNER_API_KEY")
            .stdin(Stdio::null());
        command
    }

    pub(super) fn output(&self, args: &[&str]) -> Result<Output, String> {
        self.command(args).output().map_err(|error| error.to_string())
    }

    /// Starts a client at a node, with its messages in a file of the cluster's folder.
    pub(super) fn spawn_client(&self, node: usize, args: &[&str], log: &str) -> Result<Child, String> {
        let log = append_to(&self.folder().join(log))?;
        let mut client = self.command_at(node, args);
        client.stdout(Stdio::null()).stderr(log).spawn().map_err(|error| error.to_string())
    }

    /// Writes a workflow of so many cells, whose prompts are its name and their numbers, from 1 on; returns the file's name.
    pub(super) fn write_sweep(&self, name: &str, cells: usize) -> Result<String, String> {
        let file = format!("{name}.yaml");
        let text = format!(
            "version: 1\nname: {name}\ndefaults: {{model: modelb-video-480p, seconds: 4}}\nshots:\n  - id: c\n    prompt: \"{name} {{{{ x }}}}\"\n    matrix:\n      x: {{from: 1, to: {cells}}}\n"
        );
        fs_err::write(self.folder().join(&file), text).map_err(|error| error.to_string())?;
        Ok(file)
    }

    /// All workers have the same address: the system spreads connections over them.
    fn spawn_worker(&self, index: usize) -> Result<Child, String> {
        let log = append_to(&self.folder().join("worker.log"))?;
        let listen = format!("127.0.0.1:{}", self.worker_port);
        let admin = format!("http://127.0.0.1:{}/", self.server.admin_port(index));
        let args = ["worker", "--share-port", "--listen", &listen, "--register", &admin];
        let mut command = self.command_of(&self.worker_program, index, &args);
        let (base_url, key) = &self.service;
        command.args(&self.worker_args).env("RUNNER_BASE_URL", base_url).env("RUNNER_API_KEY", key);
        self.step_file().name_to(&mut command);
        command
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("a worker cannot be started: {error}"))
    }
}

/// Waits until something is the case.
pub(super) fn wait_until(
    timeout: Duration,
    otherwise: &str,
    mut check: impl FnMut() -> Result<bool, String>,
) -> Result<(), String> {
    let end = Instant::now() + timeout;
    while !check()? {
        if Instant::now() > end {
            return Err(otherwise.to_owned());
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// What a program wrote on standard error.
pub(super) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Waits until a process ends, which has to succeed.
pub(super) fn wait_for_success(mut process: Child, timeout: Duration, name: &str) -> Result<(), String> {
    let mut exit_status = None;
    wait_until(timeout, &format!("{name} does not end"), || {
        exit_status = process.try_wait().map_err(|error| error.to_string())?;
        Ok(exit_status.is_some())
    })?;
    match exit_status {
        Some(status) if status.success() => Ok(()),
        other => Err(format!("{name} ended with {other:?}")),
    }
}

/// Sends a signal to a process that this one started.
pub(super) fn signal(process: &Child, name: &str) -> Result<(), String> {
    let status = Command::new("kill").args([format!("-{name}"), process.id().to_string()]).status();
    status.map(|_| ()).map_err(|error| error.to_string())
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for worker in &mut self.workers {
            // It may have ended.
            drop(worker.kill());
            drop(worker.wait());
        }
    }
}
