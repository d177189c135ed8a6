//! The next step after each kind of failure, with and without a shot's `retry`.

use super::*;

/// A run of `a` and `b`, whose `a` has `retry: {attempts: 2, on: …}`; `None` is the default of `on`.
fn retried(retry_on: Option<&serde_json::Value>) -> Script {
    retried_with_tries(retry_on, 2)
}

fn retried_with_tries(retry_on: Option<&serde_json::Value>, max_download_attempts: u32) -> Script {
    let policy = Policy { max_download_attempts, ..Policy::remote() };
    let plan = plan_with(&["a", "b<a", "c"], |node| {
        if node["name"] == "a" {
            node["retry"] = 2.into();
            if let Some(retry_on) = retry_on {
                node["retry_on"] = retry_on.clone();
            }
        }
    });
    let mut run = Script::with(RunState::new(plan, "test", policy));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("c", completed_work("c"));
    run.submit("a");
    run
}

fn failed(kind: FailureKind) -> PollResult {
    PollResult::Failed { failure: Failure::new(kind, "failed") }
}

/// The video is at neither of its addresses.
fn not_downloaded(run: &mut Script, kind: FailureKind) -> Vec<String> {
    not_downloaded_from(run, kind, kind)
}

fn not_downloaded_from(run: &mut Script, url: FailureKind, content: FailureKind) -> Vec<String> {
    download_failed(run, url);
    run.pass(Duration::from_mins(1));
    run.on(Event::TimerFired);
    download_failed(run, content)
}

fn download_failed(run: &mut Script, kind: FailureKind) -> Vec<String> {
    let failure = Failure::new(kind, "no video");
    run.on(Event::DownloadFailed {
        node: run.ix("a"),
        attempt: attempt("a"),
        failure,
        partial_bytes: 0,
        next: None,
    })
}

#[test]
fn retry_on_decides_which_failures_are_retried() {
    use FailureKind::{
        Abandoned, Corrupt, Expired, InputModerated, Invalid, Local, OutputModerated, Quota, RateLimited,
        Task, Transient, Unauthorized, Unrecorded,
    };
    let all = json!(["failed", "transient", "output-moderated", "corrupt", "expired"]);
    for (kind, by_default, by_all) in [
        (Task, true, true),
        (Transient, true, true),
        (OutputModerated, true, true),
        (Expired, false, true),
        (Corrupt, false, true),
        (InputModerated, false, false),
        (RateLimited, false, false),
        (Quota, false, false),
        (Unauthorized, false, false),
        (Invalid, false, false),
        (Local, false, false),
        (Abandoned, false, false),
        (Unrecorded, false, false),
    ] {
        for (retry_on, is_retried) in
            [(None, by_default), (Some(all.clone()), by_all), (Some(json!([])), false)]
        {
            let mut run = retried(retry_on.as_ref());
            run.polled("a", failed(kind));
            run.pass(Duration::from_mins(1));
            let case = format!("{kind:?} with {retry_on:?}");
            let prepared =
                matches!(run.state.node(run.ix("a")).phase, Phase::Ready { .. } | Phase::Preparing);
            assert_eq!(prepared, is_retried, "{case}");
            assert_eq!(run.state.budget().spent().tasks, 1, "what failed is counted as spent: {case}");
            if is_retried {
                run.on(Event::TimerFired);
                run.submit("a");
                assert_eq!(
                    run.state.budget().reserved().tasks,
                    1,
                    "the next attempt is reserved like any other: {case}"
                );
                run.polled("a", failed(kind));
                let summary = run.state.clone().into_summary(RunId::from("run"));
                assert_eq!((summary.nodes[0].retries(), run.state.budget().spent().tasks), (1, 2), "{case}");
            }
            assert!(
                matches!(run.outcome("a"), Outcome::Failed { failure, .. } if failure.kind == kind),
                "{case}"
            );
            assert_eq!(run.outcome("b"), &Outcome::Blocked { by: run.ix("a") }, "{case}");
            assert!(matches!(run.outcome("c"), Outcome::Done { .. }), "nothing else is touched: {case}");
            assert!(run.state.is_over(), "{case}");
        }
    }
}

