//! Runs a plan on one machine: effects, durable ledger, artifact store. The [`scheduler`] decides what to do next.
//!
//! * [`ledger`]: the event log with derived tables; events are durable before anything acts on them.
//! * [`artifact_store`]: videos by content hash, hard-linked to readable names.
//! * [`provider`]: the interface to the video service, and its implementation over the HTTP client.
//! * [`executor`]: appends events to the ledger, applies them, reports them and executes the actions.
//! * [`records`]: runs and work on record, as the commands that show them read it.
//! * [`preview`]: what a run would do; [`explain`]: why; [`adopt`]: work that the ledger does not know; [`clean`]: files that are no longer needed;
//!   [`cuts`]: earlier cuts of films; [`sidecar`]: what each paid video is, beside it.
//!
//! Floors: a file uses what is on its own floor or below.
//! 5. `executor`: the loop of a run; `adopt`, `clean`, `explain`, over `preview`.
//! 4. `effects`, which the executor performs; `records`, over `lookup`.
//! 3. `film`, `ledger`.
//! 2. `artifact_store`, `unchanged_copy`, `cuts`.
//! 1. `provider`, `reporter`, `artifact`, `sidecar` and other small files that use each other at most.
//!
//! Invariant: this crate does not know the embedded service; a service is a base URL and a key.
//! Invariant: a task that has an id is polled for and never submitted again.

pub mod adopt;
pub mod artifact;
pub mod artifact_store;
mod blocking;
pub mod clean;
pub mod cuts;
pub mod effects;
pub mod executor;
pub mod explain;
pub mod failpoint;
mod file_id;
pub mod film;
pub mod ledger;
mod lookup;
mod media_gate;
pub mod preview;
pub mod provider;
pub mod records;
pub mod reporter;
pub mod sidecar;
mod storage;
pub mod time;
mod unchanged_copy;
mod unknown_task;

pub use executor::fetch::{FetchConfig, FetchError, OnWait, Turns, fetch_task};
pub use executor::{RunConfig, RunError, RunServices, ServiceOfRun, UnrecordedTask, run};
pub use ledger::{Ledger, LedgerError};
pub use media_gate::MEDIA_GATE;
pub use reporter::{FilmProgress, Reporter};
pub use time::Clock;
