//! Restate in the memory of a test: journals, objects with one handler at a time, timers, and executions that are cut off at any message.
//!
//! It speaks Restate's service protocol with the endpoint of the workers, so that what is simulated is the server alone: the handlers and the
//! SDK are those of the product. A message of a worker that is cut off is either stored or lost; what is stored is replayed to the worker
//! that executes the invocation again.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use cluster::ClusterError;
use cluster::client::Ingress;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::execution::{ExecutionEnd, execute};
use super::process::{Process, Processes};
use super::protocol::{
    Ack, Call, CompleteAwakeable, Entry, Failure, Input, Notification, OneWayCall, Output, Propose, Sleep,
    State, StateKeys, Value, Void, kind,
};
use crate::support::world::Rng;

/// The time without a message after which an execution is asked to suspend.
const INACTIVITY: Duration = Duration::from_secs(20);
/// The wait before an invocation is executed again.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);
/// The longest time until an invocation that is due is executed, in milliseconds.
const MAX_DELAY: u64 = 20;
/// Timers are set by the time of day, which goes on a little in a simulation whose time stands still: they are rounded up to this.
const TIMER_STEP: u64 = 5;
/// What the names of awakeables begin with.
const AWAKEABLE_PREFIX: &str = "sign_1";

/// What a cut does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disruption {
    /// The worker is killed.
    Worker,
    /// The connection is lost; the worker lives.
    Connection,
    /// The server is killed: all connections are lost.
    Server,
}

/// The simulated server.
#[derive(Clone)]
pub(crate) struct Restate(Arc<Shared>);

struct Shared {
    inner: Mutex<Inner>,
    processes: Processes,
    /// Handlers that are executed beside others, as `Run/events`.
    concurrent_handlers: HashSet<String>,
    /// Counts the kills of the server.
    server_kills: watch::Sender<u64>,
}

struct Inner {
    rng: Rng,
    /// One out of so many messages is cut off; 0 for none.
    cut_one_in: u64,
    cuts_left: u64,
    cuts: u64,
    next: u64,
    invocations: BTreeMap<u64, Invocation>,
    objects: HashMap<(String, String), Object>,
}

#[derive(Default)]
struct Object {
    state: BTreeMap<Bytes, Bytes>,
    queue: VecDeque<u64>,
    is_busy: bool,
}

struct Invocation {
    service: String,
    handler: String,
    key: String,
    journal: Vec<Entry>,
    waiter: Option<Waiter>,
    /// Where notifications go while it is executed.
    inbox: Option<mpsc::UnboundedSender<Bytes>>,
    /// Wakes it while it is suspended.
    wake: Arc<Notify>,
}

/// Who gets the result of an invocation.
enum Waiter {
    Invocation { id: u64, completion: u32 },
    Caller(oneshot::Sender<Result<Bytes, Failure>>),
}

/// An execution that begins.
pub(super) struct Beginning {
    pub(super) process: Process,
    pub(super) service: String,
    pub(super) handler: String,
    pub(super) key: String,
    pub(super) journal: Vec<Entry>,
    pub(super) inbox: mpsc::UnboundedReceiver<Bytes>,
    pub(super) server_kills: watch::Receiver<u64>,
    /// After this time without a message the server asks it to suspend. None passes between two steps that follow each other.
    pub(super) inactivity: Duration,
}

impl Restate {
    /// A server with workers. One out of `cut_one_in` messages is cut off, `cuts` times at most.
    pub(crate) async fn new(seed: u64, processes: Processes, cut_one_in: u64, cuts: u64) -> Self {
        let concurrent_handlers = super::execution::shared_handlers(&processes.any(0)).await;
        let inner = Inner {
            rng: Rng::new(seed ^ 0x5EED_0F0C),
            cut_one_in,
            cuts_left: cuts,
            cuts: 0,
            next: 1,
            invocations: BTreeMap::new(),
            objects: HashMap::new(),
        };
        let (server_kills, _) = watch::channel(0);
        Self(Arc::new(Shared { inner: Mutex::new(inner), processes, concurrent_handlers, server_kills }))
    }

    /// Cuts off nothing more.
    pub(crate) fn calm_down(&self) {
        self.lock().cuts_left = 0;
    }

