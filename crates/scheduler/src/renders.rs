//! The renders of each instance: which of them a node is, and which number of its key that is.
//!
//! An instance has renders 1, 2, …: those that the file wants (`takes`), and those that were asked for (`run --rerun`). Each is found by the key
//! of its request and a number within that key. A number is assigned to a workflow and an instance for good, so that nothing that one shot
//! does moves the video of another. What is recorded is read once ([`Renders`]); the record decides again in the transaction of each intent.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::BuildHasher;

use serde::{Deserialize, Serialize};
use workflow::AskedRenders;
use workflow::plan::{Node, NodeKey, Plan};

use crate::attempt_state::AttemptState;
use crate::event::AskedRender;
use crate::timestamp::Timestamp;

/// A number of a key that belongs to an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AssignedRender {
    /// The name of the instance, without the number of a take.
    pub instance: String,
    /// The number in its list of renders, from 1.
    pub render: u32,
    /// The number within the key.
    pub number: u32,
}

/// What there is under a number of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Its task is missing, or its submission abandoned: nothing is submitted in its place unasked.
    Lost,
    /// A task in flight, or a submission that may have been accepted.
    Live,
    Video,
}

impl Work {
    /// That of an attempt in this state; `None` if it releases its key.
    pub fn of(state: AttemptState) -> Option<Self> {
        match state {
            AttemptState::Completed => Some(Self::Video),
            AttemptState::Missing | AttemptState::Abandoned => Some(Self::Lost),
            AttemptState::Intended
            | AttemptState::Indeterminate
            | AttemptState::Submitted
            // Given up by a `retry`: it is asked about before another one is paid for.
            | AttemptState::Expired => Some(Self::Live),
            AttemptState::Failed | AttemptState::Refused | AttemptState::NotAccepted => None,
        }
    }
}

/// What is on record for one request. Each question costs as much as the instance has renders, however many instances have the same request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredRenders", into = "StoredRenders")]
pub struct RendersOfRequest {
    /// By instance of the plan, its renders and their numbers.
    assigned: HashMap<String, Vec<Choice>>,
    /// All of these numbers.
    owned: HashSet<u32>,
    /// Numbers under which there is work, in any workflow.
    work: BTreeMap<u32, Work>,
    /// Those of them that belong to no instance of the plan.
    unowned: BTreeSet<u32>,
    /// Every number below is taken.
    first_unused: u32,
}

/// [`RendersOfRequest`] as it is stored: lists, because an event, which has a tag, could not be read back with numbers as names.
#[derive(Serialize, Deserialize)]
struct StoredRenders {
    assigned: Vec<AssignedRender>,
    work: Vec<(u32, Work)>,
}

impl From<StoredRenders> for RendersOfRequest {
    fn from(stored: StoredRenders) -> Self {
        Self::new(stored.assigned, stored.work)
    }
}

impl From<RendersOfRequest> for StoredRenders {
    fn from(renders: RendersOfRequest) -> Self {
        Self { assigned: renders.assigned(), work: renders.work.into_iter().collect() }
    }
}

impl RendersOfRequest {
    /// Numbers that belong to instances of a plan, and those under which there is work.
    pub fn new(
        assigned: impl IntoIterator<Item = AssignedRender>,
        work: impl IntoIterator<Item = (u32, Work)>,
    ) -> Self {
        let mut renders = Self::default();
        for AssignedRender { instance, render, number } in assigned {
            renders.assign(&instance, Choice { render, number });
        }
        for (number, work) in work {
            renders.add_work(number, work);
        }
        renders
    }

    /// Numbers that belong to instances of the plan, in order.
    pub fn assigned(&self) -> Vec<AssignedRender> {
        let of_instance = |(instance, own): (&String, &Vec<Choice>)| {
            let instance = instance.clone();
            own.clone().into_iter().map(move |Choice { render, number }| AssignedRender {
                instance: instance.clone(),
                render,
                number,
            })
        };
        let mut assigned: Vec<AssignedRender> = self.assigned.iter().flat_map(of_instance).collect();
        assigned.sort_by_key(|assigned| assigned.number);
        assigned
    }

    /// What there is under a number.
    pub fn work(&self, number: u32) -> Option<Work> {
        self.work.get(&number).copied()
    }

    /// There is work under a number.
    pub fn add_work(&mut self, number: u32, work: Work) {
        let known = self.work.entry(number).or_insert(work);
        *known = work.max(*known);
        if !self.owned.contains(&number) {
            self.unowned.insert(number);
        }
    }

    /// A number belongs to an instance from now on.
    pub fn assign(&mut self, instance: &str, choice: Choice) {
        if !self.owned.insert(choice.number) {
            // Few numbers change hands.
            for own in self.assigned.values_mut() {
                own.retain(|own| own.number != choice.number);
            }
        }
        self.unowned.remove(&choice.number);
        self.assigned.entry(instance.to_owned()).or_default().push(choice);
    }

    /// The renders of an instance.
    pub fn own(&self, instance: &str) -> &[Choice] {
        self.assigned.get(instance).map_or(&[], Vec::as_slice)
    }

