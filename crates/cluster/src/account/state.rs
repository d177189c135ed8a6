//! The state of an account. Pure: time is an input.
//!
//! Requests for permits wait in a queue, first come, first served, and are woken when one is granted.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use scheduler::budget::{Amount, BudgetCap, BudgetCaps, Reservation};
use scheduler::policy::Rate;
use scheduler::{AimdLimiter, AttemptId, RunId, Timestamp};
use serde::{Deserialize, Serialize};
use workflow::units::{self, Money};

use super::shares::{Share, Shares};
use crate::messages::{Admit, RenewShare, ThrottleNotice};

/// When a limit is looked at again of which it is not known when it admits more.
const RECHECK_INTERVAL: Duration = Duration::from_secs(1);
/// How long it is remembered that a run has withdrawn its requests: longer than a message of it can be under way.
const WITHDRAWAL_RETENTION: Duration = Duration::from_hours(24);

/// The limits of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountLimits {
    /// Maximum number of tasks in flight; `None` for no limit.
    pub in_flight: Option<usize>,
    pub submit_rate: Option<Rate>,
    /// Maximum number of polls in a second.
    pub polls_per_second: Option<usize>,
    /// Maximum number of downloads at once.
    pub downloads: Option<usize>,
    /// Caps on everything that is reserved and spent.
    pub caps: BudgetCaps,
}

/// The answer to [`Admit`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Admission {
    /// The attempt has a permit, and its cost is reserved.
    Granted,
    /// A limit is reached: the awakeable of the request is resolved with another answer.
    Queued,
    /// A cap would be exceeded.
    BudgetExceeded {
        #[serde(rename = "limit")]
        cap: BudgetCap,
    },
    /// The run has ended early.
    Withdrawn,
}

/// A request that was queued, and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdmissionReply {
    /// The awakeable to resolve.
    pub awakeable: String,
    pub admission: Admission,
}

/// What becomes of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AccountSettlement {
    /// Nothing was accepted: it is released.
    Released,
    /// A task was or may have been accepted: all of it counts as spent.
    Full,
    /// The service does not know the task: all of it counts as spent. It may still be rendered, so it counts as in flight for a while.
    Missing { until: Timestamp },
    /// The actual cost counts as spent.
    Actual {
        /// The cost, in millionths of the currency.
        #[serde(with = "units::micros")]
        cost: Money,
    },
}

/// Permits, reservations, what was spent, and who waits.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccountState {
    /// The latest time that any worker reported. Clocks of workers may differ; this one never goes back.
    now: Timestamp,
    /// The limits that the latest worker reported.
    limits: AccountLimits,
    /// When the permit of each attempt in flight lapses.
    permits: BTreeMap<String, Timestamp>,
    /// The reservation of each attempt that is not settled.
    reserved: BTreeMap<String, Reservation>,
    /// What settled attempts cost.
    spent: Amount,
    /// The submissions that count against the rate.
    submissions: BTreeMap<String, CountedSubmission>,
    /// The limit that the service showed by throttling, until it is as high as the configured one again.
    adaptive: Option<AimdLimiter>,
    /// Limits on polls and downloads.
    shares: Shares,
    /// Requests that wait for a permit, the first one first.
    queue: VecDeque<Admit>,
    /// Runs that have ended early, and when that may be forgotten.
    withdrawn: BTreeMap<String, Timestamp>,
    /// The timer that is set.
    timer: Option<Timestamp>,
}

/// A submission that counts against the rate. The service counts it when it arrives, which is between the permit and the response; so it counts
/// from the permit until a period after the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CountedSubmission {
    /// It is permitted, until the permit lapses.
    Permitted {
        #[serde(rename = "at")]
        until: Timestamp,
    },
    /// It was sent, and its response was there at a time.
    Sent {
        #[serde(rename = "at")]
        responded_at: Timestamp,
    },
}

impl CountedSubmission {
    /// When it counts no longer.
    fn until(self, per: Duration) -> Timestamp {
        match self {
            Self::Permitted { until: time } | Self::Sent { responded_at: time } => time.after(per),
        }
    }
}

impl AccountState {
    /// The time and the limits, as a worker tells them.
    pub fn observe(&mut self, now: Timestamp, limits: AccountLimits) {
        self.now = self.now.max(now);
        self.limits = limits;
        let now = self.now;
        self.withdrawn.retain(|_, until| *until > now);
    }

