//! What the service is told when it starts. It looks nothing up by itself: no environment, no home directory.

use std::{
    net::{Ipv4Addr, SocketAddr},
    num::NonZeroUsize,
    path::PathBuf,
    time::Duration,
};

use media::Ffmpeg;
use secrecy::SecretString;
use url::Url;

use crate::{faults::FaultProfile, keys::Keys, limits::Limits};

/// Everything that can be chosen.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// How clients reach the service, when that is not the address it listens on: `metadata.url` begins with it.
    pub public_url: Option<Url>,
    /// The directory for tasks and files. One service at a time; it is made if it is not there.
    pub data: PathBuf,
    /// The keys that are good.
    pub keys: Keys,
    /// Tasks rendered at once, each on a thread of its own; at least 1.
    pub workers: usize,
    /// What is taken on.
    pub limits: Limits,
    /// How long results live.
    pub retention: Retention,
    /// Whether media URLs may point to this machine or to a private network (spec 2.3: ordinarily not).
    pub allow_private_media: bool,
    /// Outside programs for reference sound that is neither WAV nor AAC in MP4; without ffmpeg it is refused.
    pub ffmpeg: Ffmpeg,
    /// Misbehaviour on purpose, for tests of clients.
    pub faults: Option<FaultProfile>,
}

impl Config {
    /// The embedded service: a free port on loopback, one key, as many workers as there are cores.
    #[must_use]
    pub fn embedded(data: PathBuf, key: SecretString) -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            public_url: None,
            data,
            keys: Keys::Given(key),
            workers: std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            limits: Limits::default(),
            retention: Retention::default(),
            allow_private_media: false,
            ffmpeg: Ffmpeg::default(),
            faults: None,
        }
    }

    /// The service on its own: a given address, and the keys of the data directory. All else as embedded.
    #[must_use]
    pub fn standalone(listen: SocketAddr, data: PathBuf) -> Self {
        // The key is replaced at once; nothing can be asked with it.
        Self { listen, keys: Keys::Stored, ..Self::embedded(data, SecretString::default()) }
    }
}

/// How long an ended task lives (spec 2.5 `expires_at`, spec 8: the numbers are ours).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// From the end of a task to `expires_at`, when its files go: from then on they are answered with 410.
    pub files: Duration,
    /// From `expires_at` until the task itself is forgotten: from then on it is answered with 404.
    pub record: Duration,
}

impl Default for Retention {
    fn default() -> Self {
        let day = Duration::from_hours(24);
        Self { files: day, record: 6 * day }
    }
}