    /// Work that no instance of the plan has: of a shot that was renamed or removed, or of another workflow. A video goes first.
    fn number_without_owner(&self) -> Option<u32> {
        let video = self.unowned.iter().find(|number| self.work(**number) == Some(Work::Video));
        video.or_else(|| self.unowned.first()).copied()
    }

    /// The lowest number without work and without an owner.
    pub fn unused_number(&self) -> u32 {
        let is_used = |number: &u32| self.work.contains_key(number) || self.owned.contains(number);
        (self.first_unused.max(1)..=u32::MAX).find(|number| !is_used(number)).unwrap_or(u32::MAX)
    }
}

/// Renders of one instance that were asked for with `run --rerun`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wishes {
    /// The one that is still to be made: any render of the instance that is submitted from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<u32>,
    /// Those that are done.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub done: BTreeSet<u32>,
    /// The highest one, also if it has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest: Option<u32>,
    /// When the latest one was asked for. What is asked for together has one time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
}

impl Wishes {
    /// As the compiler needs them.
    pub fn asked(&self) -> AskedRenders {
        AskedRenders { open: self.open, done: self.done.last().copied() }
    }
}

/// The render that a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The number in the list of renders of its instance.
    pub render: u32,
    /// The number within its key.
    pub number: u32,
}

/// What is on record for a request and an instance, as the record has it in the transaction of an intent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedRenders {
    pub request: RendersOfRequest,
    pub wishes: Wishes,
}

/// The renders of a workflow that are on record, and those that this run has assigned.
#[derive(Debug, Clone, Default)]
pub struct Renders {
    /// By the key of the request, with number 1.
    requests: HashMap<NodeKey, RendersOfRequest>,
    /// By instance.
    wishes: HashMap<String, Wishes>,
}

impl Renders {
    pub fn new(requests: HashMap<NodeKey, RendersOfRequest>, wishes: HashMap<String, Wishes>) -> Self {
        Self { requests, wishes }
    }

    /// What was asked for, by instance.
    pub fn wishes(&self) -> &HashMap<String, Wishes> {
        &self.wishes
    }

    /// Asks for one more render of each instance of a plan, as a record does: see [`ask`].
    pub fn ask(&mut self, plan: &Plan, instances: &[String], asks_for_another: bool, now: Timestamp) {
        let next = |instance: &str| next_render(self.requests.values(), instance, has_takes(plan, instance));
        let asked = ask(&self.wishes, instances, next, asks_for_another);
        for AskedRender { instance, render } in asked.new {
            let wishes = self.wishes.entry(instance).or_default();
            (wishes.open, wishes.asked_at) = (Some(render), Some(now));
            wishes.highest = wishes.highest.max(Some(render));
        }
    }

    /// Whether there is work of a request (with number 1).
    pub fn has_work(&self, request: NodeKey) -> bool {
        self.requests.get(&request).is_some_and(|recorded| !recorded.work.is_empty())
    }

    /// The render that a node is whose request has this key (with number 1), and assigns its number to it.
    pub fn assign(&mut self, node: &Node, request: NodeKey, is_selected: bool) -> Choice {
        let none = Wishes::default();
        let instance = node.name_without_take();
        let wishes = self.wishes.get(instance).unwrap_or(&none);
        let recorded = self.requests.entry(request).or_default();
        let choice = choose(recorded, wishes, node, is_selected);
        if !recorded.own(instance).contains(&choice) {
            // All below the first number that was unused are used.
            if !recorded.owned.contains(&choice.number) && !recorded.work.contains_key(&choice.number) {
                recorded.first_unused = recorded.first_unused.max(choice.number);
            }
            recorded.assign(instance, choice);
        }
        choice
    }

    /// A video that is about to be recorded as a render of a node's instance.
    pub fn adopt(&mut self, node: &Node, key: NodeKey, render: u32, is_asked: bool) {
        let instance = node.name_without_take();
        let of_request = self.requests.entry(key.numbered(1)).or_default();
        of_request.assign(instance, Choice { render, number: key.number() });
        of_request.add_work(key.number(), Work::Video);
        if is_asked {
            self.wishes.entry(instance.to_owned()).or_default().done.insert(render);
        }
    }

    /// What the record has by now, for a request (with number 1) and an instance.
    pub fn refresh(&mut self, node: &Node, request: NodeKey, recorded: RecordedRenders) {
        let own = self.requests.entry(request).or_default();
        let mut fresh = recorded.request;
        // What this run has assigned to other instances may not be on record yet.
        for AssignedRender { instance, render, number } in own.assigned() {
            if instance != node.name_without_take() && !fresh.owned.contains(&number) {
                fresh.assign(&instance, Choice { render, number });
            }
        }
        *own = fresh;
        self.wishes.insert(node.name_without_take().to_owned(), recorded.wishes);
    }
}

/// Whether an instance of this name belongs to a plan.
pub fn is_instance_of(plan: &Plan, instance: &str) -> bool {
    plan.find(instance).is_some() || plan.find(&format!("{instance}#1")).is_some()
}

