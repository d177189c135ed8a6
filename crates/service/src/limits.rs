//! How much of what one may ask for at once, and the gate that keeps count (spec 8: the numbers are ours).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    keys::{Key, KeyId},
    refusal::{Refusal, RefusalKind},
};

/// What the service takes on. The defaults are generous: they protect the machine, not a business.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Bytes of a request body; beyond them 413. Pictures come as data URIs, so this is not small.
    pub body_bytes: usize,
    /// Bytes of request bodies held in memory at once, over all connections; further ones wait their turn.
    pub bodies_bytes: usize,
    /// Characters of a prompt, and of a `user`; beyond them 400.
    pub text_chars: usize,
    /// Accepted and unfinished tasks over all keys; beyond them 429.
    pub queued_tasks: usize,
    /// For keys that have no limits of their own.
    pub per_key: KeyLimits,
    /// What may be put into a request.
    pub media: MediaLimits,
    /// How often a task is begun anew after the service died under it, before it is given up as the cause.
    pub starts: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 32 << 20,
            bodies_bytes: 256 << 20,
            text_chars: 20_000,
            queued_tasks: 10_000,
            per_key: KeyLimits::default(),
            media: MediaLimits::default(),
            starts: 64,
        }
    }
}

/// What one key may do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyLimits {
    /// Accepted and unfinished tasks at once; beyond them 429.
    pub running_tasks: u32,
    /// Submissions a second in the long run; beyond them 429.
    pub submissions_per_second: f64,
    /// Submissions that may come at once after a quiet while.
    pub burst: u32,
    /// Seconds of video in all, ever; `None` is no limit. A failed task gives its seconds back.
    pub quota_seconds: Option<u64>,
}

impl Default for KeyLimits {
    fn default() -> Self {
        Self { running_tasks: 5_000, submissions_per_second: 500.0, burst: 2_000, quota_seconds: None }
    }
}

/// Bounds of reference media.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaLimits {
    /// Assets of one request, all kinds together.
    pub assets: usize,
    /// Bytes of one picture as it comes (PNG, JPEG or WebP).
    pub image_bytes: usize,
    /// The shortest side of a picture that is of any use, in pixels.
    pub shortest_side: u32,
    /// The longest side of a picture, in pixels.
    pub longest_side: u32,
    /// Bytes of one reference video or of one piece of audio.
    pub clip_bytes: usize,
    /// The time in which all URLs of a request must have delivered everything.
    pub fetch_time: Duration,
}

impl Default for MediaLimits {
    fn default() -> Self {
        Self {
            assets: 16,
            image_bytes: 24 << 20,
            shortest_side: 16,
            longest_side: 6_000,
            clip_bytes: 64 << 20,
            fetch_time: Duration::from_secs(20),
        }
    }
}

/// Counts unfinished tasks and submissions, by key and in all.
#[derive(Debug)]
pub(crate) struct Gate {
    queued_tasks: usize,
    workers: usize,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    unfinished: usize,
    keys: HashMap<KeyId, Usage>,
    /// How long a task takes, as a moving average in seconds; 0 before the first.
    typical_seconds: f64,
}

#[derive(Debug)]
struct Usage {
    unfinished: u32,
    /// Submissions that may come now.
    allowance: f64,
    counted_at: i64,
}

/// A task's place among the unfinished. Dropping it gives the place back.
#[derive(Debug)]
pub(crate) struct Place {
    gate: Arc<Gate>,
    key: KeyId,
}

impl Gate {
    pub(crate) fn new(limits: &Limits, workers: usize) -> Self {
        Self { queued_tasks: limits.queued_tasks, workers: workers.max(1), counts: Mutex::default() }
    }

    /// Counts a submission, or refuses it because they come too fast.
    pub(crate) fn submission(&self, key: &Key, now: i64) -> Result<(), Refusal> {
        let limits = &key.limits;
        let mut counts = self.counts();
        let usage = counts.usage(key, now);
        let elapsed = (now - usage.counted_at).max(0) as f64 / 1000.0;
        let full = f64::from(limits.burst.max(1));
        usage.allowance = (usage.allowance + elapsed * limits.submissions_per_second).min(full);
        usage.counted_at = now;
        if usage.allowance >= 1.0 {
            usage.allowance -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - usage.allowance) / limits.submissions_per_second.max(1e-3);
        let message = format!(
            "this key may submit {} tasks a second, with bursts of {}",
            limits.submissions_per_second, limits.burst
        );
        let wait = Duration::from_secs_f64(wait.clamp(0.0, 3600.0));
        Err(Refusal::new(RefusalKind::Limited, "rate_limit_exceeded", message).retry_after(wait))
    }

