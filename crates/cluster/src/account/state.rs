//! The state of an account. Pure: time is an input.

use std::collections::BTreeMap;
use std::time::Duration;

use scheduler::budget::{Amount, BudgetLimit, BudgetLimits, Reservation};
use scheduler::policy::Rate;
use scheduler::{AttemptId, Timestamp};
use serde::{Deserialize, Serialize};
use workflow::units::{self, Money};

use crate::messages::Admit;

/// How long to wait for a permit that another attempt holds, before asking again.
const PERMIT_RETRY: Duration = Duration::from_secs(1);

/// The limits of an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountLimits {
    /// Maximum number of tasks in flight; `None` for no limit.
    pub in_flight: Option<usize>,
    /// Maximum submission rate.
    pub submit_rate: Option<Rate>,
    /// Caps on everything that is reserved and spent.
    pub caps: BudgetLimits,
}

/// The answer to [`Admit`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Admission {
    /// The attempt has a permit, and its cost is reserved.
    Granted,
    /// A limit is reached: ask again then.
    Wait {
        /// When.
        until: Timestamp,
    },
    /// A cap would be exceeded.
    BudgetExceeded {
        /// Which.
        limit: BudgetLimit,
    },
}

/// What becomes of a reservation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Settlement {
    /// Nothing was accepted: it is released.
    Released,
    /// A task was or may have been accepted: all of it counts as spent.
    Full,
    /// The actual cost counts as spent.
    Actual {
        /// The cost, in millionths of the currency.
        #[serde(with = "units::micros")]
        cost: Money,
    },
}

/// Permits, reservations and what was spent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AccountState {
    /// When the permit of each attempt in flight lapses.
    permits: BTreeMap<String, Timestamp>,
    /// The reservation of each attempt that is not settled.
    reserved: BTreeMap<String, Reservation>,
    /// What settled attempts cost.
    spent: Amount,
    /// The submissions that count against the rate.
    submissions: BTreeMap<String, CountedSubmission>,
}

/// A submission that counts against the rate. The service counts it when it arrives, which is between the permit and the response; so it counts
/// from the permit until a period after the response.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum CountedSubmission {
    /// It is permitted; `at` is when the permit lapses.
    Permitted { at: Timestamp },
    /// It was sent; `at` is when the response was there.
    Sent { at: Timestamp },
}

impl CountedSubmission {
    /// When it counts no longer.
    fn until(self, per: Duration) -> Timestamp {
        match self {
            Self::Permitted { at } | Self::Sent { at } => at.after(per),
        }
    }
}

impl AccountState {
    /// Admits an attempt, unless a limit or a cap is reached. Admitting one again changes nothing.
    pub fn admit(&mut self, request: &Admit) -> Admission {
        let Admit { attempt, reservation, lease_until, now, limits } = request;
        if self.reserved.contains_key(attempt.as_str()) {
            return Admission::Granted;
        }
        if let Some(limit) = self.exceeded_by(*reservation, &limits.caps) {
            return Admission::BudgetExceeded { limit };
        }
        self.permits.retain(|_, until| *until > *now);
        if limits.in_flight.is_some_and(|limit| self.permits.len() >= limit) {
            return Admission::Wait { until: now.after(PERMIT_RETRY) };
        }
        if let Some(rate) = limits.submit_rate {
            if let Some(until) = self.next_submission(rate, *now) {
                return Admission::Wait { until };
            }
            let permitted = CountedSubmission::Permitted { at: *lease_until };
            self.submissions.insert(attempt.as_str().to_owned(), permitted);
        }
        self.permits.insert(attempt.as_str().to_owned(), *lease_until);
        self.reserved.insert(attempt.as_str().to_owned(), *reservation);
        Admission::Granted
    }

    /// Ends an attempt. Ending it again changes nothing.
    pub fn finish(&mut self, attempt: &AttemptId, settlement: Settlement) {
        self.permits.remove(attempt.as_str());
        let Some(reservation) = self.reserved.remove(attempt.as_str()) else { return };
        match settlement {
            Settlement::Released => {
                if let Some(CountedSubmission::Permitted { .. }) = self.submissions.get(attempt.as_str()) {
                    self.submissions.remove(attempt.as_str());
                }
            }
            Settlement::Full => self.spent += reservation.amount(),
            Settlement::Actual { cost } => {
                let most = reservation.cost.unwrap_or(cost);
                self.spent += Amount { cost: cost.min(most), ..reservation.amount() };
            }
        }
    }