    /// How much was cut off.
    pub(crate) fn cuts(&self) -> u64 {
        self.lock().cuts
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn roll(&self, sides: u64) -> u64 {
        self.lock().rng.roll(sides)
    }

    /// Whether, and how, an execution is cut off here.
    pub(super) fn cut(&self) -> Option<Disruption> {
        let mut inner = self.lock();
        if inner.cut_one_in == 0 || inner.cuts_left == 0 {
            return None;
        }
        let one_in = inner.cut_one_in;
        if inner.rng.roll(one_in) > 0 {
            return None;
        }
        inner.cuts_left -= 1;
        inner.cuts += 1;
        Some(match inner.rng.roll(6) {
            0 => Disruption::Server,
            1 => Disruption::Connection,
            _ => Disruption::Worker,
        })
    }

    pub(super) fn perform(&self, cut: Disruption, process: &Process) {
        match cut {
            Disruption::Worker => self.0.processes.kill(process),
            Disruption::Connection => {}
            Disruption::Server => self.0.server_kills.send_modify(|kills| *kills += 1),
        }
    }

    /// Accepts an invocation, to be begun after a while.
    fn invoke(
        &self,
        (service, handler): (&str, &str),
        key: &str,
        body: Bytes,
        delay: Duration,
        waiter: Option<Waiter>,
    ) -> u64 {
        let mut inner = self.lock();
        let id = inner.next;
        inner.next += 1;
        let input = Input { value: Some(Value { content: body }) };
        let invocation = Invocation {
            service: service.to_owned(),
            handler: handler.to_owned(),
            key: key.to_owned(),
            journal: vec![Entry::new(kind::INPUT, &input)],
            waiter,
            inbox: None,
            wake: Arc::default(),
        };
        inner.invocations.insert(id, invocation);
        let delay = delay + Duration::from_millis(inner.rng.roll(MAX_DELAY));
        drop(inner);
        let server = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(delay).await;
            server.enqueue(id);
        });
        id
    }

    /// Begins an invocation, once its object is free.
    fn enqueue(&self, id: u64) {
        let mut inner = self.lock();
        let Some(object) = self.object_of(&inner, id) else {
            drop(inner);
            return self.begin(id);
        };
        let object = inner.objects.entry(object).or_default();
        object.queue.push_back(id);
        if object.is_busy {
            return;
        }
        object.is_busy = true;
        let next = object.queue.pop_front();
        drop(inner);
        if let Some(id) = next {
            self.begin(id);
        }
    }

    /// The object whose handlers an invocation excludes.
    fn object_of(&self, inner: &Inner, id: u64) -> Option<(String, String)> {
        let invocation = &inner.invocations[&id];
        let handler = format!("{}/{}", invocation.service, invocation.handler);
        let excludes = !invocation.key.is_empty() && !self.0.concurrent_handlers.contains(&handler);
        excludes.then(|| (invocation.service.clone(), invocation.key.clone()))
    }

    fn begin(&self, id: u64) {
        let server = self.clone();
        tokio::spawn(async move {
            loop {
                let wake = Arc::clone(&server.lock().invocations[&id].wake);
                match execute(&server, id).await {
                    ExecutionEnd::Done => break,
                    ExecutionEnd::CutOff => tokio::time::sleep(RETRY_INTERVAL).await,
                    ExecutionEnd::Failed { retry_after } => {
                        tokio::time::sleep(retry_after.unwrap_or(RETRY_INTERVAL)).await;
                    }
                    ExecutionEnd::Suspended => wake.notified().await,
                }
            }
        });
    }

    /// What an execution begins with.
    pub(super) fn beginning(&self, id: u64) -> Beginning {
        let mut inner = self.lock();
        let (sender, inbox) = mpsc::unbounded_channel();
        let roll = inner.rng.roll(1 << 20);
        // Mostly as for a real server, and sometimes soon.
        let inactivity = match inner.rng.roll(8) {
            0 => Duration::from_millis(1 + inner.rng.roll(2_000)),
            _ => INACTIVITY,
        };
        let invocation = inner.invocations.get_mut(&id).expect("an open invocation");
        invocation.inbox = Some(sender);
        Beginning {
            process: self.0.processes.any(roll),
            service: invocation.service.clone(),
            handler: invocation.handler.clone(),
            key: invocation.key.clone(),
            journal: invocation.journal.clone(),
            inbox,
            server_kills: self.0.server_kills.subscribe(),
            inactivity,
        }
    }

    /// Closes the stream to an execution, which suspends where it waits.
    pub(super) fn close_inbox(&self, id: u64) {
        if let Some(invocation) = self.lock().invocations.get_mut(&id) {
            invocation.inbox = None;
        }
    }

    /// Stores a message of a worker, and does what it asks for.
    pub(super) fn store(&self, id: u64, entry: &Entry) {
        match entry.kind {
            kind::PROPOSE_RUN_COMPLETION => return self.complete_run(id, entry),
            kind::AWAITING_ON => return,
            _ => {}
        }
        self.append(id, entry.clone());
        match entry.kind {
            kind::OUTPUT | kind::RUN | kind::GET_EAGER_STATE => {}
            kind::GET_LAZY_STATE => {
                let State { key, completion_id, .. } = entry.read();
                let value = self.state(id, |state| state.get(&key).cloned());
                let value = value.map(|content| Value { content });
                let void = value.is_none().then_some(Void {});
                let state = Notification { void, value, ..completion(completion_id) };
                self.notify(id, &Entry::new(kind::STATE_COMPLETION, &state));
            }
            kind::GET_LAZY_STATE_KEYS => {
                let State { completion_id, .. } = entry.read();
                let keys = self.state(id, |state| state.keys().cloned().collect());
                let keys = Notification { state_keys: Some(StateKeys { keys }), ..completion(completion_id) };
                self.notify(id, &Entry::new(kind::STATE_KEYS_COMPLETION, &keys));
            }
            kind::SET_STATE => {
                let State { key, value, .. } = entry.read();
                let value = value.unwrap_or_default().content;
                self.state(id, |state| state.insert(key, value));
            }
            kind::CLEAR_STATE => {
                let State { key, .. } = entry.read();
                self.state(id, |state| state.remove(&key));
            }
            kind::CLEAR_ALL_STATE => self.state(id, BTreeMap::clear),
            kind::SLEEP => {
                let Sleep { wake_up_time, completion_id } = entry.read();
                let (server, delay) = (self.clone(), until(wake_up_time));
                tokio::spawn(async move {
                    tokio::time::sleep(delay).await;
                    let woken = Notification { void: Some(Void {}), ..completion(completion_id) };
                    server.notify(id, &Entry::new(kind::SLEEP_COMPLETION, &woken));
                });
            }
            kind::CALL => {
                let call: Call = entry.read();
                let waiter = Waiter::Invocation { id, completion: call.completion_id };
                let target = (call.service.as_str(), call.handler.as_str());
                let callee = self.invoke(target, &call.key, call.parameter, Duration::ZERO, Some(waiter));
                self.notify_of_invocation(id, call.invocation_id_completion, callee);
            }
            kind::ONE_WAY_CALL => {
                let call: OneWayCall = entry.read();
                let delay = if call.invoke_time == 0 { Duration::ZERO } else { until(call.invoke_time) };
                let target = (call.service.as_str(), call.handler.as_str());
                let callee = self.invoke(target, &call.key, call.parameter, delay, None);
                self.notify_of_invocation(id, call.invocation_id_completion, callee);
            }
            kind::COMPLETE_AWAKEABLE => {
                let CompleteAwakeable { awakeable, value, failure } = entry.read();
                let (target, signal) = read_awakeable(&awakeable);
                let signalled =
                    Notification { signal: Some(signal), value, failure, ..Notification::default() };
                self.notify(target, &Entry::new(kind::SIGNAL, &signalled));
            }
            message_kind => panic!("the simulated server has no message {message_kind:#06x}"),
        }
    }

    /// An invocation has ended.
    pub(super) fn finish(&self, id: u64) {
        let mut inner = self.lock();
        let object = self.object_of(&inner, id);
        let invocation = inner.invocations.remove(&id).expect("an open invocation");
        let next = object.and_then(|object| {
            let object = inner.objects.get_mut(&object)?;
            let next = object.queue.pop_front();
            object.is_busy = next.is_some();
            next
        });
        drop(inner);
        if let Some(id) = next {
            self.begin(id);
        }
        let output = invocation.journal.iter().find(|entry| entry.kind == kind::OUTPUT);
        let Output { value, failure } = output.map(Entry::read).unwrap_or_default();
        match invocation.waiter {
            None => {}
            Some(Waiter::Caller(caller)) => {
                let result = match failure {
                    Some(failure) => Err(failure),
                    None => Ok(value.unwrap_or_default().content),
                };
                // A caller may be gone.
                drop(caller.send(result));
            }
            Some(Waiter::Invocation { id, completion: completion_id }) => {
                let returned = Notification { value, failure, ..completion(completion_id) };
                self.notify(id, &Entry::new(kind::CALL_COMPLETION, &returned));
            }
        }
    }

    fn complete_run(&self, id: u64, entry: &Entry) {
        let Propose { completion_id, value, failure } = entry.read();
        let value = value.map(|content| Value { content });
        let completed =
            Entry::new(kind::RUN_COMPLETION, &Notification { value, failure, ..completion(completion_id) });
        self.append(id, completed.clone());
        let answer = if entry.wants_ack {
            Entry::new(kind::RUN_COMPLETION_ACK, &Ack { completion_id })
        } else {
            completed
        };
        self.deliver(id, &answer);
    }

    fn notify_of_invocation(&self, id: u64, completion_id: u32, callee: u64) {
        let named =
            Notification { invocation_id: Some(format!("inv_{callee}")), ..completion(completion_id) };
        self.notify(id, &Entry::new(kind::INVOCATION_ID_COMPLETION, &named));
    }

    /// Stores a notification and delivers it.
    fn notify(&self, id: u64, entry: &Entry) {
        if self.lock().invocations.contains_key(&id) {
            self.append(id, entry.clone());
            self.deliver(id, entry);
        }
    }

    fn append(&self, id: u64, entry: Entry) {
        let mut inner = self.lock();
        inner.invocations.get_mut(&id).expect("an open invocation").journal.push(entry);
    }

    fn deliver(&self, id: u64, entry: &Entry) {
        let inner = self.lock();
        let invocation = &inner.invocations[&id];
        if let Some(inbox) = &invocation.inbox {
            // An execution that was cut off does not read it.
            drop(inbox.send(entry.frame()));
        }
        invocation.wake.notify_one();
    }

    fn state<T>(&self, id: u64, access: impl FnOnce(&mut BTreeMap<Bytes, Bytes>) -> T) -> T {
        let mut inner = self.lock();
        let invocation = &inner.invocations[&id];
        let object = (invocation.service.clone(), invocation.key.clone());
        access(&mut inner.objects.entry(object).or_default().state)
    }
}