    /// A place for one more task, or the reason why there is none.
    pub(crate) fn admit(self: &Arc<Self>, key: &Key, now: i64) -> Result<Place, Refusal> {
        let mut counts = self.counts();
        let wait = counts.next_finish(self.workers);
        if counts.unfinished >= self.queued_tasks {
            let message =
                format!("the service has {} unfinished tasks, as many as it takes", counts.unfinished);
            return Err(Refusal::new(RefusalKind::Limited, "queue_full", message).retry_after(wait));
        }
        let usage = counts.usage(key, now);
        if usage.unfinished >= key.limits.running_tasks {
            let message =
                format!("this key has {} unfinished tasks, as many as it may have", usage.unfinished);
            return Err(Refusal::new(RefusalKind::Limited, "too_many_tasks", message).retry_after(wait));
        }
        usage.unfinished += 1;
        counts.unfinished += 1;
        Ok(Place { gate: Arc::clone(self), key: key.id.clone() })
    }

    /// The place of a task that an earlier life of the service accepted: no limit applies to it.
    pub(crate) fn readmit(self: &Arc<Self>, key: &KeyId) -> Place {
        let mut counts = self.counts();
        counts.unfinished += 1;
        counts.keys.entry(key.clone()).or_insert_with(Usage::restored).unfinished += 1;
        Place { gate: Arc::clone(self), key: key.clone() }
    }

    /// Learns how long a task took, for the Retry-After of later refusals.
    pub(crate) fn finished_in(&self, took: Duration) {
        let mut counts = self.counts();
        let took = took.as_secs_f64();
        counts.typical_seconds =
            if counts.typical_seconds > 0.0 { 0.8 * counts.typical_seconds + 0.2 * took } else { took };
    }

    pub(crate) fn unfinished(&self) -> usize {
        self.counts().unfinished
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        // Counters stay meaningful whatever happened to the thread that held them.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn usage(&mut self, key: &Key, now: i64) -> &mut Usage {
        let fresh =
            || Usage { unfinished: 0, allowance: f64::from(key.limits.burst.max(1)), counted_at: now };
        self.keys.entry(key.id.clone()).or_insert_with(fresh)
    }

    fn next_finish(&self, workers: usize) -> Duration {
        Duration::from_secs_f64((self.typical_seconds / workers as f64).clamp(1.0, 60.0))
    }
}

impl Usage {
    fn restored() -> Self {
        Self { unfinished: 0, allowance: 1.0, counted_at: 0 }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.gate.counts();
        counts.unfinished = counts.unfinished.saturating_sub(1);
        if let Some(usage) = counts.keys.get_mut(&self.key) {
            usage.unfinished = usage.unfinished.saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Permissions;

    fn key(name: &str, limits: KeyLimits) -> Key {
        Key { id: KeyId::from_text(name), name: name.to_owned(), permissions: Permissions::all(), limits }
    }

    #[test]
    fn submissions_come_in_bursts_and_then_at_the_rate() {
        let gate = Gate::new(&Limits::default(), 1);
        let limits = KeyLimits { submissions_per_second: 2.0, burst: 3, ..KeyLimits::default() };
        let key = key("one", limits);
        for _ in 0..3 {
            gate.submission(&key, 1_000).unwrap();
        }
        let refusal = gate.submission(&key, 1_000).unwrap_err();
        assert_eq!(refusal.code, "rate_limit_exceeded");
        assert_eq!(refusal.retry_after, Some(Duration::from_millis(500)));
        gate.submission(&key, 1_500).unwrap();
        gate.submission(&key, 1_500).unwrap_err();
        // A clock that goes back is no reason for a gift nor for a panic.
        gate.submission(&key, 0).unwrap_err();
        // A long quiet fills the bucket, and no more than that.
        for _ in 0..3 {
            gate.submission(&key, 9_000_000).unwrap();
        }
        gate.submission(&key, 9_000_000).unwrap_err();
    }

    #[test]
    fn places_are_counted_by_key_and_in_all_and_given_back() {
        let limits = Limits { queued_tasks: 3, ..Limits::default() };
        let gate = Arc::new(Gate::new(&limits, 1));
        let few = KeyLimits { running_tasks: 2, ..KeyLimits::default() };
        let (one, two) = (key("one", few.clone()), key("two", few));
        let first = gate.admit(&one, 0).unwrap();
        let _second = gate.admit(&one, 0).unwrap();
        assert_eq!(gate.admit(&one, 0).unwrap_err().code, "too_many_tasks");
        let _third = gate.admit(&two, 0).unwrap();
        assert_eq!(gate.admit(&two, 0).unwrap_err().code, "queue_full");
        drop(first);
        assert_eq!(gate.unfinished(), 2);
        let _fourth = gate.admit(&one, 0).unwrap();
        // What was accepted before a restart stays accepted.
        let _restored = gate.readmit(&one.id);
        assert_eq!(gate.unfinished(), 4);
    }
}
