//! Paces the POSTs of this process while the limits of its service are not known.
//!
//! A run admits as many submissions as may be in flight, and the account gives as many permits. If the process sent them all at once, a service
//! that refuses with 429 could refuse all of them. So a few are sent at first, and more with what is accepted ([`PostRamp`]). After a refusal
//! nothing is sent for as long as the service asks for: what waits for its turn goes back to its run, which then knows the limit.
//!
//! A turn is taken before the token of the POST is issued ([`crate::post_gate`]): a process that ends while an attempt waits leaves no doubt
//! whether it was submitted.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use engine::Clock;
use engine::provider::Submission;
use scheduler::{PostRamp, RefusalKind, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::messages::ThrottleNotice;

/// How long a turn counts whose POST is not sent: the connection to Restate was lost between the two steps.
const UNUSED_TURN_TIMEOUT: Duration = Duration::from_secs(30);
/// After this time without a POST, what was learned is forgotten.
const IDLE_TIMEOUT: Duration = Duration::from_secs(10);

/// The turn of one POST.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Turn(u64);

/// Why there is no turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NoTurn {
    /// Others are on their way.
    Full,
    /// The service refused one, and nothing is sent before this time.
    Until(Timestamp),
}

/// The POSTs of this process.
#[derive(Debug, Default)]
pub(crate) struct PostPacer {
    pace: Mutex<Pace>,
    /// Notified of each change.
    changed: Notify,
}

/// Pure: time is an input.
#[derive(Debug, Default)]
struct Pace {
    ramp: PostRamp,
    next: u64,
    /// POSTs without a response; for those that are not sent, until when their turn counts.
    posting: HashMap<u64, Option<Timestamp>>,
    paused_until: Option<Timestamp>,
    /// When a turn was last taken, or its POST answered.
    used: Timestamp,
}

impl PostPacer {
    /// Waits for a turn.
    ///
    /// # Errors
    /// How long nothing may be sent, if the service refused a submission.
    pub(crate) async fn turn(&self, clock: &Clock) -> Result<Turn, Duration> {
        loop {
            let changed = self.changed.notified();
            let now = clock.now();
            match self.lock().take(now) {
                Ok(turn) => return Ok(turn),
                Err(NoTurn::Until(until)) => return Err(until.since(now)),
                Err(NoTurn::Full) => {}
            }
            // With time alone there are more turns.
            drop(tokio::time::timeout(PostRamp::TIME_PER_POST, changed).await);
        }
    }

    /// The POST of a turn is sent.
    pub(crate) fn sent(self: &Arc<Self>, turn: Turn) -> SentPost {
        self.lock().sent(turn);
        SentPost { pacer: Arc::clone(self), turn }
    }

    /// The POST of a turn is not sent.
    pub(crate) fn give_back(&self, turn: Turn) {
        self.lock().posting.remove(&turn.0);
        self.changed.notify_waiters();
    }

