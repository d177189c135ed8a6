//! Tests of the record of a key.

use std::time::Duration;

use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

use super::*;

fn attempt(id: &str, run: &str) -> NodeAttempt {
    NodeAttempt {
        id: id.into(),
        run: run.into(),
        plan: String::new(),
        node: NodeIx::new(0),
        name: "lamp".to_owned(),
        workflow: "lamp".to_owned(),
        sources: Vec::new(),
        digest: String::new(),
        service: "http://127.0.0.1:1".to_owned(),
        account: Some("a".to_owned()),
        state: AttemptState::Intended,
        reservation: None,
        intended_at: Timestamp(5),
        submitted_at: None,
        task: None,
        suggested_task: None,
        reason: None,
        artifact: None,
        is_replaced: false,
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

#[test]
fn key_has_one_live_attempt() {
    let mut node = NodeRecord::default();
    assert_eq!(node.claim(attempt("r.1", "r")), Ok(()));
    assert_eq!(node.claim(attempt("r.1", "r")), Ok(()), "a step that is run again");
    assert_eq!(node.claim(attempt("s.1", "s")), Err(RunId::from("r")));
    assert_eq!(node.attempts.len(), 1);
    assert_eq!(node.refused(&"r.1".into(), "429"), AccountSettlement::Released, "nothing was accepted");
    assert_eq!(node.claim(attempt("s.1", "s")), Ok(()));
}

#[test]
fn existing_work_follows_the_attempt() {
    let mut node = NodeRecord::default();
    let work = |node: &NodeRecord| node.existing_work(Some("a"), |_| true);
    assert_eq!(work(&node), ExistingWork::None);
    node.claim(attempt("r.1", "r")).expect("the key is free");
    assert_eq!(work(&node), ExistingWork::ClaimedByOtherRun { run: "r".into() });
    node.indeterminate(&"r.1".into(), "no answer", None);
    assert!(matches!(work(&node), ExistingWork::Indeterminate { intended_at: Timestamp(5), .. }));
    node.submitted(&"r.1".into(), &"t".into(), Timestamp(9));
    assert!(matches!(
        work(&node),
        ExistingWork::InFlight { since: Timestamp(9), was_downloaded: false, is_other_account: false, .. }
    ));
    let with_other_account = node.existing_work(Some("b"), |_| true);
    assert!(matches!(with_other_account, ExistingWork::InFlight { is_other_account: true, .. }));
    node.completed(&"r.1".into(), artifact());
    assert!(matches!(work(&node), ExistingWork::Completed { .. }));
    let gone = node.existing_work(Some("a"), |_| false);
    assert!(matches!(gone, ExistingWork::InFlight { was_downloaded: true, .. }));
    let recompleted = node.completed(&"r.1".into(), Artifact { sha256: "01".to_owned(), ..artifact() });
    assert_eq!(
        (recompleted.sha256.as_str(), recompleted.identity_sha256()),
        ("01", "00"),
        "what continues it stays"
    );
    assert!(matches!(work(&node), ExistingWork::Completed { artifact, .. } if artifact == recompleted));
}

#[test]
fn expired_task_is_continued_as_long_as_none_has_replaced_it() {
    let mut node = NodeRecord::default();
    assert!(!node.take_up(), "there is no attempt");
    node.claim(attempt("r.1", "r")).expect("the key is free");
    node.submitted(&"r.1".into(), &"t".into(), Timestamp(9));
    assert!(!node.take_up(), "it holds the key");
    node.end(&"r.1".into(), AttemptState::Expired, "gone");
    // The submission that would have replaced it was refused.
    node.claim(attempt("r.2", "r")).expect("the key is free");
    node.refused(&"r.2".into(), "402");
    let existing = node.existing_work(Some("a"), |_| true);
    assert!(matches!(existing, ExistingWork::InFlight { is_missing: true, .. }), "{existing:?}");
    assert!(node.take_up());
    assert_eq!(node.claim(attempt("s.1", "s")), Err(RunId::from("r")), "it is asked about first");

    node.end(&"r.1".into(), AttemptState::Expired, "gone again");
    node.claim(attempt("s.1", "s")).expect("the key is free");
    node.submitted(&"s.1".into(), &"u".into(), Timestamp(10));
    node.end(&"s.1".into(), AttemptState::Failed, "moderation");
    assert!(!node.take_up(), "another was accepted in its place");
    assert_eq!(node.existing_work(Some("a"), |_| true), ExistingWork::None);
}

#[test]
fn only_open_attempts_are_resolved() {
    let mut node = NodeRecord::default();
    assert_eq!(node.resolve(&"r.1".into(), &Resolution::NotAccepted), Err(None));
    node.claim(attempt("r.1", "r")).expect("the key is free");
    node.indeterminate(&"r.1".into(), "no answer", Some("t".into()));
    assert_eq!(node.resolve(&"r.1".into(), &Resolution::Abandoned), Ok(Some(AccountSettlement::Full)));
    assert_eq!(node.claim(attempt("s.1", "s")), Err(RunId::from("r")), "it is not submitted unasked");
    let accepted = Resolution::Accepted { task: "t".into() };
    assert_eq!(node.resolve(&"r.1".into(), &accepted), Ok(None));
    assert_eq!(node.resolve(&"r.1".into(), &accepted), Err(Some(AttemptState::Submitted)));
}

#[test]
fn message_that_is_sent_again_is_answered_from_the_record() {
    let mut record = NodeRecord::default();
    let (id, node) = (AttemptId::from("r.1"), NodeIx::new(0));
    assert_eq!(record.submission_event(&id, node), None);
    record.claim(attempt("r.1", "r")).expect("the key is free");
    assert_eq!(record.submission_event(&id, node), None, "its outcome is not known");
    record.submitted(&id, &"task_1".into(), Timestamp(9));
    let submitted = Event::Submitted { node, attempt: id.clone(), task: "task_1".into() };
    for state in
        [AttemptState::Submitted, AttemptState::Completed, AttemptState::Failed, AttemptState::Missing]
    {
        record.end(&id, state, "");
        assert_eq!(record.submission_event(&id, node).as_ref(), Some(&submitted), "{state:?}");
    }
    let mut refused = NodeRecord { attempts: vec![attempt("r.1", "r")], ..NodeRecord::default() };
    refused.refused(&id, "429");
    assert!(matches!(refused.submission_event(&id, node), Some(Event::Refused { .. })));
    let mut unknown = NodeRecord { attempts: vec![attempt("r.1", "r")], ..NodeRecord::default() };
    unknown.indeterminate(&id, "no answer", None);
    assert!(matches!(unknown.submission_event(&id, node), Some(Event::Indeterminate { halts: false, .. })));
}

#[test]
fn video_of_a_replaced_task_leaves_the_key_to_its_replacement() {
    let mut node = NodeRecord::default();
    let (first, second) = (AttemptId::from("r.1"), AttemptId::from("s.1"));
    node.claim(attempt("r.1", "r")).expect("the key is free");
    node.submitted(&first, &"t".into(), Timestamp(9));
    // One run gives the task up and pays for another one, while another run downloads its video.
    node.end(&first, AttemptState::Expired, "gone");
    node.claim(attempt("s.1", "s")).expect("the key is free");
    node.submitted(&second, &"u".into(), Timestamp(10));
    assert_eq!(node.completed(&first, artifact()), artifact());
    assert_eq!(node.holder().map(|holder| &holder.id), Some(&second));
    let existing = node.existing_work(Some("a"), |_| true);
    assert!(
        matches!(&existing, ExistingWork::InFlight { task, .. } if *task == TaskId::from("u")),
        "{existing:?}"
    );

    // Where the replacement comes to nothing, the video counts.
    for state in [AttemptState::Failed, AttemptState::Expired] {
        let mut node = node.clone();
        node.end(&second, state, "no video");
        let existing = node.existing_work(Some("a"), |_| true);
        let is_first = matches!(&existing, ExistingWork::Completed { attempt, .. } if *attempt == first);
        let is_asked_again =
            matches!(&existing, ExistingWork::InFlight { attempt, .. } if *attempt == second);
        assert!(if state == AttemptState::Failed { is_first } else { is_asked_again }, "{existing:?}");
        assert!(node.take_up());
        assert!(node.claim(attempt("q.1", "q")).is_err(), "nothing is paid for again");
    }
}

#[test]
fn declined_attempts_are_bounded() {
    let mut record = NodeRecord::default();
    let name = |number: usize| AttemptId(format!("r.{number}"));
    for number in 0..=MAX_DECLINED + 9 {
        record.decline(name(number), Vec::new());
    }
    let is_declined = |number| record.declined_events(&name(number)).is_some();
    assert_eq!(record.declined.len(), MAX_DECLINED);
    assert!(!is_declined(9) && is_declined(10) && is_declined(MAX_DECLINED + 9));
}

/// Every order of what may happen to attempts, in which answers about earlier ones come late.
#[test]
fn key_has_one_holder_in_any_order_of_events() {
    let mut rng = SplitMix64::seed_from_u64(7);
    let mut replaced = 0;
    for _ in 0..1_000 {
        let mut node = NodeRecord::default();
        for step in 0..60 {
            let roll = |rng: &mut SplitMix64, sides: u64| rng.next_u64() % sides;
            let number = roll(&mut rng, 3);
            let (id, run) = (AttemptId(format!("r.{number}")), format!("r{number}"));
            let state = node.attempt(&id).map(|attempt| attempt.state);
            match (roll(&mut rng, 6), state) {
                (0, None) => drop(node.claim(attempt(id.as_str(), &run))),
                (1, Some(AttemptState::Intended)) => {
                    node.submitted(&id, &TaskId(format!("task{number}")), Timestamp(step));
                }
                (2, Some(state)) if state.may_expire(roll(&mut rng, 2) == 0) => {
                    node.end(&id, AttemptState::Expired, "gone");
                }
                (3, Some(AttemptState::Submitted)) => {
                    node.end(&id, AttemptState::Failed, "failed");
                }
                (4, Some(_)) if node.attempt(&id).is_some_and(|attempt| attempt.task.is_some()) => {
                    node.completed(&id, artifact());
                }
                (5, _) => {
                    node.take_up();
                    node.recover_video();
                }
                _ => {}
            }
            let holders = node.attempts.iter().filter(|attempt| attempt.holds_key()).count();
            assert!(holders <= 1, "{node:?}");
            replaced += usize::from(node.attempts.iter().any(|attempt| attempt.is_replaced));
        }
    }
    assert!(replaced > 100, "hardly any task was replaced: {replaced}");
}
