//! Facts about the renders of a workflow, and what they amount to. Pure: the index appends them, and whoever needs the renders folds them.
//!
//! Runs send facts without waiting, so that a run and the index may differ for a moment. What is submitted once is decided by the objects of
//! keys; the index decides which number a later run begins with, and what is still to be made.

use std::collections::{BTreeMap, HashMap};

use scheduler::renders::{
    Asked, Choice, NextRender, Renders, RendersOfRequest, Wishes, Work, ask, is_instance_of,
};
use scheduler::{AskedRender, Timestamp};
use serde::{Deserialize, Serialize};
use workflow::plan::{NodeKey, Plan};

/// Facts of a full segment.
const SEGMENT_LEN: u64 = 256;

/// What is known of a render, or asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fact", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RenderFact {
    /// There is work under a key, for a render of an instance.
    Work {
        key: NodeKey,
        /// The name of the instance, without the number of a take.
        instance: String,
        /// The number in its list of renders.
        render: u32,
        has_video: bool,
        /// How many facts its run knew when it began.
        seen: u64,
    },
    /// The attempts at a render have failed, and nothing holds its key.
    Failed {
        key: NodeKey,
        /// Whether the same request would fail again.
        is_final: bool,
    },
    /// A person has abandoned a submission, which holds its key.
    Abandoned { key: NodeKey },
    /// One more render of each instance is asked for.
    Asked {
        renders: Vec<AskedRender>,
        /// The latest ones of instances for which nothing more is asked: they belong to these.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        continued: Vec<AskedRender>,
        #[serde(rename = "at")]
        time: Timestamp,
    },
    /// What was asked for is not wanted any more.
    Withdrawn { renders: Vec<AskedRender> },
}

impl RenderFact {
    fn key(&self) -> Option<&NodeKey> {
        match self {
            Self::Work { key, .. } | Self::Failed { key, .. } | Self::Abandoned { key } => Some(key),
            Self::Asked { .. } | Self::Withdrawn { .. } => None,
        }
    }
}

/// Where the next fact is appended: facts are kept in segments, so that appending writes little.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct RenderLog {
    len: u64,
}

impl RenderLog {
    /// Appends a fact, unless it is the latest one of its key; `segment` is the content of [`Self::open_segment`].
    pub(crate) fn append(&mut self, segment: &mut Vec<RenderFact>, fact: RenderFact) {
        let latest = fact.key().and_then(|key| segment.iter().rev().find(|known| known.key() == Some(key)));
        if latest != Some(&fact) {
            segment.push(fact);
            self.len += 1;
        }
    }

    /// The number of the segment that is appended to.
    pub(crate) fn open_segment(self) -> u64 {
        self.len / SEGMENT_LEN
    }
}

/// The state key of a segment.
pub(crate) fn segment_key(segment: u64) -> String {
    format!("renders/{segment}")
}

/// What the facts of a workflow amount to.
#[derive(Debug, Clone, Default)]
pub struct WorkflowRenders {
    /// Facts so far.
    len: u64,
    numbers: BTreeMap<NodeKey, NumberedRender>,
    /// By instance and number in its list of renders.
    wishes: BTreeMap<String, BTreeMap<u32, Wish>>,
}

/// A number of a request.
#[derive(Debug, Clone)]
struct NumberedRender {
    /// Whose it is.
    instance: String,
    render: u32,
    /// The fact that assigned it.
    assigned_by: u64,
    /// Whether there is a video; `None` without work.
    has_video: Option<bool>,
}

#[derive(Debug, Clone, Copy)]
struct Wish {
    state: WishState,
    asked_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WishState {
    Open,
    Done,
    Failed,
    Withdrawn,
}

impl WorkflowRenders {
    /// Adds the next fact of the log.
    pub fn add(&mut self, fact: RenderFact) {
        let position = self.len;
        self.len += 1;
        match fact {
            RenderFact::Work { key, instance, render, has_video, seen } => {
                let number = self.numbers.entry(key).or_insert_with(|| NumberedRender {
                    instance: instance.clone(),
                    render,
                    assigned_by: position,
                    has_video: None,
                });
                number.has_video = Some(has_video || number.has_video == Some(true));
                // One that another run has assigned since stays with its instance.
                let may_move = number.instance == instance || number.assigned_by < seen;
                if may_move && (&number.instance, number.render) != (&instance, render) {
                    (number.instance, number.render, number.assigned_by) = (instance, render, position);
                }
                if number.has_video == Some(true) {
                    self.close_wish(&key, WishState::Done);
                }
            }
            RenderFact::Failed { key, is_final } => {
                if let Some(number) = self.numbers.get_mut(&key) {
                    number.has_video = number.has_video.filter(|has_video| *has_video);
                }
                if is_final {
                    self.close_wish(&key, WishState::Failed);
                }
            }
            RenderFact::Abandoned { key } => self.close_wish(&key, WishState::Failed),
            RenderFact::Asked { renders, continued, time } => {
                for AskedRender { instance, render } in renders {
                    let wish = Wish { state: WishState::Open, asked_at: time };
                    self.wishes.entry(instance).or_default().insert(render, wish);
                }
                for AskedRender { instance, render } in continued {
                    let wishes = self.wishes.get_mut(&instance);
                    if let Some(wish) = wishes.and_then(|wishes| wishes.get_mut(&render)) {
                        wish.asked_at = time;
                    }
                }
            }
            RenderFact::Withdrawn { renders } => {
                for AskedRender { instance, render } in renders {
                    self.close(&instance, render, WishState::Withdrawn);
                }
            }
        }
    }

    /// Closes the wish for the render that a key is.
    fn close_wish(&mut self, key: &NodeKey, state: WishState) {
        if let Some(NumberedRender { instance, render, .. }) = self.numbers.get(key).cloned() {
            self.close(&instance, render, state);
        }
    }

