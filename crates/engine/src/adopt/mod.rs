//! Work that the ledger does not know although it was paid for: videos with a description, which is a sidecar or an object of a manifest; videos
//! that are named by the key of a shot; and tasks that a person names. The ledger was removed, restored from a backup or not copied along.
//! `runner ledger adopt` records them.

mod collect;
mod descriptions;
mod record;
mod unrecorded;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scheduler::budget::{BudgetCaps, TaskPrices};
use scheduler::{AttemptId, Decision, KeyResolver, RunId, TaskId, Timestamp};
use workflow::plan::{NodeIx, Plan};

use crate::ledger::{Ledger, LedgerError, PlanArguments, ServiceAccount};

pub use descriptions::{DescribedVideo, UnusedDescription, described_by_sidecars};
pub(crate) use record::is_service_task;
pub(crate) use unrecorded::UnrecordedVideos;
pub use unrecorded::{UnknownVideo, deferred_videos, later_reruns, unknown_videos, unrecorded_descriptions};

use collect::collect;

/// Digits of a key in a file name.
const KEY_DIGITS: usize = 12;

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
        /// The task.
        task: TaskId,
        /// The attempt that owns it.
        attempt: AttemptId,
        /// The node of that attempt.
        node: String,
    },
    /// The named task was not recorded: a run would not submit the node.
    NotSubmitted {
        /// The task.
        task: TaskId,
        /// What a run would do.
        decision: Decision,
        /// The reason, if the decision alone does not say it.
        why: Option<String>,
        /// The attempt whose outcome is not known, where that is why: the task may be its own.
        indeterminate: Option<AttemptId>,
    },
}

/// What [`adopt`] works with.
#[derive(Debug)]
pub struct Adoption<'a> {
    /// The plan whose shots the work belongs to.
    pub plan: &'a Arc<Plan>,
    /// Keys of the plan's nodes.
    pub keys: &'a KeyResolver,
    /// The service and the account that the work was submitted with.
    pub account: ServiceAccount<'a>,
    /// Whether tasks of the service cost money.
    pub is_paid: bool,
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
    /// The time.
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

/// Records videos and tasks of nodes that a run would submit in `ledger`. A shot that continues another is recorded after it.
///
/// # Errors
/// When the ledger, the store or a file cannot be used.
pub async fn adopt(adoption: Adoption<'_>, ledger: &Ledger) -> Result<AdoptionReport, LedgerError> {
    let Adoption { plan, account, ref run, now, .. } = adoption;
    let caps = BudgetCaps::default();
    let lock = ledger.begin_with(run.clone(), plan.name(), adoption.arguments, account, caps, now)?;
    let (report, recordable, keys) = collect(&adoption, Some(ledger)).await?;
    for item in recordable {
        record::record(&adoption, &keys, ledger, &lock, &item)?;
    }
    ledger.end(&lock, now)?;
    Ok(report)
}

/// What [`adopt`] would record. Changes nothing.
///
/// # Errors
/// When the ledger or a file cannot be read.
pub async fn preview(
    adoption: &Adoption<'_>,
    ledger: Option<&Ledger>,
) -> Result<AdoptionReport, LedgerError> {
    collect(adoption, ledger).await.map(|(report, ..)| report)
}
