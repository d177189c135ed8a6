//! Waits that the service asks for, deadlines, and times from a clock that was ahead.

use super::*;

const DAY: Duration = Duration::from_hours(24);
/// The run begins at a million milliseconds.
const TOMORROW: Timestamp = Timestamp(1_000_000 + 86_400_000);

/// A run of independent shots whose requests are all being submitted.
fn submitting(names: &[&str], policy: Policy) -> Script {
    let mut run = Script::with(RunState::new(plan(names), "test", policy));
    run.start();
    for name in names {
        run.lookup_done(name, ExistingWork::None);
    }
    for name in names {
        run.prepared(name);
    }
    run
}

/// A run of independent shots whose tasks are all in flight.
fn in_flight_run(names: &[&str], policy: Policy) -> Script {
    let mut run = submitting(names, policy);
    for name in names {
        run.submitted(name);
    }
    run
}

fn with_timeout(names: &[&str], seconds: u64) -> RunState {
    let plan = plan_with(names, |node| node["timeout"] = json!({ "secs": seconds, "nanos": 0 }));
    RunState::new(plan, "test", Policy::remote())
}

fn completed_until(run: &mut Script, name: &str, url: bool, expires_in: Option<Duration>) -> Vec<String> {
    let expires_at = expires_in.map(|time| run.now.after(time));
    let url = url.then(|| "u".to_owned());
    let completed = PollResult::Completed { url, last_frame_url: None, expires_at, took: None };
    run.polled(name, completed)
}

fn download_failed(
    run: &mut Script,
    name: &str,
    retry_after: Option<Duration>,
    partial_bytes: u64,
) -> Vec<String> {
    let failure = Failure { retry_after, ..Failure::new(FailureKind::Transient, "503") };
    let (node, attempt) = (run.ix(name), attempt(name));
    run.on(Event::DownloadFailed { node, attempt, failure, partial_bytes, next: None })
}

/// When the download of a shot begins, from now, and whether at its URL.
fn download(run: &Script, name: &str) -> (Duration, bool) {
    match &run.state.node(run.ix(name)).phase {
        Phase::Downloading(download) | Phase::ReadyToDownload(download) => {
            (download.not_before.since(run.now), download.uses_url())
        }
        phase => panic!("{name} is not downloaded: {phase:?}"),
    }
}

#[test]
fn retry_after_of_zero_uses_the_runners_own_backoff() {
    let mut run = submitting(&["a"], Policy { max_submit_attempts: 8, ..Policy::remote() });
    let mut waited = Duration::ZERO;
    for _ in 1..8 {
        let before = run.now;
        let wakes = run.refused("a", RefusalKind::Throttled, Some(Duration::ZERO));
        assert!(wakes.iter().all(|action| action.starts_with("wake")), "{wakes:?}");
        while run.wait(100) != ["prepare a"] {}
        waited += run.now.since(before);
        run.prepared("a");
    }
    run.refused("a", RefusalKind::Throttled, Some(Duration::ZERO));
    assert!(matches!(run.outcome("a"), Outcome::Failed { .. }));
    assert!(waited >= Duration::from_secs(1 + 2 + 4 + 8 + 16 + 32 + 60), "{waited:?}");
}

#[test]
fn retry_after_of_a_second_does_not_use_up_the_tries() {
    let mut run = submitting(&["a"], Policy::remote());
    for tries in 0..5_u32 {
        assert!(run.refused("a", RefusalKind::Throttled, Some(Duration::from_secs(1))).len() <= 1);
        run.pass(Duration::from_millis(1_000 * (1 << tries) - 1));
        assert!(run.on(Event::TimerFired).iter().all(|action| action.starts_with("wake")));
        run.pass(Duration::from_millis(250 * (1 << tries) + 1));
        assert_eq!(run.on(Event::TimerFired), ["prepare a"]);
        run.prepared("a");
    }
}

