//! Restate's server: installed from its npm package, started on free ports of loopback, as one node or as several with replicated logs.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The package, and the version that everything here was tested with.
const PACKAGE: &str = "@restatedev/restate-server@1.7.12";
/// How long a node may take until it answers.
const START_TIMEOUT: Duration = Duration::from_secs(90);
/// Partitions of the objects: they are executed side by side.
const PARTITIONS: &str = "4";

/// The server's program, and how many nodes of it make a server.
#[derive(Debug, Clone)]
pub(super) struct ServerProgram {
    pub(super) path: PathBuf,
    pub(super) nodes: usize,
}

/// Installs the server below `target`; `None` where npm or the package cannot be had.
pub(super) fn install(root: &Path, nodes: usize) -> Result<Option<ServerProgram>, String> {
    let folder = root.join("target/restate");
    let program = |path| ServerProgram { path, nodes };
    if let Some(path) = find(&folder) {
        return Ok(Some(program(path)));
    }
    fs_err::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let installed = Command::new("npm")
        .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&folder)
        .arg(PACKAGE)
        .stdout(Stdio::null())
        .status();
    match installed {
        Ok(status) if status.success() => Ok(find(&folder).map(program)),
        Ok(_) | Err(_) => Ok(None),
    }
}

/// The program in the package of this platform.
fn find(folder: &Path) -> Option<PathBuf> {
    let packages = std::fs::read_dir(folder.join("node_modules/@restatedev")).ok()?;
    let programs = packages.flatten().map(|package| package.path().join("bin/restate-server"));
    programs.into_iter().find(|program| program.is_file())
}

/// The nodes of a running server. Dropping it kills them.
pub(super) struct Server {
    program: ServerProgram,
    nodes: Vec<Node>,
}

/// A node, which may be down.
struct Node {
    name: String,
    folder: PathBuf,
    ports: Ports,
    child: Option<Child>,
    /// What is the same for all nodes of a server with several, and whether it begins the cluster.
    replication: Option<Replication>,
}

#[derive(Debug, Clone, Copy)]
struct Ports {
    node: u16,
    ingress: u16,
    admin: u16,
}

#[derive(Debug, Clone)]
struct Replication {
    /// Addresses of all nodes, as JSON.
    addresses: String,
    begins: bool,
}

