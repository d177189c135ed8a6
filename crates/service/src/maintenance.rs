//! Periodic maintenance: reloads API keys and deletes what has expired.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{MissedTickBehavior, interval},
};

use crate::{
    clock::Clock, config::Retention, error::ServiceError, keys::ApiKeyCache, limits::KeyLimits, store::Store,
};

/// How often the key cache is reloaded from the database, which another process may have changed.
const KEY_REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// How often expired files and records are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// Reloads the cache of stored API keys.
pub(crate) struct KeyRefresh {
    pub(crate) cache: Arc<ApiKeyCache>,
    /// Limits of keys without their own.
    pub(crate) default: KeyLimits,
}

impl KeyRefresh {
    pub(crate) fn run(&self, store: &Store) -> Result<(), ServiceError> {
        let keys =
            store.active_keys(&self.default).map_err(|error| ServiceError::Store(error.to_string()))?;
        self.cache.replace(keys);
        Ok(())
    }
}

/// A maintenance job.
enum Job {
    Stop,
    Keys,
    Sweep,
}

/// Runs maintenance until `stopped` becomes true.
pub(crate) async fn run(
    store: Arc<Store>,
    keys: Option<KeyRefresh>,
    clock: Arc<dyn Clock>,
    retention: Retention,
    mut stopped: watch::Receiver<bool>,
) {
    let keys = Arc::new(keys);
    let (mut key_refresh, mut sweep) = (interval(KEY_REFRESH_INTERVAL), interval(SWEEP_INTERVAL));
    key_refresh.set_missed_tick_behavior(MissedTickBehavior::Delay);
    sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        // The job runs outside of select!: the borrow of the watch channel must not be held meanwhile.
        let job = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => Job::Stop,
            _ = key_refresh.tick(), if keys.is_some() => Job::Keys,
            _ = sweep.tick() => Job::Sweep,
        };
        let (store, keys, now) = (Arc::clone(&store), Arc::clone(&keys), clock.now_ms());
        let done = match job {
            Job::Stop => return,
            Job::Keys => {
                spawn_blocking(move || keys.as_ref().as_ref().map_or(Ok(()), |keys| keys.run(&store)))
            }
            Job::Sweep => spawn_blocking(move || {
                store.sweep(now, retention.record).map_err(|error| ServiceError::Store(error.to_string()))
            }),
        };
        let done = done.await;
        match done {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "maintenance failed; it will be retried"),
            Err(error) => tracing::error!(%error, "maintenance panicked; it will be retried"),
        }
    }
}
