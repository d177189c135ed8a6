//! Which frames are drawn: all, or every second or third, between which decoders interpolate the others.

use super::scene_spec::SceneSpec;
use crate::animatic::Look;
use crate::{Job, Quality};

/// Drawings per second of a scene, of [`Quality::Fast`] and of an animatic.
const SCENE: u32 = 12;
const FAST: u32 = 6;
const ANIMATIC: u32 = 6;
/// How many times as many with figures in front of the camera, where limbs that dissolve into each other would be seen.
const FIGURES: u32 = 2;

/// The rhythm in which frames are drawn.
///
/// Invariant: the first and the last frame are drawn, so that what is handed on to the next shot is of its own moment; and both frames at the end of
/// a group of pictures, because no frame is interpolated across groups. The last frame is a group of its own: it is then decoded without the
/// seconds before it, here and by clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cadence {
    every: u32,
    last: u32,
}

/// The way from one drawn frame to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameStep {
    /// How many frames later the next one is.
    pub(super) frames: u32,
    /// Whether it begins a group of pictures.
    pub(super) is_cut: bool,
}

impl Cadence {
    pub(super) fn new(job: &Job, look: Look, spec: &SceneSpec) -> Self {
        let per_second = match (look, job.quality) {
            (Look::Animatic, _) => ANIMATIC,
            (Look::Scene, Quality::Fast) => FAST,
            (Look::Scene, Quality::Standard) => SCENE,
        };
        let has_figures = !spec.figures.is_empty();
        let per_second = if has_figures { per_second * FIGURES } else { per_second };
        Self { every: (job.frame_rate / per_second).max(1), last: job.frames_total() - 1 }
    }

    pub(super) fn at_every_frame(self) -> Self {
        Self { every: 1, ..self }
    }

    /// Frames from one drawn frame to the next.
    pub(super) fn every(self) -> u32 {
        self.every
    }

    /// From a drawn frame that is not the last one. `is_full` where a group ends with it, because the next one of the rhythm would exceed it.
    pub(super) fn span(self, frame: u32, is_full: bool) -> FrameStep {
        match self.last - frame {
            1 => FrameStep { frames: 1, is_cut: true },
            _ if is_full && self.every > 1 => FrameStep { frames: 1, is_cut: true },
            left => FrameStep { frames: self.every.min(left - 1), is_cut: false },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(every: u32, frames: u32, full: Option<u32>) -> (Vec<u32>, Vec<u32>) {
        let cadence = Cadence { every, last: frames - 1 };
        let (mut drawn, mut cuts, mut frame) = (vec![0], Vec::new(), 0);
        while frame < cadence.last {
            let span = cadence.span(frame, full == Some(frame));
            frame += span.frames;
            drawn.push(frame);
            cuts.extend(span.is_cut.then_some(frame));
        }
        (drawn, cuts)
    }

    #[test]
    fn first_and_last_frame_and_both_at_a_cut_are_drawn() {
        assert_eq!(drawn(3, 12, None), (vec![0, 3, 6, 9, 10, 11], vec![11]));
        assert_eq!(drawn(2, 5, None), (vec![0, 2, 3, 4], vec![4]));
        assert_eq!(drawn(1, 3, None), (vec![0, 1, 2], vec![2]));
        assert_eq!(drawn(3, 2, None), (vec![0, 1], vec![1]));
        assert_eq!(drawn(3, 1, None), (vec![0], vec![]));
        assert_eq!(drawn(3, 12, Some(3)), (vec![0, 3, 4, 7, 10, 11], vec![4, 11]));
        assert_eq!(drawn(2, 9, Some(2)), (vec![0, 2, 3, 5, 7, 8], vec![3, 8]));
    }
}
