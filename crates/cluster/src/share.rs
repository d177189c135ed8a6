//! A worker's share of the account's limits on polls and downloads. Waiting for it is part of the worker step that polls or downloads, and costs
//! no entry in the journal.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::Clock;
use scheduler::Timestamp;

use crate::account::Share;
use crate::error::ClusterError;
use crate::messages::{AccountReply, AccountRequest, ObservedResponses, RenewShare, ThrottleNotice};
use crate::worker::Worker;

/// How old a share may be when something is polled or downloaded: then it is renewed. Less than its lease lasts.
const RENEW_AFTER: Duration = Duration::from_secs(3);
/// The wait for another share, where this one has nothing left.
const RETRY_DELAY: Duration = Duration::from_millis(250);

/// The share of this worker.
#[derive(Debug, Default)]
pub(crate) struct OwnShare {
    own: Mutex<ShareState>,
    /// One renewal at a time.
    renewing: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct ShareState {
    share: Share,
    /// When it was leased; `None` before that, and once the service has throttled.
    leased: Option<Timestamp>,
    /// When the next poll may be sent.
    next_poll: Timestamp,
    downloading: usize,
    polls: ObservedResponses,
    downloads: ObservedResponses,
}

/// A download in progress. Dropping it ends it.
#[derive(Debug)]
struct DownloadPermit<'a>(&'a OwnShare);

impl Drop for DownloadPermit<'_> {
    fn drop(&mut self) {
        self.0.own().downloading -= 1;
    }
}

impl OwnShare {
    /// Waits until a task may be polled.
    pub(crate) async fn poll(&self, worker: &Worker) -> Result<(), ClusterError> {
        loop {
            self.renew(worker).await?;
            let now = worker.clock.now();
            let Some(wait) = self.own().take_poll(now) else { return Ok(()) };
            tokio::time::sleep(wait).await;
        }
    }

    /// Downloads as soon as the share admits it, and keeps the share meanwhile.
    pub(crate) async fn download<T>(
        &self,
        worker: &Worker,
        download: impl Future<Output = T>,
    ) -> Result<T, ClusterError> {
        let _permit = loop {
            self.renew(worker).await?;
            let now = worker.clock.now();
            let Some(wait) = self.own().take_download(now) else { break DownloadPermit(self) };
            tokio::time::sleep(wait).await;
        };
        let keep = async {
            loop {
                tokio::time::sleep(RENEW_AFTER).await;
                if let Err(error) = self.renew(worker).await {
                    tracing::debug!(%error, "the share of downloads cannot be renewed at the moment");
                }
            }
        };
        tokio::select! {
            done = download => Ok(done),
            () = keep => unreachable!("it has no end"),
        }
    }

    /// A poll was answered.
    pub(crate) fn polled(&self, throttled: Option<ThrottleNotice>) {
        let mut own = self.own();
        own.leased = own.leased.filter(|_| throttled.is_none());
        own.polls.add(throttled);
    }

    /// The same for a download.
    pub(crate) fn downloaded(&self, throttled: Option<ThrottleNotice>) {
        let mut own = self.own();
        own.leased = own.leased.filter(|_| throttled.is_none());
        own.downloads.add(throttled);
    }

    async fn renew(&self, worker: &Worker) -> Result<(), ClusterError> {
        let is_fresh =
            |clock: &Clock| self.own().leased.is_some_and(|leased| leased.after(RENEW_AFTER) > clock.now());
        if is_fresh(&worker.clock) {
            return Ok(());
        }
        let _one = self.renewing.lock().await;
        if is_fresh(&worker.clock) {
            return Ok(());
        }
        let (polls, downloads, downloading) = {
            let own = self.own();
            (own.polls, own.downloads, own.downloading)
        };
        // The lease begins before the account grants it, so that it never lasts longer here than there.
        let leased = worker.clock.now();
        let request = RenewShare { worker: worker.gate.boot().to_owned(), polls, downloads, downloading };
        let AccountReply::Share { share } = worker.ask_account(AccountRequest::RenewShare(request)).await?
        else {
            return Ok(());
        };
        let mut own = self.own();
        own.share = share;
        own.leased = Some(leased);
        own.polls.reported(polls);
        own.downloads.reported(downloads);
        Ok(())
    }

