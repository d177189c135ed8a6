//! New names in a folder, made durable together: videos that arrive at the same time share one wait for the disk.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many names were given in a folder, and how many of them a power cut leaves there.
#[derive(Debug, Default)]
pub(crate) struct Names {
    given: AtomicU64,
    durable: Mutex<u64>,
}

impl Names {
    /// Makes sure that the names that this thread has given in `folder` survive a power cut.
    ///
    /// # Errors
    /// When the folder cannot be synced.
    pub(crate) fn sync(&self, folder: &Path) -> io::Result<()> {
        self.sync_with(|| if cfg!(unix) { fs_err::File::open(folder)?.sync_all() } else { Ok(()) })
    }

    fn sync_with(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        // Counted after the name was given, and read again before the folder is synced: whoever finds itself counted by then is covered.
        let mine = self.given.fetch_add(1, Ordering::SeqCst) + 1;
        let mut durable = self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        if *durable >= mine {
            return Ok(());
        }
        let given = self.given.load(Ordering::SeqCst);
        sync()?;
        *durable = given;
        Ok(())
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
                        let synced = names.sync_with(|| {
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
        assert!(names.sync_with(|| Err(io::Error::other("full"))).is_err());
        let mut tried = false;
        assert!(
            names
                .sync_with(|| {
                    tried = true;
                    Ok(())
                })
                .is_ok()
        );
        assert!(tried, "the failure made nothing durable");
    }
}