#[test]
fn request_refused_by_moderation_is_not_sent_inline() {
    let mut run = Script::new(&["a", "b<a"]);
    run.start();
    run.lookup_done("a", completed_work("a"));
    run.lookup_done("b", ExistingWork::None);
    run.prepared("b");
    let failure = Failure::new(FailureKind::InputModerated, "no");
    let refusal = Refusal { kind: RefusalKind::InvalidRequest, failure, retry_after: None };
    assert!(run.on(Event::refused(run.ix("b"), attempt("b"), refusal)).is_empty());
    assert!(matches!(run.outcome("b"), Outcome::Failed { task: None, .. }));
}

#[test]
fn transient_task_failure_waits_before_retry_and_moderation_does_not() {
    let mut run = retried(None);
    assert_eq!(run.polled("a", failed(FailureKind::Transient)), ["wake in 1000 ms"]);
    let mut run = retried(None);
    assert_eq!(run.polled("a", failed(FailureKind::OutputModerated)), ["prepare a"]);
}

#[test]
fn video_that_is_gone_or_corrupt_is_missing_and_retried_only_if_retry_on_lists_it() {
    for (kind, word) in [(FailureKind::Corrupt, "corrupt"), (FailureKind::Expired, "expired")] {
        let mut without_retry = retried(None);
        without_retry.completed("a");
        assert!(not_downloaded(&mut without_retry, kind).is_empty());
        assert!(
            matches!(without_retry.outcome("a"), Outcome::Missing { task: without_retry, .. } if *without_retry == task("a"))
        );
        assert_eq!(without_retry.state.budget().spent().tasks, 1, "it is paid for");
        assert_eq!(without_retry.state.budget().reserved().tasks, 0);

        let mut with_retry = retried(Some(&json!([word])));
        with_retry.completed("a");
        assert_eq!(not_downloaded(&mut with_retry, kind), ["expire run.a", "prepare a"], "{word}");
        assert_eq!(with_retry.state.budget().spent().tasks, 1, "the first one is paid for");
        with_retry.submit("a");
        with_retry.completed("a");
        assert!(not_downloaded(&mut with_retry, kind).is_empty());
        assert!(matches!(with_retry.outcome("a"), Outcome::Missing { .. }), "the last one is kept");
    }
    // Network and local failures are unrelated to the video.
    for kind in [FailureKind::Transient, FailureKind::Local] {
        let mut run = retried(Some(&json!(["failed", "transient", "corrupt", "expired"])));
        run.completed("a");
        assert!(not_downloaded(&mut run, kind).is_empty());
        assert!(matches!(run.outcome("a"), Outcome::Detached { .. }), "{kind:?}");
    }
}

#[test]
fn video_that_one_address_may_have_is_not_paid_for_again() {
    use FailureKind::{Corrupt, Expired, Transient, Unauthorized};
    for (url, content) in [
        (Transient, Expired),
        (Transient, Corrupt),
        (Unauthorized, Expired),
        (Expired, Transient),
        (Corrupt, Transient),
    ] {
        let mut run = retried(Some(&json!(["corrupt", "expired"])));
        run.completed("a");
        assert!(not_downloaded_from(&mut run, url, content).is_empty(), "{url:?} {content:?}");
        assert!(matches!(run.outcome("a"), Outcome::Detached { .. }), "{url:?} {content:?}");
    }
    // Without a `retry` for it, what the service says of its own endpoint is enough for people.
    let mut run = retried(None);
    run.completed("a");
    not_downloaded_from(&mut run, Unauthorized, Expired);
    assert!(matches!(run.outcome("a"), Outcome::Missing { .. }));
    // The content endpoint decides, in whatever order the addresses are tried.
    let last_at_url = |retry_on: serde_json::Value| {
        let mut run = retried_with_tries(Some(&retry_on), 3);
        let (url, expires_at) = (Some("u".to_owned()), Some(run.now.after(Duration::from_secs(30))));
        run.polled("a", PollResult::Completed { url, last_frame_url: None, expires_at, took: None });
        not_downloaded_from(&mut run, Transient, Expired);
        run.pass(Duration::from_mins(1));
        run.on(Event::TimerFired);
        (download_failed(&mut run, Transient), run)
    };
    let (actions, run) = last_at_url(json!(["failed", "transient", "output-moderated"]));
    assert!(actions.is_empty() && matches!(run.outcome("a"), Outcome::Missing { .. }));
    assert_eq!(last_at_url(json!(["expired"])).0, ["expire run.a", "prepare a"]);
    // By the time that the service gave, what is at the URL has expired as well.
    let mut run = retried(Some(&json!(["expired"])));
    let expires_at = Some(run.now.after(Duration::from_secs(30)));
    let url = Some("u".to_owned());
    run.polled("a", PollResult::Completed { url, last_frame_url: None, expires_at, took: None });
    assert_eq!(not_downloaded_from(&mut run, Unauthorized, Expired), ["expire run.a", "prepare a"]);
}

