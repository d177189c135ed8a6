//! Restate's server: installed from its npm package, started on free ports of loopback.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The package, and the version that everything here was tested with.
const PACKAGE: &str = "@restatedev/restate-server@1.7.12";
/// How long the server may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(90);

/// The server's program.
#[derive(Debug, Clone)]
pub(super) struct ServerProgram(pub(super) PathBuf);

/// Installs the server below `target`; `None` where npm or the package cannot be had.
pub(super) fn install(root: &Path) -> Result<Option<ServerProgram>, String> {
    let folder = root.join("target/restate");
    if let Some(program) = find(&folder) {
        return Ok(Some(program));
    }
    fs_err::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&folder)
        .arg(PACKAGE)
        .stdout(Stdio::null())
        .status();
    match installed {
        Ok(status) if status.success() => Ok(find(&folder)),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// The program in the package of this platform.
fn find(folder: &Path) -> Option<ServerProgram> {
    let packages = std::fs::read_dir(folder.join("node_modules/@restatedev")).ok()?;
    let programs = packages.flatten().map(|package| package.path().join("bin/restate-server"));
    programs.into_iter().find(|program| program.is_file()).map(ServerProgram)
}

/// A running server. Dropping it kills it.
pub(super) struct Server {
    program: ServerProgram,
    folder: PathBuf,
    node_port: u16,
    pub(super) ingress_port: u16,
    pub(super) admin_port: u16,
    child: Child,
}

impl Server {
    pub(super) fn start(program: &ServerProgram, folder: PathBuf) -> Result<Self, String> {
        let (node_port, ingress_port, admin_port) = (free_port()?, free_port()?, free_port()?);
        fs_err::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let child = spawn(program, &folder, [node_port, ingress_port, admin_port])?;
        let server = Self { program: program.clone(), folder, node_port, ingress_port, admin_port, child };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// Kills the server and starts it again with its data.
    pub(super) fn kill_and_restart(&mut self) -> Result<(), String> {
        self.stop();
        self.child =
            spawn(&self.program, &self.folder, [self.node_port, self.ingress_port, self.admin_port])?;
        self.wait_until_ready()
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    fn stop(&mut self) {
        // It may have ended.
        drop(self.child.kill());
        drop(self.child.wait());
    }

    fn wait_until_ready(&self) -> Result<(), String> {
        let end = Instant::now() + START_TIMEOUT;
        while Instant::now() < end {
            let ports = [self.ingress_port, self.admin_port];
            if ports.iter().all(|port| std::net::TcpStream::connect(("127.0.0.1", *port)).is_ok()) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("Restate's server did not start; its log is {}", self.folder.join("log").display()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

fn spawn(program: &ServerProgram, folder: &Path, [node, ingress, admin]: [u16; 3]) -> Result<Child, String> {
    let log = fs_err::OpenOptions::new().create(true).append(true).open(folder.join("log"));
    let log = log.map_err(|error| error.to_string())?.into_file();
    Command::new(&program.0)
        .env("RESTATE_BASE_DIR", folder)
        .env("RESTATE_NODE_NAME", "node")
        .env("RESTATE_LISTEN_MODE", "tcp")
        .env("RESTATE_BIND_IP", "127.0.0.1")
        .env("RESTATE_BIND_PORT", node.to_string())
        .env("RESTATE_INGRESS__BIND_PORT", ingress.to_string())
        .env("RESTATE_ADMIN__BIND_PORT", admin.to_string())
        .env("RESTATE_DEFAULT_NUM_PARTITIONS", "4")
        .env("RESTATE_DISABLE_TELEMETRY", "true")
        .env("RESTATE_LOG_FILTER", "warn")
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(|error| error.to_string())?)
        .stderr(log)
        .spawn()
        .map_err(|error| format!("Restate's server cannot be started: {error}"))
}

/// A port that was free a moment ago.
pub(super) fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
    Ok(listener.local_addr().map_err(|error| error.to_string())?.port())
}
