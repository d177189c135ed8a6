//! Memory for request bodies and fetched media: taken as bytes arrive, bounded per key and in all.
//!
//! Who cannot get more waits, in the order of arrival. Two rules prevent that all wait for each other: the first one
//! that waits may finish on a reserve, and so may the first one of each key as far as the key's bound is concerned.
//! A key therefore waits for its own bodies, and for at most one bound of each other key.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use crate::{api_error::ApiError, keys::KeyId};

/// Bytes of one permit.
const UNIT: usize = 1024;

/// The memory and who has taken from it.
#[derive(Debug)]
pub(crate) struct MemoryBudget {
    all: Bound,
    per_key: usize,
    keys: Mutex<HashMap<KeyId, Arc<Bound>>>,
}

/// A bound with the turn to exceed it.
#[derive(Debug)]
struct Bound {
    units: Arc<Semaphore>,
    turn: Arc<Semaphore>,
}

/// What was given: memory, or the turn to take without asking.
#[derive(Debug, Default)]
struct GrantedPermits {
    units: Option<OwnedSemaphorePermit>,
    turn: Option<OwnedSemaphorePermit>,
}

/// The memory of one request; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct MemoryShare {
    budget: Arc<MemoryBudget>,
    key: Arc<Bound>,
    of_all: GrantedPermits,
    of_key: GrantedPermits,
    /// Bytes in use.
    used: usize,
    /// Bytes that `of_all` and `of_key` cover.
    covered: usize,
}

impl Bound {
    fn new(bytes: usize) -> Self {
        let units = (bytes / UNIT).clamp(1, Semaphore::MAX_PERMITS);
        Self { units: Arc::new(Semaphore::new(units)), turn: Arc::new(Semaphore::new(1)) }
    }

    async fn take(&self, units: u32, granted: &mut GrantedPermits) -> Result<(), AcquireError> {
        if granted.turn.is_some() {
            return Ok(());
        }
        tokio::select! {
            biased;
            more = Arc::clone(&self.units).acquire_many_owned(units) => match &mut granted.units {
                Some(permit) => permit.merge(more?),
                None => granted.units = Some(more?),
            },
            turn = Arc::clone(&self.turn).acquire_owned() => granted.turn = Some(turn?),
        }
        Ok(())
    }
}

impl MemoryBudget {
    /// A budget of `total` bytes for requests of at most `largest` bytes each. A quarter of it is for each key.
    pub(crate) fn new(total: usize, largest: usize) -> Arc<Self> {
        // The turn is a reserve for one request.
        let all = Bound::new(total.saturating_sub(largest));
        Arc::new(Self { all, per_key: (total / 4).max(UNIT), keys: Mutex::default() })
    }

    pub(crate) fn share(self: &Arc<Self>, key: &KeyId) -> MemoryShare {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let bound = keys.entry(key.clone()).or_insert_with(|| Arc::new(Bound::new(self.per_key)));
        let key = Arc::clone(bound);
        drop(keys);
        MemoryShare {
            budget: Arc::clone(self),
            key,
            of_all: GrantedPermits::default(),
            of_key: GrantedPermits::default(),
            used: 0,
            covered: 0,
        }
    }
}

impl MemoryShare {
    /// Waits until `bytes` more may be held.
    pub(crate) async fn take(&mut self, bytes: usize) -> Result<(), ApiError> {
        let used = self.used + bytes;
        let units = used.saturating_sub(self.covered).div_ceil(UNIT);
        // Whoever has the turn over all waits for nothing: others wait for it.
        if units > 0 && self.of_all.turn.is_none() {
            let count = u32::try_from(units).unwrap_or(u32::MAX);
            let closed = |error| ApiError::internal("no memory is available for requests", &error);
            self.key.take(count, &mut self.of_key).await.map_err(closed)?;
            self.budget.all.take(count, &mut self.of_all).await.map_err(closed)?;
        }
        self.covered += units * UNIT;
        self.used = used;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    const MIB: usize = 1 << 20;

    async fn grows(share: &mut MemoryShare, bytes: usize) -> bool {
        timeout(Duration::from_millis(20), share.take(bytes)).await.is_ok()
    }

    #[tokio::test]
    async fn one_key_waits_for_itself_only() {
        let budget = MemoryBudget::new(16 * MIB, 2 * MIB);
        let (greedy, other) = (KeyId::from_text("greedy"), KeyId::from_text("other"));
        let mut shares: Vec<_> = (0..8).map(|_| budget.share(&greedy)).collect();
        let mut grown = 0;
        for share in &mut shares {
            grown += usize::from(grows(share, 2 * MIB).await);
        }
        // Its quarter, and one that has the key's turn.
        assert_eq!(grown, 3);
        assert!(grows(&mut budget.share(&other), 2 * MIB).await);
        drop(shares);
        assert!(grows(&mut budget.share(&greedy), 2 * MIB).await);
    }

    #[tokio::test]
    async fn requests_that_wait_for_each_other_finish_in_turn() {
        let budget = MemoryBudget::new(8 * MIB, 2 * MIB);
        let keys: Vec<_> = (0..6).map(|number| KeyId::from_text(&format!("key {number}"))).collect();
        // Half of each body is there, and all of the memory is taken.
        let mut shares = Vec::new();
        for key in &keys {
            let mut share = budget.share(key);
            assert!(grows(&mut share, MIB).await);
            shares.push(share);
        }
        let mut rest = shares.into_iter();
        let mut first = rest.next().unwrap();
        assert!(grows(&mut first, MIB).await, "it has the turn");
        let mut second = rest.next().unwrap();
        assert!(!grows(&mut second, MIB).await);
        drop(first);
        assert!(grows(&mut second, MIB).await);
    }

    #[tokio::test]
    async fn small_steps_add_up() {
        let budget = MemoryBudget::new(4 * MIB, MIB);
        let key = KeyId::from_text("key");
        let mut share = budget.share(&key);
        for _ in 0..10 {
            share.take(100).await.unwrap();
        }
        assert_eq!((share.used, share.covered), (1000, 1024));
    }
}