impl std::fmt::Debug for Restate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Restate").finish_non_exhaustive()
    }
}

impl Ingress for Restate {
    fn call<'a>(
        &'a self,
        object: &'a str,
        key: &'a str,
        handler: &'a str,
        body: Vec<u8>,
    ) -> BoxFuture<'a, Result<Vec<u8>, ClusterError>> {
        let (sender, result) = oneshot::channel();
        self.invoke((object, handler), key, body.into(), Duration::ZERO, Some(Waiter::Caller(sender)));
        Box::pin(async move {
            let refused = |status, message| ClusterError::Refused { url: String::new(), status, message };
            match result.await {
                Ok(Ok(value)) => Ok(value.to_vec()),
                Ok(Err(failure)) => Err(refused(u16::try_from(failure.code).unwrap_or(500), failure.message)),
                Err(_) => Err(refused(500, "the simulation is over".to_owned())),
            }
        })
    }
}

fn completion(id: u32) -> Notification {
    Notification { completion_id: Some(id), ..Notification::default() }
}

/// The time until a time of day, rounded up.
fn until(millis: u64) -> Duration {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_millis();
    let remaining = millis.saturating_sub(u64::try_from(now).expect("a date"));
    Duration::from_millis(remaining.div_ceil(TIMER_STEP) * TIMER_STEP)
}

/// The invocation and the signal of an awakeable.
fn read_awakeable(name: &str) -> (u64, u32) {
    let encoded = name.strip_prefix(AWAKEABLE_PREFIX).expect("the name of an awakeable");
    let bytes = URL_SAFE_NO_PAD.decode(encoded.trim_end_matches('=')).expect("base64");
    let (id, signal) = bytes.split_at(8);
    (
        u64::from_be_bytes(id.try_into().expect("8 bytes")),
        u32::from_be_bytes(signal.try_into().expect("4 bytes")),
    )
}
