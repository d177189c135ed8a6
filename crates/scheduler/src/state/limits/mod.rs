//! What a run asks of a service at most: tasks out at once, submissions and polls in a stretch of time. Each gives way when the service says
//! "too much" and comes back step by step.
//!
//! Nothing here reads a clock or rolls dice: the time comes with each call, and what is spread is spread by [`spread`].

mod bucket;
mod downloads;
mod places;
mod polls;
mod spread;

use crate::policy::Policy;

pub(super) use bucket::Bucket;
pub(super) use downloads::Downloads;
pub(super) use places::Places;
pub(super) use polls::Polls;
pub(super) use spread::spread;

/// All limits towards one service.
#[derive(Debug, Clone)]
pub(super) struct Limits {
    /// Tasks out at once, and how many POSTs may be on their way.
    pub(super) places: Places,
    /// Submissions in a stretch of time; nothing where none is set.
    pub(super) submits: Option<Bucket>,
    /// Polls over all tasks.
    pub(super) polls: Polls,
    /// Downloads at once.
    pub(super) downloads: Downloads,
}

impl Limits {
    pub(super) fn new(policy: &Policy) -> Self {
        Self {
            places: Places::new(policy.in_flight),
            submits: policy.submits.map(Bucket::new),
            polls: Polls::new(policy.polls),
            downloads: Downloads::new(policy.downloads),
        }
    }
}
