//! What the scheduler asks for. The executor performs each action once and answers with an event.

use workflow::plan::{NodeIx, NodeKey};

use crate::ids::{AttemptId, TaskId};
use crate::timestamp::Timestamp;

/// Something to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Look up existing work for `key` in the ledger.
    Lookup {
        /// The node.
        node: NodeIx,
        /// Its key, now that all of its inputs are known.
        key: NodeKey,
        /// Earliest time.
        not_before: Timestamp,
    },
    /// Make the request ready (frames, files) and write the intent.
    Prepare {
        /// The node.
        node: NodeIx,
        /// Its key.
        key: NodeKey,
        /// Send frames inside the request even where the service keeps them at an address.
        inline: bool,
    },
    /// Send the prepared request.
    Submit {
        /// The node.
        node: NodeIx,
        /// The attempt whose intent is on disk.
        attempt: AttemptId,
    },
    /// Do not send the prepared request after all, and say so with [`crate::Event::Refused`].
    Discard {
        /// The node.
        node: NodeIx,
        /// The attempt whose intent is on disk.
        attempt: AttemptId,
    },
    /// Ask the service about a task, now.
    Poll {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// The task.
        task: TaskId,
    },
    /// Record that an attempt's task is gone from the service, so that its node may be submitted again.
    ExpireTask {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
    },
    /// Fetch a finished video.
    Download(Download),
    /// Join a film from the finished clips.
    Join {
        /// Its index among the films of the plan.
        index: usize,
    },
    /// Send [`crate::Event::TimerFired`] at `deadline`.
    Wake {
        /// When.
        deadline: Timestamp,
    },
}

/// A finished video to fetch.
#[derive(Debug, Clone, PartialEq)]
pub struct Download {
    /// The node.
    pub node: NodeIx,
    /// Its key, which names the file.
    pub key: NodeKey,
    /// The attempt.
    pub attempt: AttemptId,
    /// The task.
    pub task: TaskId,
    /// `metadata.url`, where the service gave one.
    pub url: Option<String>,
    /// Number of earlier tries that made no progress: even ones use `url`, odd ones (and all, where there is none) the content endpoint.
    pub source_index: u32,
    /// `metadata.last_frame_url`, to be kept with the artifact.
    pub last_frame_url: Option<String>,
    /// When the service's copies expire.
    pub expires_at: Option<Timestamp>,
    /// Earliest time.
    pub not_before: Timestamp,
}

impl Download {
    /// Whether this try goes to the address that the service gave, and not to the content endpoint.
    #[must_use]
    pub fn uses_url(&self) -> bool {
        self.url.is_some() && self.source_index.is_multiple_of(2)
    }
}
