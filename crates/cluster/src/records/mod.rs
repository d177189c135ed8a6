//! Runs and work on record in a cluster, as commands read them: the same traits as a ledger implements ([`engine::records`]).
//!
//! Runs are listed by an index, their events are those of their logs, and work is asked of the objects of its keys. Nothing is kept besides
//! what was read once.

mod run_log;
mod runs;
mod work;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use engine::LedgerError;
use futures_util::{StreamExt as _, TryStreamExt as _};
use scheduler::RunId;
use workflow::plan::NodeKey;

pub use self::runs::IndeterminateShot;

use self::run_log::RunLog;
use crate::client::EngineClient;
use crate::describe::EngineDescription;
use crate::error::ClusterError;
use crate::node::NodeRecord;
use crate::store::SharedStore;

/// Objects of keys that are asked at once.
const MAX_CONCURRENT_LOOKUPS: usize = 32;

/// The records of a cluster.
#[derive(Debug)]
pub struct ClusterRecords {
    client: EngineClient,
    store: SharedStore,
    /// The workflow whose runs are listed; `None` for those of all.
    workflow: Option<String>,
    description: EngineDescription,
    logs: tokio::sync::Mutex<HashMap<RunId, Arc<RunLog>>>,
    /// Of the keys that were looked up last.
    nodes: Mutex<HashMap<NodeKey, NodeRecord>>,
    /// Films that are known to be on this machine: the run, and the file.
    brought: Mutex<HashSet<(RunId, PathBuf)>>,
}

impl ClusterRecords {
    /// The records of a workflow, or of all.
    ///
    /// # Errors
    /// When Restate cannot be reached, or no worker is registered.
    pub async fn open(
        client: EngineClient,
        store: SharedStore,
        workflow: Option<String>,
    ) -> Result<Self, ClusterError> {
        let description = client.describe().await?;
        Ok(Self {
            client,
            store,
            workflow,
            description,
            logs: tokio::sync::Mutex::default(),
            nodes: Mutex::default(),
            brought: Mutex::default(),
        })
    }

    /// What the workers work for.
    pub fn description(&self) -> &EngineDescription {
        &self.description
    }

    /// Whether there is a run of this name.
    ///
    /// # Errors
    /// When Restate cannot be reached.
    pub async fn has_run(&self, run: &RunId) -> Result<bool, ClusterError> {
        Ok(self.client.events(run, u64::MAX).await?.head.is_some())
    }

    /// The log of a run, read up to now; `None` if there is no such run.
    async fn log(&self, run: &RunId) -> Result<Option<Arc<RunLog>>, ClusterError> {
        let mut logs = self.logs.lock().await;
        if let Some(log) = logs.get_mut(run) {
            if !log.is_over() {
                // Nobody else has it: readers are done with it before they ask again.
                Arc::make_mut(log).read(&self.client).await?;
            }
            return Ok(Some(Arc::clone(log)));
        }
        let Some(mut log) = RunLog::open(&self.client, &self.store, run).await? else { return Ok(None) };
        log.read(&self.client).await?;
        let log = Arc::new(log);
        logs.insert(run.clone(), Arc::clone(&log));
        Ok(Some(log))
    }

    /// The records of keys, in their order.
    async fn nodes(&self, keys: &[NodeKey]) -> Result<Vec<NodeRecord>, ClusterError> {
        let asked: Vec<_> = keys.iter().map(|key| self.client.node(key)).collect();
        let records: Vec<NodeRecord> =
            futures_util::stream::iter(asked).buffered(MAX_CONCURRENT_LOOKUPS).try_collect().await?;
        lock(&self.nodes).extend(keys.iter().copied().zip(records.iter().cloned()));
        Ok(records)
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl From<ClusterError> for LedgerError {
    fn from(error: ClusterError) -> Self {
        Self::OtherRecords(Box::new(error))
    }
}
