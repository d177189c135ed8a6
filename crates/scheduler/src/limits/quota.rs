//! The quota of submissions that a service reports in `RateLimit` headers (draft-ietf-httpapi-ratelimit-headers).

use std::time::Duration;

use serde::{Deserialize, Serialize};
use workflow::units;

use crate::timestamp::Timestamp;

/// What a service reports with a response to a submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubmitQuota {
    /// Submissions that it accepts until the reset.
    pub remaining: u32,
    /// Time until the reset.
    #[serde(rename = "reset_ms", with = "units::millis")]
    pub reset: Duration,
}

/// The quota as of the last report.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuotaLimit {
    remaining: u32,
    until: Timestamp,
    reported_at: Timestamp,
    /// The largest quota so far: what is known to be accepted at once after a reset.
    max_quota: u32,
}

impl QuotaLimit {
    /// The quota after a report with the response to a submission that was sent at `sent`, while `posting` others are on their way. Those are
    /// not known to be counted in it, so they are subtracted: at worst a submission waits for the reset that need not have. A reset further
    /// away than `longest` is tried then.
    pub(crate) fn after(
        before: Option<Self>,
        quota: SubmitQuota,
        sent: Timestamp,
        posting: usize,
        now: Timestamp,
        longest: Duration,
    ) -> Self {
        let posting = u32::try_from(posting).unwrap_or(u32::MAX);
        let reported = Self {
            remaining: quota.remaining.saturating_sub(posting),
            until: now.after(quota.reset.min(longest)),
            reported_at: now,
            max_quota: before.map_or(0, |before| before.max_quota).max(quota.remaining.saturating_add(1)),
        };
        // Responses to submissions that were on their way together may arrive in any order.
        match before.filter(|before| sent <= before.reported_at && before.until > now) {
            Some(before) => Self {
                remaining: before.remaining.min(reported.remaining),
                until: before.until.max(reported.until),
                ..reported
            },
            None => reported,
        }
    }

    /// The time before which no submission is sent, if the quota is used up.
    pub(crate) fn held_until(&self, now: Timestamp) -> Option<Timestamp> {
        (self.remaining == 0 && self.until > now).then_some(self.until)
    }

    /// Whether one more may be submitted while `posting` are on their way. After a reset, and before the next report, as many as an earlier
    /// report allowed.
    pub(crate) fn admits(&self, posting: usize, now: Timestamp) -> bool {
        if self.until > now { self.remaining > 0 } else { posting < self.max_quota as usize }
    }

    /// A submission is admitted.
    pub(crate) fn admitted(&mut self) {
        self.remaining = self.remaining.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(10_000);

    fn after(
        before: Option<QuotaLimit>,
        remaining: u32,
        reset: u64,
        posting: usize,
        sent: Timestamp,
    ) -> QuotaLimit {
        let quota = SubmitQuota { remaining, reset: Duration::from_secs(reset) };
        QuotaLimit::after(before, quota, sent, posting, NOW, Duration::from_mins(5))
    }

    fn limit(remaining: u32, reset: u64, posting: usize) -> QuotaLimit {
        after(None, remaining, reset, posting, NOW)
    }

    #[test]
    fn quota_holds_submissions_from_its_last_one_until_the_reset() {
        let mut quota = limit(2, 7, 0);
        quota.admitted();
        assert_eq!(quota.held_until(NOW), None);
        quota.admitted();
        assert_eq!(quota.held_until(NOW), Some(Timestamp(17_000)));
        assert_eq!(quota.held_until(Timestamp(17_000)), None);
    }

    #[test]
    fn after_a_reset_as_many_are_admitted_as_were_reported() {
        let quota = limit(1, 7, 0);
        assert!(quota.admits(5, NOW));
        let later = Timestamp(17_000);
        assert!(quota.admits(1, later) && !quota.admits(2, later));
        let used_up = after(Some(quota), 0, 7, 0, Timestamp(17_000));
        assert!(!used_up.admits(0, NOW) && used_up.admits(1, later) && !used_up.admits(2, later));
    }

    #[test]
    fn submissions_on_their_way_use_the_quota() {
        assert_eq!(limit(3, 7, 2).held_until(NOW), None);
        assert_eq!(limit(3, 7, 3).held_until(NOW), Some(Timestamp(17_000)));
        assert_eq!(limit(3, 7, 9).held_until(NOW), Some(Timestamp(17_000)));
    }

    #[test]
    fn reports_that_overlap_leave_the_smaller_quota() {
        let used_up = after(None, 0, 7, 0, Timestamp(9_990));
        let late = after(Some(used_up), 1, 7, 0, Timestamp(9_980));
        assert_eq!(late.held_until(NOW), Some(Timestamp(17_000)), "the response before arrives after it");
        let newer =
            after(Some(QuotaLimit { reported_at: Timestamp(9_985), ..used_up }), 1, 7, 0, Timestamp(9_986));
        assert_eq!(newer.held_until(NOW), None, "it was sent after the last report");
    }

    #[test]
    fn reset_far_away_is_tried_after_the_longest_wait() {
        assert_eq!(limit(0, 86_400, 0).held_until(NOW), Some(NOW.after(Duration::from_mins(5))));
    }
}
