//! Where the clips of a film lie on its clock of frames, and what is shown in each frame.

use std::ops::Range;
use std::time::Duration;

use super::clip::Clip;
use super::spec::TransitionKind;
use crate::{FrameRate, MediaError};

/// One clip on the film's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    /// The film's frame in which it begins.
    pub(super) start: u64,
    /// The film's frame before which it ends.
    pub(super) end: u64,
    /// The frames before its start in which it is shown beside its predecessor.
    pub(super) lead: u64,
    /// The frames after its end in which it is shown beside its successor.
    pub(super) tail: u64,
}

/// The content of one frame of the film.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FrameContent {
    /// A frame of this clip.
    Clip(usize),
    /// The transition after the clip `clip`.
    Transition {
        clip: usize,
        kind: TransitionKind,
        /// How much of it is over, between 0 and 1.
        progress: f32,
        /// Whether there is a next clip; at the film's end there is none.
        has_next: bool,
    },
}

/// The layout of a film.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) placements: Vec<Placement>,
    transitions: Vec<(usize, TransitionKind, Range<u64>)>,
}

impl Layout {
    /// # Errors
    /// [`MediaError::Request`] for transitions that do not fit their clips or overlap.
    pub(super) fn new(clips: &[Clip], rate: FrameRate) -> Result<Self, MediaError> {
        let mut placements: Vec<Placement> = Vec::with_capacity(clips.len());
        let mut transitions = Vec::new();
        // Lengths are added up before they are rounded to frames, so that a long film does not drift from its clips.
        let mut seconds = Duration::ZERO;
        let mut start = 0;
        for clip in clips {
            let end = if let Some(frames) = clip.frames {
                seconds = rate.duration_of(start + frames);
                start + frames
            } else {
                let rest = clip.length().saturating_sub(clip.frame_rate().duration_of(clip.first));
                seconds += rest.div_f64(clip.speed);
                ((seconds.as_secs_f64() * rate.as_f64()).round() as u64).max(start + 1)
            };
            placements.push(Placement { start, end, lead: 0, tail: 0 });
            start = end;
        }
        let unfit = |index: usize| {
            let path = clips[index].path.display();
            Err(MediaError::Request(format!("the transition after clip {} ({path}) does not fit", index + 1)))
        };
        for (index, clip) in clips.iter().enumerate() {
            let Some(transition) = clip.transition else { continue };
            let (before, after) = (transition.before, transition.after);
            let cut = placements[index].end;
            if before + after == 0 {
                continue;
            }
            if before > cut - placements[index].start - transitions_in(&transitions, placements[index].start)
            {
                return unfit(index);
            }
            match placements.get_mut(index + 1) {
                Some(next) if after <= next.end - next.start => next.lead = before,
                None if after == 0 && transition.kind.has_color() => {}
                _ => return unfit(index),
            }
            placements[index].tail = after;
            transitions.push((index, transition.kind, cut - before..cut + after));
        }
        Ok(Self { placements, transitions })
    }

    /// The number of frames of the film.
    pub(super) fn frames(&self) -> u64 {
        self.placements.last().map_or(0, |placement| placement.end)
    }

    /// What is shown in a frame.
    pub(super) fn frame_content(&self, frame: u64) -> FrameContent {
        let index = self.transitions.partition_point(|(_, _, range)| range.end <= frame);
        match self.transitions.get(index) {
            Some((clip, kind, range)) if range.contains(&frame) => {
                let length = (range.end - range.start) as f32;
                FrameContent::Transition {
                    clip: *clip,
                    kind: *kind,
                    progress: ((frame - range.start) as f32 + 0.5) / length,
                    has_next: clip + 1 < self.placements.len(),
                }
            }
            _ => FrameContent::Clip(self.placements.partition_point(|placement| placement.end <= frame)),
        }
    }

    /// The frames of the film in which only this clip is shown.
    pub(super) fn unmixed(&self, clip: usize) -> Range<u64> {
        let Placement { mut start, mut end, .. } = self.placements[clip];
        for (before, _, range) in &self.transitions {
            if *before + 1 == clip {
                start = start.max(range.end);
            }
            if *before == clip {
                end = end.min(range.start);
            }
        }
        start..end.max(start)
    }
}

/// How far the transition before a clip reaches into it.
fn transitions_in(transitions: &[(usize, TransitionKind, Range<u64>)], start: u64) -> u64 {
    transitions.last().map_or(0, |(_, _, range)| range.end.saturating_sub(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::JoinTransition;

    fn clip(frames: u64, transition: Option<(TransitionKind, u64, u64)>) -> Clip {
        let probe =
            crate::Probe { duration: Duration::from_secs(9), video: None, audio: None, is_faststart: false };
        let transition = transition.map(|(kind, before, after)| JoinTransition { kind, before, after });
        Clip {
            path: "clip.mp4".into(),
            probe,
            decoding: crate::join::clip::Decoding::Native,
            movie: None,
            first: 0,
            frames: Some(frames),
            speed: 1.0,
            transition,
            gain: 1.0,
            continues: false,
            matches_previous: false,
            correction: None,
        }
    }

    #[test]
    fn layout_positions_clips_and_transitions() {
        let dissolve = Some((TransitionKind::Dissolve, 2, 2));
        let fade_out = Some((TransitionKind::FadeBlack, 4, 0));
        let layout =
            Layout::new(&[clip(10, dissolve), clip(8, None), clip(6, fade_out)], FrameRate::CINEMA).unwrap();
        assert_eq!(layout.frames(), 24);
        let placement = |start, end, lead, tail| Placement { start, end, lead, tail };
        assert_eq!(
            layout.placements,
            [placement(0, 10, 0, 2), placement(10, 18, 2, 0), placement(18, 24, 0, 0)]
        );
        assert_eq!([layout.unmixed(0), layout.unmixed(1), layout.unmixed(2)], [0..8, 12..18, 18..20]);
        assert_eq!(layout.frame_content(7), FrameContent::Clip(0));
        let mix =
            |clip, kind, progress, has_next| FrameContent::Transition { clip, kind, progress, has_next };
        assert_eq!(layout.frame_content(8), mix(0, TransitionKind::Dissolve, 0.125, true));
        assert_eq!(layout.frame_content(11), mix(0, TransitionKind::Dissolve, 0.875, true));
        assert_eq!(layout.frame_content(12), FrameContent::Clip(1));
        assert_eq!(layout.frame_content(23), mix(2, TransitionKind::FadeBlack, 0.875, false));
    }

    #[test]
    fn layout_refuses_transitions_that_do_not_fit() {
        let kind = TransitionKind::Dissolve;
        for clips in [
            [clip(3, Some((kind, 4, 0))), clip(9, None), clip(9, None)],
            [clip(9, Some((kind, 0, 4))), clip(3, None), clip(9, None)],
            [clip(9, Some((kind, 2, 2))), clip(3, Some((kind, 2, 0))), clip(9, None)],
            [clip(9, None), clip(9, None), clip(9, Some((kind, 2, 0)))],
        ] {
            let refused = Layout::new(&clips, FrameRate::CINEMA).unwrap_err().to_string();
            assert!(refused.contains("does not fit"), "{refused}");
        }
    }
}
