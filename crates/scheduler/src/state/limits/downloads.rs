//! How many downloads may run at once.

use crate::time::Millis;

/// Halves when the service says "too much", and grows by one with each video that arrives.
#[derive(Debug, Clone)]
pub(in crate::state) struct Downloads {
    most: usize,
    limit: usize,
    hold_until: Option<Millis>,
}

impl Downloads {
    pub(in crate::state) fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { most, limit: most, hold_until: None }
    }

    /// Whether one more may begin while so many run, or when to ask again; nothing where one has to end first.
    pub(in crate::state) fn admits(&self, running: usize, now: Millis) -> Result<(), Option<Millis>> {
        match self.hold_until.filter(|until| *until > now) {
            Some(until) => Err(Some(until)),
            None if running < self.limit => Ok(()),
            None => Err(None),
        }
    }

    /// The service said "too much": nothing begins before `until`. What is refused while everything is held tells nothing new.
    pub(in crate::state) fn slow_down(&mut self, now: Millis, until: Millis) {
        if self.hold_until.is_none_or(|held| held <= now) {
            self.limit = (self.limit / 2).max(1);
        }
        self.hold_until = self.hold_until.max(Some(until));
    }

    /// A video has arrived.
    pub(in crate::state) fn speed_up(&mut self) {
        self.limit = (self.limit + 1).min(self.most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_holds_and_recovers() {
        let mut downloads = Downloads::new(5);
        let (now, later) = (Millis(0), Millis(1_000));
        assert_eq!(downloads.admits(4, now), Ok(()));
        assert_eq!(downloads.admits(5, now), Err(None));
        downloads.slow_down(now, later);
        downloads.slow_down(Millis(1), later);
        assert_eq!(downloads.admits(0, now), Err(Some(later)));
        assert_eq!(downloads.admits(1, later), Ok(()));
        assert_eq!(downloads.admits(2, later), Err(None), "halved once");
        downloads.speed_up();
        assert_eq!(downloads.admits(2, later), Ok(()));
    }
}
