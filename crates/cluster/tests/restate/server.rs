//! Restate's server on loopback.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use url::Url;

/// Restate's server. Dropping it kills it.
pub(crate) struct Server {
    child: Child,
    pub(crate) ingress: Url,
    pub(crate) admin: Url,
    pub(crate) folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    /// Starts the server; `None`, which is said, where there is none.
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = std::env::var_os("RESTATE_SERVER") else {
            eprintln!(
                "skipped: RESTATE_SERVER does not name Restate's server; `cargo xtask cluster test` installs it"
            );
            return None;
        };
        let folder = tempfile::tempdir().expect("a folder");
        let (node, ingress, admin) = (free_port(), free_port(), free_port());
        let child = Command::new(Path::new(&program))
            .env("RESTATE_BASE_DIR", folder.path().join("restate"))
            .env("RESTATE_LISTEN_MODE", "tcp")
            .env("RESTATE_BIND_IP", "127.0.0.1")
            .env("RESTATE_BIND_PORT", node.to_string())
            .env("RESTATE_INGRESS__BIND_PORT", ingress.to_string())
            .env("RESTATE_ADMIN__BIND_PORT", admin.to_string())
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", "2")
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("Restate's server starts");
        Some(Self { child, ingress: loopback(ingress), admin: loopback(admin), folder })
    }
}

pub(crate) fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its address").port()
}

pub(crate) fn loopback(port: u16) -> Url {
    Url::parse(&format!("http://127.0.0.1:{port}/")).expect("a URL")
}
