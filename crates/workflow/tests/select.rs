//! Which nodes a person means by a name.

use contract::Contract;
use workflow::plan::{NodeIx, UnknownName};
use workflow::{InMemory, Options, load};

#[test]
fn select_matches_shot_partial_cell_or_instance() {
    let text = "version: 1
name: p
defaults: {model: modela-video-2-0-260128}
shots:
  - {id: harbor, prompt: \"{{ look }} {{ seed }}\", matrix: {look: [noir, pastel], seed: [1, 12]}, seed: \"{{ seed }}\"}
  - {id: lamp, prompt: l, takes: 2}
  - {id: sea, prompt: s}
";
    let plan =
        load(text.as_bytes(), "p.yaml", &InMemory::default(), &Options::default(), Contract::embedded())
            .unwrap();
    let select = |name: &str| -> Vec<String> {
        plan.select(name).unwrap().into_iter().map(|ix| plan.node(ix).name.clone()).collect()
    };
    assert_eq!(select("sea"), ["sea"]);
    assert_eq!(select("harbor").len(), 4);
    assert_eq!(select("harbor@look=noir"), ["harbor@look=noir,seed=1", "harbor@look=noir,seed=12"]);
    assert_eq!(select("harbor@seed=1"), ["harbor@look=noir,seed=1", "harbor@look=pastel,seed=1"]);
    assert_eq!(select("harbor@seed=1,look=pastel"), ["harbor@look=pastel,seed=1"]);
    assert_eq!((select("lamp").len(), select("lamp#2")), (2, vec!["lamp#2".to_owned()]));
    let refused = |name: &str| refusal(plan.select(name));
    assert_eq!(refused("harbr"), "there is no shot `harbr`: did you mean `harbor`?");
    assert!(refused("harbor@look=noirr,seed=1").contains("did you mean `harbor@look=noir,seed=1`?"));
    assert!(refused("lamp#3").contains("did you mean `lamp#"));
    assert_eq!(
        refused("lamp#3"),
        "there is no shot `lamp#3`: `lamp` has 2 takes: did you mean `lamp#2`? With `takes: 3` in the workflow there are more"
    );
    assert_eq!(
        refused("sea#2"),
        "there is no shot `sea#2`: `sea` has no takes: did you mean `sea`? With `takes: 2` in the workflow there are more"
    );
    assert_eq!(
        refused("harbor@look=noir#700"),
        "there is no shot `harbor@look=noir#700`: `harbor@look=noir` has no takes: did you mean `harbor@look=noir`?"
    );
    assert_eq!(refused("sea#1"), "there is no shot `sea#1`: `sea` has no takes: did you mean `sea`?");
    assert_eq!(
        refused("sea, harbor"),
        "there is no shot `sea, harbor`: shots are separated by spaces: `sea harbor`"
    );
    assert_eq!(refused("xyzzy\u{1b}[31m"), "there is no shot `xyzzy\\u{1b}[31m`: ");
}

#[test]
fn select_matches_steps_of_a_repeated_shot_and_groups() {
    let text = "version: 1
name: p
defaults: {model: modelb-video-480p, seconds: 5}
groups: {storm: {}, calm: {}, unused: {}}
shots:
  - {id: walk, group: storm, repeat: 3, takes: 2, pick: 1, prompt: \"part {{ step }}\"}
  - {id: sea, group: storm, prompt: s}
  - {id: door, group: calm, prompt: d}
";
    let plan =
        load(text.as_bytes(), "p.yaml", &InMemory::default(), &Options::default(), Contract::embedded())
            .unwrap();
    let select = |name: &str| -> Vec<String> {
        plan.select(name).unwrap().into_iter().map(|ix| plan.node(ix).name.clone()).collect()
    };
    assert_eq!(select("walk").len(), 6);
    assert_eq!(select("walk#2"), ["walk-1#2", "walk-2#2", "walk-3#2"]);
    assert_eq!(select("walk-2#1"), ["walk-2#1"]);
    assert_eq!(select("group:storm").len(), 7);
    assert_eq!(select("group:calm"), ["door"]);
    let refused = |name: &str| refusal(plan.select(name));
    assert_eq!(refused("wlak"), "there is no shot `wlak`: did you mean `walk`?");
    assert_eq!(refused("group:clam"), "there is no shot in a group `clam`: did you mean `calm`?");
    assert_eq!(
        refused("group:unused"),
        "there is no shot in a group `unused`: its groups are `calm` and `storm`"
    );
}

/// The message and the help of a name that no node has.
fn refusal(selected: Result<Vec<NodeIx>, UnknownName>) -> String {
    let Err(UnknownName { message, help }) = selected else { return "selected".to_owned() };
    format!("{message}: {}", help.unwrap_or_default())
}
