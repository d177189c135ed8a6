//! Tests of the facts about renders.

use scheduler::KeyResolver;

use super::*;

const WORKFLOW: &str = "
version: 1
name: renders
defaults: {model: modelb-video-480p, seconds: 4}
shots:
  - {id: a, prompt: a lamp}
  - {id: b, prompt: a lamp}
";

fn plan() -> Plan {
    let (files, options) = (workflow::InMemory::default(), workflow::Options::default());
    workflow::load(WORKFLOW.as_bytes(), "renders.yaml", &files, &options, contract::Contract::embedded())
        .expect("a plan")
}

fn key(number: u32) -> NodeKey {
    let plan = plan();
    let node = plan.find("a").expect("a shot");
    let request = KeyResolver::new("s").request_key(&plan, node, |_| None).expect("a key");
    request.numbered(number)
}

fn work(number: u32, instance: &str, render: u32, has_video: bool) -> RenderFact {
    RenderFact::Work { key: key(number), instance: instance.to_owned(), render, has_video, seen: 0 }
}

fn asked(instance: &str, render: u32, time: i64) -> RenderFact {
    RenderFact::Asked { renders: vec![one(instance, render)], continued: Vec::new(), time: Timestamp(time) }
}

fn one(instance: &str, render: u32) -> AskedRender {
    AskedRender { instance: instance.to_owned(), render }
}

fn of(facts: impl IntoIterator<Item = RenderFact>) -> WorkflowRenders {
    let mut renders = WorkflowRenders::default();
    facts.into_iter().for_each(|fact| renders.add(fact));
    renders
}

/// What is asked for at a time of its own.
fn ask_for(renders: &WorkflowRenders, instances: &[&str]) -> Vec<AskedRender> {
    let instances = instances.iter().map(|instance| (*instance).to_owned()).collect();
    renders.ask(instances, false, Timestamp(99)).new
}

/// The number that a shot has in a run that begins now, and the render that it is.
fn chosen(renders: &WorkflowRenders, instance: &str) -> (u32, u32) {
    let plan = plan();
    let mut keys = KeyResolver::new("s").with_renders(renders.snapshot(&plan).renders());
    let node = plan.find(instance).expect("a shot");
    let (key, choice) = keys.key(&plan, node, |_| None).expect("a key");
    (key.number(), choice.render)
}

#[test]
fn facts_are_split_into_segments() {
    let count = 2 * u32::try_from(SEGMENT_LEN).expect("a small number") + 3;
    let mut segments: BTreeMap<u64, Vec<RenderFact>> = BTreeMap::new();
    let mut log = RenderLog::default();
    for number in 1..=count {
        for _ in 0..2 {
            log.append(segments.entry(log.open_segment()).or_default(), work(number, "a", number, false));
        }
    }
    let lens: Vec<usize> = segments.values().map(Vec::len).collect();
    assert_eq!(lens.iter().sum::<usize>() as u64, log.len);
    let read = of(segments.into_values().flatten());
    assert_eq!((lens.len(), read.numbers.len()), (3, count as usize));
}

#[test]
fn fact_that_holds_again_is_appended_again() {
    let (mut log, mut segment) = (RenderLog::default(), Vec::new());
    let failed = || RenderFact::Failed { key: key(1), is_final: true };
    for fact in [work(1, "a", 1, false), failed(), failed(), work(1, "a", 1, false)] {
        log.append(&mut segment, fact);
    }
    assert_eq!(segment, [work(1, "a", 1, false), failed(), work(1, "a", 1, false)]);
}

#[test]
fn rerun_is_continued_until_its_render_is_done() {
    let mut renders = of([work(1, "a", 1, true)]);
    assert_eq!(chosen(&renders, "a"), (1, 1));
    assert_eq!(ask_for(&renders, &["a"]), [one("a", 2)]);
    renders.add(asked("a", 2, 5));
    assert_eq!(ask_for(&renders, &["a"]), []);
    assert_eq!(chosen(&renders, "a"), (2, 2));
    renders.add(work(2, "a", 2, false));
    assert_eq!((ask_for(&renders, &["a"]), chosen(&renders, "a")), (vec![], (2, 2)));
    renders.add(work(2, "a", 2, true));
    // The new video counts from now on.
    assert_eq!(chosen(&renders, "a"), (2, 2));
    assert_eq!(ask_for(&renders, &["a"]), [one("a", 3)]);
}

#[test]
fn rerun_that_fails_for_good_or_is_withdrawn_is_not_waited_for() {
    let begun = || of([work(1, "a", 1, true), asked("a", 2, 5), work(2, "a", 2, false)]);
    let withdrawn = || RenderFact::Withdrawn { renders: begun().open(&["a".to_owned()]).collect() };
    let failed = |is_final| RenderFact::Failed { key: key(2), is_final };
    for (end, next) in [
        (failed(true), Some(3)),
        (failed(false), None),
        // Its key stays with the submission that was abandoned.
        (RenderFact::Abandoned { key: key(2) }, Some(3)),
        (withdrawn(), Some(3)),
    ] {
        let mut renders = begun();
        renders.add(end.clone());
        assert_eq!(chosen(&renders, "a"), if next.is_some() { (1, 1) } else { (2, 2) }, "{end:?}");
        let next: Vec<AskedRender> = next.into_iter().map(|render| one("a", render)).collect();
        assert_eq!(ask_for(&renders, &["a"]), next, "{end:?}");
    }
}

#[test]
fn asking_again_with_the_same_message_changes_nothing() {
    let mut renders = of([work(1, "a", 1, true), asked("a", 2, 5)]);
    let another =
        |renders: &WorkflowRenders, time| renders.ask(vec!["a".to_owned()], true, Timestamp(time)).new;
    assert_eq!(another(&renders, 6), [one("a", 3)]);
    renders.add(asked("a", 3, 6));
    assert_eq!(another(&renders, 6), []);
    renders.add(work(2, "a", 3, true));
    assert_eq!(another(&renders, 6), []);
    // The earlier one is still open.
    assert_eq!(ask_for(&renders, &["a"]), []);
}

#[test]
fn number_stays_with_the_shot_that_had_it_first() {
    let mut renders = of([work(1, "a", 1, true)]);
    // A run beside that one, which did not know of it.
    renders.add(work(1, "b", 1, true));
    assert_eq!((chosen(&renders, "a"), chosen(&renders, "b")), ((1, 1), (2, 1)));
    // Of a shot that is gone, a run that knows of it takes the video.
    let mut renders = of([work(1, "gone", 1, true), asked("gone", 2, 5)]);
    assert_eq!(chosen(&renders, "b"), (1, 1));
    let plan = plan();
    assert_eq!(renders.gone(&plan), ["gone"]);
    let found = renders.snapshot(&plan).work(key(1), "b", 1, true);
    renders.add(found);
    assert_eq!((chosen(&renders, "a"), chosen(&renders, "b")), ((2, 1), (1, 1)));
}

#[test]
fn snapshot_has_what_it_was_made_of() {
    let renders = of([work(1, "a", 1, true), asked("a", 2, 5), work(2, "a", 2, true), asked("a", 3, 7)]);
    let snapshot = renders.snapshot(&plan());
    let stored = serde_json::to_string(&snapshot).expect("JSON");
    assert_eq!(serde_json::from_str::<RenderSnapshot>(&stored).expect("the same"), snapshot);
    assert!(snapshot.has(&work(1, "a", 1, true)));
    for new in [work(1, "b", 1, true), work(3, "a", 1, true), work(2, "a", 3, true)] {
        assert!(!snapshot.has(&new), "{new:?}");
    }
}
