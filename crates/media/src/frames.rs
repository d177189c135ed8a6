//! Decoding of a movie's frames: a single one, or all in presentation order.

use std::collections::BTreeMap;

use rusty_h264::YuvFrame;

use crate::MediaError;
use crate::color::ColorSpace;
use crate::h264::{DecoderConfig, VideoDecoder};
use crate::mp4::{Movie, Track};
use crate::probe::coding_name;

/// How many frames may be held for reordering: more than the decoded picture buffer of H.264 can hold.
const MAX_REORDERED: usize = 64;
/// Bound on the pixels decoded for one request: an hour of 1080p. A small file can ask for far more.
const MAX_PIXELS: u64 = 1 << 38;
/// How many sync samples are tried for one frame.
const MAX_ATTEMPTS: usize = 4;

/// Decoder of a movie's frames.
pub(crate) struct FrameReader {
    movie: Movie,
    track: Track,
    config: DecoderConfig,
    pub(crate) color: ColorSpace,
}

impl FrameReader {
    /// # Errors
    /// [`MediaError::NeedsFfmpeg`] unless the pictures are H.264 of the usual kind.
    pub(crate) fn new(mut movie: Movie) -> Result<Self, MediaError> {
        let track =
            movie.video.take().ok_or_else(|| MediaError::NotMedia("it has no pictures".to_owned()))?;
        let config = decoder_config(&track)?;
        let container = track.configuration(*b"colr").and_then(|colr| match colr {
            [b'n', b'c', b'l', b'x', _, _, _, _, m0, m1, range, ..] => {
                Some((u16::from_be_bytes([*m0, *m1]), range & 0x80 != 0))
            }
            _ => None,
        });
        let color = config.color(container);
        Ok(Self { movie, track, config, color })
    }

    /// Start and length of the presentation in ticks of the media timeline: the first edit that is not empty.
    fn presented(&self) -> (i64, i64) {
        let shown = self.track.edits.iter().find_map(|edit| edit.media.map(|media| (media, edit.length)));
        shown.unwrap_or((0, i64::MAX))
    }

    /// The frame that is presented first.
    pub(crate) fn first(&mut self) -> Result<YuvFrame, MediaError> {
        let (start, _) = self.presented();
        let order = self.track.presentation_order();
        let from = order.partition_point(|&i| self.track.samples[i].composition <= start);
        self.decode(order[from.saturating_sub(1)])
    }

    /// The frame that is presented last.
    pub(crate) fn last(&mut self) -> Result<YuvFrame, MediaError> {
        let end =
            self.track.edits.iter().filter_map(|edit| Some(edit.media?.saturating_add(edit.length))).max();
        let order = self.track.presentation_order();
        let until = order.partition_point(|&i| end.is_none_or(|end| self.track.samples[i].composition < end));
        self.decode(order[until.saturating_sub(1)])
    }

    /// Decodes one sample exactly, starting at the nearest sync sample; on error, at the one before.
    fn decode(&mut self, target: usize) -> Result<YuvFrame, MediaError> {
        let seek_points: Vec<usize> =
            (0..=target).rev().filter(|&i| self.track.samples[i].sync || i == 0).take(MAX_ATTEMPTS).collect();
        let mut outcome = Err(MediaError::damaged("it has no picture to begin with"));
        for from in seek_points {
            outcome = self.decode_from(from, target);
            match &outcome {
                Err(MediaError::Damaged(_) | MediaError::NeedsFfmpeg { .. }) => {}
                _ => return outcome,
            }
        }
        outcome
    }

    fn decode_from(&mut self, from: usize, target: usize) -> Result<YuvFrame, MediaError> {
        self.check_effort(target - from + 1)?;
        let mut decoder = VideoDecoder::new(&self.config)?;
        let mut bytes = Vec::new();
        let mut picture = None;
        for sample in &self.track.samples[from..=target] {
            self.movie.load_sample(sample, &mut bytes)?;
            picture = Some(decoder.decode(&bytes)?);
        }
        picture.ok_or_else(|| MediaError::damaged("it has no picture"))
    }

    /// Decodes all presented frames and passes them to `show` in order, each with its time in seconds from the beginning. Buffers only
    /// frames that are out of order.
    pub(crate) fn for_each(
        &mut self,
        show: &mut dyn FnMut(f64, YuvFrame) -> Result<(), MediaError>,
    ) -> Result<(), MediaError> {
        self.check_effort(self.track.samples.len())?;
        let (start, length) = self.presented();
        let end = start.saturating_add(length);
        let order = self.track.presentation_order();
        let mut position = vec![0usize; order.len()];
        order.iter().enumerate().for_each(|(index, &i)| position[i] = index);
        let mut decoder = VideoDecoder::new(&self.config)?;
        let mut waiting: BTreeMap<usize, YuvFrame> = BTreeMap::new();
        let mut next = 0;
        let mut bytes = Vec::new();
        for (i, sample) in self.track.samples.iter().enumerate() {
            self.movie.load_sample(sample, &mut bytes)?;
            waiting.insert(position[i], decoder.decode(&bytes)?);
            while let Some(picture) = waiting.remove(&next) {
                let shown = &self.track.samples[order[next]];
                next += 1;
                let until = shown.composition.saturating_add(i64::from(shown.duration));
                if until > start && shown.composition < end {
                    show((shown.composition - start) as f64 / f64::from(self.track.timescale), picture)?;
                }
            }
            if waiting.len() > MAX_REORDERED {
                return Err(MediaError::damaged("its frames are too far out of order"));
            }
        }
        Ok(())
    }

    fn check_effort(&self, pictures: usize) -> Result<(), MediaError> {
        let pixels = u64::from(self.config.sps.width) * u64::from(self.config.sps.height);
        if pixels.saturating_mul(pictures as u64) > MAX_PIXELS {
            return Err(MediaError::TooLarge {
                what: format!(
                    "a run of {pictures} pictures of {}x{}",
                    self.config.sps.width, self.config.sps.height
                ),
                limit: "an hour of 1080p".to_owned(),
            });
        }
        Ok(())
    }
}

/// The decoder configuration of a track that can be decoded natively.
pub(crate) fn decoder_config(track: &Track) -> Result<DecoderConfig, MediaError> {
    if !matches!(&track.coding(), b"avc1" | b"avc3") {
        return Err(MediaError::needs(format!("{} video", coding_name(track.coding()))));
    }
    if !track.one_entry {
        return Err(MediaError::needs("video that changes its coding on the way"));
    }
    let avcc =
        track.configuration(*b"avcC").ok_or_else(|| MediaError::damaged("it has no H.264 configuration"))?;
    let config = DecoderConfig::parse(avcc)?;
    config.check()?;
    Ok(config)
}
