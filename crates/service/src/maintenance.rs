//! Periodic maintenance: looks at the storage and the clock, deletes what has expired.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::spawn_blocking,
    time::{MissedTickBehavior, interval},
};

use crate::{
    config::Retention,
    error::ServiceError,
    service_clock::ServiceClock,
    store::{Store, StoreError},
};

/// How often the storage is looked at.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// What maintenance works on.
pub(crate) struct Maintenance {
    pub(crate) store: Arc<Store>,
    pub(crate) clock: Arc<ServiceClock>,
    pub(crate) retention: Retention,
}

impl Maintenance {
    fn check_storage(&self) {
        // Why nothing can be stored is in the log already.
        let _ = self.store.check(None);
    }

    fn sweep(&self) -> Result<(), ServiceError> {
        let failed = |error: StoreError| ServiceError::Store(error.to_string());
        if let Some(shift) = self.clock.compare() {
            let lifetime_ms = i64::try_from(self.retention.files.as_millis()).unwrap_or(i64::MAX);
            // In this order, nothing looks expired in between.
            if shift.by > 0 {
                self.store.shift_expiry(shift, lifetime_ms).map_err(failed)?;
                self.clock.follow(shift);
            } else {
                self.clock.follow(shift);
                self.store.shift_expiry(shift, lifetime_ms).map_err(failed)?;
            }
        }
        if self.clock.is_confirmed() {
            self.store.sweep(self.clock.now_ms(), self.retention.record).map_err(failed)?;
        }
        Ok(())
    }
}

/// A maintenance job.
enum Job {
    Stop,
    CheckStorage,
    Sweep,
}

/// Runs maintenance until `stopped` becomes true.
pub(crate) async fn run(maintenance: Maintenance, mut stopped: watch::Receiver<bool>) {
    let maintenance = Arc::new(maintenance);
    let intervals = [CHECK_INTERVAL, maintenance.retention.sweep_interval];
    let [mut check, mut sweep] = intervals.map(|period| {
        let mut ticks = interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks
    });
    loop {
        // The job runs outside of select!: the borrow of the watch channel must not be held meanwhile.
        let job = tokio::select! {
            _ = stopped.wait_for(|stopped| *stopped) => Job::Stop,
            _ = check.tick() => Job::CheckStorage,
            _ = sweep.tick() => Job::Sweep,
        };
        let maintenance = Arc::clone(&maintenance);
        let done = match job {
            Job::Stop => return,
            Job::CheckStorage => spawn_blocking(move || {
                maintenance.check_storage();
                Ok(())
            }),
            Job::Sweep => spawn_blocking(move || maintenance.sweep()),
        };
        match done.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "maintenance failed; it will be retried"),
            Err(error) => tracing::error!(%error, "maintenance panicked; it will be retried"),
        }
    }
}
