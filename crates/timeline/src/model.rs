//! A film on its own clock.

use workflow::plan::TransitionKind;
use workflow::units::{Decibels, FrameRate, Speed};

use crate::Timecode;
use crate::clock::Pace;
use crate::facts::ClipFacts;

/// A resolved film. Made by [`crate::resolve()`].
///
/// Invariants:
/// - there is at least one item, and each is at least one frame of the film and one of its clip long;
/// - items are contiguous: the first starts at 0, each other one where the one before ends, and the last ends at [`Timeline::frames`];
/// - what an item shows, with the handles that its transitions play, lies in its source;
/// - the windows of transitions do not overlap.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Timeline {
    /// The film's file name.
    pub output: String,
    /// Film frames per second.
    pub frame_rate: FrameRate,
    /// Columns and rows, both even.
    pub size: (u32, u32),
    /// The film's length in film frames.
    pub frames: u64,
    /// The clips in order.
    pub items: Vec<Item>,
}

/// A clip as a part of the film, from its cut to the next one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Item {
    /// The clip's index in the film, from 0.
    pub clip: usize,
    pub source: ClipFacts,
    /// The first frame of the source that is shown after the cut, from 0, at its own rate.
    pub first: u64,
    /// How many frames of the source there are between the cuts, at its own rate.
    pub clip_frames: u64,
    /// The cut at which it begins, in film frames from the film's start.
    pub start: u64,
    /// From this cut to the next, in film frames.
    pub frames: u64,
    /// How fast it is played.
    pub speed: Speed,
    /// How the next item replaces it, or how the film ends; `None` for a cut.
    pub transition: Option<ItemTransition>,
    /// The change of its sound's level.
    pub gain: Decibels,
    /// Whether its sound is left out.
    pub mute: bool,
    /// Whether its last frame was left out because the next clip begins on the same one.
    pub drops_last: bool,
}

/// A transition around the cut at the end of an item. It takes no time of its own.
///
/// A dissolve or wipe plays both clips in its whole window: `after` frames of the first beyond its end, and `before` frames of the second
/// before its beginning (handles). A fade plays none: the first goes to the color until the cut, the second comes from it afterwards. At the
/// end of the film, `after` is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemTransition {
    /// How it looks.
    pub kind: TransitionKind,
    /// Film frames of its window before the cut.
    pub before: u64,
    /// Film frames of its window after the cut.
    pub after: u64,
}

/// A named position in the film.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chapter<'a> {
    /// The name of the instance that is shown from there.
    pub name: &'a str,
    /// In film frames from the film's start.
    pub start: u64,
}

impl Timeline {
    /// One chapter per item.
    pub fn chapters(&self) -> impl Iterator<Item = Chapter<'_>> {
        self.items.iter().map(|item| Chapter { name: &item.source.name, start: item.start })
    }

    /// The timecode of a film frame (SMPTE ST 12-1), counted from 00:00:00:00.
    pub fn timecode(&self, frame: u64) -> Timecode {
        Timecode::new(frame, self.frame_rate)
    }

    /// The transition at the beginning of an item: that of the item before.
    pub fn transition_into(&self, index: usize) -> Option<ItemTransition> {
        self.items.get(index.checked_sub(1)?)?.transition
    }
}

impl Item {
    /// The film frame before which it ends.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.frames)
    }

    /// Its frames per second as they are played.
    pub(crate) fn pace(&self) -> Pace {
        Pace::new(self.source.frame_rate, self.speed)
    }
}

impl ItemTransition {
    /// The length of its window in film frames.
    pub fn frames(self) -> u64 {
        self.before.saturating_add(self.after)
    }

    /// Whether it plays frames beyond the cut.
    pub fn plays_handles(self) -> bool {
        match self.kind {
            TransitionKind::Dissolve | TransitionKind::WipeLeft | TransitionKind::WipeRight => true,
            TransitionKind::FadeBlack | TransitionKind::FadeWhite => false,
        }
    }
}