    fn lock(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A POST without a response. Its turn ends with it, also if the task that waits for the response does not come to its end.
#[derive(Debug)]
pub(crate) struct SentPost {
    pacer: Arc<PostPacer>,
    turn: Turn,
}

impl SentPost {
    pub(crate) fn responded(self, submission: &Submission, now: Timestamp) {
        self.pacer.lock().responded(self.turn, submission, now);
    }
}

impl Drop for SentPost {
    fn drop(&mut self) {
        self.pacer.give_back(self.turn);
    }
}

impl Pace {
    fn take(&mut self, now: Timestamp) -> Result<Turn, NoTurn> {
        if let Some(until) = self.paused_until.filter(|until| *until > now) {
            return Err(NoTurn::Until(until));
        }
        self.posting.retain(|_, until| until.is_none_or(|until| until > now));
        if self.posting.is_empty() && self.used.after(IDLE_TIMEOUT) <= now {
            self.ramp = PostRamp::default();
        }
        if self.posting.len() >= self.ramp.posts(now) {
            return Err(NoTurn::Full);
        }
        self.ramp.admitted(now);
        self.used = now;
        self.next += 1;
        self.posting.insert(self.next, Some(now.after(UNUSED_TURN_TIMEOUT)));
        Ok(Turn(self.next))
    }

    /// Counts the POST until it is answered, even if its turn has lapsed.
    fn sent(&mut self, turn: Turn) {
        self.posting.insert(turn.0, None);
    }

    fn responded(&mut self, turn: Turn, submission: &Submission, now: Timestamp) {
        self.posting.remove(&turn.0);
        self.used = now;
        match submission {
            Submission::Accepted { .. } => self.ramp.accepted(),
            Submission::Refused(refusal) if refusal.kind == RefusalKind::Throttled => {
                let wait = ThrottleNotice::new(now, refusal.retry_after).wait;
                self.paused_until = self.paused_until.max(Some(now.after(wait)));
                // What was accepted before says nothing any more.
                self.ramp = PostRamp::default();
                self.ramp.refused();
            }
            Submission::Refused(_) | Submission::Indeterminate { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use scheduler::{Failure, FailureKind, Refusal};

    use super::*;

    fn accepted() -> Submission {
        Submission::Accepted { task: "t".into() }
    }

    fn throttled(seconds: u64) -> Submission {
        let failure = Failure::new(FailureKind::Transient, "429");
        let retry_after = Some(Duration::from_secs(seconds));
        Submission::Refused(Refusal { kind: RefusalKind::Throttled, failure, retry_after })
    }

    /// Turns that are taken at once.
    fn take_all(pace: &mut Pace, now: i64) -> Vec<Turn> {
        std::iter::from_fn(|| pace.take(Timestamp(now)).ok()).collect()
    }

    #[test]
    fn two_are_sent_at_first_and_more_with_acceptances_and_time() {
        let mut pace = Pace::default();
        let first = take_all(&mut pace, 20_000);
        assert_eq!(first.len(), 2);
        for turn in first {
            pace.sent(turn);
            pace.responded(turn, &accepted(), Timestamp(20_010));
        }
        for _ in 0..30 {
            let turn = pace.take(Timestamp(20_020)).expect("a turn");
            pace.responded(turn, &accepted(), Timestamp(20_020));
        }
        assert_eq!(take_all(&mut pace, 20_030).len(), 4);
        assert_eq!(take_all(&mut pace, 20_250).len(), 1);
    }

    #[test]
    fn after_a_refusal_it_begins_with_two_again_and_time_adds_none() {
        let mut pace = Pace::default();
        let first = take_all(&mut pace, 20_000);
        let second = take_all(&mut pace, 21_000);
        assert_eq!((first.len(), second.len()), (2, 4));
        for turn in first.into_iter().chain(second) {
            pace.responded(turn, &throttled(1), Timestamp(21_000));
        }
        assert_eq!(take_all(&mut pace, 22_000).len(), 2);
        assert_eq!(take_all(&mut pace, 29_000).len(), 0);
    }

    #[test]
    fn turn_that_is_not_used_lapses_and_one_that_is_used_does_not() {
        let mut pace = Pace::default();
        let [used, unused] = take_all(&mut pace, 20_000).try_into().expect("two turns");
        pace.sent(used);
        pace.responded(unused, &throttled(1), Timestamp(20_000));
        assert_eq!(pace.take(Timestamp(20_500)), Err(NoTurn::Until(Timestamp(21_000))));
        assert_eq!(take_all(&mut pace, 21_000).len(), 1, "beside the one that has no response");
        assert_eq!(take_all(&mut pace, 50_999).len(), 0);
        assert_eq!(take_all(&mut pace, 51_000).len(), 1);
    }

    #[test]
    fn pace_starts_over_after_a_pause() {
        let mut pace = Pace::default();
        let [first, second] = take_all(&mut pace, 20_000).try_into().expect("two turns");
        pace.responded(first, &throttled(1), Timestamp(20_000));
        pace.responded(second, &accepted(), Timestamp(20_000));
        assert_eq!(take_all(&mut pace, 30_000).len(), 2);
        assert_eq!(take_all(&mut pace, 30_500).len(), 2, "time counts again");
    }

    #[tokio::test(start_paused = true)]
    async fn turn_ends_with_the_task_that_waits_for_the_response() {
        let (pacer, clock) = (Arc::new(PostPacer::default()), Clock::starting_at(Timestamp(20_000)));
        let turns = [pacer.turn(&clock).await, pacer.turn(&clock).await];
        let sent = turns.map(|turn| pacer.sent(turn.expect("a turn")));
        assert_eq!(pacer.lock().take(clock.now()), Err(NoTurn::Full));
        drop(sent);
        assert!(pacer.lock().posting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn few_of_many_waiting_posts_are_throttled() {
        let (pacer, clock) = (Arc::new(PostPacer::default()), Clock::starting_at(Timestamp(20_000)));
        let sent = Arc::new(Mutex::new((0, 0)));
        let posts = (0..64).map(|_| {
            let (pacer, clock, sent) = (Arc::clone(&pacer), clock.clone(), Arc::clone(&sent));
            async move {
                let turn = pacer.turn(&clock).await?;
                let post = pacer.sent(turn);
                tokio::time::sleep(Duration::from_millis(5)).await;
                let is_accepted = {
                    let mut sent = sent.lock().expect("no panic");
                    let is_accepted = sent.0 < 10;
                    if is_accepted {
                        sent.0 += 1;
                    } else {
                        sent.1 += 1;
                    }
                    is_accepted
                };
                let submission = if is_accepted { accepted() } else { throttled(7) };
                post.responded(&submission, clock.now());
                Ok::<_, Duration>(())
            }
        });
        let results = futures_util::future::join_all(posts).await;
        assert_eq!(*sent.lock().expect("no panic"), (10, 2));
        let waits: Vec<Duration> = results.into_iter().filter_map(Result::err).collect();
        assert_eq!(waits.len(), 52);
        assert!(waits.iter().all(|wait| *wait == Duration::from_secs(7)), "{waits:?}");
    }
}
