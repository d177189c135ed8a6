//! Periodic maintenance: deletes what has expired.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{MissedTickBehavior, interval},
};

use crate::{clock::Clock, config::Retention, store::Store};

/// How often expired files and records are deleted.
const SWEEP_INTERVAL: Duration = Duration::from_mins(1);

/// Runs maintenance until `stopped` becomes true.
pub(crate) async fn run(
    store: Arc<Store>,
    clock: Arc<dyn Clock>,
    retention: Retention,
    mut stopped: watch::Receiver<bool>,
) {
    let mut sweeps = interval(SWEEP_INTERVAL);
    sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => return,
            _ = sweeps.tick() => {}
        }
        let (store, now) = (Arc::clone(&store), clock.now_ms());
        match spawn_blocking(move || store.sweep(now, retention.record)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "maintenance failed; it will be retried"),
            Err(error) => tracing::error!(%error, "maintenance panicked; it will be retried"),
        }
    }
}