/// Adopted work, of which `plan` says that nothing is submitted for it.
#[test]
fn task_that_had_a_video_or_was_missing_is_never_retried() {
    let every = json!(["failed", "transient", "output-moderated", "corrupt", "expired"]);
    let adopted = |was_downloaded, is_missing, is_expired| {
        let plan = plan_with(&["a"], |node| {
            node["retry"] = 3.into();
            node["retry_on"] = every.clone();
        });
        let policy = Policy { max_download_attempts: 2, ..Policy::remote() };
        let mut run = Script::with(RunState::new(plan, "test", policy));
        run.start();
        let ExistingWork::InFlight { attempt, task, since, is_other_account, damage, .. } =
            in_flight("a", run.now, false)
        else {
            panic!("in flight")
        };
        run.lookup_done(
            "a",
            ExistingWork::InFlight {
                attempt,
                task,
                since,
                was_downloaded,
                is_missing,
                is_expired,
                is_other_account,
                damage,
            },
        );
        run
    };
    for kind in [FailureKind::Task, FailureKind::Transient, FailureKind::OutputModerated] {
        let mut run = adopted(true, false, false);
        assert!(run.polled("a", failed(kind)).is_empty());
        assert!(matches!(run.outcome("a"), Outcome::Missing { .. }), "its key stays its own: {kind:?}");
        let last = run.state.node(run.ix("a")).shot().attempts().last().map(|attempt| attempt.state);
        assert_eq!(last, Some(scheduler::AttemptState::Missing));

        let mut run = adopted(false, true, false);
        assert!(run.polled("a", failed(kind)).is_empty());
        assert!(matches!(run.outcome("a"), Outcome::Failed { .. }), "{kind:?}");
    }
    for kind in [FailureKind::Corrupt, FailureKind::Expired] {
        for (was_downloaded, is_missing) in [(true, false), (false, true), (true, true)] {
            let mut run = adopted(was_downloaded, is_missing, false);
            run.completed("a");
            assert!(not_downloaded(&mut run, kind).is_empty());
            assert!(matches!(run.outcome("a"), Outcome::Missing { .. }), "{kind:?}");
        }
        // An earlier run gave it up, as the shot's `retry` says, and has submitted nothing in its place.
        let mut run = adopted(false, true, true);
        run.completed("a");
        assert_eq!(not_downloaded(&mut run, kind), ["expire run.a", "prepare a"]);
    }
}

#[test]
fn expired_task_is_retried_only_if_retry_on_lists_expired() {
    let mut run = retried(Some(&json!(["expired"])));
    assert_eq!(run.polled("a", PollResult::NotFound { expired: true }), ["expire run.a", "prepare a"]);
    run.submit("a");
    assert_eq!(run.wait(5_000), ["poll a"]);
    let waits = run.polled("a", PollResult::NotFound { expired: false });
    assert!(waits.iter().all(|action| action.starts_with("wake")), "{waits:?}");
    assert_eq!(run.wait(4_000), ["poll a"], "the new task is polled");
    assert!(run.polled("a", PollResult::NotFound { expired: true }).is_empty());
    assert!(matches!(run.outcome("a"), Outcome::Missing { .. }), "no attempt is left");
}

#[test]
fn retry_respects_the_cap() {
    let plan = plan_with(&["a"], |node| node["retry"] = 3.into());
    let caps = BudgetCaps { tasks: Some(2), ..BudgetCaps::default() };
    let state =
        RunState::new(plan, "test", Policy::remote()).with_budget(Budget::new(caps, Arc::new(NoPrices)));
    let mut run = Script::with(state);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.submit("a");
    assert_eq!(run.polled("a", failed(FailureKind::Task)), ["prepare a"]);
    run.submit("a");
    assert!(run.polled("a", failed(FailureKind::Task)).is_empty());
    assert_eq!(run.state.halt(), Some(&Halt::BudgetExceeded { cap: BudgetCap::Tasks }));
    assert_eq!(run.state.budget().spent().tasks, 2);
}

