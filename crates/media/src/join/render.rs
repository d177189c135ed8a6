//! Rendering of the film's frames: those of clips, and transitions between them.

use std::ops::Range;

use rusty_h264::YuvFrame;

use super::clip::Clip;
use super::frames::{ClipFrames, FrameForm};
use super::layout::{FrameContent, Layout};
use super::mix::mix;
use crate::{Ffmpeg, MediaError};

/// Renders frames of a film in order.
pub(super) struct Renderer<'a> {
    pub(super) clips: &'a [Clip],
    pub(super) layout: &'a Layout,
    pub(super) form: FrameForm,
    pub(super) is_full_range: bool,
    pub(super) ffmpeg: &'a Ffmpeg,
}

/// A clip that is being decoded, and the film's frame that its next one is for.
struct Open {
    clip: usize,
    frames: ClipFrames,
    next: u64,
}

impl Renderer<'_> {
    /// Renders a range of the film's frames.
    pub(super) fn render(
        &self,
        range: Range<u64>,
        show: &mut dyn FnMut(&YuvFrame) -> Result<(), MediaError>,
    ) -> Result<(), MediaError> {
        let mut open: Vec<Open> = Vec::new();
        for frame in range {
            match self.layout.frame_content(frame) {
                FrameContent::Clip(clip) => {
                    open.retain(|open| open.clip == clip);
                    show(&self.clip_frame(&mut open, clip, frame)?)?;
                }
                FrameContent::Transition { clip, kind, progress, has_next } => {
                    open.retain(|open| open.clip >= clip);
                    let from = self.clip_frame(&mut open, clip, frame)?;
                    let to = if has_next { Some(self.clip_frame(&mut open, clip + 1, frame)?) } else { None };
                    show(&mix(kind, progress, &from, to.as_ref(), self.is_full_range))?;
                }
            }
        }
        Ok(())
    }

    /// What a clip shows in a frame of the film.
    fn clip_frame(&self, open: &mut Vec<Open>, clip: usize, frame: u64) -> Result<YuvFrame, MediaError> {
        let source = &self.clips[clip];
        let at_path = |error: MediaError| error.at(&source.path);
        let index = if let Some(index) = open.iter().position(|open| open.clip == clip) {
            index
        } else {
            let begin = self.layout.placements[clip].start;
            // From the frame that is asked for; before the clip's first frame in the transition that leads to it.
            let frames = ClipFrames::open(source, frame, begin, self.form, self.ffmpeg).map_err(at_path)?;
            open.push(Open { clip, frames, next: frame });
            open.len() - 1
        };
        let state = &mut open[index];
        debug_assert_eq!(state.next, frame, "frames are rendered in order");
        state.next += 1;
        state.frames.next().map_err(at_path)
    }
}