    /// Shortens the permit of an attempt: whether its task is in flight is unknown, so it does not hold a permit for as long as one that is.
    pub fn hold_until(&mut self, attempt: &AttemptId, until: Timestamp) {
        if let Some(lapses) = self.permits.get_mut(attempt.as_str()) {
            *lapses = until.min(*lapses);
        }
    }

    /// The request of an attempt was sent, and its response was there at `at`.
    pub fn sent(&mut self, attempt: &AttemptId, at: Timestamp) {
        if let Some(submission) = self.submissions.get_mut(attempt.as_str()) {
            *submission = CountedSubmission::Sent { at };
        }
    }

    /// Frees every permit. Reservations stay: money is freed by settling only.
    pub fn reset_permits(&mut self) -> usize {
        std::mem::take(&mut self.permits).len()
    }

    /// Number of attempts that hold a permit.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.permits.len()
    }

    /// Ids of the attempts that are not settled: in flight, or indeterminate.
    pub fn open_attempts(&self) -> impl Iterator<Item = &str> {
        self.reserved.keys().map(String::as_str)
    }

    /// The sum of all reservations.
    #[must_use]
    pub fn reserved(&self) -> Amount {
        let mut sum = Amount::default();
        for reservation in self.reserved.values() {
            sum += reservation.amount();
        }
        sum
    }

    /// What settled attempts cost.
    #[must_use]
    pub fn spent(&self) -> Amount {
        self.spent
    }

    /// When to ask again for a submission, if the rate allows none now.
    fn next_submission(&mut self, rate: Rate, now: Timestamp) -> Option<Timestamp> {
        self.submissions.retain(|_, submission| submission.until(rate.per) > now);
        let count = rate.count.max(1) as usize;
        let excess = self.submissions.len().checked_sub(count)?;
        let mut ends: Vec<_> = self
            .submissions
            .values()
            .map(|submission| match submission {
                CountedSubmission::Permitted { .. } => now.after(PERMIT_RETRY),
                CountedSubmission::Sent { .. } => submission.until(rate.per),
            })
            .collect();
        ends.sort_unstable();
        ends.get(excess).copied()
    }

    fn exceeded_by(&self, more: Reservation, caps: &BudgetLimits) -> Option<BudgetLimit> {
        if caps.is_none() {
            return None;
        }
        let mut reservations = self.reserved.values().chain([&more]);
        if caps.cost.is_some() && !caps.allow_unpriced && reservations.any(|one| one.cost.is_none()) {
            return Some(BudgetLimit::Cost);
        }
        let mut sum = self.reserved();
        sum += self.spent;
        sum += more.amount();
        caps.exceeded_by(sum)
    }
}

#[cfg(test)]
mod tests {
    use workflow::units::VideoDuration;

    use super::*;

    fn admit(attempt: u32, now: i64, limits: AccountLimits) -> Admit {
        Admit {
            attempt: AttemptId(format!("r.{attempt}")),
            reservation: Reservation {
                cost: Some(Money::from_micros(10)),
                duration: VideoDuration::from_secs(5),
            },
            lease_until: Timestamp(now + 100_000),
            now: Timestamp(now),
            limits,
        }
    }

    #[test]
    fn permits_are_bounded_and_lapse() {
        let limits = AccountLimits { in_flight: Some(2), ..AccountLimits::default() };
        let mut account = AccountState::default();
        assert_eq!(account.admit(&admit(1, 0, limits)), Admission::Granted);
        assert_eq!(account.admit(&admit(2, 0, limits)), Admission::Granted);
        // Again, as a step that is run again asks.
        assert_eq!(account.admit(&admit(2, 0, limits)), Admission::Granted);
        assert_eq!(account.admit(&admit(3, 0, limits)), Admission::Wait { until: Timestamp(1_000) });
        account.finish(&"r.1".into(), Settlement::Full);
        assert_eq!(account.admit(&admit(3, 50_000, limits)), Admission::Granted);
        // The permit of attempt 2 lapses, its reservation does not.
        assert_eq!(account.admit(&admit(4, 100_000, limits)), Admission::Granted);
        assert_eq!((account.in_flight(), account.reserved().tasks), (2, 3));
    }

    #[test]
    fn permit_of_an_indeterminate_submission_lapses_early_and_its_reservation_stays() {
        let limits = AccountLimits { in_flight: Some(1), ..AccountLimits::default() };
        let mut account = AccountState::default();
        assert_eq!(account.admit(&admit(1, 0, limits)), Admission::Granted);
        account.hold_until(&"r.1".into(), Timestamp(5_000));
        account.hold_until(&"r.1".into(), Timestamp(9_000));
        assert_eq!(account.admit(&admit(2, 4_000, limits)), Admission::Wait { until: Timestamp(5_000) });
        assert_eq!(account.admit(&admit(2, 5_000, limits)), Admission::Granted);
        assert_eq!((account.in_flight(), account.reserved().tasks), (1, 2));
    }

