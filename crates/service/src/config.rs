//! Configuration. The service reads neither the environment nor the home directory.

use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use contract::Contract;
use media::Ffmpeg;
use secrecy::SecretString;
use url::Url;

use crate::{faults::FaultProfile, keys::Keys, limits::Limits};

/// The configuration of a service.
#[derive(Debug, Clone)]
pub struct Config {
    /// The address to listen on; port 0 picks a free port.
    pub listen: SocketAddr,
    /// The base URL of generated links (`metadata.url`); by default the listening address.
    pub public_url: Option<Url>,
    /// The data directory for tasks and files; created if missing, used by one service at a time.
    pub data: PathBuf,
    /// The accepted API keys.
    pub keys: Keys,
    /// Render threads, one task each; at least 1.
    pub workers: usize,
    /// Limits of requests, tasks and media.
    pub limits: Limits,
    /// How long results are retained.
    pub retention: Retention,
    /// Whether media URLs may point to this machine or to a private network (spec 2.3: by default not).
    pub allow_private_media: bool,
    /// Whether fields that look like a misspelled known field are accepted, without effect, like other unknown fields.
    pub lenient_fields: bool,
    /// External programs. Without ffmpeg, reference audio other than WAV, AAC in MP4, MP3 and FLAC is rejected.
    pub ffmpeg: Ffmpeg,
    /// The services that are answered for in their own words, below `/dialects/NAME`.
    pub dialects: BTreeMap<String, Arc<Contract>>,
    /// Fault injection, for tests of clients.
    pub faults: Option<FaultProfile>,
    /// What accepted tasks survive.
    pub durability: Durability,
}

/// What a store survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    PowerCut,
    /// The end of the process, at any moment; a power cut loses the latest tasks. For a service whose tasks cost nothing.
    Process,
}

impl Config {
    /// The embedded service: a free loopback port, one key, as many workers as cores.
    pub fn embedded(data: PathBuf, key: SecretString) -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            public_url: None,
            data,
            keys: Keys::Single(key),
            workers: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            limits: Limits::default(),
            retention: Retention::default(),
            allow_private_media: false,
            lenient_fields: false,
            ffmpeg: Ffmpeg::default(),
            dialects: BTreeMap::new(),
            faults: None,
            durability: Durability::Process,
        }
    }

    /// The standalone service: the given address and the keys of the data directory; otherwise as embedded.
    pub fn standalone(listen: SocketAddr, data: PathBuf) -> Self {
        // `keys` replaces the empty key.
        Self {
            listen,
            keys: Keys::Stored,
            durability: Durability::PowerCut,
            ..Self::embedded(data, SecretString::default())
        }
    }
}

/// Retention of ended tasks (spec 2.5 `expires_at`; the spec gives no numbers).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// From the end of a task to `expires_at`. Afterwards its files are deleted and their URLs return 410.
    pub files: Duration,
    /// From `expires_at` until the task record is purged. Afterwards the task returns 404.
    pub record: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        let day = Duration::from_hours(24);
        Self { files: day, record: 6 * day }
    }
}
