//! Tests of the state of an account.

use workflow::units::VideoDuration;

use super::*;

/// A request of a run's attempt, such as `r.1`.
fn request(attempt: &str) -> Admit {
    let run = attempt.split('.').next().unwrap_or_default();
    Admit {
        attempt: attempt.into(),
        run: RunId::from(run),
        reservation: Reservation {
            cost: Some(Money::from_micros(10)),
            duration: VideoDuration::from_secs(5),
        },
        lease: Duration::from_secs(100),
        awakeable: format!("wakes {attempt}"),
    }
}

fn admit(account: &mut AccountState, attempt: &str, now: i64, limits: AccountLimits) -> Admission {
    account.observe(Timestamp(now), limits);
    account.admit(&request(attempt))
}

/// Who is woken, and with what.
fn woken(woken: Vec<AdmissionReply>) -> Vec<(String, Admission)> {
    let attempt = |woken: &AdmissionReply| woken.awakeable.trim_start_matches("wakes ").to_owned();
    woken.into_iter().map(|woken| (attempt(&woken), woken.admission)).collect()
}

fn granted(attempts: &[&str]) -> Vec<(String, Admission)> {
    attempts.iter().map(|attempt| ((*attempt).to_owned(), Admission::Granted)).collect()
}

fn in_flight(limit: usize) -> AccountLimits {
    AccountLimits { in_flight: Some(limit), ..AccountLimits::default() }
}

#[test]
fn permits_are_bounded_and_lapse() {
    let limits = in_flight(2);
    let mut account = AccountState::default();
    assert_eq!(admit(&mut account, "r.1", 0, limits), Admission::Granted);
    assert_eq!(admit(&mut account, "r.2", 0, limits), Admission::Granted);
    // Again, as a step that is run again asks.
    assert_eq!(admit(&mut account, "r.2", 0, limits), Admission::Granted);
    assert_eq!(admit(&mut account, "r.3", 0, limits), Admission::Queued);
    assert_eq!(account.set_timer(), Some(Timestamp(100_000)), "when a permit lapses");
    account.finish(&"r.1".into(), AccountSettlement::Full, None);
    account.observe(Timestamp(50_000), limits);
    assert_eq!(woken(account.serve()), granted(&["r.3"]));
    // The permit of attempt 2 lapses, its reservation does not.
    assert_eq!(admit(&mut account, "r.4", 100_000, limits), Admission::Granted);
    assert_eq!((account.in_flight(), account.reserved().tasks), (2, 3));
}

#[test]
fn requests_are_served_in_their_order_over_all_runs() {
    let limits = in_flight(1);
    let mut account = AccountState::default();
    assert_eq!(admit(&mut account, "a.1", 0, limits), Admission::Granted);
    for attempt in ["a.2", "b.1", "a.3"] {
        assert_eq!(admit(&mut account, attempt, 0, limits), Admission::Queued);
    }
    // Asking again keeps the place, and is answered at the new awakeable.
    let repeated = Admit { awakeable: "wakes anew".to_owned(), ..request("a.2") };
    assert_eq!(account.admit(&repeated), Admission::Queued);
    assert_eq!(account.waiting(), 3);
    account.finish(&"a.1".into(), AccountSettlement::Full, None);
    // A new request does not overtake those that wait, although there is a permit.
    assert_eq!(admit(&mut account, "c.1", 0, limits), Admission::Queued);
    assert_eq!(woken(account.serve()), granted(&["anew"]));
    for (ended, next) in [("a.2", "b.1"), ("b.1", "a.3"), ("a.3", "c.1")] {
        account.finish(&ended.into(), AccountSettlement::Full, None);
        assert_eq!(woken(account.serve()), granted(&[next]));
    }
    assert_eq!((account.waiting(), account.set_timer()), (0, None));
}

#[test]
fn run_that_ends_early_gets_no_permit() {
    let limits = in_flight(1);
    let mut account = AccountState::default();
    assert_eq!(admit(&mut account, "a.1", 0, limits), Admission::Granted);
    for attempt in ["a.2", "b.1", "a.3"] {
        assert_eq!(admit(&mut account, attempt, 0, limits), Admission::Queued);
    }
    let withdrawn = |attempt: &str| (attempt.to_owned(), Admission::Withdrawn);
    assert_eq!(woken(account.withdraw(&RunId::from("a"))), [withdrawn("a.2"), withdrawn("a.3")]);
    // A request that was under way.
    assert_eq!(admit(&mut account, "a.4", 1_000, limits), Admission::Withdrawn);
    account.finish(&"a.1".into(), AccountSettlement::Full, None);
    assert_eq!(woken(account.serve()), granted(&["b.1"]));
    // It is not remembered for ever.
    account.observe(Timestamp(25 * 3_600_000), limits);
    assert_eq!(account, AccountState { withdrawn: BTreeMap::new(), ..account.clone() });
}

