//! Plan to artifacts: the effects of a run, its durable ledger and its artifact store. What to do next is decided by [`scheduler`].
//!
//! * [`ledger`] remembers: every event that money hangs on is on disk before anything acts on it.
//! * [`artifact_store`] keeps videos by their content, and their readable names.
//! * [`provider`] is the seam to the video service, with the client-backed implementation beside it.
//! * [`executor`] performs: it appends events to the ledger, applies them, reports them and carries out the actions.
//! * [`preview`] says what a run would do, without doing it; [`explain`] says why.
//!
//! Invariant: this crate does not know the embedded service; a service is a base address and a key.
//! Invariant: a task that has an id is polled for and never submitted again.

pub mod artifact;
pub mod artifact_store;
mod blocking;
pub mod executor;
pub mod explain;
pub mod failpoint;
pub mod ledger;
mod media_gate;
pub mod preview;
pub mod provider;
pub mod reporter;

pub mod time;

pub use executor::{RunConfig, RunError, run};
pub use ledger::{Ledger, LedgerError};
pub use media_gate::MEDIA_GATE;
pub use reporter::Reporter;
pub use time::Clock;