    fn own(&self) -> MutexGuard<'_, ShareState> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShareState {
    /// Takes a poll, or returns how long to wait.
    fn take_poll(&mut self, now: Timestamp) -> Option<Duration> {
        if let Some(held_until) = self.share.polls_held_until.filter(|held_until| *held_until > now) {
            return Some(held_until.since(now).min(RENEW_AFTER));
        }
        let rate = self.share.polls?;
        if rate <= 0.0 {
            return Some(RETRY_DELAY);
        }
        if self.next_poll > now {
            return Some(self.next_poll.since(now).min(RENEW_AFTER));
        }
        self.next_poll = now.after(Duration::from_secs_f64(1.0 / rate));
        None
    }

    /// Takes a download, or returns how long to wait.
    fn take_download(&mut self, now: Timestamp) -> Option<Duration> {
        if let Some(held_until) = self.share.downloads_held_until.filter(|held_until| *held_until > now) {
            return Some(held_until.since(now).min(RENEW_AFTER));
        }
        if self.share.downloads.is_some_and(|max| self.downloading as f64 + 1.0 > max) {
            return Some(RETRY_DELAY);
        }
        self.downloading += 1;
        None
    }
}

impl ObservedResponses {
    fn add(&mut self, throttled: Option<ThrottleNotice>) {
        match throttled {
            None => self.answered = self.answered.saturating_add(1),
            Some(throttled) => self.throttled = Some(throttled),
        }
    }

    /// Forgets what was reported to the account.
    fn reported(&mut self, reported: Self) {
        self.answered = self.answered.saturating_sub(reported.answered);
        self.throttled = self.throttled.filter(|throttled| Some(*throttled) != reported.throttled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_keep_to_the_rate_and_downloads_to_their_number() {
        let share = Share { polls: Some(4.0), downloads: Some(2.0), ..Share::default() };
        let mut own = ShareState { share, ..ShareState::default() };
        assert_eq!(own.take_poll(Timestamp(1_000)), None);
        assert_eq!(own.take_poll(Timestamp(1_100)), Some(Duration::from_millis(150)));
        assert_eq!(own.take_poll(Timestamp(1_250)), None);
        assert_eq!([own.take_download(Timestamp(0)), own.take_download(Timestamp(0))], [None, None]);
        assert_eq!(own.take_download(Timestamp(0)), Some(RETRY_DELAY));
        own.downloading -= 1;
        assert_eq!(own.take_download(Timestamp(0)), None);
    }

    #[test]
    fn polls_and_downloads_wait_for_retry_after() {
        let held_until = Some(Timestamp(2_000));
        let share =
            Share { polls_held_until: held_until, downloads_held_until: held_until, ..Share::default() };
        let mut own = ShareState { share, ..ShareState::default() };
        assert_eq!(own.take_poll(Timestamp(1_500)), Some(Duration::from_millis(500)));
        assert_eq!(own.take_download(Timestamp(1_500)), Some(Duration::from_millis(500)));
        assert_eq!([own.take_poll(Timestamp(2_000)), own.take_download(Timestamp(2_000))], [None, None]);
    }

    #[test]
    fn throttled_response_holds_an_account_no_longer_than_a_run_would_wait() {
        let throttled = ThrottleNotice::new(Timestamp(0), Some(Duration::from_hours(24)));
        assert_eq!(throttled.wait, Duration::from_mins(5));
    }

    #[test]
    fn throttled_response_renews_the_share_at_once_and_is_reported_once() {
        let share = OwnShare::default();
        share.own().leased = Some(Timestamp(1_000));
        share.polled(None);
        assert!(share.own().leased.is_some());
        let throttled = Some(ThrottleNotice::new(Timestamp(1_001), None));
        share.polled(throttled);
        assert_eq!(share.own().leased, None);
        let reported = share.own().polls;
        assert_eq!(reported, ObservedResponses { answered: 1, throttled });
        share.polled(None);
        share.own().polls.reported(reported);
        assert_eq!(share.own().polls, ObservedResponses { answered: 1, throttled: None });
    }
}
