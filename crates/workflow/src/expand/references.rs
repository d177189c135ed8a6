//! The reference graph of the shots. Unknown names and cycles are reported.

use std::collections::{HashMap, HashSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::media;
use crate::diagnostic::{Diagnostic, Problems, nearest_own, quoted_list};
use crate::source::{Span, Spanned};
use crate::syntax::{Shot, ShotRef, Workflow};

/// A reference from one shot to another.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    /// The index of the referenced shot.
    pub(super) target: usize,
    pub(super) shot_ref: Spanned<ShotRef>,
    /// The key that names it.
    pub(super) key: &'static str,
    /// Whether the referenced shot's frame is the first frame, so that its axes are inherited.
    pub(super) is_first_frame: bool,
}

/// All references, by the index of the referring shot.
pub(super) struct RefGraph {
    pub(super) references: Vec<Vec<Reference>>,
    /// Shots that cannot be expanded: they have an unknown reference, are on a cycle, or reference such a shot.
    pub(super) broken: Vec<bool>,
    /// All shots in topological order: each after those that it references.
    pub(super) order: Vec<usize>,
}

impl RefGraph {
    /// Reads all references. Unknown names and cycles are reported.
    pub(super) fn new(workflow: &Workflow, problems: &mut Problems) -> Self {
        let shots_by_id = workflow.shot_indexes();
        let mut broken = vec![false; workflow.shots.len()];
        let mut references = Vec::with_capacity(workflow.shots.len());
        for (index, shot) in workflow.shots.iter().enumerate() {
            let mut of_shot = Vec::new();
            for (shot_ref, key, is_first_frame) in shot_refs(shot, problems) {
                if let Some(target) = shots_by_id.get(shot_ref.value.shot.as_str()) {
                    of_shot.push(Reference { target: *target, shot_ref, key, is_first_frame });
                } else {
                    broken[index] = true;
                    // The suggestion compares with every id: skip it once no more diagnostics are kept.
                    if !problems.full() {
                        let unknown = unknown_shot(&shot_ref, workflow);
                        let above = index.checked_sub(1).map(|above| &workflow.shots[above].id.value);
                        problems.push(match above {
                            Some(above) if ABOVE.contains(&shot_ref.value.shot.as_str()) => {
                                unknown.help(format!("the shot above is `{above}`: write `{key}: {above}`"))
                            }
                            _ => unknown,
                        });
                    }
                }
            }
            references.push(of_shot);
        }
        let order = topological_order(workflow, &references, &mut broken, problems);
        // A shot that references a broken one is broken too.
        for &index in &order {
            let rests_on_broken = references[index].iter().any(|used| broken[used.target]);
            broken[index] |= rests_on_broken;
        }
        Self { references, broken, order }
    }
}

/// Words for the shot above.
const ABOVE: [&str; 6] = ["previous", "prev", "last", "above", "before", "previous_shot"];

/// The repeated shot, and its number of steps, of which a name has a step that there is not.
fn step_beyond<'n>(name: &'n str, workflow: &Workflow) -> Option<(&'n str, u32)> {
    let (base, step) = name.rsplit_once('-')?;
    step.parse::<u32>().ok()?;
    workflow.repeats.steps.get(base).map(|steps| (base, *steps))
}

/// The diagnostic for a name that no shot has.
pub(super) fn unknown_shot(reference: &Spanned<ShotRef>, workflow: &Workflow) -> Diagnostic {
    let name = &reference.value.shot;
    let ids = || workflow.shots.iter().map(|shot| shot.id.value.as_str());
    let help = match (step_beyond(name, workflow), nearest_own(name, ids())) {
        (Some((base, steps)), _) => format!("`{base}` has {steps} steps: write `{base}` or `{base}-{steps}`"),
        (None, Some(near)) => format!("did you mean `{near}`?"),
        (None, None) => format!("the shots are {}", quoted_list(ids(), 12)),
    };
    Diagnostic::error("unknown-shot", reference.span, format!("there is no shot `{name}`")).help(help)
}

