//! The state of an account. Pure: time is an input.

use std::collections::{BTreeMap, VecDeque};
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
    /// Times of the latest submissions, as many as the rate counts.
    submissions: VecDeque<Timestamp>,
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
            let count = rate.count.max(1) as usize;
            while self.submissions.len() > count {
                self.submissions.pop_front();
            }
            if self.submissions.len() == count
                && let Some(until) = self.submissions.front().map(|first| first.after(rate.per))
                && until > *now
            {
                return Admission::Wait { until };
            }
            self.submissions.push_back(*now);
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
            Settlement::Released => {}
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

    /// Frees every permit. Reservations stay: money is freed by settling only.
    pub fn reset_permits(&mut self) -> usize {
        std::mem::take(&mut self.permits).len()
    }

    /// Number of attempts that hold a permit.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.permits.len()
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
    fn submissions_keep_to_the_rate() {
        let limits = AccountLimits { submit_rate: Some(Rate::per_second(2)), ..AccountLimits::default() };
        let mut account = AccountState::default();
        assert_eq!(account.admit(&admit(1, 0, limits)), Admission::Granted);
        assert_eq!(account.admit(&admit(2, 400, limits)), Admission::Granted);
        assert_eq!(account.admit(&admit(3, 500, limits)), Admission::Wait { until: Timestamp(1_000) });
        assert_eq!(account.admit(&admit(3, 1_000, limits)), Admission::Granted);
        assert_eq!(account.admit(&admit(4, 1_000, limits)), Admission::Wait { until: Timestamp(1_400) });
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
