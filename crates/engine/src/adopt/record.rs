//! Records an attempt as a run would have: its intent, its task, its video, and what they cost at most. A task whose price is not known is unpriced,
//! as any other: a cap on the cost does not hold beside it.

use std::path::PathBuf;
use std::sync::Arc;

use scheduler::budget::Reservation;
use scheduler::{Artifact, AskedRender, AttemptId, Event, KeyResolver, TaskId, Timestamp};
use workflow::plan::{NodeIx, NodeKey};
use workflow::units::Money;

use super::adoption::Adoption;
use crate::ledger::{Ledger, LedgerError, Persist, RunLock};
use crate::sidecar::{Sidecar, TaskRecord};
use crate::unknown_task::unknown_task;

/// The digest of a request whose body is not known.
const UNKNOWN_DIGEST: &str = "adopted";

/// Work to record for a node.
pub(super) struct Recordable {
    pub(super) node: NodeIx,
    pub(super) key: NodeKey,
    /// The number in the list of renders of its instance, and whether it was asked for.
    pub(super) render: u32,
    pub(super) is_asked: bool,
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
    pub(super) file: PathBuf,
    /// Whether it is copied into the store, not linked.
    pub(super) is_described: bool,
    /// Its task, if a person or a description names it.
    pub(super) task: Option<TaskId>,
    pub(super) completed_at: Option<Timestamp>,
    /// What was reserved for its task, if a description says so.
    pub(super) reserved_cost: Option<Money>,
}

/// Records the work of a node. A video is in the store with its sidecar before the ledger has it.
pub(super) fn record(
    adoption: &Adoption<'_>,
    keys: &KeyResolver,
    ledger: &Ledger,
    lock: &RunLock,
    item: &Recordable,
) -> Result<(), LedgerError> {
    let Adoption { plan, accounts, now, prices, .. } = adoption;
    let service = keys.service_of(plan.node(item.node));
    let is_paid = accounts.is_paid(service);
    let (node, attempt) = (item.node, item.attempt.clone());
    let artifact = |parent: NodeIx| item.artifacts[parent.index()].as_ref();
    let key = item.key;
    let service_independent_key = if is_paid {
        keys.service_independent_key(plan, node, key, artifact).map(|key| key.to_string())
    } else {
        None
    };
    let parts = keys.key_parts(plan, node, artifact);
    let priced = prices.reservation(node, plan.node(node));
    let reservation = match &item.work {
        Work::Video(video) => Reservation { cost: video.reserved_cost.or(priced.cost), ..priced },
        Work::Task(_) => priced,
    };
    let intent = Event::Prepared {
        node,
        attempt: attempt.clone(),
        key: key.to_string(),
        digest: UNKNOWN_DIGEST.to_owned(),
        by_url: false,
        service_independent_key,
        reservation,
        render: item.render,
        parts,
    };
    let (task, video) = match &item.work {
        Work::Video(video) => (video.task.clone(), Some(video)),
        Work::Task(task) => (Some(task.clone()), None),
    };
    let recorded_task = task.clone().unwrap_or_else(|| unknown_task(&attempt));
    let mut events = Vec::new();
    if item.is_asked {
        let asked =
            AskedRender { instance: plan.node(node).name_without_take().to_owned(), render: item.render };
        events.push(Event::RendersAsked {
            workflow: plan.name().to_owned(),
            renders: vec![asked],
            continued: Vec::new(),
        });
    }
    events.extend([intent, Event::Submitted { node, attempt: attempt.clone(), task: recorded_task }]);
    if let Some(video) = video {
        let artifact = store(ledger, video)?;
        if is_paid {
            let record = TaskRecord {
                key,
                service,
                task: task.as_ref(),
                attempt: &attempt,
                file: adoption.arguments.map(|arguments| arguments.file.as_str()),
                render: item.render,
                is_asked: item.is_asked,
                currency: prices.currency(),
            };
            let completed_at = video.completed_at.unwrap_or(*now);
            let mut sidecar = Sidecar::for_node(plan, node, record, |parent| item.keys[parent.index()])
                .with_video(&artifact, completed_at);
            sidecar.reserved_cost = reservation.cost;
            // The sidecar that describes it says more than is known here.
            if !ledger.store().has_sidecar(&sidecar.sha256, &sidecar.key) {
                ledger.store().write_sidecar(&sidecar)?;
            }
        }
        // What it was settled at is not known: at most its reservation.
        events.push(Event::Downloaded { node, attempt, artifact, cost: None });
    }
    // As they are: which render it is, its description says.
    let events = events.into_iter().map(|event| (event, Persist::Applied(*now))).collect();
    ledger.append(lock, plan, *now, events).map(drop)
}

/// Puts a video into the store.
fn store(ledger: &Ledger, video: &Video) -> Result<Artifact, LedgerError> {
    let (store, sha256) = (ledger.store(), &video.artifact.sha256);
    let modified_at = if video.is_described {
        store.import(&video.file, sha256)?
    } else {
        store.adopt(&video.file, sha256)?
    };
    Ok(Artifact { modified_at, ..video.artifact.clone() })
}
