//! Learns a service's limits on submissions from what it accepts and refuses (429).
//!
//! Two kinds of limits explain a refusal: too many submissions in a time (token buckets, fixed windows), or too many tasks in flight. The
//! number that was accepted until the first refusal, and the wait that the service asks for with it, give a rate that neither a bucket nor a
//! window refuses: so many in any stretch of that length. What follows decides between the two: a submission that is accepted with more
//! tasks in flight than at the refusal excludes a limit on tasks; one that is refused after the whole wait, with nothing accepted meanwhile,
//! excludes a rate.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use workflow::units;

use super::PostRamp;
use crate::policy::Rate;
use crate::timestamp::Timestamp;

/// Rates are slower than what was observed by this factor, because requests do not take equally long to arrive.
const MARGIN: f64 = 1.01;
/// Full stretches without a refusal after which a little more is tried.
const EXPLORE_AFTER: usize = 10;
/// Lengths that services' windows have, in seconds.
const WINDOWS: [u64; 9] = [1, 2, 5, 10, 15, 20, 30, 60, 3_600];
/// A Retry-After is in whole seconds.
const ROUNDING: Duration = Duration::from_secs(1);

/// What a service was observed to accept; kept for the next run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedLimits {
    /// Submissions in any stretch of time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<ObservedRate>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight: Option<usize>,
}

/// So many submissions in any stretch of a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ObservedRate {
    /// Number of submissions. At least 1.
    pub count: u32,
    /// Length of the stretch.
    #[serde(rename = "per_ms", with = "units::millis")]
    pub per: Duration,
}

impl From<ObservedRate> for Rate {
    fn from(ObservedRate { count, per }: ObservedRate) -> Self {
        Self { count, per }
    }
}

/// A submission that was refused with 429.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThrottledSubmission {
    /// When it was admitted, and when it left.
    pub(crate) admitted: Timestamp,
    pub(crate) left_at: Timestamp,
    pub(crate) now: Timestamp,
    /// The wait before the next one.
    pub(crate) wait: Duration,
    /// Whether the service asked for it.
    pub(crate) is_asked: bool,
    /// Accepted tasks that are not known to have ended.
    pub(crate) in_flight: usize,
}

/// Learns the limits of one service.
#[derive(Debug, Clone, Default)]
pub(crate) struct LimitDiscovery {
    observed: ObservedLimits,
    /// When the newest submissions left, oldest first, without those that were refused.
    sent: VecDeque<Timestamp>,
    /// Concurrent POSTs; `None` where the sender paces them.
    ramp: Option<PostRamp>,
    /// Acceptances since the last refusal.
    accepted: u32,
    /// When the first of those left.
    since: Option<Timestamp>,
    refused_at: Option<Timestamp>,
    /// Most tasks in flight so far.
    most_in_flight: usize,
    /// Tasks in flight at the last refusal, if a limit on them explains it as well as a rate.
    candidate: Option<usize>,
    /// Longest wait for a rate, counted from the last submission or refusal. Then one more is tried.
    longest_wait: Duration,
    /// Whether the last submission was tried after that wait: its refusal says nothing new.
    is_late_probe: bool,
    /// When a submission left that the rate would not have admitted, to decide between the two.
    probe: Option<Timestamp>,
    /// Failed attempts to raise a limit.
    failed_raises: u32,
    /// Raises since the last refusal: each is twice as large as the one before.
    raises: u32,
    /// The limits before they were raised last.
    before_raise: Option<ObservedLimits>,
}

impl LimitDiscovery {
    /// Nothing is known. `paces_posts` limits concurrent POSTs until something is. Nothing waits for a rate for longer than `longest_wait`.
    pub(crate) fn new(paces_posts: bool, longest_wait: Duration) -> Self {
        Self {
            ramp: paces_posts.then(PostRamp::default),
            // A usual window of this length is waited for to its end.
            longest_wait: longest_wait.mul_f64(MARGIN),
            ..Self::default()
        }
    }

    /// The limits as far as they are known.
    pub(crate) fn observed(&self) -> ObservedLimits {
        self.observed
    }

    /// Begins with the limits that an earlier run observed. Those that would admit nothing, or less than any service's window, are learned again.
    pub(crate) fn begin_with(&mut self, observed: ObservedLimits) {
        let longest = Duration::from_secs(WINDOWS[WINDOWS.len() - 1]).mul_f64(MARGIN);
        self.observed = ObservedLimits {
            rate: observed.rate.filter(|rate| rate.count > 0 && rate.per <= longest),
            in_flight: observed.in_flight.filter(|limit| *limit > 0),
        };
    }

