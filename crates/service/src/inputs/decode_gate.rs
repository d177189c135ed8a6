//! Bounds how much is decoded at once, over all requests. A picture of a few hundred kilobytes may have 256 MiB of pixels.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::{api_error::ApiError, blocking::blocking};

/// Lets so many inputs be decoded at once; the others wait.
#[derive(Debug)]
pub(super) struct DecodeGate(Arc<Semaphore>);

impl DecodeGate {
    pub(super) fn new(decodes: usize) -> Self {
        Self(Arc::new(Semaphore::new(decodes.max(1))))
    }

    /// Runs `work` on the blocking thread pool when it is its turn.
    ///
    /// Invariant: the turn ends with the work. A client that closes its connection meanwhile does not make room for another picture.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        problem: &'static str,
        work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = Arc::clone(&self.0).acquire_owned().await;
        blocking(problem, move || {
            let result = work();
            drop(turn);
            result
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    /// Counts how many run at once.
    #[derive(Default)]
    struct Count {
        now: AtomicUsize,
        max: AtomicUsize,
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn abandoned_requests_do_not_exceed_the_bound() {
        let (gate, count) = (Arc::new(DecodeGate::new(2)), Arc::new(Count::default()));
        let (started, wait_for_start) = mpsc::channel();
        let mut releases = Vec::new();
        let mut requests = Vec::new();
        for _ in 0..8 {
            let (gate, count, started) = (Arc::clone(&gate), Arc::clone(&count), started.clone());
            let (release, released) = mpsc::channel::<()>();
            releases.push(release);
            requests.push(tokio::spawn(async move {
                let work = move || {
                    let now = count.now.fetch_add(1, Ordering::SeqCst) + 1;
                    count.max.fetch_max(now, Ordering::SeqCst);
                    started.send(()).expect("the test listens");
                    // Until the test releases it.
                    let _ = released.recv();
                    count.now.fetch_sub(1, Ordering::SeqCst);
                    Ok(())
                };
                gate.run("a test", work).await
            }));
        }
        // Two have begun; all clients hang up, and new ones come.
        for _ in 0..2 {
            tokio::task::block_in_place(|| wait_for_start.recv()).expect("it begins");
        }
        requests.iter().for_each(tokio::task::JoinHandle::abort);
        for request in requests {
            assert!(request.await.is_err());
        }
        assert_eq!(gate.0.available_permits(), 0, "what was begun still counts");
        drop(releases);
        assert!(gate.run("a test", || Ok(())).await.is_ok());
        assert_eq!(count.max.load(Ordering::SeqCst), 2);
    }
}
