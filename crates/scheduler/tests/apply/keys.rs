//! The key of a shot that two runs render again at the same time.

use scheduler::{Event, ExistingWork, ForcedRerun, KeyResolver, RunId};
use workflow::plan::NodeKey;

use crate::Script;

#[test]
fn rerun_of_another_run_is_continued_under_its_key() {
    let mut run = Script::new(&["a"]);
    let node = run.ix("a");
    let mut keys = KeyResolver::new("https://a.test").with_forced([node], "run-2");
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
