//! Decoding of a movie's frames: a single one, or all in presentation order.

use std::collections::{BTreeMap, BTreeSet};

use rusty_h264::YuvFrame;

use crate::MediaError;
use crate::color::ColorSpace;
use crate::h264::{DecoderConfig, VideoChecker, VideoDecoder};
use crate::mp4::{Movie, Track};
use crate::presentation::Presentation;
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
    pub(crate) presentation: Presentation,
}

impl FrameReader {
    /// # Errors
    /// [`MediaError::NeedsFfmpeg`] unless the frames are H.264 of the usual kind.
    pub(crate) fn new(mut movie: Movie) -> Result<Self, MediaError> {
        let track = movie.video.take().ok_or_else(|| MediaError::NotMedia("it has no frames".to_owned()))?;
        let config = decoder_config(&track)?;
        let color = config.color(container_color(&track).map(|(_, matrix, full_range)| (matrix, full_range)));
        let presentation = Presentation::from_track(&track);
        Ok(Self { movie, track, config, color, presentation })
    }

    /// The frame that is presented first.
    pub(crate) fn first(&mut self) -> Result<YuvFrame, MediaError> {
        let (start, _) = self.track.presentation();
        let order = self.track.presentation_order();
        let from = order.partition_point(|&i| self.track.samples[i].composition <= start);
        self.decode(order[from.saturating_sub(1)])
    }

    /// The frame in the middle.
    pub(crate) fn middle(&mut self) -> Result<YuvFrame, MediaError> {
        let order = self.track.presentation_order();
        self.decode(order[order.len() / 2])
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
        let seek_points: Vec<usize> = (0..=target)
            .rev()
            .filter(|&i| self.track.samples[i].is_sync || i == 0)
            .take(MAX_ATTEMPTS)
            .collect();
        let mut outcome = Err(MediaError::damaged("it has no frame to begin with"));
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
        for sample in &self.track.samples[from..target] {
            self.movie.load_sample(sample, &mut bytes)?;
            if !decoder.is_disposable(&bytes) {
                decoder.decode(&bytes)?;
            }
        }
        self.movie.load_sample(&self.track.samples[target], &mut bytes)?;
        decoder.decode(&bytes)
    }

    /// All presented frames in order, from the last sync sample that is presented at or before the frame `from` (counted from 0 in
    /// presentation order).
    ///
    /// # Errors
    /// [`MediaError::TooLarge`] for more frames than are decoded for one request.
    pub(crate) fn frames_from(self, from: u64) -> Result<Frames, MediaError> {
        self.check_effort(self.track.samples.len())?;
        let order = self.track.presentation_order();
        let mut position = vec![0usize; order.len()];
        order.iter().enumerate().for_each(|(index, &i)| position[i] = index);
        let (start, _) = self.track.presentation();
        let hidden = order.partition_point(|&i| {
            let sample = &self.track.samples[i];
            sample.composition.saturating_add(i64::from(sample.duration)) <= start
        });
        let from = usize::try_from(from)
            .unwrap_or(usize::MAX)
            .saturating_add(hidden)
            .min(order.len().saturating_sub(1));
        let sample = seek_point(&self.track, &position, from);
        let next = position.get(sample).copied().unwrap_or(0);
        let decoder = VideoDecoder::new(&self.config)?;
        Ok(Frames {
            reader: self,
            decoder,
            order,
            position,
            sample,
            next,
            waiting: BTreeMap::new(),
            bytes: Vec::new(),
        })
    }

    fn check_effort(&self, frames: usize) -> Result<(), MediaError> {
        let pixels = u64::from(self.config.sps.width) * u64::from(self.config.sps.height);
        if pixels.saturating_mul(frames as u64) > MAX_PIXELS {
            return Err(MediaError::TooLarge {
                what: format!(
                    "a run of {frames} frames of {}x{}",
                    self.config.sps.width, self.config.sps.height
                ),
                limit: "an hour of 1080p".to_owned(),
            });
        }
        Ok(())
    }
}

/// The last sample at which decoding may begin for all frames from `from` on: nothing after it in decoding order is presented before it.
fn seek_point(track: &Track, position: &[usize], from: usize) -> usize {
    let mut earliest = usize::MAX;
    let mut best = 0;
    for (i, sample) in track.samples.iter().enumerate().rev() {
        earliest = earliest.min(position[i]);
        if sample.is_sync && earliest == position[i] && position[i] <= from {
            best = i;
            break;
        }
    }
    best
}

