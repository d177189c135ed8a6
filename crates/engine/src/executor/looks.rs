//! Questions to the ledger: asked by the scheduler all together at the beginning of a run, and one by one later on.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt as _;
use scheduler::{Event, Failure, FailureKind, Millis, Prior, RunState};
use tokio::sync::mpsc;
use workflow::plan::{NodeIx, NodeKey};

use super::perform::Hands;
use super::{BATCH, look};
use crate::artifact::file_name;
use crate::blocking::blocking;
use crate::ledger::{Ledger, LedgerError};
use crate::store::Check;

/// Closer looks at once.
const LOOKS: usize = 8;

/// A question to the ledger.
pub(super) struct Look {
    node: NodeIx,
    key: NodeKey,
    work: Option<NodeKey>,
    /// Whether the node is to be made; otherwise it is only of interest whether it is.
    is_selected: bool,
}

impl Hands {
    /// Answers questions to the ledger, a few at once: a run of a hundred thousand nodes asks as many at its beginning.
    pub(super) fn begin_looking(&mut self, asked: mpsc::UnboundedReceiver<Look>, check: Check) {
        let (ledger, provider, clock) =
            (Arc::clone(&self.ledger), Arc::clone(&self.provider), self.clock.clone());
        let (plan, folder, sender) = (Arc::clone(&self.plan), self.folder.clone(), self.sender.clone());
        let sorting = Sorting {
            asked,
            known: VecDeque::new(),
            ledger: Arc::clone(&ledger),
            service: provider.identity().to_owned(),
            sender: sender.clone(),
        };
        let known = futures_util::stream::unfold(sorting, async |mut sorting| {
            sorting.next().await.map(|look| (look, sorting))
        });
        self.tasks.spawn(known.for_each_concurrent(LOOKS, move |Look { node, key, work, is_selected }| {
            let (ledger, provider, clock) = (Arc::clone(&ledger), Arc::clone(&provider), clock.clone());
            let (target, sender) = (folder.join(file_name(plan.node(node), &key)), sender.clone());
            async move {
                let (key, work) = (key.to_string(), work.map(|work| work.to_string()));
                let found = if is_selected {
                    look::prior(&ledger, &*provider, &key, work.as_deref(), target, check, clock.now()).await
                } else {
                    look::glance(&ledger, &key, Some(target), check).await
                };
                // The receiver is gone only when the run is over.
                drop(sender.send(answered(node, key, found)));
            }
        }));
    }

    pub(super) fn look(&mut self, node: NodeIx, key: NodeKey, at: Millis, state: &RunState, now: Millis) {
        let work = if self.provider.is_paid() { state.work(node) } else { None };
        let is_selected = state.is_selected(node);
        let (look, looks) = (Look { node, key, work, is_selected }, self.looks.clone());
        if at <= now {
            drop(looks.send(look));
            return;
        }
        let clock = self.clock.clone();
        self.tasks.spawn(async move {
            clock.sleep_until(at).await;
            drop(looks.send(look));
        });
    }
}

/// Questions to the ledger, sorted: what is not on record is answered at once, as many as were asked together, so that they become durable
/// together; what is on record needs a closer look, at files or at the service.
struct Sorting {
    asked: mpsc::UnboundedReceiver<Look>,
    known: VecDeque<Look>,
    ledger: Arc<Ledger>,
    service: String,
    sender: mpsc::UnboundedSender<Event>,
}

impl Sorting {
    /// The next question about something that is on record; nothing when nobody asks any more.
    async fn next(&mut self) -> Option<Look> {
        while self.known.is_empty() {
            let mut asked = Vec::new();
            if self.asked.recv_many(&mut asked, BATCH).await == 0 {
                return None;
            }
            let (ledger, service) = (Arc::clone(&self.ledger), self.service.clone());
            let sorted = blocking(move || {
                ledger.ask(|ledger| {
                    let look_up = |look: Look| {
                        let work = look.work.filter(|_| look.is_selected).map(|work| work.to_string());
                        let found = look::unknown(ledger, &service, &look.key.to_string(), work.as_deref());
                        (look, found)
                    };
                    asked.into_iter().map(look_up).collect::<Vec<_>>()
                })
            });
            let sorted = match sorted.await {
                Ok(sorted) => sorted,
                // A run that waited for the answers would stand still.
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => return None,
            };
            for (look, found) in sorted {
                match found.transpose() {
                    // The receiver is gone only when the run is over.
                    Some(found) => {
                        drop(self.sender.send(answered(look.node, look.key.to_string(), found)));
                    }
                    None => self.known.push_back(look),
                }
            }
        }
        self.known.pop_front()
    }
}

fn answered(node: NodeIx, key: String, found: Result<Prior, LedgerError>) -> Event {
    match found {
        Ok(prior) => Event::Looked { node, key, prior },
        // A ledger that cannot be read is fatal; appending this event says so, with the same words.
        Err(error) => {
            Event::Unprepared { node, failure: Failure::new(FailureKind::Local, error.to_string()) }
        }
    }
}
