//! The poll schedule: when the task of a shot is polled.
//!
//! The first poll is made after [`Policy::first_poll`], each further one after a twentieth of the task's age, within the bounds of
//! [`Policy`].

use std::time::Duration;

use crate::policy::Policy;

/// The wait before the next poll, as a share of the task's age.
const SHARE_OF_AGE: u32 = 20;

/// The wait before the next poll of a task that was submitted `age` ago.
pub fn wait(policy: &Policy, age: Duration) -> Duration {
    (age / SHARE_OF_AGE).clamp(policy.min_poll_interval, policy.max_poll_interval)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn wait_is_a_twentieth_of_the_age_within_the_bounds() {
        let waits = |policy: Policy| [1, 100, 1_000].map(|age| wait(&policy, age * SECOND));
        assert_eq!(waits(Policy::remote()), [2 * SECOND, 5 * SECOND, 15 * SECOND]);
        assert_eq!(waits(Policy::local()), [SECOND / 20, 5 * SECOND, 15 * SECOND]);
        assert_eq!(wait(&Policy::local(), SECOND / 1_000), SECOND / 200);
    }
}