/// What other runs have reserved counts against the cap too: a task of this run may cost less than is reserved for it, and makes room.
#[test]
fn cap_that_others_use_up_is_waited_for_while_a_reservation_is_open() {
    let caps = BudgetCaps { tasks: Some(9), ..BudgetCaps::default() };
    let others = scheduler::budget::Amount { tasks: 8, ..scheduler::budget::Amount::default() };
    let budget = Budget::new(caps, Arc::new(NoPrices)).with_reserved_by_others(others);
    let plan = plan_with(&["a", "b"], |_| {});
    let mut run = Script::with(RunState::new(plan, "test", Policy::remote()).with_budget(budget));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    assert_eq!(run.lookup_done("b", ExistingWork::None), ["prepare a"]);
    run.prepared("a");
    run.submitted("a");
    run.completed("a");
    assert_eq!(run.downloaded("a"), ["prepare b"], "the ledger knows what is reserved by now");
    let node = run.ix("b");
    assert!(run.on(Event::BudgetExceeded { node, cap: BudgetCap::Tasks }).is_empty());
    assert_eq!(run.state.halt(), Some(&Halt::BudgetExceeded { cap: BudgetCap::Tasks }));
    assert!(run.state.is_over());
}

#[test]
fn interrupted_run_does_not_retry() {
    let mut interrupted = retried(Some(&json!(["corrupt"])));
    interrupted.completed("a");
    interrupted.on(Event::Interrupted);
    assert!(not_downloaded(&mut interrupted, FailureKind::Corrupt).is_empty());
    assert!(matches!(interrupted.outcome("a"), Outcome::Detached { .. }));
}

#[test]
fn video_that_cannot_be_stored_stops_submissions_and_keeps_tasks_in_flight() {
    let names = ["a", "b", "c", "d"];
    let policy = Policy { max_in_flight: 2, ..Policy::local() };
    let mut run = Script::with(RunState::new(plan(&names), "test", policy));
    run.start();
    for name in names {
        run.lookup_done(name, ExistingWork::None);
    }
    run.submit("a");
    run.submit("b");
    run.completed("a");
    let failure = Failure::new(FailureKind::Storage, "No space left on device");
    let (node, attempt) = (run.ix("a"), attempt("a"));
    let event =
        Event::DownloadFailed { node, attempt, failure: failure.clone(), partial_bytes: 0, next: None };
    let actions = run.on(event);
    assert!(!actions.iter().any(|action| action.starts_with("prepare")), "{actions:?}");
    assert!(matches!(run.outcome("a"), Outcome::Detached { .. }));
    assert_eq!(run.outcome("d"), &Outcome::NotStarted);
    assert_eq!(run.state.halt(), Some(&Halt::StorageUnusable { failure }));
    assert_eq!(run.prepared("c"), ["discard c"]);
    run.refused("c", RefusalKind::Retryable, None);
    assert_eq!(run.outcome("c"), &Outcome::NotStarted);
    run.completed("b");
    run.downloaded("b");
    assert!(matches!(run.outcome("b"), Outcome::Done { .. }), "it is tried all the same");
    assert!(run.state.is_over());
}

#[test]
fn folder_that_cannot_be_written_to_stops_the_run_before_it_submits() {
    let mut run = Script::with(RunState::new(plan(&["a", "b"]), "test", Policy::local()));
    run.start();
    run.lookup_done("a", ExistingWork::None);
    run.lookup_done("b", ExistingWork::None);
    let failure = Failure::new(FailureKind::Storage, "read-only file system");
    run.on(Event::PrepareFailed { node: run.ix("a"), failure: failure.clone() });
    assert_eq!(run.outcome("a"), &Outcome::NotStarted);
    assert_eq!(run.prepared("b"), ["discard b"]);
    assert_eq!(run.state.halt(), Some(&Halt::StorageUnusable { failure }));
}
