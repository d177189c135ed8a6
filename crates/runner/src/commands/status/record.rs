//! What `status` tells, as records: for machines as they are, for people as text. docs/events.md describes their form.

use scheduler::history::Stands;
use serde::Serialize;

use crate::report::stream::Amount;

/// One thing that is known.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Record {
    /// A run.
    Run(Run),
    /// Where a shot of a run stands.
    Shot(Shot),
    /// What somebody has to do something about.
    Outstanding(Outstanding),
    /// Over all runs of the ledger.
    Totals(Totals),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the record names what it is about")]
pub(crate) struct Run {
    pub(crate) run: String,
    pub(crate) workflow: String,
    pub(crate) service: String,
    pub(crate) state: RunLiveness,
    /// Milliseconds since the epoch, as all times.
    pub(crate) started_at: i64,
    pub(crate) ended_at: Option<i64>,
    /// How many of the shots that were heard of stand where; nothing for a run of which only the end is shown.
    pub(crate) shots: Option<Counts>,
}

/// How a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum RunLiveness {
    /// Its process is alive.
    Alive,
    /// Its process is alive, and was asked to end.
    Ending,
    /// It ended in good order.
    Ended,
    /// Its process went away before it had ended.
    Died,
}

/// Shots by where they stand.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) done: usize,
    pub(crate) reused: usize,
    pub(crate) out: usize,
    pub(crate) submitting: usize,
    pub(crate) downloading: usize,
    pub(crate) waiting: usize,
    pub(crate) elsewhere: usize,
    pub(crate) left: usize,
    pub(crate) held: usize,
    pub(crate) ambiguous: usize,
    pub(crate) failed: usize,
}

impl Counts {
    pub(crate) fn add(&mut self, standing: Stands) {
        *match standing {
            Stands::Done => &mut self.done,
            Stands::Reused => &mut self.reused,
            Stands::Out => &mut self.out,
            Stands::Submitting => &mut self.submitting,
            Stands::Downloading => &mut self.downloading,
            Stands::Waiting => &mut self.waiting,
            Stands::Elsewhere => &mut self.elsewhere,
            Stands::Left => &mut self.left,
            Stands::Held => &mut self.held,
            Stands::Ambiguous => &mut self.ambiguous,
            Stands::Failed => &mut self.failed,
        } += 1;
    }

    /// The counts that are not zero, with their words, in the order in which they are said.
    pub(crate) fn told(&self) -> Vec<(usize, &'static str)> {
        [
            (self.done, Stands::Done),
            (self.reused, Stands::Reused),
            (self.out, Stands::Out),
            (self.submitting, Stands::Submitting),
            (self.downloading, Stands::Downloading),
            (self.waiting, Stands::Waiting),
            (self.elsewhere, Stands::Elsewhere),
            (self.left, Stands::Left),
            (self.held, Stands::Held),
            (self.ambiguous, Stands::Ambiguous),
            (self.failed, Stands::Failed),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, standing)| (count, standing.word()))
        .collect()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::struct_field_names, reason = "the record names what it is about")]
pub(crate) struct Shot {
    pub(crate) run: String,
    pub(crate) shot: String,
    #[serde(serialize_with = "word")]
    pub(crate) state: Stands,
    /// Since when it stands there.
    pub(crate) since: i64,
    pub(crate) attempt: Option<String>,
    pub(crate) task: Option<String>,
    /// How long such a task usually takes, where that is known.
    pub(crate) typical_ms: Option<u64>,
    pub(crate) trouble: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Outstanding {
    pub(crate) what: Open,
    pub(crate) shot: String,
    pub(crate) workflow: String,
    pub(crate) service: String,
    /// Since when.
    pub(crate) since: i64,
    pub(crate) attempt: Option<String>,
    pub(crate) task: Option<String>,
    /// The most that it can cost, in millionths of the price table's currency, where it has a price.
    pub(crate) held: Option<i64>,
    pub(crate) typical_ms: Option<u64>,
    pub(crate) trouble: Option<String>,
    /// What to do about it.
    pub(crate) remedy: String,
}

/// What is outstanding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Open {
    /// A task is out, and no living run waits for it.
    Out,
    /// Nobody knows whether a submission was accepted.
    Unaccounted,
    /// Takes are made, and none is picked.
    Pick,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Totals {
    pub(crate) held: Amount,
    pub(crate) spent: Amount,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn word<S: serde::Serializer>(standing: &Stands, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(standing.word())
}
