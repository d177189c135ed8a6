//! Runs a plan on many machines: the same scheduler and the same provider, with the journal, timers and recovery of Restate, and with
//! videos in a shared store.
//!
//! * [`worker`]: a process that serves the objects below to Restate. It keeps no state of its own.
//! * [`run`]: a run is a virtual object. Its state is its event log; `RunState::apply` is called for each event, and its actions become
//!   messages to nodes.
//! * [`node`]: a node's key is a virtual object: its attempts, of which one at a time is live over the whole cluster. It submits, polls and
//!   downloads.
//! * [`account`]: permits and budget of an account, over all runs and clients.
//! * [`post_gate`]: which process may send a POST, and that it does so once.
//! * [`store`]: plans, inputs, videos and films by content hash.
//! * [`client`]: what a command asks of the cluster.
//!
//! Invariant: a POST is sent only by the process that issued the journalled token of its submission, and once.
//! Invariant: the API key of the service is in no message, no state and no plan; workers alone have it.

pub mod account;
pub mod client;
mod effects;
mod error;
mod films;
pub mod follow;
pub mod messages;
pub mod node;
pub mod post_gate;
pub mod run;
pub mod spec;
pub mod store;
pub mod worker;

pub use client::EngineClient;
pub use error::ClusterError;
pub use follow::Follower;
pub use spec::RunSpec;
pub use store::SharedStore;
pub use worker::{PriceSource, Worker, WorkerConfig};
