//! Keys of work that earlier versions recorded under another name of the service.

use std::collections::HashSet;

use scheduler::{Event, ExistingWork, ForcedRerun, KeyResolver, RecordedKeys, RunId};
use workflow::plan::{NodeIx, NodeKey, Plan};

use crate::Script;
use crate::support::{plan, plan_with};

const PRESENT: &str = "https://a.test";
const OLDER: &str = "https://a.test/v1";

fn key(keys: &KeyResolver, plan: &Plan) -> NodeKey {
    keys.key(plan, NodeIx::new(0), |_| None).expect("it depends on no video")
}

fn set(keys: &[&NodeKey]) -> HashSet<NodeKey> {
    keys.iter().map(|key| **key).collect()
}

fn with_recorded(recorded: &[&NodeKey]) -> KeyResolver {
    with_work(recorded, recorded)
}

/// The keys of attempts, and those of attempts that have work.
fn with_work(recorded: &[&NodeKey], with_work: &[&NodeKey]) -> KeyResolver {
    let recorded = RecordedKeys { all: set(recorded), with_work: set(with_work) };
    KeyResolver::new(PRESENT).with_service_aliases(vec![OLDER.to_owned()], recorded)
}

#[test]
fn key_is_that_of_the_name_under_which_the_work_is_recorded() {
    let plan = plan(&["a"]);
    let (present, older) = (key(&KeyResolver::new(PRESENT), &plan), key(&KeyResolver::new(OLDER), &plan));
    assert_ne!(present, older);
    assert_eq!(key(&with_recorded(&[]), &plan), present);
    assert_eq!(key(&with_recorded(&[&older]), &plan), older);
    assert_eq!(key(&with_recorded(&[&older, &present]), &plan), present, "the present name counts");
    // A salt of the run makes other work of it, which has no record.
    let salted = with_recorded(&[&older]).with_salt(Some("x".to_owned()));
    assert_eq!(key(&salted, &plan), key(&KeyResolver::new(PRESENT).with_salt(Some("x".to_owned())), &plan));
}

#[test]
fn work_counts_before_an_attempt_that_was_refused() {
    let plan = plan(&["a"]);
    let (present, older) = (key(&KeyResolver::new(PRESENT), &plan), key(&KeyResolver::new(OLDER), &plan));
    let both = [&present, &older];
    assert_eq!(key(&with_work(&both, &[&older]), &plan), older);
    assert_eq!(key(&with_work(&both, &[]), &plan), present, "none has work");
    assert_eq!(key(&with_work(&[&older], &[]), &plan), older, "one that was refused under the older name");
    // Work that is not on record, but whose description is there.
    let described =
        |keys: KeyResolver, key: NodeKey| keys.with_described_work([], set(&[&key]), RecordedKeys::default());
    assert_eq!(key(&described(with_work(&[&present], &[]), older), &plan), older);
    assert_eq!(key(&described(with_work(&[&older], &[]), present), &plan), present);
    assert_eq!(key(&described(with_work(&[&present], &[&present]), older), &plan), present);
}

#[test]
fn rerun_of_work_under_an_older_name_keeps_its_key() {
    let plan = plan(&["a"]);
    let older = key(&KeyResolver::new(OLDER), &plan);
    let forced = with_recorded(&[&older]).with_forced([NodeIx::new(0)], "run-2");
    let rerun = forced.forced_rerun(&plan, NodeIx::new(0), |_| None).expect("it is forced");
    let new = key(&forced, &plan);
    assert_ne!(new, older);
    let base = NodeKey::parse(&rerun.key).expect("a key");
    let salts = std::collections::HashMap::from([(base, rerun.salt)]);
    let later = with_recorded(&[&older, &new]).with_recorded_salts(salts);
    assert_eq!(key(&later, &plan), new);
    // One that has not ended is continued.
    let continued =
        later.with_forced([NodeIx::new(0)], "run-3").with_unfinished_reruns(HashSet::from([base]));
    assert_eq!(key(&continued, &plan), new);
}

#[test]
fn key_is_the_one_that_an_earlier_version_recorded_with_another_number() {
    let plan = plan_with(&["a"], |node| node["earlier_occurrence"] = 1.into());
    let node = NodeIx::new(0);
    let (first, earlier_of) = (plan.node(node), workflow::plan::earlier_key);
    let (earlier, earlier_at_other_service) =
        (earlier_of(first, PRESENT, &[]).unwrap(), earlier_of(first, OLDER, &[]).unwrap());
    let present = key(&KeyResolver::new(PRESENT), &plan);
    let numbered = |keys: &[&NodeKey]| {
        KeyResolver::new(PRESENT).with_numbered_keys(keys.iter().map(|key| **key).collect())
    };
    assert_eq!(key(&numbered(&[]), &plan), present);
    assert_eq!(key(&numbered(&[&earlier]), &plan), earlier);
    assert_eq!(key(&numbered(&[&earlier_at_other_service]), &plan), present, "work of another service");
    let with_alias = numbered(&[&earlier_at_other_service])
        .with_service_aliases(vec![OLDER.to_owned()], RecordedKeys::default());
    assert_eq!(key(&with_alias, &plan), earlier_at_other_service);

    // A rerun of it counts, and is the rerun of that key.
    let forced = numbered(&[&earlier]).with_forced([node], "run-2");
    let rerun = forced.forced_rerun(&plan, node, |_| None).expect("it is forced");
    assert_eq!(rerun.key, earlier.to_string());
    let salts = std::collections::HashMap::from([(earlier, rerun.salt.clone())]);
    let later = numbered(&[&earlier]).with_recorded_salts(salts);
    assert_eq!(key(&later, &plan), earlier.salted(&rerun.salt));
    // As the same work at any service.
    let independent = |keys: &KeyResolver| keys.service_independent_key(&plan, node, |_| None);
    assert_eq!(independent(&numbered(&[&earlier])), earlier_of(first, "", &[]));
    assert_ne!(independent(&numbered(&[])), earlier_of(first, "", &[]));
}

#[test]
fn rerun_of_another_run_is_continued_under_its_key() {
    let mut run = Script::new(&["a"]);
    let node = run.ix("a");
    let mut keys = KeyResolver::new(PRESENT).with_forced([node], "run-2");
    let own = keys.forced_rerun(run.state.plan(), node, |_| None).expect("it is forced");
    let rerun = ForcedRerun { salt: "run-1".to_owned(), ..own.clone() };
    run.state = run.state.with_keys(keys.clone());
    run.start();
    run.lookup_done("a", ExistingWork::None);
    let before = run.state.key(node);
    let claimed = Event::ClaimConflict {
        node,
        existing: ExistingWork::ClaimedByOtherRun { run: RunId::from("run-1") },
        rerun: Some(Box::new(rerun.clone())),
    };
    assert_eq!(run.on(claimed), ["lookup a"]);
    let base = NodeKey::parse(&own.key).expect("a key");
    assert_eq!((before, run.state.key(node)), (Some(base.salted("run-2")), Some(base.salted("run-1"))));
    assert_eq!(run.state.forced_rerun(node), None, "where it is free after all, it is that rerun's");
    assert_eq!(run.state.rerun(node).map(|rerun| rerun.salt), Some("run-1".to_owned()));

    keys.continue_rerun(&rerun);
    let later = keys.with_forced([node], "run-3").forced_rerun(run.state.plan(), node, |_| None);
    assert_eq!(later, None);
}