#[test]
fn retry_after_of_a_day_holds_submissions_for_minutes_and_then_one_is_tried() {
    for kind in [RefusalKind::Throttled, RefusalKind::Retryable] {
        let policy = Policy { max_in_flight: 4, submit_rate: None, ..Policy::remote() };
        let mut run = submitting(&["a", "b", "c", "d"], policy);
        run.refused("a", kind, Some(DAY));
        for name in ["b", "c", "d"] {
            run.refused(name, kind, Some(DAY));
        }
        let held_until = run.state.submissions_held_until().expect("it is known until when");
        assert_eq!(held_until.since(run.now), Duration::from_mins(5));
        assert!(run.wait(299_999).iter().all(|action| action.starts_with("wake")));
        let tried = run.wait(80_001);
        assert_eq!(tried.iter().filter(|action| action.starts_with("prepare")).count(), 1, "{tried:?}");
    }
}

#[test]
fn throttled_polls_do_not_outlast_a_tasks_timeout() {
    let mut run = Script::with(with_timeout(&["a", "b"], 8));
    run.start();
    for name in ["a", "b"] {
        run.lookup_done(name, ExistingWork::None);
        run.submit(name);
    }
    assert_eq!(run.wait(5_000), ["poll a", "poll b"]);
    run.running("b", None);
    run.throttled("a", Some(Duration::from_secs(45)));
    assert_eq!(run.wait(3_000), ["overdue a", "overdue b"], "eight seconds after their submission");
    for name in ["a", "b"] {
        assert!(run.throttled(name, None).iter().all(|action| !action.starts_with("poll")));
        let Outcome::Detached { reason, .. } = run.outcome(name) else { panic!("{name} is detached") };
        assert_eq!(reason, "it is not finished after 8 s, and the service accepts no polls");
    }
    assert!(run.state.is_over());
}

#[test]
fn retry_after_of_a_day_holds_polls_for_minutes_and_then_one_is_tried() {
    let policy = Policy { poll_rate: Rate::per_second(1_000), ..Policy::remote() };
    let mut run = in_flight_run(&["a", "b", "c"], policy);
    assert_eq!(run.wait(5_000), ["poll a", "poll b", "poll c"]);
    run.running("b", None);
    run.running("c", None);
    run.throttled("a", Some(DAY));
    let held_until = run.state.polls_held_until().expect("it is known until when");
    assert_eq!(held_until.since(run.now), Duration::from_mins(5));
    assert!(run.wait(299_999).iter().all(|action| action.starts_with("wake")));
    let polls = |actions: &[String]| actions.iter().filter(|action| action.starts_with("poll")).count();
    assert_eq!(polls(&run.wait(1)), 1, "b or c, which are due");
    assert_eq!(polls(&run.wait(10_000)), 0, "its response is waited for");
    let answered = run.running("b", None);
    assert_eq!(polls(&answered), 1, "the service answers again: {answered:?}");
}

#[test]
fn polls_that_are_due_within_milliseconds_are_sent_together() {
    let policy = Policy { poll_rate: Rate::per_second(1_000), ..Policy::remote() };
    let mut run = in_flight_run(&["a", "b", "c"], policy);
    assert_eq!(run.wait(5_000), ["poll a", "poll b", "poll c"]);
    run.running("a", None);
    run.pass(Duration::from_millis(8));
    run.running("b", None);
    run.pass(Duration::from_millis(92));
    run.running("c", None);
    let polls = |actions: Vec<String>| -> Vec<String> {
        actions.into_iter().filter(|action| action.starts_with("poll")).collect()
    };
    assert!(polls(run.wait(1_890)).is_empty(), "never within the minimum interval");
    assert_eq!(polls(run.wait(10)), ["poll a", "poll b"]);
    assert_eq!(polls(run.wait(100)), ["poll c"]);
}

