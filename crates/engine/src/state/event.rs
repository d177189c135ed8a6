//! What can happen to a run. Closed: the scheduler, the ledger and the reporters all eat this one stream.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use workflow::plan::{KeyPart, NodeIx};

use super::outcome::{Failure, Film};
use crate::artifact::Artifact;
use crate::budget::{Cap, Hold};
use crate::failpoint::Written;
use crate::ids::{AttemptId, RunId, TaskId};
use crate::time::Millis;

/// Something that happened, as the executor learnt it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The run was told more than its plan. Comes before anything else, and only where there is something.
    Scoped {
        /// The nodes that it may submit, by name; all of them where this is not given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        only: Option<Vec<String>>,
        /// Whether nothing more is submitted once a shot has failed.
        #[serde(default)]
        fail_fast: bool,
    },
    /// The run begins.
    Started,
    /// The ledger was asked what it knows about a node's key.
    Looked {
        /// The node.
        node: NodeIx,
        /// Its key as lower-case hex (DESIGN section 6).
        key: String,
        /// What was found.
        prior: Prior,
    },
    /// The request is ready and the intent to submit it is on disk. Only now may the POST leave.
    Prepared {
        /// The node.
        node: NodeIx,
        /// The new attempt.
        attempt: AttemptId,
        /// The node's key as lower-case hex.
        key: String,
        /// SHA-256 of the canonical request body, to recognise it at the service.
        digest: String,
        /// Whether the request holds addresses of frames that the service keeps.
        by_url: bool,
        /// The key without the service, where the service is paid: the same work, whoever does it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        work: Option<String>,
        /// The most that the task can come to: held from now on.
        #[serde(default)]
        held: Hold,
        /// Set when the shot is made anew because someone asked for that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        anew: Option<Anew>,
        /// The parts of the key. They are kept with the attempt; the stored event does without them.
        #[serde(default, skip_serializing)]
        parts: Vec<KeyPart>,
    },
    /// The intent was not written, because it would cross a cap.
    Capped {
        /// The node.
        node: NodeIx,
        /// The cap.
        cap: Cap,
    },
    /// The intent was not written, because another attempt for the same key is live.
    Taken {
        /// The node.
        node: NodeIx,
        /// What the other attempt has come to.
        prior: Prior,
    },
    /// The request could not be made ready: a frame or a file could not be read.
    Unprepared {
        /// The node.
        node: NodeIx,
        /// Why.
        failure: Failure,
    },
    /// The service accepted the request: from here on there is something to pay for.
    Submitted {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// The service's id.
        task: TaskId,
    },
    /// The service surely did not accept the request.
    Refused {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// Why, and whether to come back.
        refusal: Refusal,
    },
    /// No usable answer to the POST: it may or may not have been accepted.
    Lost {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// What went wrong on the way.
        reason: String,
    },
    /// The service, or the way to it, answered a poll.
    Answered {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// What was learnt.
        answer: Answer,
    },
    /// The video is on disk, verified, under its final name.
    Downloaded {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// The video.
        artifact: Artifact,
        /// What the task came to, in millionths, where a price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        spent: Option<i64>,
    },
    /// The video could not be fetched this time.
    NotDownloaded {
        /// The node.
        node: NodeIx,
        /// The attempt.
        attempt: AttemptId,
        /// Why.
        failure: Failure,
        /// How many bytes of it are on disk, to go on from.
        #[serde(default)]
        kept: u64,
    },
    /// The film is on disk under its final name.
    Joined {
        /// Its position among the films of the plan.
        #[serde(default)]
        at: usize,
        /// The film.
        film: Film,
    },
    /// The clips could not be joined.
    NotJoined {
        /// The film's position among those of the plan.
        #[serde(default)]
        at: usize,
        /// Why.
        failure: Failure,
    },
    /// A time that an action was waiting for has come.
    Woke,
    /// The user asks the run to end: nothing more is submitted, tasks that are out are left for the next run.
    Interrupted,
}

/// A shot that is made anew: from the key that the file gives to the salt that sets the new video apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anew {
    /// The key that the file gives, as lower-case hex.
    pub key: String,
    /// The salt.
    pub salt: String,
}