#[test]
fn throttling_of_one_run_slows_all() {
    let limits = in_flight(8);
    let mut account = AccountState::default();
    for attempt in 1..=4 {
        assert_eq!(admit(&mut account, &format!("a.{attempt}"), 0, limits), Admission::Granted);
    }
    let throttled = ThrottleNotice { sent: Timestamp(1_000), wait: Duration::from_secs(7) };
    account.observe(Timestamp(1_100), limits);
    account.finish(&"a.4".into(), AccountSettlement::Released, Some(throttled));
    assert_eq!(admit(&mut account, "b.1", 2_000, limits), Admission::Queued, "nothing is sent for 7 s");
    assert_eq!(account.set_timer(), Some(Timestamp(8_100)));
    account.timer_fired(Timestamp(8_100));
    assert_eq!(woken(account.serve()), granted(&["b.1"]), "the limit is 4 now");
    assert_eq!(admit(&mut account, "b.2", 8_200, limits), Admission::Queued);
    for _ in 0..64 {
        account.accepted(&"a.1".into());
    }
    assert_eq!(woken(account.serve()), granted(&["b.2"]), "it grows with what is accepted");
    assert_eq!(account.adaptive, None);
}

#[test]
fn throttling_limits_an_account_without_a_limit() {
    let limits = AccountLimits::default();
    let mut account = AccountState::default();
    for attempt in 1..=6 {
        assert_eq!(admit(&mut account, &format!("a.{attempt}"), 0, limits), Admission::Granted);
    }
    let throttled = ThrottleNotice { sent: Timestamp(1_000), wait: Duration::from_secs(1) };
    account.observe(Timestamp(1_000), limits);
    account.finish(&"a.6".into(), AccountSettlement::Released, Some(throttled));
    assert_eq!(admit(&mut account, "b.1", 2_000, limits), Admission::Queued);
    for attempt in 1..=3 {
        account.finish(&AttemptId(format!("a.{attempt}")), AccountSettlement::Full, None);
    }
    assert_eq!(woken(account.serve()), granted(&["b.1"]), "three at once, half of six");
}

#[test]
fn permit_of_an_indeterminate_submission_lapses_early_and_its_reservation_stays() {
    let limits = in_flight(1);
    let mut account = AccountState::default();
    assert_eq!(admit(&mut account, "r.1", 0, limits), Admission::Granted);
    account.hold_until(&"r.1".into(), Timestamp(5_000));
    account.hold_until(&"r.1".into(), Timestamp(9_000));
    assert_eq!(admit(&mut account, "r.2", 4_000, limits), Admission::Queued);
    assert_eq!(account.set_timer(), Some(Timestamp(5_000)));
    assert_eq!(account.set_timer(), None, "it is set");
    account.timer_fired(Timestamp(5_000));
    assert_eq!(woken(account.serve()), granted(&["r.2"]));
    assert_eq!((account.in_flight(), account.reserved().tasks), (1, 2));
}

#[test]
fn task_that_the_service_does_not_know_is_paid_for_and_counts_as_in_flight_for_a_while() {
    let limits = in_flight(1);
    let mut account = AccountState::default();
    assert_eq!(admit(&mut account, "r.1", 0, limits), Admission::Granted);
    account.finish(&"r.1".into(), AccountSettlement::Missing { until: Timestamp(60_000) }, None);
    assert_eq!((account.spent().tasks, account.reserved().tasks), (1, 0));
    assert_eq!(admit(&mut account, "r.2", 59_000, limits), Admission::Queued);
    assert_eq!(account.set_timer(), Some(Timestamp(60_000)));
    account.timer_fired(Timestamp(60_000));
    assert_eq!(woken(account.serve()), granted(&["r.2"]));
}

