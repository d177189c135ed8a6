//! Group commit for directory entries: concurrent downloads share one `fsync` of their folder.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Tracks whether a folder has new entries that a power cut would lose.
#[derive(Debug, Default)]
pub(super) struct DirSync {
    dirty: AtomicBool,
    syncing: Mutex<()>,
}

impl DirSync {
    /// Records that an entry was added.
    pub(super) fn mark_dirty(&self) {
        self.dirty.store(true, Ordering::SeqCst);
    }

    /// Makes every entry durable that was added to `folder` before this call.
    ///
    /// # Errors
    /// When the folder cannot be synced; the next call tries again.
    pub(super) fn sync(&self, folder: &Path) -> io::Result<()> {
        self.sync_with(|| if cfg!(unix) { fs_err::File::open(folder)?.sync_all() } else { Ok(()) })
    }

    fn sync_with(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        // A caller that finds the flag clear has waited here for the sync that covers its entry.
        let _syncing = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.dirty.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        sync().inspect_err(|_| self.mark_dirty())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn sync_concurrent_callers_each_find_their_entry_durable() {
        const ENTRIES: usize = 50;
        let (dir, added, durable) =
            (DirSync::default(), Mutex::new(HashSet::new()), Mutex::new(HashSet::new()));
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let (dir, added, durable) = (&dir, &added, &durable);
                scope.spawn(move || {
                    for entry in thread * ENTRIES..(thread + 1) * ENTRIES {
                        lock(added).insert(entry);
                        dir.mark_dirty();
                        let synced = dir.sync_with(|| {
                            let snapshot = lock(added).clone();
                            std::thread::yield_now();
                            *lock(durable) = snapshot;
                            Ok(())
                        });
                        assert!(synced.is_ok() && lock(durable).contains(&entry));
                    }
                });
            }
        });
    }

    fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn sync_after_failure_tries_again() {
        let dir = DirSync::default();
        dir.mark_dirty();
        assert!(dir.sync_with(|| Err(io::Error::other("full"))).is_err());
        let mut syncs = 0;
        for _ in 0..2 {
            let synced = dir.sync_with(|| {
                syncs += 1;
                Ok(())
            });
            assert!(synced.is_ok());
        }
        assert_eq!(syncs, 1, "the failed sync covers nothing, the successful one everything");
    }
}