    fn close(&mut self, instance: &str, render: u32, state: WishState) {
        let wish = self.wishes.get_mut(instance).and_then(|wishes| wishes.get_mut(&render));
        if let Some(wish) = wish.filter(|wish| wish.state == WishState::Open) {
            wish.state = state;
        }
    }

    /// What is to be made so that each instance gets one more render ([`ask`]). Nothing of what was asked for at this very time: the message has
    /// come twice.
    pub(crate) fn ask(&self, instances: Vec<String>, asks_for_another: bool, time: Timestamp) -> Asked {
        let mut highest: HashMap<&str, u32> = HashMap::new();
        for number in self.numbers.values().filter(|number| number.has_video.is_some()) {
            let highest = highest.entry(&number.instance).or_default();
            *highest = number.render.max(*highest);
        }
        let is_repeated = |instance: &String| {
            self.wishes.get(instance).is_some_and(|wishes| wishes.values().any(|wish| wish.asked_at == time))
        };
        let instances: Vec<String> =
            instances.into_iter().filter(|instance| !is_repeated(instance)).collect();
        let wishes = self.wishes.iter().map(|(instance, wishes)| (instance.clone(), folded(wishes)));
        let next = |instance: &str| NextRender::New(highest.get(instance).copied().unwrap_or_default() + 1);
        let wishes: HashMap<String, Wishes> = wishes.collect();
        ask(&wishes, &instances, next, asks_for_another)
    }

    /// What is asked for of these instances and not done.
    pub(crate) fn open<'a>(&'a self, instances: &'a [String]) -> impl Iterator<Item = AskedRender> + 'a {
        let of_instance = |instance: &'a String| {
            let wishes = self.wishes.get(instance).into_iter().flatten();
            wishes
                .filter(|(_, wish)| wish.state == WishState::Open)
                .map(move |(render, _)| (instance, *render))
        };
        let open = instances.iter().flat_map(of_instance);
        open.map(|(instance, render)| AskedRender { instance: instance.clone(), render })
    }

    /// The instances that are not in the plan any more, and of which a render is asked for.
    pub fn gone(&self, plan: &Plan) -> Vec<String> {
        let is_open =
            |wishes: &BTreeMap<u32, Wish>| wishes.values().any(|wish| wish.state == WishState::Open);
        let open = self.wishes.iter().filter(|(_, wishes)| is_open(wishes)).map(|(instance, _)| instance);
        open.filter(|instance| !is_instance_of(plan, instance)).cloned().collect()
    }

    /// What a run of a plan begins with.
    pub fn snapshot(&self, plan: &Plan) -> RenderSnapshot {
        let mut requests: BTreeMap<NodeKey, RendersOfRequest> = BTreeMap::new();
        for (key, NumberedRender { instance, render, has_video, .. }) in &self.numbers {
            let request = requests.entry(key.numbered(1)).or_default();
            // Numbers of shots that are gone are free.
            if is_instance_of(plan, instance) {
                request.assign(instance, Choice { render: *render, number: key.number() });
            }
            if let Some(has_video) = has_video {
                request.add_work(key.number(), work(*has_video));
            }
        }
        let wishes = self.wishes.iter().filter(|(instance, _)| is_instance_of(plan, instance));
        let wishes = wishes.map(|(instance, wishes)| (instance.clone(), folded(wishes))).collect();
        RenderSnapshot { seen: self.len, requests, wishes }
    }
}

/// The objects of keys know what has become of a task that is in flight.
fn work(has_video: bool) -> Work {
    if has_video { Work::Video } else { Work::Live }
}

/// The wishes of an instance, as the scheduler needs them.
fn folded(wishes: &BTreeMap<u32, Wish>) -> Wishes {
    let mut folded = Wishes::default();
    for (render, Wish { state, asked_at }) in wishes {
        match state {
            WishState::Withdrawn => continue,
            // Of several the latest: the others are for later runs.
            WishState::Open => folded.open = Some(*render),
            WishState::Done => _ = folded.done.insert(*render),
            WishState::Failed => {}
        }
        folded.highest = Some(*render);
        folded.asked_at = folded.asked_at.max(Some(*asked_at));
    }
    folded
}

/// The renders of a workflow when a run of it began: part of its specification, so that workers and followers give its nodes the same keys.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RenderSnapshot {
    /// How many facts it is made of.
    seen: u64,
    /// By the key of the request, with number 1.
    requests: BTreeMap<NodeKey, RendersOfRequest>,
    /// By instance.
    wishes: BTreeMap<String, Wishes>,
}

impl RenderSnapshot {
    /// As the keys of a run need it.
    pub fn renders(&self) -> Renders {
        Renders::new(self.requests.clone().into_iter().collect(), self.wishes.clone().into_iter().collect())
    }

    /// The fact that there is work under a key of the run.
    pub(crate) fn work(&self, key: NodeKey, instance: &str, render: u32, has_video: bool) -> RenderFact {
        RenderFact::Work { key, instance: instance.to_owned(), render, has_video, seen: self.seen }
    }

    /// Whether a fact says nothing new.
    pub(crate) fn has(&self, fact: &RenderFact) -> bool {
        let RenderFact::Work { key, instance, render, has_video, .. } = fact else { return false };
        let is_wanted = self.wishes.get(instance).is_some_and(|wishes| wishes.open == Some(*render));
        let own = Choice { render: *render, number: key.number() };
        let is_known = self.requests.get(&key.numbered(1)).is_some_and(|request| {
            request.work(key.number()) == Some(work(*has_video)) && request.own(instance).contains(&own)
        });
        is_known && !is_wanted
    }
}

#[cfg(test)]
#[path = "renders_tests.rs"]
mod tests;
