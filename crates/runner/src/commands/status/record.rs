//! Status records: printed as JSON, or formatted as text. docs/events.md describes their format.

use std::borrow::Cow;
use std::collections::BTreeMap;

use engine::ledger::RunRow;
use scheduler::{AttemptState, StatusKind, Timestamp};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Map, Value, json};
use workflow::units::{self, Money};

use crate::report::stream::Amount;

/// Version of the JSON format. Incremented when a reader of the previous version would misread it; new members do not count.
pub(super) const VERSION: u32 = 3;

/// A line of `status --format ndjson`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusLine<'a> {
    /// Format version: 3.
    #[schemars(range(min = 3, max = 3))]
    pub(super) version: u32,
    /// When it was written, in milliseconds since the Unix epoch.
    pub(super) time: Timestamp,
    #[serde(flatten)]
    pub(super) record: &'a StatusRecord,
}

/// `status --format json`.
#[derive(Debug, Serialize)]
pub(super) struct StatusDocument<'a> {
    pub(super) version: u32,
    pub(super) time: Timestamp,
    pub(super) runs: &'a [Run],
    pub(super) shots: &'a [Shot],
    pub(super) action_needed: &'a [ActionNeeded],
    pub(super) totals: &'a Totals,
    /// Instances of which `run --rerun` has asked for one more render that is not done.
    pub(super) asked: &'a [String],
}

/// The JSON Schema (2020-12) of a line.
pub(crate) fn schema() -> Value {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    let mut schema = settings.into_generator().into_root_schema_for::<StatusLine<'_>>().to_value();
    schema["title"] = "status record".into();
    schema["description"] = "One line of `runner status --format ndjson`.".into();
    schema
}

/// A status record.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum StatusRecord {
    /// A run.
    Run(Run),
    /// A shot of a run.
    Shot(Shot),
    /// Something that needs action.
    ActionNeeded(ActionNeeded),
    /// Sums over all runs of the ledger.
    Totals(Totals),
}

/// A run of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the record names what it is about")]
pub(crate) struct Run {
    pub(crate) run: String,
    pub(crate) workflow: String,
    pub(crate) service: String,
    pub(crate) state: RunLiveness,
    /// Milliseconds since the Unix epoch, like all times.
    pub(crate) started_at: Timestamp,
    #[schemars(with = "Option<i64>")]
    pub(crate) ended_at: Option<Timestamp>,
    /// Shots by state; `null` for runs whose shots are not shown.
    pub(crate) shots: Option<StatusCounts>,
}

/// Whether a run's process is alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
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
pub(crate) struct StatusCounts(BTreeMap<StatusKind, usize>);

impl StatusCounts {
    pub(crate) fn add(&mut self, kind: StatusKind) {
        *self.0.entry(kind).or_default() += 1;
    }

    /// The counts that are not zero, in the order in which they are shown.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, StatusKind)> {
        self.0.iter().map(|(kind, count)| (*count, *kind))
    }
}

impl FromIterator<StatusKind> for StatusCounts {
    fn from_iter<T: IntoIterator<Item = StatusKind>>(kinds: T) -> Self {
        let mut counts = Self::default();
        kinds.into_iter().for_each(|kind| counts.add(kind));
        counts
    }
}

/// The member of a kind.
fn member(kind: StatusKind) -> String {
    kind.as_str().replace('-', "_")
}

/// A member for every kind, `0` where there is no shot.
impl Serialize for StatusCounts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(
            StatusKind::ALL.iter().map(|kind| (member(*kind), self.0.get(kind).copied().unwrap_or_default())),
        )
    }
}

impl JsonSchema for StatusCounts {
    fn schema_name() -> Cow<'static, str> {
        "Counts".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let members = || StatusKind::ALL.iter().map(|kind| member(*kind));
        let counts: Map<String, Value> =
            members().map(|name| (name, json!({ "type": "integer", "minimum": 0 }))).collect();
        json_schema!({
            "description": "Number of shots by state.",
            "type": "object",
            "properties": counts,
            "required": members().collect::<Vec<_>>(),
        })
    }
}

/// A shot, counting each instance and take.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(clippy::struct_field_names, reason = "the record names what it is about")]
pub(crate) struct Shot {
    pub(crate) run: String,
    pub(crate) shot: String,
    pub(crate) state: StatusKind,
    /// Since when it has this status.
    pub(crate) since: Timestamp,
    /// The attempt that comes next, where its task failed and its `retry` pays for another one.
    pub(crate) retry: Option<Retry>,
    pub(crate) attempt: Option<String>,
    pub(crate) task: Option<String>,
    pub(crate) failure: Option<String>,
    /// What another command recorded of its attempt after the run, where that gives it this state.
    pub(crate) after_run: Option<String>,
}

impl Shot {
    /// Applies what is recorded of its attempt after its run, which is over: the run may have died, and `fetch` and `resolve` may have changed
    /// it.
    pub(super) fn update(&mut self, attempt: AttemptState) {
        let (before, kind) = (self.state, StatusKind::after_run(attempt, Some(self.state)));
        if before.is_done() || before == kind {
            return;
        }
        self.state = kind;
        let note = match attempt {
            AttemptState::Completed => "fetched after the run",
            AttemptState::Failed => "its task was found to have failed after the run",
            AttemptState::Abandoned => "abandoned after the run",
            AttemptState::NotAccepted => "found not to be accepted after the run",
            AttemptState::Submitted if before == StatusKind::Indeterminate => {
                "its task was named after the run"
            }
            // As the run has left it.
            AttemptState::Intended
            | AttemptState::Indeterminate
            | AttemptState::Submitted
            | AttemptState::Refused
            | AttemptState::Expired
            | AttemptState::Missing => return,
        };
        (self.failure, self.after_run) = (None, Some(note.to_owned()));
    }
}

/// What nobody but a person, or a later run, takes care of.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
    #[schemars(with = "Option<i64>")]
    pub(crate) reserved: Option<Money>,
    pub(crate) failure: Option<String>,
    /// What to do.
    pub(crate) action: String,
}

impl ActionNeeded {
    /// What a shot of a run needs that is not about one of its attempts.
    pub(super) fn without_attempt(
        row: &RunRow,
        reason: ActionReason,
        shot: String,
        since: Timestamp,
        action: String,
    ) -> Self {
        Self {
            reason,
            shot,
            workflow: row.workflow.clone(),
            service: row.service.clone(),
            since,
            attempt: None,
            task: None,
            suggested_task: None,
            reserved: None,
            failure: None,
            action,
        }
    }
}

/// An attempt that a shot's `retry` pays for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Retry {
    /// Its number, from 2.
    pub(crate) number: u32,
    /// How many attempts the shot has.
    pub(crate) of: u32,
    /// Earliest time of its submission.
    pub(crate) not_before: Timestamp,
}

/// Why something needs action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ActionReason {
    /// A task is in flight, and no live run polls it.
    InFlight,
    /// A task is in flight or missing, and no shot of the workflow asks for it any more.
    Unclaimed,
    /// The service did not know a task that is paid for.
    Missing,
    /// A `retry` gave a task up that is paid for, and another one was accepted in its place.
    Replaced,
    /// A video was downloaded, is not on disk any more, and could not be downloaded again.
    NoFile,
    /// A shot was not submitted because its video is there, and the ledger does not know it.
    Unrecorded,
    /// A submission's outcome is unknown.
    Indeterminate,
    /// Takes or instances are rendered, and none is picked.
    Unpicked,
}

/// Sums over all runs of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Totals {
    pub(crate) reserved: Amount,
    pub(crate) spent: Amount,
}
