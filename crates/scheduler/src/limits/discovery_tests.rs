//! Tests of how limits are learned.

use super::*;

fn throttled(time: i64, wait: u64, in_flight: usize) -> ThrottledSubmission {
    let time = Timestamp(time);
    ThrottledSubmission {
        admitted: time,
        left_at: time,
        now: time,
        wait: Duration::from_secs(wait),
        is_asked: true,
        in_flight,
    }
}

const MAX_WAIT: Duration = Duration::from_mins(5);

/// As many acceptances, one each `every` milliseconds, with so many tasks in flight.
fn accept(discovery: &mut LimitDiscovery, begin: i64, every: i64, count: i64, in_flight: usize) {
    for number in 0..count {
        let time = Timestamp(begin + number * every);
        discovery.admitted(time);
        discovery.accepted(time, time, in_flight);
    }
}

#[test]
fn concurrent_posts_are_paced_unless_the_sender_does_it() {
    let (paced, unpaced) = (LimitDiscovery::new(true, MAX_WAIT), LimitDiscovery::new(false, MAX_WAIT));
    assert_eq!(paced.admits(1, 1, Timestamp(0)), Ok(()));
    assert_eq!(paced.admits(2, 2, Timestamp(0)), Err(None));
    assert_eq!(unpaced.admits(60, 60, Timestamp(0)), Ok(()));
}

#[test]
fn rate_is_what_was_accepted_in_the_wait_of_the_first_refusal() {
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    accept(&mut discovery, 1_000, 5, 10, 10);
    discovery.refused(throttled(1_050, 1, 10));
    let limits = ObservedLimits {
        rate: Some(ObservedRate { count: 10, per: Duration::from_millis(1_010) }),
        in_flight: None,
    };
    assert_eq!(discovery.observed(), limits);
    assert_eq!(discovery.admits(10, 0, Timestamp(2_009)), Err(Some(Timestamp(2_010))));
    assert_eq!(discovery.admits(10, 0, Timestamp(2_010)), Ok(()));
    discovery.refused(throttled(1_050, 1, 10));
    assert_eq!(discovery.observed(), limits, "the same volley");
}

#[test]
fn acceptances_before_a_long_pause_explain_no_refusal() {
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    accept(&mut discovery, 1_000, 5, 1, 1);
    discovery.refused(throttled(61_500, 1, 0));
    assert_eq!(discovery.observed(), ObservedLimits::default(), "not one a minute");

    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    accept(&mut discovery, 1_000, 5, 1, 1);
    accept(&mut discovery, 61_000, 5, 2, 2);
    discovery.refused(throttled(61_010, 1, 2));
    let rate = ObservedRate { count: 2, per: Duration::from_millis(1_010) };
    assert_eq!(discovery.observed().rate, Some(rate));

    // A chain whose tasks take ten minutes, at a service with a known rate that refuses once.
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    let rate = Some(ObservedRate { count: 10, per: Duration::from_millis(1_010) });
    let limits = ObservedLimits { rate, in_flight: None };
    discovery.begin_with(limits);
    accept(&mut discovery, 1_000, 5, 1, 1);
    discovery.admitted(Timestamp(601_000));
    discovery.refused(throttled(601_000, 1, 0));
    assert_eq!(discovery.observed(), limits, "not one in ten minutes");

    // 3 in an hour: the pause is shorter than the wait.
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    accept(&mut discovery, 1_000, 60_000, 3, 1);
    discovery.refused(throttled(181_000, 3_420, 0));
    assert_eq!(discovery.observed().rate.map(|rate| rate.count), Some(3));
}

#[test]
fn refusal_after_the_whole_wait_means_a_limit_on_tasks() {
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    accept(&mut discovery, 1_000, 5, 10, 10);
    discovery.refused(throttled(1_050, 1, 10));
    discovery.admitted(Timestamp(2_100));
    discovery.refused(throttled(2_100, 1, 10));
    assert_eq!(discovery.observed(), ObservedLimits { rate: None, in_flight: Some(10) });
    assert_eq!(discovery.admits(10, 0, Timestamp(90_000)), Err(None));
    assert_eq!(discovery.admits(9, 0, Timestamp(90_000)), Ok(()));
}

#[test]
fn recorded_limits_that_admit_nothing_are_learned_again() {
    for (count, per, in_flight) in [(0, 1, Some(0)), (1, 86_400, None), (0, 1, None)] {
        let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
        let rate = Some(ObservedRate { count, per: Duration::from_secs(per) });
        discovery.begin_with(ObservedLimits { rate, in_flight });
        assert_eq!(discovery.observed(), ObservedLimits::default());
    }
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    let rate = Some(ObservedRate { count: 3, per: Duration::from_hours(1).mul_f64(MARGIN) });
    discovery.begin_with(ObservedLimits { rate, in_flight: Some(1) });
    assert_eq!(discovery.observed(), ObservedLimits { rate, in_flight: Some(1) });
}

#[test]
fn rate_that_admits_nothing_for_long_is_tried() {
    let rate = Some(ObservedRate { count: 1, per: Duration::from_hours(1) });
    let limits = ObservedLimits { rate, in_flight: None };
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    discovery.begin_with(limits);
    accept(&mut discovery, 0, 1, 1, 1);
    assert_eq!(discovery.admits(0, 0, Timestamp(302_999)), Err(Some(Timestamp(303_000))));
    assert_eq!(discovery.admits(0, 0, Timestamp(303_000)), Ok(()));
    // Refused: the rate is what it was, and the next one is tried as long after.
    discovery.admitted(Timestamp(303_000));
    discovery.refused(throttled(303_000, 300, 0));
    assert_eq!(discovery.observed(), limits);
    assert_eq!(discovery.admits(0, 0, Timestamp(605_999)), Err(Some(Timestamp(606_000))));
    // Accepted: there is no such rate.
    accept(&mut discovery, 606_000, 1, 1, 1);
    assert_eq!(discovery.observed(), ObservedLimits::default());
}

#[test]
fn refusals_without_an_acceptance_teach_nothing() {
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    for minute in 0..100 {
        discovery.refused(throttled(minute * 60_000, 60, 0));
    }
    assert_eq!(discovery.observed(), ObservedLimits::default());
}

#[test]
fn limits_are_raised_after_a_while_and_lowered_when_that_is_refused() {
    let mut discovery = LimitDiscovery::new(true, MAX_WAIT);
    let rate = |count| ObservedLimits {
        rate: Some(ObservedRate { count, per: Duration::from_secs(1) }),
        in_flight: None,
    };
    discovery.begin_with(rate(10));
    accept(&mut discovery, 0, 100, 99, 50);
    assert_eq!(discovery.observed(), rate(10), "a second run of a hundred");
    accept(&mut discovery, 10_000, 100, 1, 50);
    assert_eq!(discovery.observed(), rate(11));
    discovery.admitted(Timestamp(11_000));
    discovery.refused(throttled(11_000, 1, 50));
    assert_eq!(discovery.observed(), rate(10));
}