    #[test]
    fn reserved_and_spent_stay_below_the_cap() {
        let caps = BudgetLimits { cost: Some(Money::from_micros(25)), ..BudgetLimits::default() };
        let limits = AccountLimits { caps, ..AccountLimits::default() };
        let mut account = AccountState::default();
        assert_eq!(account.admit(&admit(1, 0, limits)), Admission::Granted);
        assert_eq!(account.admit(&admit(2, 0, limits)), Admission::Granted);
        let exceeded = Admission::BudgetExceeded { limit: BudgetLimit::Cost };
        assert_eq!(account.admit(&admit(3, 0, limits)), exceeded);
        account.finish(&"r.1".into(), Settlement::Actual { cost: Money::from_micros(4) });
        // A task never costs more than what was reserved for it.
        account.finish(&"r.2".into(), Settlement::Actual { cost: Money::from_micros(99) });
        account.finish(&"r.2".into(), Settlement::Full);
        assert_eq!(account.spent().cost.as_micros(), 14);
        assert_eq!(account.admit(&admit(3, 0, limits)), Admission::Granted);
        account.finish(&"r.3".into(), Settlement::Released);
        assert_eq!((account.spent().cost.as_micros(), account.reserved().tasks), (14, 0));
    }

    #[test]
    fn submission_counts_from_its_permit_until_a_period_after_its_response() {
        let limits = AccountLimits { submit_rate: Some(Rate::per_second(2)), ..AccountLimits::default() };
        let mut account = AccountState::default();
        assert_eq!(account.admit(&admit(1, 0, limits)), Admission::Granted);
        assert_eq!(account.admit(&admit(2, 400, limits)), Admission::Granted);
        // Neither was sent yet: both may arrive at any time.
        assert_eq!(account.admit(&admit(3, 1_500, limits)), Admission::Wait { until: Timestamp(2_500) });
        account.sent(&"r.1".into(), Timestamp(1_600));
        account.sent(&"r.2".into(), Timestamp(1_900));
        assert_eq!(account.admit(&admit(3, 2_000, limits)), Admission::Wait { until: Timestamp(2_600) });
        assert_eq!(account.admit(&admit(3, 2_600, limits)), Admission::Granted);
        assert_eq!(account.admit(&admit(4, 2_600, limits)), Admission::Wait { until: Timestamp(2_900) });
    }

    #[test]
    fn submission_that_was_not_sent_does_not_count_and_a_refused_one_does() {
        let limits = AccountLimits { submit_rate: Some(Rate::per_second(1)), ..AccountLimits::default() };
        let mut account = AccountState::default();
        assert_eq!(account.admit(&admit(1, 0, limits)), Admission::Granted);
        account.finish(&"r.1".into(), Settlement::Released);
        assert_eq!(account.admit(&admit(2, 0, limits)), Admission::Granted);
        account.sent(&"r.2".into(), Timestamp(100));
        account.finish(&"r.2".into(), Settlement::Released);
        assert_eq!(account.admit(&admit(3, 200, limits)), Admission::Wait { until: Timestamp(1_100) });
    }

    #[test]
    fn submission_without_response_counts_until_a_period_after_its_permit() {
        let limits = AccountLimits { submit_rate: Some(Rate::per_second(1)), ..AccountLimits::default() };
        let mut account = AccountState::default();
        assert_eq!(account.admit(&admit(1, 0, limits)), Admission::Granted);
        let wait = Admission::Wait { until: Timestamp(101_500) };
        assert_eq!(account.admit(&admit(2, 100_500, limits)), wait);
        assert_eq!(account.admit(&admit(2, 101_000, limits)), Admission::Granted);
    }

    #[test]
    fn unpriced_work_exceeds_a_cap_on_the_cost() {
        let caps = BudgetLimits { cost: Some(Money::from_micros(25)), ..BudgetLimits::default() };
        let limits = AccountLimits { caps, ..AccountLimits::default() };
        let mut request = admit(1, 0, limits);
        request.reservation.cost = None;
        let exceeded = Admission::BudgetExceeded { limit: BudgetLimit::Cost };
        assert_eq!(AccountState::default().admit(&request), exceeded);
        request.limits.caps.allow_unpriced = true;
        assert_eq!(AccountState::default().admit(&request), Admission::Granted);
    }
}
