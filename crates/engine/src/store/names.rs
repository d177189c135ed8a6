//! New names in a folder, made durable together: videos that arrive at the same time share one wait for the disk.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whether names were given in a folder that a power cut may take back.
#[derive(Debug, Default)]
pub(super) struct Names {
    pending: AtomicBool,
    settling: Mutex<()>,
}

impl Names {
    /// Takes note of a name that was given.
    pub(super) fn given(&self) {
        self.pending.store(true, Ordering::SeqCst);
    }

    /// Makes sure that the names given in `folder` so far survive a power cut.
    ///
    /// # Errors
    /// When the folder cannot be synced; the next one tries again.
    pub(super) fn settle(&self, folder: &Path) -> io::Result<()> {
        self.settle_with(|| if cfg!(unix) { fs_err::File::open(folder)?.sync_all() } else { Ok(()) })
    }

    fn settle_with(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        // Whoever finds nothing pending has waited here until those who took it upon themselves were done.
        let _settling = self.settling.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.pending.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        sync().inspect_err(|_| self.given())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_name_is_durable_when_its_giver_goes_on() {
        const EACH: usize = 50;
        let (names, given, durable) =
            (Names::default(), Mutex::new(HashSet::new()), Mutex::new(HashSet::new()));
        std::thread::scope(|scope| {
            for thread in 0..16 {
                let (names, given, durable) = (&names, &given, &durable);
                scope.spawn(move || {
                    for name in thread * EACH..(thread + 1) * EACH {
                        lock(given).insert(name);
                        names.given();
                        let synced = names.settle_with(|| {
                            let now = lock(given).clone();
                            std::thread::yield_now();
                            *lock(durable) = now;
                            Ok(())
                        });
                        assert!(synced.is_ok() && lock(durable).contains(&name));
                    }
                });
            }
        });
    }

    fn lock<T>(held: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
        held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn a_folder_that_cannot_be_synced_is_tried_again() {
        let names = Names::default();
        names.given();
        assert!(names.settle_with(|| Err(io::Error::other("full"))).is_err());
        let mut tried = 0;
        for _ in 0..2 {
            let again = names.settle_with(|| {
                tried += 1;
                Ok(())
            });
            assert!(again.is_ok());
        }
        assert_eq!(tried, 1, "the failure made nothing durable, the success everything");
    }
}