/// A frame of a movie.
pub(crate) struct MovieFrame {
    /// When it is presented, in seconds from the beginning.
    pub(crate) time: f64,
    pub(crate) image: YuvFrame,
}

/// The frames of a movie in presentation order. Buffers only frames that are out of order.
pub(crate) struct Frames {
    reader: FrameReader,
    decoder: VideoDecoder,
    /// Samples by presentation.
    order: Vec<usize>,
    /// The place of each sample in `order`.
    position: Vec<usize>,
    /// The next sample to be decoded.
    sample: usize,
    /// The place of the next frame to be returned.
    next: usize,
    waiting: BTreeMap<usize, YuvFrame>,
    bytes: Vec<u8>,
}

impl Frames {
    pub(crate) fn color(&self) -> ColorSpace {
        self.reader.color
    }

    pub(crate) fn presentation(&self) -> Presentation {
        self.reader.presentation
    }

    /// The next presented frame; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<MovieFrame>, MediaError> {
        loop {
            while let Some(image) = self.waiting.remove(&self.next) {
                let number = self.next;
                self.next += 1;
                let shown = &self.reader.track.samples[self.order[number]];
                if self.reader.track.is_presented(shown) {
                    let (start, _) = self.reader.track.presentation();
                    let time = (shown.composition - start) as f64 / f64::from(self.reader.track.timescale);
                    return Ok(Some(MovieFrame { time, image }));
                }
            }
            let Some(sample) = self.reader.track.samples.get(self.sample) else { return Ok(None) };
            self.reader.movie.load_sample(sample, &mut self.bytes)?;
            self.waiting.insert(self.position[self.sample], self.decoder.decode(&self.bytes)?);
            self.sample += 1;
            check_reordering(self.waiting.len())?;
        }
    }

    /// Decodes what remains, for its errors only.
    pub(crate) fn check(mut self) -> Result<(), MediaError> {
        let mut waiting: BTreeSet<usize> = self.waiting.into_keys().collect();
        let mut checker = VideoChecker::new(self.decoder);
        for (sample, position) in self.reader.track.samples.iter().zip(&self.position).skip(self.sample) {
            self.reader.movie.load_sample(sample, &mut self.bytes)?;
            checker.check(&self.bytes)?;
            waiting.insert(*position);
            while waiting.remove(&self.next) {
                self.next += 1;
            }
            check_reordering(waiting.len())?;
        }
        Ok(())
    }
}

fn check_reordering(waiting: usize) -> Result<(), MediaError> {
    if waiting > MAX_REORDERED {
        return Err(MediaError::damaged("its frames are too far out of order"));
    }
    Ok(())
}

/// Transfer characteristics, matrix and full range that a `colr` box names, as code points (ISO/IEC 23001-8).
fn container_color(track: &Track) -> Option<(u16, u16, bool)> {
    match track.configuration(*b"colr")? {
        [b'n', b'c', b'l', kind, _, _, t0, t1, m0, m1, range @ ..] if matches!(kind, b'x' | b'c') => {
            let is_full = range.first().is_some_and(|range| *kind == b'x' && range & 0x80 != 0);
            Some((u16::from_be_bytes([*t0, *t1]), u16::from_be_bytes([*m0, *m1]), is_full))
        }
        _ => None,
    }
}

/// Whether transfer characteristics are those of high dynamic range: PQ or HLG (ITU-R BT.2100).
fn is_hdr(transfer: u16) -> bool {
    matches!(transfer, 16 | 18)
}

/// The decoder configuration of a track that can be decoded natively.
pub(crate) fn decoder_config(track: &Track) -> Result<DecoderConfig, MediaError> {
    if !matches!(&track.coding(), b"avc1" | b"avc3") {
        return Err(MediaError::needs(format!("{} video", coding_name(track.coding()))));
    }
    if !track.has_one_entry {
        return Err(MediaError::needs("video that changes its coding on the way"));
    }
    let avcc =
        track.configuration(*b"avcC").ok_or_else(|| MediaError::damaged("it has no H.264 configuration"))?;
    let config = DecoderConfig::parse(avcc)?;
    config.check()?;
    let transfer = container_color(track).map(|(transfer, ..)| transfer);
    if transfer.or(config.transfer()).is_some_and(is_hdr) {
        return Err(MediaError::needs("HDR video"));
    }
    if !Presentation::from_track(track).is_supported() {
        return Err(MediaError::needs("video that is turned by other than right angles"));
    }
    Ok(config)
}
