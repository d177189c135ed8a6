//! Movie fragments (ISO/IEC 14496-12, 8.8): runs of samples that are described beside their data instead of in the index.

use shiguredo_mp4::TrackKind;

use super::boxes::{children, find};
use super::read::{check_count, clock, incomplete};
use super::track::{Sample, Track};
use crate::MediaError;

/// `sample_is_non_sync_sample` in the flags of a sample.
const NON_SYNC: u32 = 0x0001_0000;

/// Reads the fragments of a file in order. Times and positions go on from one fragment to the next.
pub(super) struct Fragments {
    /// Size of the file.
    length: u64,
    /// Samples so far, of all tracks.
    samples: u64,
    tracks: Vec<TrackState>,
}

/// What a track's fragments have in common.
struct TrackState {
    id: u32,
    defaults: Defaults,
    /// The decoding time at which the next fragment begins unless it says otherwise.
    clock: u64,
}

/// Values of samples that do not have their own.
#[derive(Clone, Copy, Default)]
struct Defaults {
    duration: u32,
    size: u32,
    flags: u32,
}

impl Fragments {
    /// For a movie with this `moov` payload, of which `listed` are the tracks with the samples that the index itself lists.
    pub(super) fn new(
        moov: &[u8],
        length: u64,
        listed: &[(u32, TrackKind, Track)],
    ) -> Result<Self, MediaError> {
        let mut tracks = Vec::new();
        for (id, _, track) in listed {
            let id = *id;
            let mut state = TrackState { id, defaults: Defaults::default(), clock: 0 };
            state.clock = track.samples.iter().map(|sample| u64::from(sample.duration)).sum();
            let extends = find(moov, &[*b"mvex"]).unwrap_or_default();
            for trex in children(extends).filter(|child| child.name == *b"trex") {
                let mut fields = Fields { rest: trex.payload };
                fields.skip(4)?;
                if fields.u32()? != id {
                    continue;
                }
                fields.skip(4)?; // default_sample_description_index
                state.defaults =
                    Defaults { duration: fields.u32()?, size: fields.u32()?, flags: fields.u32()? };
            }
            tracks.push(state);
        }
        Ok(Self { length, samples: 0, tracks })
    }

    /// Adds the samples of one `moof` box, given by its payload and its position in the file.
    ///
    /// # Errors
    /// [`MediaError::Damaged`] for boxes that end too early, and for samples outside the file.
    pub(super) fn read(
        &mut self,
        moof: &[u8],
        start: u64,
        tracks: &mut [(u32, TrackKind, Track)],
    ) -> Result<(), MediaError> {
        // Without a base of its own, a track's data follows those of the track before it in the fragment.
        let mut end_of_previous = start;
        for traf in children(moof).filter(|child| child.name == *b"traf") {
            let tfhd = find(traf.payload, &[*b"tfhd"]).ok_or_else(truncated)?;
            let header = TrackFragmentHeader::parse(tfhd)?;
            let base = match header.base {
                Some(base) => base,
                None if header.is_base_moof => start,
                None => end_of_previous,
            };
            let mut unused = TrackState { id: header.track, defaults: Defaults::default(), clock: 0 };
            let state = self.tracks.iter_mut().find(|state| state.id == header.track);
            let state = state.unwrap_or(&mut unused);
            if let Some(tfdt) = find(traf.payload, &[*b"tfdt"]) {
                let mut fields = Fields { rest: tfdt };
                let is_wide = fields.u32()? >> 24 == 1;
                state.clock = if is_wide { fields.u64()? } else { u64::from(fields.u32()?) };
            }
            let mut next = base;
            for trun in children(traf.payload).filter(|child| child.name == *b"trun") {
                let mut run = TrackRun::parse(trun.payload, header.defaults(state.defaults))?;
                if let Some(offset) = run.offset {
                    next = base.checked_add_signed(offset).ok_or_else(outside)?;
                }
                self.samples += u64::from(run.count);
                check_count(self.samples, self.length)?;
                let track = tracks.iter_mut().find(|(id, _, _)| *id == header.track);
                let mut samples = track.map(|(_, _, track)| &mut track.samples);
                for _ in 0..run.count {
                    let (sample, duration) = run.next(next, state.clock)?;
                    next = next.checked_add(u64::from(sample.size)).ok_or_else(outside)?;
                    state.clock = state.clock.checked_add(u64::from(duration)).ok_or_else(clock)?;
                    // A track that is not read has no samples, but its data are in the way of others.
                    let Some(samples) = samples.as_mut() else { continue };
                    if next > self.length {
                        return Err(incomplete());
                    }
                    samples.push(sample);
                }
            }
            end_of_previous = next;
        }
        Ok(())
    }
}