#[test]
fn first_poll_of_a_task_is_not_sent_before_it_is_due() {
    let policy = Policy { poll_rate: Rate::per_second(1_000), ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", policy));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("b", ExistingWork::None);
    run.submit("a");
    run.pass(Duration::from_millis(8));
    run.submit("b");
    let polls = |actions: Vec<String>| -> Vec<String> {
        actions.into_iter().filter(|action| action.starts_with("poll")).collect()
    };
    assert_eq!(polls(run.wait(4_992)), ["poll a"]);
    assert_eq!(polls(run.wait(8)), ["poll b"]);
}

#[test]
fn adopted_task_past_its_timeout_is_polled_once_after_a_wait() {
    let mut run = Script::with(with_timeout(&["a", "b"], 60));
    run.start();
    let long_ago = Timestamp(0);
    assert_eq!(run.lookup_done("a", in_flight("a", long_ago, false)), ["poll a"]);
    run.throttled("a", Some(Duration::from_secs(45)));
    assert!(matches!(run.outcome("a"), Outcome::Detached { .. }));
    run.lookup_done("b", in_flight("b", long_ago, false));
    assert_eq!(run.wait(45_000), ["poll b"], "it may have finished long ago");
}

#[test]
fn throttled_download_uses_the_other_address_before_the_file_expires() {
    let mut run = in_flight_run(&["a", "b"], Policy::remote());
    completed_until(&mut run, "a", true, Some(Duration::from_secs(150)));
    completed_until(&mut run, "b", true, None);
    // Long, and still in time: heeded.
    download_failed(&mut run, "a", Some(Duration::from_mins(1)), 0);
    assert!(download(&run, "a").0 >= Duration::from_mins(1));
    run.wait(75_000);
    download_failed(&mut run, "a", Some(Duration::from_mins(1)), 0);
    let (wait, uses_url) = download(&run, "a");
    assert!(wait < Duration::from_secs(3) && uses_url, "it expires in 75 s: {wait:?}");
}

#[test]
fn download_asked_to_wait_a_day_uses_the_other_address() {
    let mut run = in_flight_run(&["a"], Policy::remote());
    completed_until(&mut run, "a", true, None);
    assert_eq!(download_failed(&mut run, "a", Some(DAY), 0), ["download a again"]);
    let (wait, uses_url) = download(&run, "a");
    assert!(wait < Duration::from_secs(2) && !uses_url, "{wait:?}");
    // The other address asks for the same: minutes.
    download_failed(&mut run, "a", Some(DAY), 0);
    let (wait, uses_url) = download(&run, "a");
    assert!(wait >= Duration::from_mins(5) && wait <= Duration::from_secs(375) && uses_url, "{wait:?}");
}

#[test]
fn throttled_download_does_not_hold_a_file_that_expires() {
    let mut run = in_flight_run(&["a", "b"], Policy::remote());
    completed_until(&mut run, "a", true, None);
    let failed = download_failed(&mut run, "a", Some(Duration::from_mins(4)), 0);
    assert!(failed.iter().all(|action| action.starts_with("wake")), "{failed:?}");
    assert_eq!(completed_until(&mut run, "b", true, Some(Duration::from_mins(3))), ["download b"]);
}

#[test]
fn download_ends_at_the_shots_timeout() {
    let mut run = Script::with(with_timeout(&["a"], 20));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.submit("a");
    run.completed("a");
    run.pass(Duration::from_secs(12));
    assert_eq!(download_failed(&mut run, "a", None, 100), ["download a"]);
    let Phase::Downloading(download) = &run.state.node(run.ix("a")).phase else { panic!("downloading") };
    assert_eq!(download.deadline, Some(run.now.after(Duration::from_secs(8))), "from its first try on");
    run.pass(Duration::from_secs(8));
    assert!(download_failed(&mut run, "a", None, 200).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Detached { .. }), "it is paid for, so it is not given up");
}

