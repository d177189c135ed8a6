//! What a run has done so far, from its events on record: where each of its shots stands. Nothing is known here of what only the run itself knows.

use std::collections::HashSet;

use indexmap::IndexMap;

use crate::ids::{AttemptId, TaskId};
use crate::timestamp::Timestamp;
use crate::{Event, ExistingWork, PollResult, RefusalKind};

/// An event of a run as it is on record.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Its place in the ledger; later events have higher ones.
    pub seq: i64,
    /// When it happened.
    pub at: Timestamp,
    /// The name of the node that it is about.
    pub node: Option<String>,
    /// The event.
    pub event: Event,
}

/// A run's shots in the order in which they were first heard of.
#[derive(Debug, Clone, Default)]
pub struct History {
    shots: IndexMap<String, Known>,
    latest: i64,
    is_interrupted: bool,
    /// The shots that the run was told to make, where that is not all of them.
    only: Option<HashSet<String>>,
}

/// What is known of one shot.
#[derive(Debug, Clone, PartialEq)]
pub struct Known {
    /// Where it stands.
    pub standing: Stands,
    /// Since when.
    pub since: Timestamp,
    /// The attempt that it is about.
    pub attempt: Option<AttemptId>,
    /// Its task.
    pub task: Option<TaskId>,
    /// What was said about the latest trouble.
    pub trouble: Option<String>,
}

/// Where a shot stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stands {
    /// It failed.
    Failed,
    /// Nobody knows whether its submission was accepted.
    Ambiguous,
    /// It is held up: by a task at another service, or by a submission that was given up.
    Held,
    /// Its intent is on record and the POST is on its way.
    Submitting,
    /// Its task is out at the service, and the run has let go of it: a later run adopts it.
    Left,
    /// Its task is out at the service.
    Out,
    /// Its video is being fetched.
    Downloading,
    /// Another run is submitting it.
    Elsewhere,
    /// It waits for its turn, or for another try.
    Waiting,
    /// Its video was made in this run.
    Done,
    /// Its video was there already.
    Reused,
}

impl Stands {
    /// The word that people and machines see.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Ambiguous => "ambiguous",
            Self::Held => "held",
            Self::Submitting => "submitting",
            Self::Left => "left",
            Self::Out => "out",
            Self::Downloading => "downloading",
            Self::Elsewhere => "elsewhere",
            Self::Waiting => "waiting",
            Self::Done => "done",
            Self::Reused => "reused",
        }
    }

    /// Whether a run that is alive is doing something about it now.
    #[must_use]
    pub fn is_under_way(self) -> bool {
        match self {
            Self::Submitting | Self::Out | Self::Downloading => true,
            Self::Failed
            | Self::Ambiguous
            | Self::Held
            | Self::Left
            | Self::Elsewhere
            | Self::Waiting
            | Self::Done
            | Self::Reused => false,
        }
    }
}

impl History {
    /// The shots that were heard of, by name.
    pub fn shots(&self) -> impl Iterator<Item = (&str, &Known)> {
        self.shots.iter().map(|(name, known)| (name.as_str(), known))
    }

    /// The place of the latest event that is in it.
    #[must_use]
    pub fn latest(&self) -> i64 {
        self.latest
    }

