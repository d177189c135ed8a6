//! The processes of a cluster: the server, workers at one address, and clients.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::server::{Server, ServerProgram, free_port};

/// How long a worker may take until it listens.
const START_TIMEOUT: Duration = Duration::from_mins(1);

/// A cluster of one server and some workers. Dropping it kills all of them.
pub(super) struct Cluster {
    program: PathBuf,
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
        base_url: &str,
        key: &str,
        worker_args: &[&str],
    ) -> Result<Self, String> {
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        fs_err::create_dir_all(folder.path().join("store")).map_err(|error| error.to_string())?;
        let server = Server::start(server, folder.path().join("restate"))?;
        let mut cluster = Self {
            program: program.to_owned(),
            server,
            workers: Vec::new(),
            worker_port: free_port()?,
            worker_args: worker_args.iter().map(|arg| (*arg).to_owned()).collect(),
            service: (base_url.to_owned(), key.to_owned()),
            folder,
        };
        for _ in 0..workers {
            let worker = cluster.spawn_worker()?;
            cluster.workers.push(worker);
        }
        cluster.wait_for_workers()?;
        Ok(cluster)
    }

    pub(super) fn engine(&self) -> String {
        format!("http://127.0.0.1:{}/", self.server.ingress_port)
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

    /// Kills a worker and starts another one in its place.
    pub(super) fn kill_worker(&mut self, index: usize) -> Result<(), String> {
        let new = self.spawn_worker()?;
        let index = index % self.workers.len();
        let mut old = std::mem::replace(&mut self.workers[index], new);
        old.kill().and_then(|()| old.wait()).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// A command of the program, on this cluster.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .current_dir(self.folder.path())
            .env("RUNNER_ENGINE", self.engine())
            .env("RUNNER_STORE", self.store())
            .env_remove("RUNNER_BASE_URL")
            .env_remove("RUNNER_API_KEY")
            .stdin(Stdio::null());
        command
    }

    pub(super) fn output(&self, args: &[&str]) -> Result<Output, String> {
        self.command(args).output().map_err(|error| error.to_string())
    }

    /// All workers have the same address: the system spreads connections over them.
    fn spawn_worker(&self) -> Result<Child, String> {
        let log =
            fs_err::OpenOptions::new().create(true).append(true).open(self.folder.path().join("worker.log"));
        let log = log.map_err(|error| error.to_string())?.into_file();
        let listen = format!("127.0.0.1:{}", self.worker_port);
        let admin = format!("http://127.0.0.1:{}/", self.server.admin_port);
        let mut command =
            self.command(&["worker", "--share-port", "--listen", &listen, "--register", &admin]);
        let (base_url, key) = &self.service;
        command.args(&self.worker_args).env("RUNNER_BASE_URL", base_url).env("RUNNER_API_KEY", key);
        command
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| format!("a worker cannot be started: {error}"))
    }

    fn wait_for_workers(&self) -> Result<(), String> {
        let end = Instant::now() + START_TIMEOUT;
        while Instant::now() < end {
            if is_registered(self.server.admin_port) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Err("the workers did not register".to_owned())
    }
}

/// Whether Restate's admin API knows the object of runs.
fn is_registered(admin_port: u16) -> bool {
    let ask = || {
        let mut connection = std::net::TcpStream::connect(("127.0.0.1", admin_port))?;
        connection.write_all(b"GET /services/Run HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).map(|_| answer)
    };
    ask().is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
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
