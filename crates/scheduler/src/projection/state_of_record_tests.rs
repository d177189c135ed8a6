//! Tests of the states of shots outside of a run.

use super::*;
use crate::artifact::Artifact;
use crate::event::Event;
use crate::ids::{AttemptId, RunId, Seq, TaskId};
use crate::projection::{RecordedEvent, RunProjection};
use crate::timestamp::Timestamp;

use AttemptState as A;
use StatusKind as S;

/// What the states in which a run can leave an attempt's shot make of each state of the attempt.
#[test]
fn state_after_a_run_by_the_state_of_its_attempt() {
    for (attempt, expected) in [
        (A::Intended, S::Indeterminate),
        (A::Indeterminate, S::Indeterminate),
        (A::Submitted, S::Detached),
        (A::Completed, S::Done),
        (A::Failed, S::Failed),
        (A::Refused, S::Failed),
        (A::Expired, S::Missing),
        (A::Missing, S::Missing),
        (A::NotAccepted, S::NotStarted),
        (A::Abandoned, S::Failed),
    ] {
        assert_eq!(S::after_run(attempt, None), expected, "{attempt}");
    }
    assert_eq!(A::ALL.len(), 10, "the list above has all of them");
    // The run was interrupted while it waited to submit it again, or had submitted it too often.
    assert_eq!(S::after_run(A::Refused, Some(S::NotStarted)), S::NotStarted);
    assert_eq!(S::after_run(A::Failed, Some(S::NotStarted)), S::NotStarted);
    assert_eq!(S::after_run(A::NotAccepted, Some(S::Failed)), S::Failed);
    assert_eq!(S::after_run(A::Submitted, Some(S::AtOtherService)), S::AtOtherService);
}

/// A lookup of a key finds an attempt; the run that has it says more while it is alive.
#[test]
fn state_by_record_agrees_with_that_after_the_run() {
    let attempt = AttemptId::from("r.1");
    let task = TaskId::from("task_1");
    let in_flight = |is_missing| ExistingWork::InFlight {
        attempt: attempt.clone(),
        task: task.clone(),
        since: Timestamp(1),
        was_downloaded: false,
        is_missing,
        is_expired: false,
        is_other_account: false,
        damage: None,
    };
    let indeterminate = || ExistingWork::Indeterminate {
        attempt: attempt.clone(),
        intended_at: Timestamp(1),
        suggested_task: None,
        reason: None,
    };
    for state in A::ALL.iter().copied() {
        // As the ledger's lookup answers, for an attempt of a run that is over.
        let existing = match state {
            A::Intended | A::Indeterminate => indeterminate(),
            A::Submitted => in_flight(false),
            A::Missing | A::Expired => in_flight(true),
            A::Completed => {
                ExistingWork::Completed { attempt: attempt.clone(), task: task.clone(), artifact: artifact() }
            }
            A::Abandoned => ExistingWork::Abandoned { attempt: attempt.clone() },
            A::Failed | A::Refused | A::NotAccepted => ExistingWork::None,
        };
        for left in [S::Failed, S::NotStarted] {
            let last = LastAttempt { state, in_run: Some(StateInRun::Left(left)) };
            assert_eq!(S::from_record(&existing, Some(last)), S::after_run(state, Some(left)), "{state}");
        }
        let last = LastAttempt { state, in_run: Some(StateInRun::Current(S::WaitingForRetry)) };
        let current = S::from_record(&existing, Some(last));
        assert_eq!(current, if state == A::Completed { S::Done } else { S::WaitingForRetry }, "{state}");
    }
    assert_eq!(S::from_record(&ExistingWork::None, None), S::NotStarted);
    let claimed = ExistingWork::ClaimedByOtherRun { run: RunId::from("r") };
    assert_eq!(S::from_record(&claimed, None), S::ClaimedByOtherRun);
    let last = LastAttempt { state: A::Intended, in_run: Some(StateInRun::Current(S::Submitting)) };
    assert_eq!(S::from_record(&claimed, Some(last)), S::Submitting);
    let at_other_service = ExistingWork::OtherService { service: "s".to_owned(), attempt, task: Some(task) };
    assert_eq!(S::from_record(&at_other_service, None), S::AtOtherService);
}

/// The same work at another service ends a shot in a state of its own, whether its task is known or not.
#[test]
fn work_at_another_service_is_not_detached() {
    for task in [Some(TaskId::from("task_1")), None] {
        let mut projection = RunProjection::default();
        let existing = ExistingWork::OtherService {
            service: "https://other.example".to_owned(),
            attempt: AttemptId::from("r.1"),
            task,
        };
        let event = Event::LookupDone { node: node(), key: "k".to_owned(), existing, render: 1 };
        projection.on_event(RecordedEvent {
            seq: Seq(1),
            time: Timestamp(1),
            shot: Some("a".to_owned()),
            event,
        });
        assert_eq!(projection.shot("a").map(crate::Shot::kind), Some(S::AtOtherService));
    }
}

fn node() -> workflow::plan::NodeIx {
    workflow::plan::NodeIx::new(0)
}

fn artifact() -> Artifact {
    Artifact {
        path: "a.mp4".into(),
        sha256: String::new(),
        first_sha256: None,
        bytes: 1,
        duration: std::time::Duration::from_secs(4),
        width: 2,
        height: 2,
        last_frame_url: None,
        expires_at: None,
        modified_at: None,
    }
}