    /// Whether the user has asked the run to end.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Takes note of an event.
    pub fn on(&mut self, recorded: Recorded) {
        let Recorded { seq, at, node, event } = recorded;
        self.latest = self.latest.max(seq);
        let attempt = |attempt: AttemptId| Some(attempt);
        let (standing, attempt, task, trouble) = match event {
            Event::Interrupted => {
                self.is_interrupted = true;
                return;
            }
            Event::RunConfigured { only, .. } => {
                self.only = only.map(HashSet::from_iter);
                return;
            }
            Event::Started | Event::FilmJoined { .. } | Event::JoinFailed { .. } | Event::TimerFired => {
                return;
            }
            Event::LookupDone { existing, .. } | Event::ClaimConflict { existing, .. } => match existing {
                ExistingWork::None => (Stands::Waiting, None, None, None),
                ExistingWork::Completed { attempt, task, .. } => {
                    (Stands::Reused, Some(attempt), Some(task), None)
                }
                ExistingWork::InFlight { attempt, task, since, .. } => {
                    self.put(node, Stands::Out, since, Some(attempt), Some(task), None);
                    return;
                }
                ExistingWork::Indeterminate { attempt, .. } => (Stands::Ambiguous, Some(attempt), None, None),
                ExistingWork::Abandoned { attempt } => {
                    let said = "its submission was given up; `runner run FILE --force SHOT` makes it anew";
                    (Stands::Held, Some(attempt), None, Some(said.to_owned()))
                }
                ExistingWork::OtherService { service, attempt, task } => {
                    (Stands::Held, Some(attempt), task, Some(format!("the same work is out at {service}")))
                }
                ExistingWork::ClaimedByRun { run } => {
                    (Stands::Elsewhere, None, None, Some(format!("run {run} is submitting it")))
                }
            },
            Event::Prepared { attempt: id, .. } => (Stands::Submitting, attempt(id), None, None),
            Event::BudgetExceeded { limit, .. } => {
                (Stands::Waiting, None, None, Some(format!("the cap on {limit} is reached")))
            }
            Event::PrepareFailed { failure, .. } => (Stands::Failed, None, None, Some(failure.message)),
            Event::Submitted { attempt: id, task, .. } => (Stands::Out, attempt(id), Some(task), None),
            Event::Refused { refusal, .. } => {
                let standing = match refusal.kind {
                    RefusalKind::Throttled | RefusalKind::Retryable => Stands::Waiting,
                    RefusalKind::InvalidRequest | RefusalKind::ServiceUnusable => Stands::Failed,
                };
                (standing, None, None, Some(refusal.failure.message))
            }
            Event::Indeterminate { attempt: id, reason, .. } => {
                (Stands::Ambiguous, attempt(id), None, Some(reason))
            }
            Event::Polled { attempt: id, result, .. } => {
                let Some(known) = node.as_deref().and_then(|node| self.shots.get(node)) else { return };
                let task = known.task.clone();
                match result {
                    PollResult::Completed { .. } => (Stands::Downloading, attempt(id), task, None),
                    PollResult::Failed { failure } => {
                        (Stands::Failed, attempt(id), task, Some(failure.message))
                    }
                    // A poll that says "not yet" is on record only where it is the last one.
                    PollResult::Running { .. } => (Stands::Left, attempt(id), task, None),
                    // The task is where it was; what was said stands beside it.
                    PollResult::NotFound { .. } => {
                        return self.trouble(node, "the service does not know its task");
                    }
                    PollResult::Throttled { reason, .. } | PollResult::Unreachable { reason } => {
                        return self.trouble(node, &reason);
                    }
                    PollResult::Unauthorized { failure } => return self.trouble(node, &failure.message),
                }
            }
            Event::Reconciled { attempt: id, since, reason, task, .. } => match task {
                Some(task) => {
                    let since = if reason.is_some() { at } else { since };
                    self.put(node, Stands::Out, since, attempt(id), Some(task), None);
                    return;
                }
                None => (Stands::Waiting, None, None, reason),
            },
            Event::TaskExpired { attempt: id, .. } => {
                let task = node.as_deref().and_then(|node| self.shots.get(node)?.task.clone());
                (Stands::Failed, attempt(id), task, Some("the service no longer has its task".to_owned()))
            }
            Event::Resolved { .. } => return,
            Event::Downloaded { attempt: id, .. } => {
                let task = node.as_deref().and_then(|node| self.shots.get(node)?.task.clone());
                (Stands::Done, attempt(id), task, None)
            }
            Event::DownloadFailed { failure, .. } => return self.trouble(node, &failure.message),
        };
        self.put(node, standing, at, attempt, task, trouble);
    }

    /// Notes trouble of a shot that stays where it is.
    fn trouble(&mut self, node: Option<String>, said: &str) {
        if let Some(known) = node.and_then(|node| self.shots.get_mut(&node)) {
            known.trouble = Some(said.to_owned());
        }
    }

    fn put(
        &mut self,
        node: Option<String>,
        standing: Stands,
        since: Timestamp,
        attempt: Option<AttemptId>,
        task: Option<TaskId>,
        trouble: Option<String>,
    ) {
        if let Some(node) = node {
            let is_selected = self.only.as_ref().is_none_or(|only| only.contains(&node));
            let standing = match standing {
                // What was not to be made waits for nothing, and what is out of it is not waited for.
                Stands::Waiting if !is_selected => return,
                Stands::Out if !is_selected => Stands::Left,
                other => other,
            };
            self.shots.insert(node, Known { standing, since, attempt, task, trouble });
        }
    }
}