#[test]
fn download_asked_to_wait_beyond_the_shots_timeout_is_detached() {
    let mut run = Script::with(with_timeout(&["a"], 20));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.submit("a");
    completed_until(&mut run, "a", false, None);
    assert!(download_failed(&mut run, "a", Some(Duration::from_secs(45)), 0).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Detached { .. }), "there is no other address");
}

#[test]
fn slow_download_continues_at_the_other_address() {
    let mut run = in_flight_run(&["a"], Policy::remote());
    run.completed("a");
    run.pass(Duration::from_mins(2));
    download_failed(&mut run, "a", None, 120);
    assert!(!download(&run, "a").1, "120 bytes in two minutes");

    let mut run = in_flight_run(&["a"], Policy::remote());
    run.completed("a");
    run.pass(Duration::from_mins(2));
    download_failed(&mut run, "a", None, 1 << 20);
    assert!(download(&run, "a").1, "a break is resumed where it was");
}

#[test]
fn submission_times_from_a_clock_that_was_ahead_count_as_now() {
    let policy =
        Policy { submit_rate: Some(Rate { count: 2, per: Duration::from_secs(10) }), ..Policy::remote() };
    let history = ServiceHistory { submissions: vec![TOMORROW, TOMORROW], ..ServiceHistory::default() };
    let state = RunState::new(plan(&["a"]), "test", policy.clone()).with_service(
        "test",
        policy,
        history,
        Timestamp(1_000_000),
    );
    let mut run = Script::with(state);
    run.start();
    assert_eq!(run.lookup_done("a", ExistingWork::None), ["wake in 10001 ms"]);
    assert_eq!(run.wait(10_001), ["prepare a"]);
}

#[test]
fn tasks_from_a_clock_that_was_ahead_count_as_submitted_now() {
    let policy = Policy { max_in_flight: 1, ..Policy::remote() };
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", policy));
    run.start();
    run.lookup_done("b", ExistingWork::None);
    let existing = ExistingWork::Indeterminate {
        attempt: attempt("a"),
        intended_at: TOMORROW,
        suggested_task: None,
        reason: None,
    };
    assert_eq!(run.lookup_done("a", existing), ["wake in 600000 ms"], "the hold time of its slot");

    let mut run = Script::with(with_timeout(&["a"], 60));
    run.start();
    assert_eq!(run.lookup_done("a", in_flight("a", TOMORROW, false)), ["poll a"]);
    run.running("a", None);
    run.pass(Duration::from_mins(1));
    run.on(Event::TimerFired);
    run.running("a", None);
    assert!(matches!(run.outcome("a"), Outcome::Detached { .. }), "a minute later, not tomorrow");
}

#[test]
fn downtime_is_not_learned_as_duration() {
    let mut run = Script::new(&["a", "b", "c", "d"]);
    run.start();
    let last_night = Timestamp(run.now.0 - 40_000_000);
    for name in ["a", "b", "c"] {
        run.lookup_done(name, in_flight(name, last_night, false));
    }
    run.lookup_done("d", ExistingWork::None);
    for name in ["a", "b", "c"] {
        run.completed(name);
    }
    run.submit("d");
    assert_eq!(run.wait(5_000), ["poll d"], "the first poll is not put off");
}

#[test]
fn poll_waits_as_long_as_the_service_asks() {
    let mut run = in_flight_run(&["a"], Policy::remote());
    assert_eq!(run.wait(5_000), ["poll a"]);
    let asked = |seconds| PollResult::Running {
        progress: None,
        status: "queued".to_owned(),
        poll_after: Some(Duration::from_secs(seconds)),
    };
    assert_eq!(run.polled("a", asked(1)), ["wake in 2000 ms"], "the least interval");
    assert_eq!(run.wait(2_000), ["poll a"]);
    assert_eq!(run.polled("a", asked(30)), ["wake in 30000 ms"]);
    assert_eq!(run.wait(30_000), ["poll a"]);
    assert_eq!(run.polled("a", asked(86_400)), ["wake in 300000 ms"], "within bounds");
}