#[test]
fn reserved_and_spent_stay_below_the_cap() {
    let caps = BudgetCaps { cost: Some(Money::from_micros(25)), ..BudgetCaps::default() };
    let limits = AccountLimits { caps, ..AccountLimits::default() };
    let mut account = AccountState::default();
    assert_eq!(admit(&mut account, "r.1", 0, limits), Admission::Granted);
    assert_eq!(admit(&mut account, "r.2", 0, limits), Admission::Granted);
    let exceeded = Admission::BudgetExceeded { cap: BudgetCap::Cost };
    assert_eq!(admit(&mut account, "r.3", 0, limits), exceeded);
    account.finish(&"r.1".into(), AccountSettlement::Actual { cost: Money::from_micros(4) }, None);
    // A task never costs more than what was reserved for it.
    account.finish(&"r.2".into(), AccountSettlement::Actual { cost: Money::from_micros(99) }, None);
    account.finish(&"r.2".into(), AccountSettlement::Full, None);
    assert_eq!(account.spent().cost.as_micros(), 14);
    assert_eq!(admit(&mut account, "r.3", 0, limits), Admission::Granted);
    account.finish(&"r.3".into(), AccountSettlement::Released, None);
    assert_eq!((account.spent().cost.as_micros(), account.reserved().tasks), (14, 0));
}

#[test]
fn cap_that_is_reached_meanwhile_ends_the_wait() {
    let caps = BudgetCaps { cost: Some(Money::from_micros(25)), ..BudgetCaps::default() };
    let limits = AccountLimits { in_flight: Some(2), caps, ..AccountLimits::default() };
    let mut account = AccountState::default();
    assert_eq!(admit(&mut account, "r.1", 0, limits), Admission::Granted);
    account.observe(Timestamp(0), AccountLimits { in_flight: Some(1), ..limits });
    assert_eq!(account.admit(&request("r.2")), Admission::Queued);
    assert_eq!(account.admit(&request("r.3")), Admission::Queued);
    account.observe(Timestamp(0), AccountLimits { in_flight: Some(2), ..limits });
    let exceeded = Admission::BudgetExceeded { cap: BudgetCap::Cost };
    let expected = [("r.2".to_owned(), Admission::Granted), ("r.3".to_owned(), exceeded)];
    assert_eq!(woken(account.serve()), expected);
}

fn per_second(count: u32) -> AccountLimits {
    AccountLimits { submit_rate: Some(Rate::per_second(count)), ..AccountLimits::default() }
}

#[test]
fn submission_counts_from_its_permit_until_a_period_after_its_response() {
    let limits = per_second(2);
    let mut account = AccountState::default();
    assert_eq!(admit(&mut account, "r.1", 0, limits), Admission::Granted);
    assert_eq!(admit(&mut account, "r.2", 400, limits), Admission::Granted);
    // Neither has a response: both may arrive at any time.
    assert_eq!(admit(&mut account, "r.3", 1_500, limits), Admission::Queued);
    account.observe(Timestamp(1_600), limits);
    account.accepted(&"r.1".into());
    assert_eq!((woken(account.serve()), account.set_timer()), (granted(&[]), Some(Timestamp(2_600))));
    account.observe(Timestamp(1_900), limits);
    account.hold_until(&"r.2".into(), Timestamp(9_000));
    // What ends it later does not make it count for longer.
    account.observe(Timestamp(2_500), limits);
    account.finish(&"r.1".into(), AccountSettlement::Full, None);
    account.timer_fired(Timestamp(2_600));
    assert_eq!(woken(account.serve()), granted(&["r.3"]));
    assert_eq!(admit(&mut account, "r.4", 2_600, limits), Admission::Queued);
    assert_eq!(account.set_timer(), Some(Timestamp(2_900)));
}

#[test]
fn unpriced_work_exceeds_a_cap_on_the_cost() {
    let caps = BudgetCaps { cost: Some(Money::from_micros(25)), ..BudgetCaps::default() };
    let limits = AccountLimits { caps, ..AccountLimits::default() };
    let mut unpriced = request("r.1");
    unpriced.reservation.cost = None;
    let mut account = AccountState::default();
    account.observe(Timestamp(0), limits);
    let exceeded = Admission::BudgetExceeded { cap: BudgetCap::Cost };
    assert_eq!(account.admit(&unpriced), exceeded);
    account
        .observe(Timestamp(0), AccountLimits { caps: BudgetCaps { allow_unpriced: true, ..caps }, ..limits });
    assert_eq!(account.admit(&unpriced), Admission::Granted);
}
