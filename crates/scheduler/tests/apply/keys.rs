//! The render that a shot is, where the record has changed since the run began.

use scheduler::renders::{AssignedRender, RecordedRenders, RendersOfRequest, Wishes, Work};
use scheduler::{Event, ExistingWork};

use crate::Script;

#[test]
fn number_that_belongs_to_another_shot_by_now_is_left_to_it() {
    let mut run = Script::new(&["a", "b"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    let node = run.ix("a");
    let key = run.state.key(node).expect("a key");
    assert_eq!((key.number(), run.state.render(node)), (1, Some(1)));
    let assigned = vec![AssignedRender { instance: "b".to_owned(), render: 1, number: 1 }];
    let recorded = RecordedRenders {
        request: RendersOfRequest::new(assigned, [(1, Work::Live)]),
        wishes: Wishes::default(),
    };
    let conflict = Event::ClaimConflict {
        node,
        existing: ExistingWork::Changed { attempt: None },
        renders: Some(Box::new(recorded)),
    };
    assert_eq!(run.on(conflict), ["lookup a"]);
    assert_eq!(run.state.key(node), Some(key.numbered(2)));
}

#[test]
fn render_that_was_asked_for_meanwhile_is_made() {
    let mut run = Script::new(&["a"]);
    run.start();
    run.lookup_done("a", ExistingWork::None);
    let node = run.ix("a");
    let key = run.state.key(node).expect("a key");
    let assigned = vec![AssignedRender { instance: "a".to_owned(), render: 1, number: 1 }];
    let recorded = RecordedRenders {
        request: RendersOfRequest::new(assigned, [(1, Work::Video)]),
        wishes: Wishes { open: Some(2), ..Wishes::default() },
    };
    let conflict = Event::ClaimConflict {
        node,
        existing: ExistingWork::Changed { attempt: None },
        renders: Some(Box::new(recorded)),
    };
    assert_eq!(run.on(conflict), ["lookup a"]);
    assert_eq!((run.state.key(node), run.state.render(node)), (Some(key.numbered(2)), Some(2)));
}
