//! Client-side limits per service: tasks in flight, submissions, polls, downloads. Each decreases on 429 and recovers with successes.
//!
//! Time is an argument of each call, and [`jitter`] is a hash: nothing here is random.

mod concurrency;
mod discovery;
mod downloads;
mod jitter;
mod poll_rate;
mod post_ramp;
mod token_bucket;

use crate::policy::Policy;

pub use concurrency::AimdLimiter;
pub(crate) use discovery::{LimitDiscovery, ThrottledSubmission};
pub use discovery::{ObservedLimits, ObservedRate};
pub(crate) use downloads::DownloadLimiter;
pub(crate) use jitter::jitter;
pub(crate) use poll_rate::PollRate;
pub use post_ramp::PostRamp;
pub use token_bucket::TokenBucket;

/// All limits towards one service.
#[derive(Debug, Clone)]
pub(crate) struct RunLimits {
    /// Tasks in flight and concurrent POSTs.
    pub(crate) concurrency: AimdLimiter,
    /// What the service itself accepts; `None` where it is not learned.
    pub(crate) discovery: Option<LimitDiscovery>,
    /// Submissions per time window; `None` without a limit.
    pub(crate) submit_rate: Option<TokenBucket>,
    /// Polls over all tasks.
    pub(crate) poll_rate: PollRate,
    pub(crate) downloads: DownloadLimiter,
}

impl RunLimits {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            concurrency: AimdLimiter::new(policy.max_in_flight),
            discovery: policy
                .learns_limits
                .then(|| LimitDiscovery::new(policy.paces_posts, policy.max_retry_after)),
            submit_rate: policy.submit_rate.map(TokenBucket::new),
            poll_rate: PollRate::new(policy.poll_rate),
            downloads: DownloadLimiter::new(policy.max_downloads),
        }
    }
}
