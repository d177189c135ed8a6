//! A track of a file: its samples, its edit list, its coding.

use super::boxes::find;
use crate::turn::Turn;

/// One track; times are in its own ticks.
#[derive(Clone, Debug)]
pub(crate) struct Track {
    /// The first sample entry, a whole box.
    pub(crate) entry: Vec<u8>,
    /// All samples use the first sample entry.
    pub(crate) has_one_entry: bool,
    pub(crate) timescale: u32,
    /// How its frames are turned; `None` where the display matrix asks for more than quarter turns and mirroring.
    pub(crate) turn: Option<Turn>,
    /// In decoding order.
    pub(crate) samples: Vec<Sample>,
    /// The part of the media that is presented, in order.
    pub(crate) edits: Vec<Edit>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) offset: u64,
    pub(crate) size: u32,
    pub(crate) duration: u32,
    /// When it is to be shown, on the media's own clock.
    pub(crate) composition: i64,
    pub(crate) is_sync: bool,
}

/// One stretch of the presentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edit {
    /// Start in the media; `None` for an empty edit (a gap).
    pub(crate) media: Option<i64>,
    /// How long it lasts, in the track's ticks.
    pub(crate) length: i64,
}

impl Track {
    /// How much is presented, in ticks.
    pub(crate) fn presented(&self) -> i64 {
        self.edits.iter().map(|edit| edit.length).sum()
    }

    /// Start and end of the presentation in ticks of the media's own clock: the first edit that is not empty.
    pub(crate) fn presentation(&self) -> (i64, i64) {
        let shown = self.edits.iter().find_map(|edit| edit.media.map(|media| (media, edit.length)));
        let (start, length) = shown.unwrap_or((0, i64::MAX));
        (start, start.saturating_add(length))
    }

    /// Whether a sample is presented, at least in part.
    pub(crate) fn is_presented(&self, sample: &Sample) -> bool {
        let (start, end) = self.presentation();
        sample.composition.saturating_add(i64::from(sample.duration)) > start && sample.composition < end
    }

    /// The four letters of the coding.
    pub(crate) fn coding(&self) -> [u8; 4] {
        self.entry.get(4..8).and_then(|name| name.try_into().ok()).unwrap_or(*b"????")
    }

    /// The payload of a box inside the sample entry, e.g. `avcC`.
    pub(crate) fn configuration(&self, name: [u8; 4]) -> Option<&[u8]> {
        let fixed = match &self.coding() {
            b"mp4a" => 8 + 28 + self.quicktime_extra(),
            _ => 8 + 78,
        };
        find(self.entry.get(fixed..)?, &[name])
            // QuickTime wraps it once more.
            .or_else(|| find(self.entry.get(fixed..)?, &[*b"wave", name]))
    }

    /// Version 1 and 2 of the older sound description are longer.
    fn quicktime_extra(&self) -> usize {
        match self.entry.get(16..18) {
            Some([0, 1]) => 16,
            Some([0, 2]) => 36,
            _ => 0,
        }
    }

    /// The order in which the samples are shown: indices into `samples`, by composition time.
    pub(crate) fn presentation_order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.samples.len()).collect();
        order.sort_by_key(|&i| self.samples[i].composition);
        order
    }
}
