//! Limit on concurrent downloads.

use crate::timestamp::Timestamp;

/// Halves on throttling, and grows by one with each finished download.
#[derive(Debug, Clone)]
pub(crate) struct DownloadLimiter {
    max: usize,
    limit: usize,
    hold_until: Option<Timestamp>,
}

impl DownloadLimiter {
    pub(crate) fn new(max: usize) -> Self {
        let max = max.max(1);
        Self { max, limit: max, hold_until: None }
    }

    /// Whether one more may begin with this many running. If not, when to retry; `None` if one has to end first.
    pub(crate) fn admits(&self, running: usize, now: Timestamp) -> Result<(), Option<Timestamp>> {
        match self.hold_until.filter(|until| *until > now) {
            Some(until) => Err(Some(until)),
            None if self.has_room(running) => Ok(()),
            None => Err(None),
        }
    }

    /// Whether the limit, without the waits that the service asked for, admits one more.
    pub(crate) fn has_room(&self, running: usize) -> bool {
        running < self.limit
    }

    /// The service throttled: nothing begins before `until`. Refusals during a hold are ignored.
    pub(crate) fn slow_down(&mut self, now: Timestamp, until: Timestamp) {
        if self.hold_until.is_none_or(|hold_until| hold_until <= now) {
            self.limit = (self.limit / 2).max(1);
        }
        self.hold_until = self.hold_until.max(Some(until));
    }

    /// A download has finished.
    pub(crate) fn speed_up(&mut self) {
        self.limit = (self.limit + 1).min(self.max);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_halves_holds_and_recovers() {
        let mut downloads = DownloadLimiter::new(5);
        let (now, later) = (Timestamp(0), Timestamp(1_000));
        assert_eq!(downloads.admits(4, now), Ok(()));
        assert_eq!(downloads.admits(5, now), Err(None));
        downloads.slow_down(now, later);
        downloads.slow_down(Timestamp(1), later);
        assert_eq!(downloads.admits(0, now), Err(Some(later)));
        assert_eq!(downloads.admits(1, later), Ok(()));
        assert_eq!(downloads.admits(2, later), Err(None), "halved once");
        downloads.speed_up();
        assert_eq!(downloads.admits(2, later), Ok(()));
    }
}
