//! Status records: printed as JSON, or formatted as text. docs/events.md describes their format.

use std::collections::BTreeMap;
use std::time::Duration;

use scheduler::{StatusKind, Timestamp};
use serde::Serialize;
use workflow::units::{self, Money};

use crate::report::stream::Amount;

/// A status record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Record {
    /// A run.
    Run(Run),
    /// A shot of a run.
    Shot(Shot),
    /// Something that needs action.
    ActionNeeded(ActionNeeded),
    /// Sums over all runs of the ledger.
    Totals(Totals),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the record names what it is about")]
pub(crate) struct Run {
    pub(crate) run: String,
    pub(crate) workflow: String,
    pub(crate) service: String,
    pub(crate) state: RunLiveness,
    /// Milliseconds since the Unix epoch, like all times.
    pub(crate) started_at: Timestamp,
    pub(crate) ended_at: Option<Timestamp>,
    /// Shots by state; `null` for runs whose shots are not shown.
    pub(crate) shots: Option<Counts>,
}

/// Whether a run's process is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RunLiveness {
    /// Its process is alive.
    Alive,
    /// Its process is alive and shutting down.
    Ending,
    /// It ended.
    Ended,
    /// Its process died before the run ended.
    Died,
}

/// Shots by the kind of their status.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts(BTreeMap<StatusKind, usize>);

impl Counts {
    pub(crate) fn add(&mut self, kind: StatusKind) {
        *self.0.entry(kind).or_default() += 1;
    }

    /// The counts that are not zero, in the order in which they are shown.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, StatusKind)> {
        self.0.iter().map(|(kind, count)| (*count, *kind))
    }
}

impl FromIterator<StatusKind> for Counts {
    fn from_iter<T: IntoIterator<Item = StatusKind>>(kinds: T) -> Self {
        let mut counts = Self::default();
        kinds.into_iter().for_each(|kind| counts.add(kind));
        counts
    }
}

/// A member for every kind, `0` where there is no shot.
impl Serialize for Counts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            StatusKind::ALL
                .iter()
                .map(|kind| (kind.as_str().replace('-', "_"), self.0.get(kind).copied().unwrap_or_default())),
        )
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the record names what it is about")]
pub(crate) struct Shot {
    pub(crate) run: String,
    pub(crate) shot: String,
    #[serde(serialize_with = "kind")]
    pub(crate) state: StatusKind,
    /// Since when it has this status.
    pub(crate) since: Timestamp,
    /// The attempt that comes next, where its task failed and its `retry` pays for another one.
    pub(crate) retry: Option<Retry>,
    pub(crate) attempt: Option<String>,
    pub(crate) task: Option<String>,
    /// Typical duration of such a task, if known.
    #[serde(rename = "typical_ms", with = "units::millis")]
    pub(crate) typical: Option<Duration>,
    pub(crate) failure: Option<String>,
    /// What the service said beside its finished video.
    pub(crate) warning: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ActionNeeded {
    pub(crate) reason: ActionReason,
    pub(crate) shot: String,
    pub(crate) workflow: String,
    pub(crate) service: String,
    /// Since when.
    pub(crate) since: Timestamp,
    pub(crate) attempt: Option<String>,
    pub(crate) task: Option<String>,
    /// The id of a task that the response to an indeterminate submission named.
    pub(crate) suggested_task: Option<String>,
    /// Maximum cost, in millionths of the price table's currency, if it has a price.
    #[serde(with = "units::micros")]
    pub(crate) reserved: Option<Money>,
    #[serde(rename = "typical_ms", with = "units::millis")]
    pub(crate) typical: Option<Duration>,
    pub(crate) failure: Option<String>,
    /// The remedy.
    pub(crate) action: String,
}

/// An attempt that a shot's `retry` pays for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct Retry {
    /// Its number, from 2.
    pub(crate) attempt: u32,
    /// How many attempts the shot has.
    pub(crate) of: u32,
    /// Earliest time of its submission.
    pub(crate) not_before: Timestamp,
}

/// Why something needs action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ActionReason {
    /// A task is in flight, and no live run polls it.
    InFlight,
    /// A task is in flight or missing, and no shot of the workflow asks for it any more.
    Unclaimed,
    /// The service did not know a task that is paid for.
    Missing,
    /// A submission's outcome is unknown.
    Indeterminate,
    /// Takes or instances are rendered, and none is picked.
    Unpicked,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Totals {
    pub(crate) reserved: Amount,
    pub(crate) spent: Amount,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn kind<S: serde::Serializer>(kind: &StatusKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(kind.as_str())
}
