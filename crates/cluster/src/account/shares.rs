//! Limits on polls and downloads of an account, as shares of its workers. Pure: time is an input.
//!
//! A poll must not cost an invocation of the account. So a worker leases a share of the rate for a few seconds, and its polls keep to it. A
//! lease that is not renewed lapses; the sum of leases never exceeds a limit. A 429 that one worker reports slows all of them.

use std::collections::BTreeMap;
use std::time::Duration;

use scheduler::{AimdLimiter, Timestamp};
use serde::{Deserialize, Serialize};

use crate::messages::{ObservedResponses, RenewShare, ThrottleNotice};

/// How long a share lasts.
pub(crate) const LEASE: Duration = Duration::from_secs(10);
/// What an account without a limit begins with when it is throttled: polls in a second, and downloads at once.
const FIRST_POLLS: usize = 32;
const FIRST_DOWNLOADS: usize = 8;

/// A worker's share. `None` where nothing is limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Polls in a second.
    pub polls: Option<f64>,
    /// No poll before.
    pub polls_held_until: Option<Timestamp>,
    /// Downloads at once.
    pub downloads: Option<f64>,
    /// No download begins before.
    pub downloads_held_until: Option<Timestamp>,
}

/// What is limited, and who has a share of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Shares {
    polls: SharedLimit,
    downloads: SharedLimit,
}

/// A limit with its leases, by worker.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct SharedLimit {
    #[serde(rename = "most")]
    max: Option<usize>,
    /// The limit that the service showed by throttling, until it is as high as the configured one again.
    adaptive: Option<AimdLimiter>,
    leases: BTreeMap<String, Lease>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Lease {
    until: Timestamp,
    granted: f64,
    /// When it last had a share.
    served: Option<Timestamp>,
}

impl Shares {
    /// Renews the share of a worker.
    pub(super) fn renew(
        &mut self,
        renew: &RenewShare,
        (polls, downloads): (Option<usize>, Option<usize>),
        now: Timestamp,
    ) -> Share {
        let RenewShare { worker, polls: seen_polls, downloads: seen_downloads, downloading } = renew;
        self.polls.observe(polls, *seen_polls, FIRST_POLLS, now);
        self.downloads.observe(downloads, *seen_downloads, FIRST_DOWNLOADS, now);
        Share {
            // Rates can be divided, downloads cannot.
            polls: self.polls.lease(worker, 0, now, |share| share),
            polls_held_until: self.polls.held_until(now),
            downloads: self.downloads.lease(worker, *downloading, now, f64::ceil),
            downloads_held_until: self.downloads.held_until(now),
        }
    }
}

impl SharedLimit {
    fn observe(&mut self, max: Option<usize>, responses: ObservedResponses, first: usize, now: Timestamp) {
        if self.max != max {
            self.max = max;
            self.adaptive = None;
        }
        for _ in 0..responses.answered {
            let Some(adaptive) = &mut self.adaptive else { break };
            adaptive.speed_up();
            if adaptive.is_restored() && adaptive.held_until(now).is_none() {
                self.adaptive = None;
            }
        }
        if let Some(ThrottleNotice { sent, wait }) = responses.throttled {
            let limiter = self.adaptive.get_or_insert_with(|| AimdLimiter::new(max.unwrap_or(first)));
            limiter.slow_down(sent, now, now.after(wait));
        }
    }

    /// The worker's part of what no other worker has; at least what it uses.
    fn lease(&mut self, worker: &str, used: usize, now: Timestamp, round: fn(f64) -> f64) -> Option<f64> {
        let configured = self.max.map(|max| max as f64);
        let Some(limit) = self.adaptive.as_ref().map(AimdLimiter::limit).or(configured) else {
            self.leases.clear();
            return None;
        };
        self.leases.retain(|holder, lease| holder == worker || lease.until > now);
        let own = self.leases.remove(worker);
        let served = own.and_then(|own| own.served);
        let taken: f64 = self.leases.values().map(|lease| lease.granted).sum();
        let workers = (self.leases.len() + 1) as f64;
        let fair = round(limit / workers);
        let free = (limit - taken).max(0.0);
        // Where there is not enough for all, they take turns.
        let is_scarce = fair * workers > limit;
        let waits_longer = self.leases.values().any(|lease| lease.granted <= 0.0 && lease.served < served);
        let granted = if is_scarce && waits_longer { 0.0 } else { fair.min(free) };
        let granted = granted.max(used as f64);
        let served = if granted > 0.0 { Some(now) } else { served };
        self.leases.insert(worker.to_owned(), Lease { until: now.after(LEASE), granted, served });
        Some(granted)
    }