    /// Whether one more may be submitted. If not, when; `None` if something has to end first.
    pub(crate) fn admits(
        &self,
        in_flight: usize,
        posting: usize,
        now: Timestamp,
    ) -> Result<(), Option<Timestamp>> {
        // One after the other where the next one may decide what is limited.
        let is_deciding = self.candidate.is_some_and(|candidate| in_flight >= candidate);
        let posts = if is_deciding { Some(1) } else { self.ramp.map(|ramp| ramp.posts(now)) };
        if posts.is_some_and(|posts| posting >= posts) && !self.is_confirmed() {
            return Err(None);
        }
        if self.observed.in_flight.is_some_and(|limit| in_flight >= limit) {
            return Err(None);
        }
        match self.rate_admits_at() {
            Some(time) if time > now && !self.may_probe(in_flight, time, now) => {
                let time = time.min(self.late_probe_at());
                if time > now { Err(Some(time)) } else { Ok(()) }
            }
            _ => Ok(()),
        }
    }

    /// Whether the limits are known, and held for a whole stretch since the last refusal.
    fn is_confirmed(&self) -> bool {
        let stretch = match self.observed {
            ObservedLimits { rate: Some(rate), .. } => rate.count,
            ObservedLimits { in_flight: Some(_), .. } => 0,
            ObservedLimits { rate: None, in_flight: None } => return false,
        };
        self.refused_at.is_none() || self.accepted >= stretch || self.before_raise.is_some()
    }

    /// When the rate admits the next submission; `None` without one.
    fn rate_admits_at(&self) -> Option<Timestamp> {
        let rate = self.observed.rate?;
        let nth_last = self.sent.len().checked_sub(rate.count as usize)?;
        Some(self.sent.get(nth_last)?.after(rate.per))
    }

    /// When one more is tried although the rate does not admit it: what was observed once may no longer hold, or was another limit.
    fn late_probe_at(&self) -> Timestamp {
        let last = self.sent.back().copied().max(self.refused_at);
        last.map_or(Timestamp(i64::MAX), |last| last.after(self.longest_wait))
    }

    /// Whether to submit one more than the rate admits: most tasks have ended, and waiting would take long if the limit is on tasks.
    fn may_probe(&self, in_flight: usize, admitted_at: Timestamp, now: Timestamp) -> bool {
        let (Some(candidate), Some(rate)) = (self.candidate, self.observed.rate) else { return false };
        self.probe.is_none() && in_flight * 2 <= candidate && admitted_at.since(now) * 2 >= rate.per
    }

    /// A submission of an earlier run, or of another process, left at this time.
    pub(crate) fn left_earlier(&mut self, time: Timestamp) {
        self.sent.push_back(time);
    }

    /// A submission is admitted.
    pub(crate) fn admitted(&mut self, now: Timestamp) {
        if let Some(ramp) = &mut self.ramp {
            ramp.admitted(now);
        }
        self.is_late_probe = false;
        if self.rate_admits_at().is_some_and(|time| time > now) {
            self.is_late_probe = self.late_probe_at() <= now;
            self.probe = Some(now);
        }
        self.sent.push_back(now);
        let max = self.observed.rate.map_or(0, |rate| rate.count as usize).max(1_024);
        while self.sent.len() > max {
            self.sent.pop_front();
        }
    }

    /// The submission that was admitted at `admitted` leaves now: preparing it took time.
    pub(crate) fn leaves(&mut self, admitted: Timestamp, now: Timestamp) {
        if self.remove(admitted) {
            self.sent.push_back(now);
        }
        if self.probe == Some(admitted) {
            self.probe = Some(now);
        }
    }

    /// The submission that left at this time was held back.
    pub(crate) fn not_sent(&mut self, left_at: Timestamp) {
        self.remove(left_at);
        self.probe.take_if(|probe| *probe == left_at);
    }

    fn remove(&mut self, time: Timestamp) -> bool {
        let position = self.sent.iter().rposition(|sent| *sent == time);
        position.is_some_and(|index| self.sent.remove(index).is_some())
    }

    /// The service accepted a submission that was admitted and left at these times; now `in_flight` tasks are. Returns whether what throttled
    /// the last submission is known, so that nothing else has to be slower.
    pub(crate) fn accepted(&mut self, admitted: Timestamp, left_at: Timestamp, in_flight: usize) -> bool {
        if let Some(ramp) = &mut self.ramp {
            ramp.accepted();
        }
        self.most_in_flight = self.most_in_flight.max(in_flight);
        let is_late = self.refused_at.is_some_and(|refused| admitted <= refused);
        if is_late && let Some(rate) = &mut self.observed.rate {
            // It left before the refusal and belongs to what was accepted until then.
            rate.count += 1;
            self.candidate = self.candidate.map(|candidate| candidate.max(in_flight));
            return false;
        }
        self.accepted += 1;
        self.since.get_or_insert(left_at);
        if self.probe == Some(left_at) {
            // More than the rate was accepted.
            self.observed = ObservedLimits { rate: None, in_flight: self.candidate.take() };
        }
        // A few more may have ended that were not polled yet.
        self.candidate.take_if(|candidate| in_flight > *candidate + *candidate / 4 + 1);
        self.raise(in_flight);
        self.candidate.is_none() && self.observed != ObservedLimits::default()
    }

