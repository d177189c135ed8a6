//! Tests of what attempts on record mean.

use std::fmt::Write as _;
use std::time::Duration;

use super::*;

fn attempt(state: AttemptState) -> RecordedAttempt {
    RecordedAttempt {
        attempt: "r.1".into(),
        run: "r".into(),
        state,
        task: Some("t".into()),
        suggested_task: None,
        reason: Some("no answer".to_owned()),
        intended_at: Timestamp(5),
        submitted_at: Some(Timestamp(9)),
        is_run_alive: true,
        is_other_account: false,
    }
}

fn artifact() -> Artifact {
    Artifact {
        path: "artifacts/00.mp4".into(),
        sha256: "00".to_owned(),
        first_sha256: None,
        bytes: 1,
        duration: Duration::from_secs(4),
        width: 1,
        height: 1,
        last_frame_url: None,
        expires_at: None,
        modified_at: None,
    }
}

fn described(existing: &ExistingWork) -> String {
    let mut text = existing.as_str().to_owned();
    if let ExistingWork::InFlight { was_downloaded, is_missing, is_expired, damage, .. } = existing {
        let damaged = damage.is_some();
        for (name, holds) in [
            ("downloaded", *was_downloaded),
            ("missing", *is_missing),
            ("expired", *is_expired),
            ("damaged", damaged),
        ] {
            if holds {
                write!(text, " {name}").expect("a string");
            }
        }
    }
    text
}

#[test]
fn existing_work_follows_state_task_and_video() {
    use AttemptState::{
        Abandoned, Completed, Expired, Failed, Indeterminate, Intended, Missing, NotAccepted, Refused,
        Submitted,
    };
    let flight = ["in-flight", "in-flight downloaded", "in-flight downloaded damaged"];
    // Without a video, with one that is gone, with one that is damaged; with one that is intact; without a task.
    for (state, by_video, intact, without_task) in [
        (Intended, ["claimed-by-other-run"; 3], "claimed-by-other-run", "claimed-by-other-run"),
        (Indeterminate, ["indeterminate"; 3], "indeterminate", "indeterminate"),
        (Submitted, flight, "completed", "indeterminate"),
        (Completed, flight, "completed", "indeterminate"),
        (
            Missing,
            ["in-flight missing", "in-flight downloaded missing", "in-flight downloaded missing damaged"],
            "completed",
            "indeterminate",
        ),
        (
            Expired,
            [
                "in-flight missing expired",
                "in-flight downloaded missing expired",
                "in-flight downloaded missing expired damaged",
            ],
            "completed",
            "indeterminate",
        ),
        (Failed, ["none"; 3], "none", "none"),
        (Refused, ["none"; 3], "none", "none"),
        (NotAccepted, ["none"; 3], "none", "none"),
        (Abandoned, ["abandoned"; 3], "abandoned", "abandoned"),
    ] {
        let existing = |video| described(&attempt(state).existing_work(video));
        let videos =
            [RecordedVideo::None, RecordedVideo::Missing, RecordedVideo::Damaged("no frames".to_owned())];
        assert_eq!(videos.map(existing), by_video, "{state}");
        assert_eq!(existing(RecordedVideo::Intact(artifact())), intact, "{state}");
        let without = RecordedAttempt { task: None, ..attempt(state) };
        assert!(!without.has_task());
        assert_eq!(described(&without.existing_work(RecordedVideo::None)), without_task, "{state}");
        assert_eq!(attempt(state).has_task(), intact == "completed", "{state}");
    }
}

#[test]
fn existing_work_names_times_account_and_run() {
    let claimed = attempt(AttemptState::Intended).existing_work(RecordedVideo::None);
    assert_eq!(claimed, ExistingWork::ClaimedByOtherRun { run: "r".into() });
    let dead = RecordedAttempt { is_run_alive: false, task: None, ..attempt(AttemptState::Intended) };
    let expected = ExistingWork::Indeterminate {
        attempt: "r.1".into(),
        intended_at: Timestamp(5),
        suggested_task: None,
        reason: Some("no answer".to_owned()),
    };
    assert_eq!(dead.existing_work(RecordedVideo::None), expected, "its run cannot submit it any more");
    for (submitted_at, expected) in [(Some(Timestamp(9)), Timestamp(9)), (None, Timestamp(5))] {
        let other =
            RecordedAttempt { submitted_at, is_other_account: true, ..attempt(AttemptState::Submitted) };
        let existing = other.existing_work(RecordedVideo::None);
        assert!(
            matches!(existing, ExistingWork::InFlight { since, is_other_account: true, .. } if since == expected),
            "{existing:?}"
        );
    }
}

#[test]
fn attempt_expires_from_states_of_a_task_unless_its_video_is_stored() {
    for state in AttemptState::ALL {
        assert_eq!(
            state.may_expire(false),
            matches!(state, AttemptState::Submitted | AttemptState::Completed | AttemptState::Missing),
            "{state}"
        );
        assert!(!state.may_expire(true), "{state}");
    }
}
