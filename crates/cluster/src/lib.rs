//! Runs a plan on many machines: the same scheduler and the same provider, with the journal, timers and recovery of Restate, and with
//! videos in a shared store.
//!
//! * [`worker`]: a process that serves the objects below to Restate. It keeps no state of its own.
//! * [`run`]: a run is a virtual object. Its state is its event log; `RunState::apply` is called for each event, and its actions become
//!   messages to nodes.
//! * [`node`]: a node's key is a virtual object: its attempts, of which one at a time is live over the whole cluster. It submits, polls and
//!   downloads.
//! * [`account`]: permits and budget of an account, over all runs and clients.
//! * [`post_gate`]: which process may send a POST, and that it does so once; `post_pacer`: when, while the limits of the service are unknown.
//! * [`store`]: plans, inputs, videos and films by content hash.
//! * [`index`]: which runs and renders there are, and what is asked for.
//! * [`client`]: what a command asks of the cluster; [`records`]: runs and work on record, as commands read them.
//!
//! Invariant: a POST is sent only by the process that issued the journalled token of its submission, and once.
//! Invariant: the API key of the service is in no message, no state and no plan; workers alone have it.

pub mod account;
mod batcher;
pub mod client;
pub mod deployment;
mod describe;
mod download_films;
mod effects;
mod error;
#[cfg(feature = "failpoints")]
pub mod failpoint;
mod films;
pub mod follow;
mod in_progress;
pub mod index;
pub mod messages;
pub mod node;
pub mod post_gate;
mod post_pacer;
pub mod records;
pub mod run;
mod share;
pub mod spec;
pub mod store;
pub mod worker;

pub use client::EngineClient;
pub use describe::EngineDescription;
pub use error::ClusterError;
pub use follow::Follower;
pub use records::ClusterRecords;
pub use spec::RunSpec;
pub use store::{SharedStore, StoreOptions};
pub use worker::{PriceSource, Worker, WorkerConfig};