    /// Raises a limit a little after many acceptances at it: less and less often where that was refused.
    fn raise(&mut self, in_flight: usize) {
        let explore_after = EXPLORE_AFTER << self.failed_raises.min(8);
        let ObservedLimits { rate, in_flight: limit } = &mut self.observed;
        let count = rate.map_or(limit.unwrap_or(usize::MAX), |rate| rate.count as usize);
        if (self.accepted as usize) < count.saturating_mul(explore_after) {
            return;
        }
        let before = Some(ObservedLimits { rate: *rate, in_flight: *limit });
        let steps = 1 << self.raises.min(8);
        if let Some(rate) = rate {
            rate.count = rate.count.saturating_add((rate.count / 10).max(1).saturating_mul(steps));
        } else if let Some(limit) = limit.as_mut().filter(|limit| in_flight >= **limit) {
            *limit = limit.saturating_add((*limit / 10).max(1).saturating_mul(steps as usize));
        } else {
            return;
        }
        self.raises += 1;
        (self.before_raise, self.accepted, self.since) = (before, 0, None);
    }

    /// The service refused a submission with 429.
    pub(crate) fn refused(&mut self, refusal: ThrottledSubmission) {
        let ThrottledSubmission { admitted, left_at, now, wait, is_asked, in_flight } = refusal;
        self.remove(left_at);
        if let Some(ramp) = &mut self.ramp {
            ramp.refused();
        }
        if self.refused_at.is_some_and(|refused| admitted <= refused) {
            return;
        }
        if self.probe == Some(left_at) && std::mem::take(&mut self.is_late_probe) {
            (self.refused_at, self.probe) = (Some(now), None);
            return;
        }
        let is_first = self.refused_at.replace(now).is_none();
        let (accepted, since) = (std::mem::take(&mut self.accepted), self.since.take());
        self.probe = None;
        self.raises = 0;
        if let Some(before) = self.before_raise.take() {
            (self.observed, self.failed_raises) = (before, self.failed_raises + 1);
            return;
        }
        match since {
            Some(since) => {
                if let Some((accepted, since)) = self.explains(accepted, since, left_at, wait) {
                    self.learn(accepted, now.since(since) + wait, in_flight);
                }
            }
            None if is_asked && !is_first && in_flight > 0 => {
                self.observed = ObservedLimits { rate: None, in_flight: Some(in_flight) };
                self.candidate = None;
            }
            // The wait was too short, or the service refuses everything for a while.
            None => {}
        }
    }

    /// The acceptances that explain a refusal, and when the first of them left: those after the last pause that was longer than the wait that
    /// the service asks for. What was accepted before it was not what used the limit up, and the pause was the run's own: counted with it,
    /// a single acceptance a minute ago would allow one submission a minute. Where a rate is known, its own pauses are not the run's.
    fn explains(
        &self,
        accepted: u32,
        since: Timestamp,
        left_at: Timestamp,
        wait: Duration,
    ) -> Option<(u32, Timestamp)> {
        let longest_pause = 2 * wait.max(ROUNDING).max(self.observed.rate.map_or(ROUNDING, |rate| rate.per));
        let (mut count, mut first) = (0, left_at);
        for sent in self.sent.iter().rev().copied().filter(|sent| *sent <= left_at) {
            if sent < since || first.since(sent) > longest_pause {
                break;
            }
            (count, first) = (count + 1, sent);
        }
        (count > 0).then(|| (count.min(accepted), first))
    }

    /// So many were accepted, and the next one will be after `per`.
    fn learn(&mut self, accepted: u32, per: Duration, in_flight: usize) {
        // With about as many tasks in flight as at the refusal before: their number is limited, whatever the rate is.
        let limit = self.observed.in_flight.or(self.candidate);
        if let Some(limit) = limit.filter(|limit| in_flight * 4 >= limit * 3) {
            self.observed = ObservedLimits { rate: None, in_flight: Some(limit.min(in_flight).max(1)) };
            self.candidate = None;
            return;
        }
        self.observed.in_flight = None;
        let rate = match self.observed.rate {
            // Longer than one stretch: the rate was a little too fast, and a little less is accepted at once.
            Some(rate) if accepted > rate.count => {
                let count = rate.count.saturating_sub((rate.count / 10).max(1)).max(1);
                let share = f64::from(count) / f64::from(accepted);
                ObservedRate { count, per: per.mul_f64(share * MARGIN) }
            }
            _ => ObservedRate { count: accepted, per: window(per).mul_f64(MARGIN) },
        };
        self.observed.rate = Some(rate);
        self.candidate = (in_flight >= self.most_in_flight).then_some(in_flight);
    }
}

/// The length of a service's window, which ends at most a second before `per`: the usual length there is, or `per` itself.
fn window(per: Duration) -> Duration {
    let mut windows = WINDOWS.into_iter().rev().map(Duration::from_secs);
    windows.find(|window| *window <= per && *window + ROUNDING >= per).unwrap_or(per)
}

#[cfg(test)]
#[path = "discovery_tests.rs"]
mod tests;
