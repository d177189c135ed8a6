//! Effects in progress on this worker. A worker that shuts down does so between them: what merely waits is continued by another one.

use std::sync::Arc;
use std::time::Duration;

use engine::provider::{
    DownloadSink, PreparedRequest, Provider, Resume, Submission, SubmissionLookup, TaskDescription,
};
use futures_util::future::BoxFuture;
use scheduler::{Failure, PollResult, TaskId, Timestamp};
use serde_json::Value;
use tokio::sync::watch;

/// How many effects are in progress.
#[derive(Debug, Default)]
pub(crate) struct InProgress(watch::Sender<usize>);

/// An effect in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct EffectGuard(Arc<InProgress>);

impl Drop for EffectGuard {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

impl InProgress {
    pub(crate) fn begin(self: &Arc<Self>) -> EffectGuard {
        self.0.send_modify(|count| *count += 1);
        EffectGuard(Arc::clone(self))
    }

    /// Resolves once nothing has been in progress for `quiet`, in which results reach Restate.
    pub(crate) async fn wait_until_quiet(&self, quiet: Duration) {
        let mut count = self.0.subscribe();
        loop {
            // The sender is in `self`.
            drop(count.wait_for(|count| *count == 0).await);
            if tokio::time::timeout(quiet, count.changed()).await.is_err() {
                return;
            }
        }
    }
}

/// A provider whose calls are effects in progress.
pub(crate) struct CountedProvider {
    pub(crate) provider: Arc<dyn Provider>,
    pub(crate) in_progress: Arc<InProgress>,
}

impl CountedProvider {
    fn counted<'a, T: Send + 'a>(&self, call: BoxFuture<'a, T>) -> BoxFuture<'a, T> {
        let effect = self.in_progress.begin();
        Box::pin(async move {
            let result = call.await;
            drop(effect);
            result
        })
    }
}

impl Provider for CountedProvider {
    fn identity(&self) -> &str {
        self.provider.identity()
    }

    fn account(&self) -> Option<&str> {
        self.provider.account()
    }

    fn prepare(&self, model: &str, request: &Value) -> Result<PreparedRequest, Failure> {
        self.provider.prepare(model, request)
    }

    fn submit<'a>(&'a self, request: &'a PreparedRequest) -> BoxFuture<'a, Submission> {
        self.counted(self.provider.submit(request))
    }

    fn poll<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, PollResult> {
        self.counted(self.provider.poll(task))
    }

    fn is_paid(&self) -> bool {
        self.provider.is_paid()
    }

    fn describe<'a>(&'a self, task: &'a TaskId) -> BoxFuture<'a, Result<TaskDescription, Failure>> {
        self.counted(self.provider.describe(task))
    }

    fn download<'a>(
        &'a self,
        task: &'a TaskId,
        url: Option<&'a str>,
        resume: Option<&'a Resume>,
        sink: &'a mut dyn DownloadSink,
    ) -> BoxFuture<'a, Result<(), Failure>> {
        self.counted(self.provider.download(task, url, resume, sink))
    }

    fn can_reach(&self, url: &str) -> bool {
        self.provider.can_reach(url)
    }

    fn find_tasks<'a>(&'a self, digest: &'a str, since: Timestamp) -> BoxFuture<'a, SubmissionLookup> {
        self.counted(self.provider.find_tasks(digest, since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn worker_is_quiet_once_nothing_has_been_in_progress_for_a_while() {
        let in_progress = Arc::new(InProgress::default());
        let quiet = Duration::from_millis(40);
        in_progress.wait_until_quiet(quiet).await;
        let first = in_progress.begin();
        let waits = tokio::spawn({
            let in_progress = Arc::clone(&in_progress);
            async move { in_progress.wait_until_quiet(quiet).await }
        });
        tokio::time::sleep(quiet * 3).await;
        assert!(!waits.is_finished(), "an effect is in progress");
        // The next one begins before it has been quiet for long.
        drop(first);
        let next = in_progress.begin();
        tokio::time::sleep(quiet * 3).await;
        assert!(!waits.is_finished(), "the next effect is in progress");
        drop(next);
        waits.await.expect("it ends");
    }
}