fn shot_refs(shot: &Shot, problems: &mut Problems) -> Vec<(Spanned<ShotRef>, &'static str, bool)> {
    let mut refs = Vec::new();
    if let Some(continues) = &shot.continues {
        refs.push((continues.shot.clone(), "continues", true));
    }
    for (entry, key, is_first_frame) in [
        (shot.first_frame.as_ref(), "first_frame", true),
        (shot.last_frame.as_ref(), "last_frame", false),
        (shot.references.as_deref(), "references", false),
    ] {
        let Some(entry) = entry else { continue };
        for reference in media::shots_named(&entry.value, key, problems) {
            refs.push((reference, key, is_first_frame));
        }
    }
    refs.extend(shot.needs.iter().map(|reference| (reference.clone(), "needs", false)));
    refs
}

/// Shots in topological order. Cycles are reported, and their members appear in file order.
fn topological_order(
    workflow: &Workflow,
    references: &[Vec<Reference>],
    broken: &mut [bool],
    problems: &mut Problems,
) -> Vec<usize> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(references.len(), references.len());
    for _ in references {
        graph.add_node(());
    }
    let mut seen = HashSet::new();
    for (user, used) in references.iter().enumerate() {
        for reference in used {
            if seen.insert((user, reference.target)) {
                graph.add_edge(NodeIndex::new(user), NodeIndex::new(reference.target), ());
            }
        }
    }
    let mut order = Vec::with_capacity(references.len());
    // Tarjan yields components in reverse topological order of the edges: referenced shots first.
    for component in tarjan_scc(&graph) {
        let mut members: Vec<usize> = component.iter().map(|ix| ix.index()).collect();
        members.sort_unstable();
        let is_cyclic =
            members.len() > 1 || references[members[0]].iter().any(|used| used.target == members[0]);
        if is_cyclic {
            problems.push(cycle(workflow, references, &members));
            for index in &members {
                broken[*index] = true;
            }
        }
        order.extend(members);
    }
    order
}

/// The diagnostic for a cycle: a shortest path from its first member in file order back to itself.
fn cycle(workflow: &Workflow, references: &[Vec<Reference>], members: &[usize]) -> Diagnostic {
    let id = |index: usize| workflow.shots[index].id.value.as_str();
    let path = shortest_cycle(references, members);
    let names: Vec<&str> = path.iter().map(|(index, _)| id(*index)).chain([id(members[0])]).collect();
    let label = |used: &Reference| format!("{} `{}`", used.key, used.shot_ref.value);
    let mut labels = path
        .iter()
        .filter_map(|(index, step)| references[*index].get(*step))
        .map(|used| (used.shot_ref.span, label(used)));
    let (span, text) = labels.next().unwrap_or((Span::default(), String::new()));
    if path.len() == 1 {
        return Diagnostic::error("cycle", span, format!("`{}` waits for itself", id(members[0])))
            .label(text)
            .help("name another shot, or remove it");
    }
    let mut diagnostic =
        Diagnostic::error("cycle", span, format!("these shots wait for each other: {}", names.join(" -> ")))
            .label(text);
    for (span, text) in labels.take(8) {
        diagnostic = diagnostic.other(span, text);
    }
    diagnostic.help("one of them has to start without the others")
}

/// The steps (shot, index of its reference) of a shortest path from the first member back to itself.
fn shortest_cycle(references: &[Vec<Reference>], members: &[usize]) -> Vec<(usize, usize)> {
    let start = members[0];
    let mut predecessors: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(index) = queue.pop_front() {
        for (step, used) in references[index].iter().enumerate() {
            if used.target == start {
                let mut path = vec![(index, step)];
                let mut back = index;
                while back != start {
                    let (user, step) = predecessors[&back];
                    path.push((user, step));
                    back = user;
                }
                path.reverse();
                return path;
            }
            if members.binary_search(&used.target).is_ok() && !predecessors.contains_key(&used.target) {
                predecessors.insert(used.target, (index, step));
                queue.push_back(used.target);
            }
        }
    }
    Vec::new()
}