    /// Admits an attempt, or queues it. Admitting one again changes nothing; one that waits keeps its place.
    pub fn admit(&mut self, request: &Admit) -> Admission {
        if self.withdrawn.contains_key(request.run.as_str()) {
            return Admission::Withdrawn;
        }
        if self.reserved.contains_key(request.attempt.as_str()) {
            return Admission::Granted;
        }
        if let Some(waiting) = self.queue.iter_mut().find(|waiting| waiting.attempt == request.attempt) {
            waiting.awakeable.clone_from(&request.awakeable);
            return Admission::Queued;
        }
        if let Some(cap) = self.exceeded_by(request.reservation) {
            return Admission::BudgetExceeded { cap };
        }
        if !self.queue.is_empty() || self.wait().is_some() {
            self.queue.push_back(request.clone());
            return Admission::Queued;
        }
        self.grant(request);
        Admission::Granted
    }

    /// Answers requests that wait, as far as there are permits.
    pub fn serve(&mut self) -> Vec<AdmissionReply> {
        let mut woken = Vec::new();
        while let Some(first) = self.queue.front() {
            let admission = match self.exceeded_by(first.reservation) {
                Some(cap) => Admission::BudgetExceeded { cap },
                None if self.wait().is_some() => break,
                None => Admission::Granted,
            };
            let Some(first) = self.queue.pop_front() else { break };
            if admission == Admission::Granted {
                self.grant(&first);
            }
            woken.push(AdmissionReply { awakeable: first.awakeable, admission });
        }
        woken
    }

    /// When requests that wait have to be looked at again, if nothing happens before. `None` if that is known already.
    pub fn set_timer(&mut self) -> Option<Timestamp> {
        if self.queue.is_empty() {
            return None;
        }
        let deadline = self.wait()?;
        if self.timer.is_some_and(|timer| timer <= deadline && timer > self.now) {
            return None;
        }
        self.timer = Some(deadline);
        Some(deadline)
    }

    /// The timer that was set for `at` has fired.
    pub fn timer_fired(&mut self, time: Timestamp) {
        self.now = self.now.max(time);
        self.timer = self.timer.filter(|timer| *timer > time);
    }

    /// The latest time that any worker reported.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Takes back the requests of a run that has ended early.
    pub fn withdraw(&mut self, run: &RunId) -> Vec<AdmissionReply> {
        self.withdrawn.insert(run.as_str().to_owned(), self.now.after(WITHDRAWAL_RETENTION));
        let (gone, stay): (VecDeque<Admit>, VecDeque<Admit>) =
            std::mem::take(&mut self.queue).into_iter().partition(|waiting| waiting.run == *run);
        self.queue = stay;
        let withdrawn =
            |waiting: Admit| AdmissionReply { awakeable: waiting.awakeable, admission: Admission::Withdrawn };
        gone.into_iter().map(withdrawn).collect()
    }

    /// Renews the share of a worker of the limits on polls and downloads.
    pub fn renew_share(&mut self, renew: &RenewShare) -> Share {
        self.shares.renew(renew, (self.limits.polls_per_second, self.limits.downloads), self.now)
    }

    /// Ends an attempt. Ending it again changes nothing.
    pub fn finish(
        &mut self,
        attempt: &AttemptId,
        settlement: AccountSettlement,
        throttled: Option<ThrottleNotice>,
    ) {
        let in_flight = self.permits.len();
        self.sent(attempt);
        match settlement {
            AccountSettlement::Missing { until } => self.hold_until(attempt, until),
            AccountSettlement::Released | AccountSettlement::Full | AccountSettlement::Actual { .. } => {
                self.permits.remove(attempt.as_str());
            }
        }
        self.queue.retain(|waiting| waiting.attempt != *attempt);
        let Some(reservation) = self.reserved.remove(attempt.as_str()) else { return };
        if let Some(ThrottleNotice { sent, wait }) = throttled {
            // Without a configured limit, what is in flight is one that the service does not bear.
            let limit = self.limits.in_flight.unwrap_or(in_flight);
            let now = self.now;
            self.adaptive.get_or_insert_with(|| AimdLimiter::new(limit)).slow_down(
                sent,
                now,
                now.after(wait),
            );
        }
        match settlement {
            AccountSettlement::Released => {}
            AccountSettlement::Full | AccountSettlement::Missing { .. } => self.spent += reservation.amount(),
            AccountSettlement::Actual { cost } => {
                let reserved = reservation.cost.unwrap_or(cost);
                self.spent += Amount { cost: cost.min(reserved), ..reservation.amount() };
            }
        }
    }