/// Whether an instance of a plan is several nodes, one for each take.
pub fn has_takes(plan: &Plan, instance: &str) -> bool {
    plan.find(instance).is_none()
}

/// The next render of an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextRender {
    /// One more than those that have work.
    New(u32),
    /// A take whose work is lost: what waits for it would wait for ever.
    Lost(u32),
}

/// The next render of an instance. With takes, the first whose work is lost.
pub fn next_render<'r>(
    requests: impl IntoIterator<Item = &'r RendersOfRequest>,
    instance: &str,
    has_takes: bool,
) -> NextRender {
    let mut renders: BTreeMap<u32, Work> = BTreeMap::new();
    for request in requests {
        for own in request.own(instance) {
            if let Some(work) = request.work(own.number) {
                let known = renders.entry(own.render).or_insert(work);
                *known = work.max(*known);
            }
        }
    }
    let lost = renders.iter().find(|(_, work)| has_takes && **work == Work::Lost);
    let last = renders.keys().last().copied().unwrap_or_default();
    lost.map_or(NextRender::New(last + 1), |(render, _)| NextRender::Lost(*render))
}

/// What `run --rerun` asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// Renders to be made.
    pub new: Vec<AskedRender>,
    /// The latest ones of instances for which nothing more is asked. They belong to the new ones, and to each other, from now on.
    pub continued: Vec<AskedRender>,
}

/// What is asked for so that each of these instances gets one more render. Where a render of one of them is asked for and not done, this
/// continues it: nothing more is asked for of that instance, nor of those that were asked for together with it. `next` is the next render of
/// an instance ([`next_render`]).
pub fn ask<S: BuildHasher>(
    wishes: &HashMap<String, Wishes, S>,
    instances: &[String],
    next: impl Fn(&str) -> NextRender,
    asks_for_another: bool,
) -> Asked {
    let none = Wishes::default();
    let of = |instance: &String| wishes.get(instance).unwrap_or(&none);
    let is_open = |instance: &&String| of(instance).open.is_some();
    let continued: BTreeSet<Timestamp> =
        instances.iter().filter(is_open).filter_map(|instance| of(instance).asked_at).collect();
    let mut asked = Asked::default();
    for instance in instances {
        let Wishes { open, highest, asked_at, .. } = of(instance);
        let is_continued = open.is_some() || asked_at.is_some_and(|asked_at| continued.contains(&asked_at));
        let known = highest.unwrap_or_default();
        if is_continued && !asks_for_another {
            asked.continued.push(AskedRender { instance: instance.clone(), render: known });
            continue;
        }
        let render = match next(instance) {
            NextRender::Lost(render) if *open != Some(render) => render,
            NextRender::Lost(_) => known + 1,
            NextRender::New(render) => render.max(known + 1),
        };
        asked.new.push(AskedRender { instance: instance.clone(), render });
    }
    asked
}

/// Which render a node is: the take that it names; or whichever counts, which is the picked one, else the newest that was asked for, else the
/// first. One that is asked for and open is a new one.
pub fn choose(recorded: &RendersOfRequest, wishes: &Wishes, node: &Node, is_selected: bool) -> Choice {
    let own = || recorded.own(node.name_without_take()).iter();
    let has_work = |own: &&Choice| recorded.work(own.number).is_some();
    let has = |work: Work| move |own: &&Choice| recorded.work(own.number) == Some(work);
    let (has_video, is_live, is_lost) = (has(Work::Video), has(Work::Live), has(Work::Lost));
    let first = |choices: &mut dyn Iterator<Item = &Choice>| {
        choices.min_by_key(|own| (own.render, own.number)).copied()
    };
    let open = wishes.open.filter(|open| match node.take {
        Some(take) => take == *open,
        None => is_selected && node.picked.is_none(),
    });
    if let Some(render) = open {
        if let Some(known) = own().find(|own| own.render == render && !is_lost(own)) {
            return *known;
        }
        // A render that was never submitted becomes this one.
        let unused = own().find(|own| node.take.is_none() && !has_work(own));
        let number = unused.map_or_else(|| recorded.unused_number(), |unused| unused.number);
        return Choice { render, number };
    }
    let known = match node.take {
        Some(take) => {
            let of_take = own().filter(|own| own.render == take);
            of_take.max_by_key(|own| (recorded.work(own.number), own.number)).copied()
        }
        None => own()
            .find(|own| node.picked == Some(own.render) && has_video(own))
            .or_else(|| {
                let asked = own().filter(|own| wishes.done.contains(&own.render) && has_video(own));
                asked.max_by_key(|own| (own.render, own.number))
            })
            .copied()
            .or_else(|| first(&mut own().filter(has_video)))
            .or_else(|| first(&mut own().filter(is_live)))
            .or_else(|| first(&mut own().filter(has_work)))
            .or_else(|| first(&mut own())),
    };
    known.unwrap_or_else(|| {
        let number = recorded.number_without_owner().unwrap_or_else(|| recorded.unused_number());
        Choice { render: node.take.unwrap_or(1), number }
    })
}
