//! Which frames are drawn: all, or every second or third, which the frames between repeat.

use crate::animatic::Look;
use crate::{Job, Quality};

/// Drawings per second of an animatic: limited animation, on threes at 24 frames per second.
const ANIMATIC: u32 = 8;
/// Drawings per second of [`Quality::Fast`]: on twos at 24 frames per second.
const FAST: u32 = 12;

/// The rhythm in which frames are drawn.
///
/// Invariant: the first and the last frame are drawn, so that what is handed on to the next shot is of its own moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cadence {
    every: u32,
    last: u32,
}

impl Cadence {
    pub(super) fn new(job: &Job, look: Look) -> Self {
        let per_second = match (look, job.quality) {
            (Look::Animatic, _) => ANIMATIC,
            (Look::Scene, Quality::Fast) => FAST,
            (Look::Scene, Quality::Standard) => job.frame_rate,
        };
        Self { every: (job.frame_rate / per_second).max(1), last: job.frames_total() - 1 }
    }

    /// Whether this frame is drawn; otherwise it repeats the one before.
    pub(super) fn draws(self, frame: u32) -> bool {
        frame == 0 || (self.last - frame).is_multiple_of(self.every)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_and_last_frame_are_drawn() {
        let drawn = |every: u32, frames: u32| {
            let cadence = Cadence { every, last: frames - 1 };
            (0..frames).filter(|frame| cadence.draws(*frame)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(3, 12), [0, 2, 5, 8, 11]);
        assert_eq!(drawn(2, 5), [0, 2, 4]);
        assert_eq!(drawn(1, 3), [0, 1, 2]);
        assert_eq!(drawn(3, 1), [0]);
    }
}
