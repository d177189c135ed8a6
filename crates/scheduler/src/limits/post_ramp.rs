//! Concurrent POSTs while the limits of a service are not known.

use std::time::Duration;

use crate::timestamp::Timestamp;

/// At first: each of them may be refused together with the first.
const FIRST_POSTS: usize = 2;
/// Acceptances that add one more.
const ACCEPTED_PER_POST: usize = 16;

/// How many POSTs may be without a response. The number grows with what the service accepts, and with time until it refuses something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PostRamp {
    /// When the first one was admitted.
    began: Option<Timestamp>,
    accepted: usize,
    is_refused: bool,
}

impl PostRamp {
    /// Time without a refusal that adds one more, for services that take seconds to respond.
    pub const TIME_PER_POST: Duration = Duration::from_millis(250);

    /// How many POSTs may be without a response.
    pub fn posts(&self, now: Timestamp) -> usize {
        let undisturbed = self.began.filter(|_| !self.is_refused);
        let elapsed = undisturbed.map_or(Duration::ZERO, |began| now.since(began));
        let steps = (elapsed.as_millis() / Self::TIME_PER_POST.as_millis()) as usize;
        FIRST_POSTS + self.accepted / ACCEPTED_PER_POST + steps
    }

    /// One more is admitted.
    pub fn admitted(&mut self, now: Timestamp) {
        self.began.get_or_insert(now);
    }

    /// The service accepted one.
    pub fn accepted(&mut self) {
        self.accepted += 1;
    }

    /// The service refused one: time adds no more.
    pub fn refused(&mut self) {
        self.is_refused = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn posts_grow_with_acceptances_and_with_time_until_one_is_refused() {
        let mut ramp = PostRamp::default();
        assert_eq!(ramp.posts(Timestamp(9_000)), 2);
        ramp.admitted(Timestamp(1_000));
        assert_eq!([1_000, 1_250, 2_000].map(|now| ramp.posts(Timestamp(now))), [2, 3, 6]);
        for _ in 0..32 {
            ramp.accepted();
        }
        assert_eq!(ramp.posts(Timestamp(1_250)), 5);
        ramp.refused();
        assert_eq!(ramp.posts(Timestamp(60_000)), 4);
    }
}
