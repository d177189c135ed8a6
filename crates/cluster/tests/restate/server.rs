//! Restate's servers, which `xtask cluster test` has started on loopback, and ports of the workers.

use std::net::TcpListener;

use url::Url;

/// Restate's server.
pub(crate) struct Server {
    pub(crate) ingress: Url,
    pub(crate) admin: Url,
}

impl Server {
    /// The server with this index of those that the environment names; `None`, which is reported, where it names none.
    pub(crate) fn from_environment(index: usize) -> Option<Self> {
        let url = |name| {
            let urls = std::env::var(name).ok()?;
            let url = urls.split_whitespace().nth(index).expect("a server for each test");
            Some(Url::parse(url).expect("a URL"))
        };
        let (Some(ingress), Some(admin)) = (url("RESTATE_INGRESS"), url("RESTATE_ADMIN")) else {
            eprintln!(
                "skipped: RESTATE_INGRESS and RESTATE_ADMIN do not name Restate's servers; `cargo xtask cluster test` starts them"
            );
            return None;
        };
        Some(Self { ingress, admin })
    }
}

/// A port of loopback that stays this test's own until it ends.
pub(crate) fn listen() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.set_nonblocking(true).expect("a socket");
    listener
}

/// Where others reach it.
pub(crate) fn address(listener: &TcpListener) -> Url {
    let address = listener.local_addr().expect("its address");
    Url::parse(&format!("http://{address}/")).expect("a URL")
}
