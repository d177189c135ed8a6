//! Plan to artifacts: the pure scheduler, the durable ledger and the executor that joins them.
//!
//! * [`state`] decides: [`state::RunState::apply`] takes an event and the time and returns what to do next. It does no I/O.
//! * [`ledger`] remembers: every event that money hangs on is on disk before anything acts on it.
//! * [`store`] keeps videos by their content, and their readable names.
//! * [`provider`] is the seam to the video service, with the client-backed implementation beside it.
//! * [`executor`] performs: it appends events to the ledger, applies them, reports them and carries out the actions.
//! * [`budget`] bounds: what is held for what is out and what is spent never crosses a cap.
//! * [`history`] says what a run has done so far, from what is on record.
//! * [`polling`] sets the times at which tasks are asked about, from what past ones took.
//! * [`preview`] says what a run would do, without doing it; [`explain`] says why.
//!
//! Invariant: this crate does not know the embedded service; a service is a base address and a key.
//! Invariant: a task that has an id is polled for and never submitted again.

pub mod artifact;
mod blocking;
pub mod budget;
pub mod executor;
pub mod explain;
pub mod failpoint;
pub mod history;
pub mod ids;
pub mod last_run;
pub mod ledger;
pub mod policy;
pub mod polling;
pub mod preview;
pub mod provider;
pub mod reporter;
pub mod spending;
pub mod state;
pub mod store;
pub mod time;

pub use artifact::Artifact;
pub use budget::Budget;
pub use executor::{RunError, Setup, run};
pub use ids::{AttemptId, RunId, TaskId};
pub use ledger::{Ledger, LedgerError};
pub use policy::Policy;
pub use reporter::Reporter;
pub use state::{Action, Event, RunState, RunSummary};
pub use time::{Clock, Millis};
