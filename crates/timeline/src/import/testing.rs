//! For checks that a film comes back from a document as it was: of the tests, and of what opens an export with other programs.

use workflow::plan::{Clip, ClipSource, Transition};
use workflow::units::EditTime;

use super::{ImportedItem, ImportedTransition, frames};
use crate::clock::{scale_down, scale_up};
use crate::facts::ClipFacts;

impl ImportedItem {
    /// The item as a clip of a film that shows `source`, a file with these facts. Positions are whole frames of the file; a range that is
    /// the whole file is left out, and so is what lies beyond the file. What stands still has a length.
    ///
    /// The transition's length is in frames of the document: the film has to have the same rate.
    pub fn to_clip(&self, source: ClipSource, facts: &ClipFacts) -> Clip {
        let mut clip = Clip::whole(source);
        if let Some(range) = self.range.filter(|_| facts.is_still()) {
            clip.length = Some(frames(range.frames));
        } else if let Some(range) = self.range.filter(|_| !self.speed.is_normal()) {
            let start = scale_down(range.start, range.rate, facts.frame_rate);
            clip.start = (start > 0).then(|| frames(start));
            clip.length = Some(frames(range.frames));
        } else if let Some(range) = self.range {
            let start = scale_down(range.start, range.rate, facts.frame_rate);
            let end = scale_up(range.start.saturating_add(range.frames), range.rate, facts.frame_rate);
            clip.start = (start > 0).then(|| frames(start));
            clip.end = (end < facts.frames).then(|| frames(end));
        }
        if !facts.is_still() {
            clip.speed = self.speed;
        }
        clip.transition = self
            .transition
            .map(|transition| Transition { kind: transition.kind, length: transition.length() });
        clip
    }
}

impl ImportedTransition {
    /// Its length, in frames of the film.
    fn length(self) -> EditTime {
        frames(self.frames)
    }
}