impl Event {
    /// The event's kind in a word, as it is stored.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        Written::from(self).word()
    }

    /// The node that the event is about, if it is about one.
    #[must_use]
    pub fn node(&self) -> Option<NodeIx> {
        match self {
            Self::Looked { node, .. }
            | Self::Prepared { node, .. }
            | Self::Taken { node, .. }
            | Self::Capped { node, .. }
            | Self::Unprepared { node, .. }
            | Self::Submitted { node, .. }
            | Self::Refused { node, .. }
            | Self::Lost { node, .. }
            | Self::Answered { node, .. }
            | Self::Downloaded { node, .. }
            | Self::NotDownloaded { node, .. } => Some(*node),
            Self::Scoped { .. }
            | Self::Started
            | Self::Joined { .. }
            | Self::NotJoined { .. }
            | Self::Woke
            | Self::Interrupted => None,
        }
    }
}

/// What the ledger knows about a key from before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "prior", rename_all = "kebab-case")]
pub enum Prior {
    /// Nothing that counts: the node is to be executed.
    Nothing,
    /// The video is there and verified.
    Made {
        /// The attempt that made it.
        attempt: AttemptId,
        /// The task that made it.
        task: TaskId,
        /// The video.
        artifact: Artifact,
    },
    /// A task is out at the service, or finished there without having been downloaded.
    Out {
        /// The attempt.
        attempt: AttemptId,
        /// The service's id.
        task: TaskId,
        /// When it was submitted.
        since: Millis,
        /// Whether its video was downloaded once and is no longer on disk. If the service has lost it as well, the node is made anew.
        was_downloaded: bool,
    },
    /// A POST left and its answer never came back; nobody has said since what became of it.
    Unanswered {
        /// The attempt.
        attempt: AttemptId,
        /// When the intent was written.
        at: Millis,
    },
    /// A POST left, its answer never came back, and someone gave up finding out: it is not submitted again unless someone asks for it.
    GivenUp {
        /// The attempt.
        attempt: AttemptId,
    },
    /// The same work is out, or may be, at another service than this run talks to.
    AtOther {
        /// That service.
        service: String,
        /// The attempt there.
        attempt: AttemptId,
        /// Its task, if that is known.
        task: Option<TaskId>,
    },
    /// Another run that is alive now is about to submit this very node.
    Busy {
        /// That run.
        run: RunId,
    },
}

impl Prior {
    /// The task that is out or made the video, if one is known.
    #[must_use]
    pub fn task(&self) -> Option<&TaskId> {
        match self {
            Self::Made { task, .. } | Self::Out { task, .. } => Some(task),
            Self::AtOther { task, .. } => task.as_ref(),
            Self::Nothing | Self::Unanswered { .. } | Self::GivenUp { .. } | Self::Busy { .. } => None,
        }
    }
}

/// A POST that surely left nothing to pay for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// What to do about it.
    pub kind: RefusalKind,
    /// What was said, for people.
    pub failure: Failure,
    /// When to come back, where the service said so.
    pub retry_after: Option<Duration>,
}

/// What a refusal asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalKind {
    /// Too much at once (429): slow down and come back.
    Later,
    /// Passing trouble (503, or the request never left): come back.
    Again,
    /// The request itself (4xx): the same request would be refused again.
    Request,
    /// The account or the address (401, 403, 402, 404 on the path): no request of this run can succeed.
    Service,
}

/// What a poll brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "kebab-case")]
pub enum Answer {
    /// Queued or in progress, or a status that we do not know.
    Running {
        /// Percent, where the service said.
        progress: Option<u8>,
        /// The status word, as sent.
        status: String,
    },
    /// Finished, without an error.
    Completed {
        /// `metadata.url`, where it was filled.
        url: Option<String>,
        /// `metadata.last_frame_url`, where it was filled.
        last_frame_url: Option<String>,
        /// When the service's copies expire.
        expires_at: Option<Millis>,
        /// From its creation to its completion, by the service's own clock, where it gives both.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took: Option<Duration>,
    },
    /// The task failed at the service.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// The service does not know the task (404), or no longer has it (410).
    Missing {
        /// Whether it said that the task has expired.
        expired: bool,
    },
    /// Too much at once (429, 503): the service is there, and wants to be asked less often.
    Later {
        /// When to come back, where the service said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after: Option<Duration>,
        /// What it said.
        reason: String,
    },
    /// No usable answer.
    Unreachable {
        /// Why.
        reason: String,
    },
    /// The account no longer works (401, 403).
    Unusable {
        /// Why.
        failure: Failure,
    },
}
