//! Queue of lookups: the scheduler requests them all at once when a run starts, and one by one later.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::StreamExt as _;
use tokio::sync::mpsc;
use workflow::plan::{NodeIx, NodeKey};

use super::effect_runner::{EffectResult, EffectRunner};
use super::event_log::MAX_BATCH;
use super::sidecars::SidecarContext;
use crate::artifact::file_name;
use crate::artifact_store::Verify;
use crate::blocking::run_blocking;
use crate::ledger::{Ledger, LedgerError};
use crate::lookup;
use crate::provider::Provider;
use scheduler::{Event, ExistingWork, Failure, FailureKind, RunState, Timestamp};

/// Maximum number of concurrent lookups that read files or query the service.
const MAX_CONCURRENT_LOOKUPS: usize = 8;

/// A request to look up the existing work for a node's key.
pub(super) struct LookupRequest {
    node: NodeIx,
    key: NodeKey,
    work: Option<NodeKey>,
    /// The number in the list of renders of its instance.
    render: u32,
    /// Whether the run may submit the node. If not, the service is not queried.
    is_selected: bool,
    provider: Arc<dyn Provider>,
    /// For the sidecar of its video, where that costs money.
    sidecar: Option<SidecarContext>,
}

impl EffectRunner {
    /// Starts the task that serves lookups, [`MAX_CONCURRENT_LOOKUPS`] at once: a run of 100,000 nodes requests as many when it starts.
    pub(super) fn start_lookups(&mut self, requests: mpsc::UnboundedReceiver<LookupRequest>, verify: Verify) {
        let ledger = Arc::clone(&self.ledger);
        let (plan, folder, sender) = (Arc::clone(&self.plan), self.output_dir.clone(), self.sender.clone());
        let clock = self.clock.clone();
        let queue = LookupQueue {
            requests,
            recorded: VecDeque::new(),
            ledger: Arc::clone(&ledger),
            sender: sender.clone(),
        };
        let recorded = futures_util::stream::unfold(queue, async |mut queue| {
            queue.next().await.map(|request| (request, queue))
        });
        self.tasks.spawn(recorded.for_each_concurrent(
            MAX_CONCURRENT_LOOKUPS,
            move |LookupRequest { node, key, work, render, is_selected, provider, sidecar }| {
                let ledger = Arc::clone(&ledger);
                let (plan, clock) = (Arc::clone(&plan), clock.clone());
                let verify = verify.clone();
                let (target, sender) = (folder.join(file_name(plan.node(node), &key)), sender.clone());
                async move {
                    let (key, work) = (key.to_string(), work.map(|work| work.to_string()));
                    let result = if is_selected {
                        let work = work.as_deref();
                        lookup::find_existing_work(
                            &ledger,
                            &*provider,
                            (node, render),
                            key,
                            work,
                            target,
                            &verify,
                        )
                        .await
                    } else {
                        let accounts = provider.accounts();
                        let found =
                            lookup::recorded_work(&ledger, &key, &accounts, Some(target), &verify).await;
                        found.map(|existing| Event::LookupDone { node, key, existing, render })
                    };
                    let result = match (result, sidecar) {
                        (Ok(event), Some(sidecar)) if has_video(&event) => {
                            let restored = run_blocking(move || {
                                sidecar.restore(&ledger, &plan, node, &event, clock.now());
                                event
                            });
                            restored.await.map_err(|error| LedgerError::Io(std::io::Error::other(error)))
                        }
                        (result, _) => result,
                    };
                    // Fails only after the run has ended.
                    drop(sender.send(ends_shot_only(node, result)));
                }
            },
        ));
    }

    pub(super) fn request_lookup(
        &mut self,
        node: NodeIx,
        key: NodeKey,
        not_before: Timestamp,
        state: &RunState,
        now: Timestamp,
    ) {
        let provider = Arc::clone(self.provider(node));
        let work = if provider.is_paid() { state.service_independent_key(node) } else { None };
        let (is_selected, sidecar) = (state.is_selected(node), self.sidecar_context(node, key, state));
        let render = state.render(node).unwrap_or(1);
        let request = LookupRequest { node, key, work, render, is_selected, provider, sidecar };
        let lookups = self.lookups.clone();
        if not_before <= now {
            drop(lookups.send(request));
            return;
        }
        let clock = self.clock.clone();
        self.tasks.spawn(async move {
            clock.sleep_until(not_before).await;
            drop(lookups.send(request));
        });
    }
}

fn has_video(event: &Event) -> bool {
    matches!(event, Event::LookupDone { existing: ExistingWork::Completed { .. }, .. })
}

/// An error that concerns one shot ends that shot: a file that cannot be read or linked, a record that cannot be decoded. Any other error of
/// the ledger ends the run.
fn ends_shot_only(node: NodeIx, result: EffectResult) -> EffectResult {
    let message = match &result {
        Err(LedgerError::Io(error)) => format!("its earlier video cannot be used: {error}"),
        Err(error) if error.is_malformed_record() => format!("its record cannot be read: {error}"),
        _ => return result,
    };
    Ok(Event::PrepareFailed { node, failure: Failure::new(FailureKind::Local, message) })
}

/// Splits lookups: those whose key no attempt holds are answered from one snapshot, so that their events share a transaction; the others
/// read files or query the service.
struct LookupQueue {
    requests: mpsc::UnboundedReceiver<LookupRequest>,
    recorded: VecDeque<LookupRequest>,
    ledger: Arc<Ledger>,
    sender: mpsc::UnboundedSender<EffectResult>,
}

impl LookupQueue {
    /// The next lookup whose key an attempt holds; `None` when the run has ended.
    async fn next(&mut self) -> Option<LookupRequest> {
        while self.recorded.is_empty() {
            let mut requests = Vec::new();
            if self.requests.recv_many(&mut requests, MAX_BATCH).await == 0 {
                return None;
            }
            let ledger = Arc::clone(&self.ledger);
            let results = run_blocking(move || {
                ledger.with_snapshot(|ledger| {
                    let lookup = |request: LookupRequest| {
                        let work = request.work.filter(|_| request.is_selected).map(|work| work.to_string());
                        let existing = lookup::unrecorded_work(
                            ledger,
                            request.provider.identity(),
                            &request.key.to_string(),
                            work.as_deref(),
                        );
                        (request, existing)
                    };
                    requests.into_iter().map(lookup).collect::<Vec<_>>()
                })
            });
            let results = match results.await {
                Ok(results) => results,
                // Otherwise the run would wait for the results for ever.
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Err(_) => return None,
            };
            for (request, existing) in results {
                match existing.transpose() {
                    // Fails only after the run has ended.
                    Some(existing) => {
                        let (node, key, render) = (request.node, request.key.to_string(), request.render);
                        let result =
                            existing.map(|existing| Event::LookupDone { node, key, existing, render });
                        drop(self.sender.send(ends_shot_only(node, result)));
                    }
                    None => self.recorded.push_back(request),
                }
            }
        }
        self.recorded.pop_front()
    }
}
