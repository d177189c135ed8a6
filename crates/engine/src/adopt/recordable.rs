//! Work that can be recorded, with what it is recorded from.

use std::path::PathBuf;
use std::sync::Arc;

use scheduler::{Artifact, AttemptId, ForcedRerun, TaskId, Timestamp};
use workflow::plan::{NodeIx, NodeKey};
use workflow::units::Money;

/// Work to record for a node.
pub(super) struct Recordable {
    pub(super) node: NodeIx,
    pub(super) key: NodeKey,
    pub(super) rerun: Option<ForcedRerun>,
    pub(super) attempt: AttemptId,
    pub(super) work: Work,
    /// The keys of all nodes, as far as they are known.
    pub(super) keys: Arc<[Option<NodeKey>]>,
    /// The videos of all nodes, as far as they exist.
    pub(super) artifacts: Arc<[Option<Artifact>]>,
}

/// The work of a node.
pub(super) enum Work {
    Video(Box<Video>),
    Task(TaskId),
}

/// A whole video.
pub(super) struct Video {
    pub(super) artifact: Artifact,
    /// Where it is.
    pub(super) file: PathBuf,
    /// Whether it is copied into the store, not linked.
    pub(super) is_described: bool,
    /// Other files that the service delivered for its task, the latest first.
    pub(super) other_deliveries: Vec<String>,
    /// Its task, if a person or a description names it.
    pub(super) task: Option<TaskId>,
    pub(super) completed_at: Option<Timestamp>,
    /// What was reserved for its task, if a description says so.
    pub(super) reserved_cost: Option<Money>,
}
