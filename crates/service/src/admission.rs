//! Admission control: which submissions are accepted now. Per key a token bucket for the rate and a count of
//! unfinished tasks; over all keys a bound on the queue.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    api_error::{ApiError, ApiErrorKind},
    keys::{Key, KeyId},
    limits::Limits,
};

/// When a client may try again whose task has no place: a rehearsal takes some seconds.
const FULL_RETRY: Duration = Duration::from_secs(2);

/// Enforces the limits on submissions and unfinished tasks, per key and in total.
#[derive(Debug)]
pub(crate) struct AdmissionController {
    queued_tasks: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    unfinished: usize,
    keys: HashMap<KeyId, KeyUsage>,
}

#[derive(Debug)]
struct KeyUsage {
    unfinished: u32,
    /// Tokens in the bucket: submissions that are admitted now.
    tokens: f64,
    refilled_at: i64,
}

/// The right of one task to be unfinished. Dropping it frees the slot.
#[derive(Debug)]
pub(crate) struct Permit {
    admission: Arc<AdmissionController>,
    key: KeyId,
}

impl AdmissionController {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self { queued_tasks: limits.queued_tasks, counts: Mutex::default() }
    }

    /// Takes a token for a submission, or rejects it if the bucket is empty.
    pub(crate) fn check_rate(&self, key: &Key, now: i64) -> Result<(), ApiError> {
        let limits = &key.limits;
        let mut counts = self.counts();
        let usage = counts.usage(key, now);
        let elapsed = (now - usage.refilled_at).max(0) as f64 / 1000.0;
        let full = f64::from(limits.burst.max(1));
        usage.tokens = (usage.tokens + elapsed * limits.submissions_per_second).min(full);
        usage.refilled_at = now;
        if usage.tokens >= 1.0 {
            usage.tokens -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - usage.tokens) / limits.submissions_per_second.max(1e-3);
        let message = format!(
            "this key may submit {} tasks a second, with bursts of {}",
            limits.submissions_per_second, limits.burst
        );
        let wait = Duration::from_secs_f64(wait.clamp(0.0, 3600.0));
        Err(ApiError::new(ApiErrorKind::Limited, "rate_limit_exceeded", message).retry_after(wait))
    }

    /// A permit for one more unfinished task, or the limit that forbids it.
    pub(crate) fn admit(self: &Arc<Self>, key: &Key, now: i64) -> Result<Permit, ApiError> {
        let mut counts = self.counts();
        if counts.unfinished >= self.queued_tasks {
            let message =
                format!("the service has {} unfinished tasks, as many as it takes", counts.unfinished);
            return Err(ApiError::new(ApiErrorKind::Limited, "queue_full", message).retry_after(FULL_RETRY));
        }
        let usage = counts.usage(key, now);
        if usage.unfinished >= key.limits.running_tasks {
            let message =
                format!("this key has {} unfinished tasks, as many as it may have", usage.unfinished);
            return Err(
                ApiError::new(ApiErrorKind::Limited, "too_many_tasks", message).retry_after(FULL_RETRY)
            );
        }
        usage.unfinished += 1;
        counts.unfinished += 1;
        Ok(Permit { admission: Arc::clone(self), key: key.id.clone() })
    }

    /// The permit of a task accepted before a restart: no limit applies.
    pub(crate) fn readmit(self: &Arc<Self>, key: &KeyId) -> Permit {
        let mut counts = self.counts();
        counts.unfinished += 1;
        counts.keys.entry(key.clone()).or_insert_with(KeyUsage::restored).unfinished += 1;
        Permit { admission: Arc::clone(self), key: key.clone() }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // The counters are consistent even if a thread panicked while holding the lock.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn usage(&mut self, key: &Key, now: i64) -> &mut KeyUsage {
        let fresh =
            || KeyUsage { unfinished: 0, tokens: f64::from(key.limits.burst.max(1)), refilled_at: now };
        self.keys.entry(key.id.clone()).or_insert_with(fresh)
    }
}

impl KeyUsage {
    fn restored() -> Self {
        Self { unfinished: 0, tokens: 1.0, refilled_at: 0 }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut counts = self.admission.counts();
        counts.unfinished = counts.unfinished.saturating_sub(1);
        if let Some(usage) = counts.keys.get_mut(&self.key) {
            usage.unfinished = usage.unfinished.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{keys::Permissions, limits::KeyLimits};

    fn key(name: &str, limits: KeyLimits) -> Key {
        Key { id: KeyId::from_text(name), name: name.to_owned(), permissions: Permissions::all(), limits }
    }

    #[test]
    fn rate_limit_admits_burst_then_refills_at_rate() {
        let admission = AdmissionController::new(&Limits::default());
        let limits = KeyLimits { submissions_per_second: 2.0, burst: 3, ..KeyLimits::default() };
        let key = key("one", limits);
        for _ in 0..3 {
            admission.check_rate(&key, 1_000).unwrap();
        }
        let error = admission.check_rate(&key, 1_000).unwrap_err();
        assert_eq!(error.code, "rate_limit_exceeded");
        assert_eq!(error.retry_after, Some(Duration::from_millis(500)));
        admission.check_rate(&key, 1_500).unwrap();
        admission.check_rate(&key, 1_500).unwrap_err();
        // A clock that goes back neither refills the bucket nor panics.
        admission.check_rate(&key, 0).unwrap_err();
        // The bucket refills up to its capacity only.
        for _ in 0..3 {
            admission.check_rate(&key, 9_000_000).unwrap();
        }
        admission.check_rate(&key, 9_000_000).unwrap_err();
    }

    #[test]
    fn permits_are_counted_per_key_and_in_total_and_released() {
        let limits = Limits { queued_tasks: 3, ..Limits::default() };
        let admission = Arc::new(AdmissionController::new(&limits));
        let limited = KeyLimits { running_tasks: 2, ..KeyLimits::default() };
        let (first_key, second_key) = (key("one", limited.clone()), key("two", limited));
        let first = admission.admit(&first_key, 0).unwrap();
        let _second = admission.admit(&first_key, 0).unwrap();
        assert_eq!(admission.admit(&first_key, 0).unwrap_err().code, "too_many_tasks");
        let _third = admission.admit(&second_key, 0).unwrap();
        assert_eq!(admission.admit(&second_key, 0).unwrap_err().code, "queue_full");
        drop(first);
        assert_eq!(admission.counts().unfinished, 2);
        let _fourth = admission.admit(&first_key, 0).unwrap();
        // Tasks accepted before a restart are readmitted beyond the limits.
        let _restored = admission.readmit(&first_key.id);
        assert_eq!(admission.counts().unfinished, 4);
    }
}