    fn held_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.adaptive.as_ref().and_then(|adaptive| adaptive.held_until(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renew(shares: &mut Shares, worker: &str, limits: (Option<usize>, Option<usize>), now: i64) -> Share {
        let renew = RenewShare { worker: worker.to_owned(), ..RenewShare::default() };
        shares.renew(&renew, limits, Timestamp(now))
    }

    #[test]
    fn shares_of_all_workers_never_exceed_the_limit() {
        let mut shares = Shares::default();
        let limits = (Some(10), Some(3));
        let first = renew(&mut shares, "a", limits, 0);
        assert_eq!((first.polls, first.downloads), (Some(10.0), Some(3.0)));
        let second = renew(&mut shares, "b", limits, 1_000);
        assert_eq!((second.polls, second.downloads), (Some(0.0), Some(0.0)), "the other one has all");
        let first = renew(&mut shares, "a", limits, 2_000);
        assert_eq!((first.polls, first.downloads), (Some(5.0), Some(0.0)), "downloads take turns");
        let second = renew(&mut shares, "b", limits, 3_000);
        assert_eq!((second.polls, second.downloads), (Some(5.0), Some(2.0)));
        let first = renew(&mut shares, "a", limits, 4_000);
        assert_eq!((first.polls, first.downloads), (Some(5.0), Some(1.0)));
        // A worker that is gone keeps its share for a while only.
        assert_eq!(renew(&mut shares, "a", limits, 12_000).polls, Some(5.0));
        assert_eq!(renew(&mut shares, "a", limits, 13_000).polls, Some(10.0));
    }

    #[test]
    fn downloads_in_progress_keep_their_share() {
        let mut shares = Shares::default();
        let limits = (None, Some(1));
        assert_eq!(renew(&mut shares, "a", limits, 0).downloads, Some(1.0));
        assert_eq!(renew(&mut shares, "b", limits, 0).downloads, Some(0.0));
        let busy = RenewShare { worker: "a".to_owned(), downloading: 1, ..RenewShare::default() };
        assert_eq!(shares.renew(&busy, limits, Timestamp(9_000)).downloads, Some(1.0));
        assert_eq!(renew(&mut shares, "b", limits, 9_500).downloads, Some(0.0));
        assert_eq!(
            renew(&mut shares, "a", limits, 10_000).downloads,
            Some(0.0),
            "it is the other one's turn"
        );
        assert_eq!(renew(&mut shares, "b", limits, 10_500).downloads, Some(1.0));
    }

    #[test]
    fn single_download_permit_rotates_over_workers() {
        let mut shares = Shares::default();
        let limits = (None, Some(1));
        let mut served = [0, 0];
        for turn in 0..20 {
            let both = ["a", "b"].map(|worker| renew(&mut shares, worker, limits, turn * 2_000));
            let [a, b] = both.map(|share| share.downloads.expect("a limit") >= 1.0);
            assert!(!(a && b), "turn {turn}");
            served[0] += i32::from(a);
            served[1] += i32::from(b);
        }
        assert!(served.iter().all(|turns| *turns >= 5), "{served:?}");
    }

    #[test]
    fn throttling_of_one_worker_slows_all() {
        let mut shares = Shares::default();
        let limits = (None, None);
        assert_eq!(renew(&mut shares, "a", limits, 0), Share::default(), "nothing is limited");
        let throttled = Some(ThrottleNotice { sent: Timestamp(900), wait: Duration::from_secs(5) });
        let refused = RenewShare {
            worker: "a".to_owned(),
            polls: ObservedResponses { answered: 0, throttled },
            ..RenewShare::default()
        };
        let share = shares.renew(&refused, limits, Timestamp(1_000));
        assert_eq!((share.polls, share.polls_held_until), (Some(16.0), Some(Timestamp(6_000))));
        let other_share = renew(&mut shares, "b", limits, 1_500);
        assert_eq!((other_share.polls_held_until, other_share.downloads), (Some(Timestamp(6_000)), None));
        let answered = RenewShare {
            worker: "a".to_owned(),
            polls: ObservedResponses { answered: 2_000, throttled: None },
            ..RenewShare::default()
        };
        assert_eq!(shares.renew(&answered, limits, Timestamp(20_000)).polls, None, "restored");
    }
}
