//! Who uses whom: which shots a shot names, with unknown names and rings reported.

use std::collections::HashMap;

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::media;
use crate::diagnostic::{Diagnostic, Problems, did_you_mean, quoted_list};
use crate::source::{Span, Spanned};
use crate::syntax::{Shot, ShotRef, Workflow};

/// One use of a shot by another.
#[derive(Clone, Debug)]
pub(super) struct Use {
    /// The shot that is used, by its position in the file.
    pub(super) target: usize,
    pub(super) reference: Spanned<ShotRef>,
    /// The word that names it.
    pub(super) word: &'static str,
    /// Whether the user begins on the used shot's frame, and so inherits its axes.
    pub(super) begins_on_it: bool,
}

/// All uses, by the position of the user.
pub(super) struct Links {
    pub(super) uses: Vec<Vec<Use>>,
    /// Shots that cannot be expanded: they name what is not there, wait for themselves, or rest on such a shot.
    pub(super) broken: Vec<bool>,
    /// All positions, each after those that it uses.
    pub(super) order: Vec<usize>,
}

pub(super) fn find(workflow: &Workflow, problems: &mut Problems) -> Links {
    let ids: HashMap<&str, usize> =
        workflow.shots.iter().enumerate().map(|(at, shot)| (shot.id.value.as_str(), at)).collect();
    let mut broken = vec![false; workflow.shots.len()];
    let mut uses = Vec::with_capacity(workflow.shots.len());
    for (at, shot) in workflow.shots.iter().enumerate() {
        let mut found = Vec::new();
        for (reference, word, begins_on_it) in named(shot, problems) {
            if let Some(target) = ids.get(reference.value.shot.as_str()) {
                found.push(Use { target: *target, reference, word, begins_on_it });
            } else {
                broken[at] = true;
                // Looking for what was meant is slow where there are thousands of shots.
                if !problems.full() {
                    problems.push(unknown_shot(&reference, workflow));
                }
            }
        }
        uses.push(found);
    }
    let order = order(workflow, &uses, &mut broken, problems);
    // What rests on a broken shot cannot be judged either.
    for &at in &order {
        let rests_on_broken = uses[at].iter().any(|used| broken[used.target]);
        broken[at] |= rests_on_broken;
    }
    Links { uses, broken, order }
}

/// The diagnostic for a name that no shot has.
pub(super) fn unknown_shot(reference: &Spanned<ShotRef>, workflow: &Workflow) -> Diagnostic {
    let name = &reference.value.shot;
    let ids = || workflow.shots.iter().map(|shot| shot.id.value.as_str());
    Diagnostic::error("unknown-shot", reference.span, format!("there is no shot `{name}`")).help(
        did_you_mean(name, ids()).unwrap_or_else(|| format!("the shots are {}", quoted_list(ids(), 12))),
    )
}

fn named(shot: &Shot, problems: &mut Problems) -> Vec<(Spanned<ShotRef>, &'static str, bool)> {
    let mut found = Vec::new();
    if let Some(continues) = &shot.continues {
        found.push((continues.shot.clone(), "continues", true));
    }
    for (entry, word, begins_on_it) in [
        (&shot.first_frame, "first_frame", true),
        (&shot.last_frame, "last_frame", false),
        (&shot.references, "references", false),
    ] {
        let Some(entry) = entry else { continue };
        for reference in media::shots_named(&entry.value, word, problems) {
            found.push((reference, word, begins_on_it));
        }
    }
    found.extend(shot.needs.iter().map(|reference| (reference.clone(), "needs", false)));
    found
}

/// Positions so that each comes after those it uses. Rings are reported and broken up.
fn order(workflow: &Workflow, uses: &[Vec<Use>], broken: &mut [bool], problems: &mut Problems) -> Vec<usize> {
    let mut graph: DiGraph<(), ()> = DiGraph::with_capacity(uses.len(), uses.len());
    for _ in uses {
        graph.add_node(());
    }
    for (user, used) in uses.iter().enumerate() {
        for one in used {
            graph.update_edge(NodeIndex::new(user), NodeIndex::new(one.target), ());
        }
    }
    let mut order = Vec::with_capacity(uses.len());
    // Components come with those that are used first.
    for component in tarjan_scc(&graph) {
        let mut members: Vec<usize> = component.iter().map(|ix| ix.index()).collect();
        members.sort_unstable();
        let waits_for_itself =
            members.len() > 1 || uses[members[0]].iter().any(|used| used.target == members[0]);
        if waits_for_itself {
            problems.push(ring(workflow, uses, &members));
            for at in &members {
                broken[*at] = true;
            }
        }
        order.extend(members);
    }
    order
}

/// Shows one way around a ring, from the member that stands first in the file.
fn ring(workflow: &Workflow, uses: &[Vec<Use>], members: &[usize]) -> Diagnostic {
    let id = |at: usize| workflow.shots[at].id.value.as_str();
    let path = shortest_way_around(uses, members);
    let names: Vec<&str> = path.iter().map(|(at, _)| id(*at)).chain([id(members[0])]).collect();
    let label = |used: &Use| format!("{} `{}`", used.word, used.reference.value);
    let mut places = path
        .iter()
        .filter_map(|(at, step)| uses[*at].get(*step))
        .map(|used| (used.reference.span, label(used)));
    let (span, text) = places.next().unwrap_or((Span::default(), String::new()));
    let mut diagnostic =
        Diagnostic::error("cycle", span, format!("these shots wait for each other: {}", names.join(" -> ")))
            .label(text);
    for (span, text) in places.take(8) {
        diagnostic = diagnostic.other(span, text);
    }
    diagnostic.help("one of them has to begin on its own")
}

/// The steps (user, which of its uses) of a shortest way from the first member back to itself.
fn shortest_way_around(uses: &[Vec<Use>], members: &[usize]) -> Vec<(usize, usize)> {
    let start = members[0];
    let mut came_from: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for (step, used) in uses[at].iter().enumerate() {
            if used.target == start {
                let mut path = vec![(at, step)];
                let mut back = at;
                while back != start {
                    let (user, step) = came_from[&back];
                    path.push((user, step));
                    back = user;
                }
                path.reverse();
                return path;
            }
            if members.binary_search(&used.target).is_ok() && !came_from.contains_key(&used.target) {
                came_from.insert(used.target, (at, step));
                queue.push_back(used.target);
            }
        }
    }
    Vec::new()
}
