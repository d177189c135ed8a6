//! Which nodes a run is to make, as sets of names.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use contract::Contract;
use workflow::plan::{NodeIx, Plan, Selection};
use workflow::{InMemory, Options, load};

/// Two chains that meet: `a - b - c`, `x - y`, and `c` needs `y`; `z` has no edges.
const CHAINS: &str = "version: 1
name: p
defaults: {model: modela-video-2-0-260128, seconds: 4, ratio: '16:9'}
shots:
  - {id: a, prompt: a}
  - {id: b, continues: a, prompt: b}
  - {id: x, prompt: x}
  - {id: y, continues: x, prompt: y}
  - {id: c, continues: b, needs: [y], prompt: c}
  - {id: d, needs: [c], prompt: d}
  - {id: z, prompt: z}
";

fn plan() -> Plan {
    load(CHAINS.as_bytes(), "p.yaml", &InMemory::default(), &Options::default(), Contract::embedded())
        .unwrap_or_else(|report| panic!("{report}"))
}

fn nodes(plan: &Plan, names: &str) -> Vec<NodeIx> {
    names.split_whitespace().flat_map(|name| plan.select(name).unwrap()).collect()
}

fn names(plan: &Plan, nodes: impl IntoIterator<Item = NodeIx>) -> String {
    nodes.into_iter().map(|ix| plan.node(ix).name.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn selection_only_downstream_and_from() {
    let plan = plan();
    for (named, only, downstream, from) in [
        ("b", "b", "b c d", "a b x y c d"),
        ("x", "x", "x y c d", "a b x y c d"),
        ("d", "d", "d", "a b x y c d"),
        ("z", "z", "z", "z"),
        ("z a", "a z", "a b c d z", "a b x y c d z"),
        ("", "", "", ""),
    ] {
        let chosen = || nodes(&plan, named);
        assert_eq!(names(&plan, Selection::only(chosen()).nodes()), only, "only {named}");
        let wider = Selection::only(chosen()).with_downstream(&plan);
        assert_eq!(names(&plan, wider.nodes()), downstream, "only {named}, downstream");
        assert_eq!(names(&plan, Selection::from(&plan, chosen()).nodes()), from, "from {named}");
    }
}

#[test]
fn selection_missing_lists_unmet_dependencies() {
    let plan = plan();
    for (selected, made, missing) in [
        ("b", "", "a<b"),
        ("b", "a", ""),
        ("a b", "", ""),
        ("c", "a", "b<c y<c"),
        ("c", "a b x y", ""),
        // What lies between two selected nodes is not made on its own account.
        ("a c", "x y", "b<c"),
        ("c d", "y", "b<c"),
        ("z", "", ""),
    ] {
        let made = nodes(&plan, made);
        let actual = Selection::only(nodes(&plan, selected)).missing(&plan, |node| made.contains(&node));
        let names: Vec<String> = actual
            .into_iter()
            .map(|(before, node)| format!("{}<{}", plan.node(before).name, plan.node(node).name))
            .collect();
        assert_eq!(names.join(" "), missing, "{selected}");
    }
    assert!(Selection::from(&plan, nodes(&plan, "b")).missing(&plan, |_| false).is_empty());
}
