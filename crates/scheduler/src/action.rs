//! Actions: effects that the scheduler requests. The executor performs each once and answers with one event.

use serde::{Deserialize, Serialize};
use workflow::plan::{NodeIx, NodeKey};

use crate::ids::{AttemptId, TaskId};
use crate::timestamp::Timestamp;

/// An effect for the executor to perform.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Look up existing work for `key` in the ledger.
    Lookup {
        node: NodeIx,
        /// Its key, computed once all of its inputs are known.
        key: NodeKey,
        not_before: Timestamp,
    },
    /// Prepare the request (frames, files) and record the intent.
    Prepare {
        node: NodeIx,
        key: NodeKey,
        /// Inline frames as data even where the service hosts them at a URL.
        is_inline: bool,
    },
    /// Send the prepared request.
    Submit {
        node: NodeIx,
        /// The attempt whose intent is recorded.
        attempt: AttemptId,
    },
    /// Do not send the prepared request; answered with [`crate::Event::Refused`].
    Discard {
        node: NodeIx,
        /// The attempt whose intent is recorded.
        attempt: AttemptId,
    },
    /// Poll a task now.
    Poll { node: NodeIx, attempt: AttemptId, task: TaskId },
    /// Do not poll a task whose timeout has passed while the service accepts no polls; answered with [`crate::Event::Polled`].
    Overdue { node: NodeIx, attempt: AttemptId },
    /// Record that an attempt's task is gone from the service, so that its node may be submitted again.
    ExpireTask { node: NodeIx, attempt: AttemptId },
    /// Download a finished video.
    Download(Download),
    /// Join a film from the finished clips.
    Join {
        /// Its index among the films of the plan.
        index: usize,
    },
    /// Send [`crate::Event::TimerFired`] at `deadline`.
    Wake { deadline: Timestamp },
}

/// The download of a finished video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Download {
    pub node: NodeIx,
    /// Its key, part of the file name.
    pub key: NodeKey,
    pub attempt: AttemptId,
    pub task: TaskId,
    /// `metadata.url`, where the service gave one.
    pub url: Option<String>,
    /// Number of earlier tries without progress: even ones use `url`, odd ones (and all, if there is no URL) the content endpoint.
    pub source_index: u32,
    /// `metadata.last_frame_url`, stored with the artifact.
    pub last_frame_url: Option<String>,
    /// When the service's copies expire.
    pub expires_at: Option<Timestamp>,
    pub not_before: Timestamp,
    /// When a try that is in progress is cut off; `None` before the first one.
    pub deadline: Option<Timestamp>,
}

impl Download {
    /// Whether this try uses the URL from the task, and not the content endpoint.
    pub fn uses_url(&self) -> bool {
        self.url.is_some() && self.source_index.is_multiple_of(2)
    }
}
