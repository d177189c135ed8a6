//! Which events a node waits for in each phase. An event that fits none is a defect: it is reported, never dropped in silence, because the
//! run might wait for what the event should have said.

use std::fmt;

use workflow::plan::NodeIx;

use super::Phase;
use crate::{Event, EventKind};

/// An event that its node did not wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnexpectedEvent {
    pub node: NodeIx,
    pub event: EventKind,
    /// The phase of the node.
    pub phase: &'static str,
}

impl fmt::Display for UnexpectedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event `{}` in phase `{}`", self.event.as_str(), self.phase)
    }
}

impl UnexpectedEvent {
    /// `None` if a node in `phase`, which has not ended, waits for `event`.
    pub(super) fn check(node: NodeIx, event: &Event, phase: &Phase) -> Option<Self> {
        let fits = match event {
            Event::LookupDone { .. } => matches!(phase, Phase::LookingUp | Phase::ClaimedByOtherRun { .. }),
            Event::Prepared { .. } | Event::BudgetExceeded { .. } => phase.is_being_prepared(),
            Event::PrepareFailed { .. } => {
                phase.is_being_prepared()
                    || matches!(phase, Phase::LookingUp | Phase::ClaimedByOtherRun { .. })
            }
            // In place of an intent, or of the result of a reconciliation.
            Event::ClaimConflict { .. } => {
                phase.is_being_prepared()
                    || matches!(
                        phase,
                        Phase::LookingUp | Phase::ClaimedByOtherRun { .. } | Phase::Submitting { .. }
                    )
            }
            Event::Submitted { attempt, .. }
            | Event::Refused { attempt, .. }
            | Event::Indeterminate { attempt, .. } => {
                matches!(phase, Phase::Submitting { attempt: current } if current == attempt)
            }
            Event::Reconciled { attempt, .. } => match phase {
                Phase::LookingUp | Phase::ClaimedByOtherRun { .. } => true,
                Phase::Submitting { attempt: current } => current == attempt,
                Phase::Pending
                | Phase::Ready { .. }
                | Phase::Preparing
                | Phase::InFlight { .. }
                | Phase::ReadyToDownload(_)
                | Phase::Downloading(_)
                | Phase::Done => false,
            },
            Event::Polled { attempt, .. } => {
                matches!(phase, Phase::InFlight { attempt: current, .. } if current == attempt)
            }
            Event::Downloaded { attempt, .. } | Event::DownloadFailed { attempt, .. } => {
                // In a replay it may still wait for its admission, which depends on timers.
                matches!(
                    phase,
                    Phase::Downloading(download) | Phase::ReadyToDownload(download) if download.attempt == *attempt
                )
            }
            // An expired task records what the transition before it has decided; the others concern no node.
            Event::TaskExpired { .. }
            | Event::RunConfigured { .. }
            | Event::Started
            | Event::FilmJoined { .. }
            | Event::JoinFailed { .. }
            | Event::Resolved { .. }
            | Event::RendersAsked { .. }
            | Event::RendersWithdrawn { .. }
            | Event::TimerFired
            | Event::Interrupted => true,
        };
        (!fits).then(|| Self { node, event: event.kind(), phase: phase.as_str() })
    }
}
