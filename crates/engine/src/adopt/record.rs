//! Records an attempt as a run would have: its intent, its task, its video, and what they cost at most. A task whose price is not known is unpriced,
//! as any other: a cap on the cost does not hold beside it.

use scheduler::budget::Reservation;
use scheduler::{Artifact, Event, KeyResolver, TaskId};
use workflow::plan::{NodeIx, occurrence_part};

use super::Adoption;
use super::descriptions::UNKNOWN_TASK;
use super::recordable::{Recordable, Video, Work};
use crate::ledger::{Ledger, LedgerError, Persist, RunLock};
use crate::sidecar::{Sidecar, TaskRecord};

/// The digest of a request whose body is not known.
pub(crate) const UNKNOWN_DIGEST: &str = "adopted";

/// Records the work of a node. A video is in the store with its sidecar before the ledger has it.
pub(super) fn record(
    adoption: &Adoption<'_>,
    keys: &KeyResolver,
    ledger: &Ledger,
    lock: &RunLock,
    item: &Recordable,
) -> Result<(), LedgerError> {
    let Adoption { plan, account, now, prices, .. } = adoption;
    let (node, attempt) = (item.node, item.attempt.clone());
    let artifact = |parent: NodeIx| item.artifacts[parent.index()].as_ref();
    let key = item.key;
    let service_independent_key = if adoption.is_paid {
        keys.service_independent_key(plan, node, artifact).map(|key| key.to_string())
    } else {
        None
    };
    let service = keys.service_name(plan, node, artifact);
    let mut parts = keys.key_parts(plan, node, account.service, artifact);
    // The key is found again by this part only (`KeyResolver::with_numbered_keys`).
    if let Some(occurrence) = keys.earlier_occurrence(plan, node, artifact) {
        let occurrence = occurrence_part(occurrence);
        parts.retain(|part| part.name != occurrence.name);
        parts.push(occurrence);
    }
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
        forced_rerun: item.rerun.clone().map(Box::new),
        recorded_rerun: None,
        parts,
    };
    let (task, video) = match &item.work {
        Work::Video(video) => (video.task.clone(), Some(video)),
        Work::Task(task) => (Some(task.clone()), None),
    };
    let recorded_task = task.clone().unwrap_or_else(|| TaskId(format!("{UNKNOWN_TASK}{attempt}")));
    let mut events = vec![intent, Event::Submitted { node, attempt: attempt.clone(), task: recorded_task }];
    if let Some(video) = video {
        let artifact = store(ledger, video)?;
        if adoption.is_paid {
            let record = TaskRecord {
                key,
                service,
                task: task.as_ref(),
                attempt: &attempt,
                file: adoption.arguments.map(|arguments| arguments.file.as_str()),
                rerun: item.rerun.clone(),
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
    let events = events.into_iter().map(|event| (event, Persist::Yes)).collect();
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
