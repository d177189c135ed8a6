//! What is adopted, and what becomes of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scheduler::budget::TaskPrices;
use scheduler::{AttemptId, Decision, KeyResolver, RunId, TaskId, Timestamp};
use workflow::plan::{NodeIx, Plan};

use super::descriptions::{DescribedVideo, UnusedDescription};
use crate::ledger::PlanArguments;
use crate::provider::Accounts;

/// What became of a node's unrecorded work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AdoptionResult {
    /// The video is recorded: the next run reuses it. With its task, if that is described.
    Video(PathBuf, Option<TaskId>),
    /// The task is recorded: the next run adopts it.
    Task(TaskId),
    /// The file is not a whole video, and was left alone.
    NotAVideo(PathBuf, String),
    /// The named task belongs to another attempt, and nothing was recorded.
    TaskOfOther {
        task: TaskId,
        /// The attempt that owns it.
        attempt: AttemptId,
        /// The node of that attempt.
        node: String,
    },
    /// The named task was not recorded: a run would not submit the node.
    NotSubmitted {
        task: TaskId,
        /// What a run would do.
        decision: Decision,
        /// The reason, if the decision alone does not say it.
        why: Option<String>,
        /// The attempt whose outcome is not known, where that is why: the task may be its own.
        indeterminate: Option<AttemptId>,
    },
}

/// What [`super::adopt`] works with.
#[derive(Debug)]
pub struct Adoption<'a> {
    /// The plan whose shots the work belongs to.
    pub plan: &'a Arc<Plan>,
    /// Keys of the plan's nodes.
    pub keys: &'a KeyResolver,
    /// The accounts that the work was submitted with.
    pub accounts: &'a Accounts,
    /// What its tasks cost, where no description says what was reserved.
    pub prices: &'a dyn TaskPrices,
    /// The folder with videos.
    pub folder: &'a Path,
    /// Videos with descriptions.
    pub described: &'a [DescribedVideo],
    /// Tasks that a person names, by node.
    pub tasks: HashMap<NodeIx, TaskId>,
    /// Reads formats that the `media` crate does not decode.
    pub ffmpeg: &'a media::Ffmpeg,
    /// The arguments that determine the plan, for the record.
    pub arguments: Option<&'a PlanArguments>,
    /// The id under which it is recorded.
    pub run: RunId,
    pub now: Timestamp,
}

/// The result of an adoption.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AdoptionReport {
    /// What became of each node's work, by the node's name.
    pub shots: Vec<(String, AdoptionResult)>,
    /// Descriptions that were not used.
    pub unused: Vec<UnusedDescription>,
}