impl Server {
    /// Starts the nodes. Of three, any one may be killed: logs are on one more, and metadata on two.
    pub(super) fn start(program: &ServerProgram, folder: &Path) -> Result<Self, String> {
        let count = program.nodes;
        let ports = (0..count).map(|_| Ports::free()).collect::<Result<Vec<_>, _>>()?;
        let addresses = ports.iter().map(|ports| format!("\"http://127.0.0.1:{}/\"", ports.node));
        let addresses = format!("[{}]", addresses.collect::<Vec<_>>().join(","));
        let mut server = Self { program: program.clone(), nodes: Vec::new() };
        for (index, ports) in ports.into_iter().enumerate() {
            let name = format!("node-{}", index + 1);
            let replication =
                (count > 1).then(|| Replication { addresses: addresses.clone(), begins: index == 0 });
            let mut node = Node { folder: folder.join(&name), name, ports, child: None, replication };
            fs_err::create_dir_all(&node.folder).map_err(|error| error.to_string())?;
            node.spawn(program)?;
            server.nodes.push(node);
        }
        for node in &mut server.nodes {
            node.wait_until_ready()?;
        }
        Ok(server)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Kills a node. Its data stays.
    pub(super) fn kill(&mut self, index: usize) {
        self.nodes[index].stop();
    }

    /// Starts a node again with its data, and waits until it answers.
    pub(super) fn restart(&mut self, index: usize) -> Result<(), String> {
        let program = self.program.clone();
        self.nodes[index].spawn(&program)?;
        self.nodes[index].wait_until_ready()
    }

    /// The node at `index`, or the next one that is up.
    fn live_node(&self, index: usize) -> &Node {
        let count = self.nodes.len();
        let nodes = (0..count).map(|step| &self.nodes[(index + step) % count]);
        nodes.clone().find(|node| node.child.is_some()).unwrap_or(&self.nodes[index % count])
    }

    /// The ingress port of a node that is up: that of `index`, if it is.
    pub(super) fn ingress_port(&self, index: usize) -> u16 {
        self.live_node(index).ports.ingress
    }

    /// The admin port of a node that is up: that of `index`, if it is.
    pub(super) fn admin_port(&self, index: usize) -> u16 {
        self.live_node(index).ports.admin
    }
}

impl Ports {
    fn free() -> Result<Self, String> {
        Ok(Self { node: free_port()?, ingress: free_port()?, admin: free_port()? })
    }
}

impl Node {
    fn spawn(&mut self, program: &ServerProgram) -> Result<(), String> {
        let log = append_to(&self.folder.join("log"))?;
        let Ports { node, ingress, admin } = self.ports;
        let mut command = Command::new(&program.path);
        command
            .env("RESTATE_BASE_DIR", &self.folder)
            .env("RESTATE_NODE_NAME", &self.name)
            .env("RESTATE_LISTEN_MODE", "tcp")
            .env("RESTATE_BIND_IP", "127.0.0.1")
            .env("RESTATE_BIND_PORT", node.to_string())
            .env("RESTATE_INGRESS__BIND_PORT", ingress.to_string())
            .env("RESTATE_ADMIN__BIND_PORT", admin.to_string())
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", PARTITIONS)
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            .env("RESTATE_LOG_FILTER", "warn");
        if let Some(Replication { addresses, begins }) = &self.replication {
            command
                .env("RESTATE_CLUSTER_NAME", "runner-test")
                .env("RESTATE_ADVERTISED_ADDRESS", format!("http://127.0.0.1:{node}/"))
                .env("RESTATE_METADATA_CLIENT__ADDRESSES", addresses)
                .env("RESTATE_DEFAULT_REPLICATION", "2")
                // One node begins the cluster; the others join it.
                .env("RESTATE_AUTO_PROVISION", begins.to_string());
        }
        let child = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().map_err(|error| error.to_string())?)
            .stderr(log)
            .spawn()
            .map_err(|error| format!("Restate's server cannot be started: {error}"))?;
        self.child = Some(child);
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            // It may have ended.
            drop(child.kill());
            drop(child.wait());
        }
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let log = self.folder.join("log");
        let end = Instant::now() + START_TIMEOUT;
        while Instant::now() < end {
            if let Some(Ok(Some(status))) = self.child.as_mut().map(Child::try_wait) {
                let log = fs_err::read_to_string(&log).unwrap_or_default();
                let last = log.lines().rev().take(20).collect::<Vec<_>>();
                let last = last.into_iter().rev().collect::<Vec<_>>().join("\n");
                return Err(format!("Restate's server ended while it started ({status}):\n{last}"));
            }
            let ports = [self.ports.ingress, self.ports.admin];
            if ports.iter().all(|port| std::net::TcpStream::connect(("127.0.0.1", *port)).is_ok()) {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("Restate's server did not start; its log is {}", log.display()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.nodes.iter_mut().for_each(Node::stop);
    }
}

/// A log that several processes may write.
pub(super) fn append_to(log: &Path) -> Result<std::fs::File, String> {
    let file = fs_err::OpenOptions::new().create(true).append(true).open(log);
    file.map(fs_err::File::into_file).map_err(|error| error.to_string())
}

/// A port that was free a moment ago, below those that systems give to outgoing connections (Linux begins at 32768, others at 49152): until a
/// server listens on it, and while a killed one is down, no connection takes it.
pub(super) fn free_port() -> Result<u16, String> {
    for _ in 0..1_000 {
        // Each state has another seed.
        let [low, high, ..] = RandomState::new().build_hasher().finish().to_le_bytes();
        let port = u16::from_le_bytes([low, high]);
        if (10_240..32_768).contains(&port) && TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no port of loopback is free".to_owned())
}