    /// The service accepted a task: a limit that it showed by throttling grows.
    pub fn accepted(&mut self, attempt: &AttemptId) {
        self.sent(attempt);
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.speed_up();
            if adaptive.is_restored() {
                self.adaptive = None;
            }
        }
    }

    /// Shortens the permit of an attempt: whether its task is in flight is unknown, so it does not hold a permit for as long as one that is.
    pub fn hold_until(&mut self, attempt: &AttemptId, until: Timestamp) {
        self.sent(attempt);
        if let Some(lapses) = self.permits.get_mut(attempt.as_str()) {
            *lapses = until.min(*lapses);
        }
    }

    /// Frees every permit. Reservations stay: money is freed by settling only.
    pub fn reset_permits(&mut self) -> usize {
        std::mem::take(&mut self.permits).len()
    }

    /// Number of attempts that hold a permit.
    pub fn in_flight(&self) -> usize {
        self.permits.len()
    }

    /// Number of attempts that wait for a permit.
    pub fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Ids of the attempts that are not settled: in flight, or indeterminate.
    pub fn open_attempts(&self) -> impl Iterator<Item = &str> {
        self.reserved.keys().map(String::as_str)
    }

    /// The sum of all reservations.
    pub fn reserved(&self) -> Amount {
        let mut sum = Amount::default();
        for reservation in self.reserved.values() {
            sum += reservation.amount();
        }
        sum
    }

    /// What settled attempts cost.
    pub fn spent(&self) -> Amount {
        self.spent
    }

    fn grant(&mut self, request: &Admit) {
        let attempt = request.attempt.as_str().to_owned();
        if self.limits.submit_rate.is_some() {
            let permitted = CountedSubmission::Permitted { until: self.now.after(request.lease) };
            self.submissions.insert(attempt.clone(), permitted);
        }
        self.permits.insert(attempt.clone(), self.now.after(request.lease));
        self.reserved.insert(attempt, request.reservation);
    }

    /// Until when one more has to wait; `None` if there is a permit.
    fn wait(&mut self) -> Option<Timestamp> {
        let now = self.now;
        self.permits.retain(|_, until| *until > now);
        let in_flight = self.permits.len();
        let is_full = self.limits.in_flight.is_some_and(|limit| in_flight >= limit)
            || self.adaptive.as_ref().is_some_and(|limiter| !limiter.admits(in_flight, 0, now));
        if is_full {
            let held_until = self.adaptive.as_ref().and_then(|limiter| limiter.held_until(now));
            // A lease that lapses; until then the end of an attempt is heard of.
            let lapses = self.permits.values().copied().min();
            return Some(held_until.into_iter().chain(lapses).min().unwrap_or(now.after(RECHECK_INTERVAL)));
        }
        self.limits.submit_rate.and_then(|rate| self.next_submission(rate))
    }

    /// The request of an attempt was sent, and its response is there.
    fn sent(&mut self, attempt: &AttemptId) {
        if let Some(submission @ CountedSubmission::Permitted { .. }) =
            self.submissions.get_mut(attempt.as_str())
        {
            *submission = CountedSubmission::Sent { responded_at: self.now };
        }
    }

    /// Until when a submission has to wait, unless the rate allows one now. Responses may shorten the time.
    fn next_submission(&mut self, rate: Rate) -> Option<Timestamp> {
        let now = self.now;
        self.submissions.retain(|_, submission| submission.until(rate.per) > now);
        let count = rate.count.max(1) as usize;
        let excess = self.submissions.len().checked_sub(count)?;
        let mut ends: Vec<_> =
            self.submissions.values().map(|submission| submission.until(rate.per)).collect();
        ends.sort_unstable();
        ends.get(excess).copied()
    }

    fn exceeded_by(&self, requested: Reservation) -> Option<BudgetCap> {
        let caps = &self.limits.caps;
        if caps.is_none() {
            return None;
        }
        let mut reservations = self.reserved.values().chain([&requested]);
        if caps.cost.is_some()
            && !caps.allow_unpriced
            && reservations.any(|reservation| reservation.cost.is_none())
        {
            return Some(BudgetCap::Cost);
        }
        let mut sum = self.reserved();
        sum += self.spent;
        sum += requested.amount();
        caps.exceeded_by(sum)
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