/// `tfhd`: what holds for a track in one fragment.
struct TrackFragmentHeader {
    track: u32,
    base: Option<u64>,
    is_base_moof: bool,
    duration: Option<u32>,
    size: Option<u32>,
    flags: Option<u32>,
}

impl TrackFragmentHeader {
    fn parse(tfhd: &[u8]) -> Result<Self, MediaError> {
        let mut fields = Fields { rest: tfhd };
        let present = fields.u32()?;
        let track = fields.u32()?;
        let base = if present & 0x1 != 0 { Some(fields.u64()?) } else { None };
        fields.optional(present & 0x2 != 0)?; // sample_description_index: there is one entry, or the track is not decoded
        Ok(Self {
            track,
            base,
            is_base_moof: present & 0x0002_0000 != 0,
            duration: fields.optional(present & 0x8 != 0)?,
            size: fields.optional(present & 0x10 != 0)?,
            flags: fields.optional(present & 0x20 != 0)?,
        })
    }

    fn defaults(&self, movie: Defaults) -> Defaults {
        Defaults {
            duration: self.duration.unwrap_or(movie.duration),
            size: self.size.unwrap_or(movie.size),
            flags: self.flags.unwrap_or(movie.flags),
        }
    }
}

/// `trun`: samples whose data follow each other.
struct TrackRun<'a> {
    count: u32,
    offset: Option<i64>,
    present: u32,
    first_flags: Option<u32>,
    defaults: Defaults,
    is_signed: bool,
    fields: Fields<'a>,
}

impl<'a> TrackRun<'a> {
    fn parse(trun: &'a [u8], defaults: Defaults) -> Result<Self, MediaError> {
        let mut fields = Fields { rest: trun };
        let head = fields.u32()?;
        let present = head & 0x00ff_ffff;
        let count = fields.u32()?;
        let offset = fields.optional(present & 0x1 != 0)?.map(|offset| i64::from(offset.cast_signed()));
        let first_flags = fields.optional(present & 0x4 != 0)?;
        Ok(Self { count, offset, present, first_flags, defaults, is_signed: head >> 24 > 0, fields })
    }

    /// The next sample, whose data begin at `offset`, with its duration.
    fn next(&mut self, offset: u64, decoding: u64) -> Result<(Sample, u32), MediaError> {
        let duration = self.fields.optional(self.present & 0x100 != 0)?.unwrap_or(self.defaults.duration);
        let size = self.fields.optional(self.present & 0x200 != 0)?.unwrap_or(self.defaults.size);
        let own_flags = self.fields.optional(self.present & 0x400 != 0)?;
        let flags = self.first_flags.take().or(own_flags).unwrap_or(self.defaults.flags);
        let shift = self.fields.optional(self.present & 0x800 != 0)?.unwrap_or(0);
        let shift = if self.is_signed { i64::from(shift.cast_signed()) } else { i64::from(shift) };
        let composition = i64::try_from(decoding).ok().and_then(|decoding| decoding.checked_add(shift));
        let composition = composition.ok_or_else(clock)?;
        Ok((Sample { offset, size, duration, composition, is_sync: flags & NON_SYNC == 0 }, duration))
    }
}

/// The fields of a box in order.
struct Fields<'a> {
    rest: &'a [u8],
}

impl Fields<'_> {
    fn skip(&mut self, count: usize) -> Result<(), MediaError> {
        self.rest = self.rest.get(count..).ok_or_else(truncated)?;
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, MediaError> {
        let (field, rest) = self.rest.split_first_chunk().ok_or_else(truncated)?;
        self.rest = rest;
        Ok(u32::from_be_bytes(*field))
    }

    fn u64(&mut self) -> Result<u64, MediaError> {
        Ok(u64::from(self.u32()?) << 32 | u64::from(self.u32()?))
    }

    fn optional(&mut self, is_present: bool) -> Result<Option<u32>, MediaError> {
        if is_present { self.u32().map(Some) } else { Ok(None) }
    }
}

fn truncated() -> MediaError {
    MediaError::damaged("a fragment (moof) ends within one of its fields")
}

fn outside() -> MediaError {
    MediaError::damaged("a fragment (moof) points outside the file")
}
