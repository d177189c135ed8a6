//! Work that the ledger does not know although it was paid for: videos with a description, which is a sidecar or an object of a manifest; videos
//! that are named by the key of a shot; and tasks that a person names. The ledger was removed, restored from a backup or not copied along.
//! `runner ledger adopt` records them.

mod adoption;
mod collect;
mod descriptions;
mod record;
mod unrecorded;

use scheduler::budget::BudgetCaps;

use crate::ledger::{Ledger, LedgerError, RecordedServices};

pub use adoption::{Adoption, AdoptionReport, AdoptionResult};
pub use descriptions::{DescribedVideo, UnusedDescription, described_by_sidecars};
pub(crate) use unrecorded::UnrecordedVideos;
pub use unrecorded::{UnknownVideo, later_reruns, unknown_videos, unrecorded_descriptions};

use collect::collect;

/// Records videos and tasks of nodes that a run would submit in `ledger`. A shot that continues another is recorded after it.
///
/// # Errors
/// When the ledger, the store or a file cannot be used.
pub async fn adopt(adoption: Adoption<'_>, ledger: &Ledger) -> Result<AdoptionReport, LedgerError> {
    let Adoption { plan, keys, accounts, ref run, now, .. } = adoption;
    let caps = BudgetCaps::default();
    let services = RecordedServices { unnamed: keys.service(), accounts };
    let lock = ledger.begin_with(run.clone(), plan.name(), adoption.arguments, services, caps, now)?;
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
