//! Reads MP4 files, progressive and fragmented: tracks and sample positions.
//!
//! `shiguredo_mp4` decodes the boxes; this module bounds them. Invariant: no allocation exceeds the file's own size, and every sample lies
//! inside the file.

use std::cell::RefCell;
use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::rc::Rc;

use shiguredo_mp4::aux::{SampleTableAccessor, SampleTableAccessorError};
use shiguredo_mp4::boxes::{HdlrBox, MoovBox, StszBox, TrakBox};
use shiguredo_mp4::{Decode, ErrorKind, TrackKind};

use super::boxes::{children, find};
use super::fragments::Fragments;
use super::track::{Edit, Sample, Track};
use crate::MediaError;
use crate::catch_panic::catch_panic;
use crate::rate::rescale;
use crate::sniff::{MediaType, SNIFFED_BYTES, name_content};
use crate::turn::Turn;

/// The largest index (`moov`, or `moof` of a fragment) that is loaded.
const MAX_INDEX_BYTES: u64 = 64 << 20;
/// More samples than any clip has: eleven hours of sound and video.
const MAX_SAMPLES: usize = 4_000_000;
/// More top-level boxes than any file has that is not crafted.
const MAX_TOP_LEVEL_BOXES: usize = 200_000;
/// The largest single sample: a raw 8K frame would be smaller.
const MAX_SAMPLE_BYTES: u32 = 64 << 20;

/// Source of a movie's bytes.
pub(crate) trait Source: Read + Seek {}
impl<T: Read + Seek> Source for T {}

/// A movie whose index was read and found sound. Copies read the same open file.
#[derive(Clone)]
pub(crate) struct Movie {
    source: Rc<RefCell<dyn Source>>,
    length: u64,
    pub(crate) video: Option<Track>,
    pub(crate) audio: Option<Track>,
    /// The index lies in front of the samples.
    pub(crate) is_faststart: bool,
}

impl Movie {
    pub(crate) fn open(path: &Path) -> Result<Self, MediaError> {
        let file = File::open(path).map_err(MediaError::io("cannot open the file"))?;
        let metadata = file.metadata().map_err(MediaError::io("cannot open the file"))?;
        if !metadata.is_file() {
            return Err(MediaError::NotMedia("this is no regular file".to_owned()));
        }
        Self::from_source(file, metadata.len())
    }

    /// The same for what is read in parts.
    pub(crate) fn from_source(source: impl Source + 'static, length: u64) -> Result<Self, MediaError> {
        Self::read(std::io::BufReader::with_capacity(64 << 10, source), length)
    }

    /// The same for a file that is already in memory.
    pub(crate) fn from_bytes(bytes: Vec<u8>) -> Result<Self, MediaError> {
        let length = bytes.len() as u64;
        Self::read(Cursor::new(bytes), length)
    }

    fn read(mut source: impl Source + 'static, length: u64) -> Result<Self, MediaError> {
        let top = top_level(&mut source, length)?;
        let position = |name: &[u8; 4]| top.iter().position(|extent| extent.name == *name);
        let Some(moov_at) = position(b"moov") else {
            return Err(MediaError::damaged("it has no index (moov): the end of the file may be missing"));
        };
        let faststart = position(b"mdat").is_none_or(|mdat| moov_at < mdat);
        let moov_bytes = load(&mut source, top[moov_at].start, top[moov_at].end, MAX_INDEX_BYTES)?;
        let without_entries = without_sample_entries(&moov_bytes);
        let decoded =
            catch_panic(|| MoovBox::decode(&without_entries))?.map_err(|error| malformed(&error))?;
        let moov = decoded.0;
        let movie_timescale = moov.mvhd_box.timescale.get();

        let source = Rc::new(RefCell::new(source));
        let mut movie = Self { source, length, video: None, audio: None, is_faststart: faststart };
        let raw_moov = children(&moov_bytes).next().map_or(&[][..], |child| child.payload);
        let raw_tracks = children(raw_moov).filter(|child| child.name == *b"trak");
        let mut tracks = Vec::new();
        for (trak, raw) in moov.trak_boxes.iter().zip(raw_tracks) {
            let kind = match trak.mdia_box.hdlr_box.handler_type {
                HdlrBox::HANDLER_TYPE_VIDE => TrackKind::Video,
                HdlrBox::HANDLER_TYPE_SOUN => TrackKind::Audio,
                _ => continue,
            };
            let slot = if kind == TrackKind::Video { &movie.video } else { &movie.audio };
            let taken = tracks.iter().any(|&(_, other, _)| other == kind);
            if slot.is_none() && !taken {
                let mut track = empty_track(trak, raw.payload, &moov.mvhd_box.matrix)?;
                // In a fragmented file, the index lists what lies before the first fragment.
                track.samples = samples(trak, length)?;
                tracks.push((trak.tkhd_box.track_id, kind, track));
            }
        }
        if moov.mvex_box.is_some() {
            movie.read_fragments(&top, raw_moov, &mut tracks)?;
        }
        for (id, kind, mut track) in tracks {
            if track.samples.is_empty() {
                continue;
            }
            let trak = moov.trak_boxes.iter().find(|trak| trak.tkhd_box.track_id == id);
            track.edits = edits(trak, &track, movie_timescale);
            match kind {
                TrackKind::Video => movie.video = Some(track),
                _ => movie.audio = Some(track),
            }
        }
        Ok(movie)
    }

    /// The bytes of one sample, replacing what is in `bytes`.
    pub(crate) fn load_sample(&self, sample: &Sample, bytes: &mut Vec<u8>) -> Result<(), MediaError> {
        let end = sample.offset.checked_add(u64::from(sample.size));
        if sample.size > MAX_SAMPLE_BYTES || end.is_none_or(|end| end > self.length) {
            return Err(MediaError::damaged("a sample lies outside the file"));
        }
        bytes.resize(sample.size as usize, 0);
        let mut source = self.source.borrow_mut();
        source
            .seek(SeekFrom::Start(sample.offset))
            .and_then(|_| source.read_exact(bytes))
            .map_err(MediaError::io("cannot read the file"))
    }

    /// Collects the samples of all fragments.
    fn read_fragments(
        &self,
        top: &[BoxExtent],
        moov: &[u8],
        tracks: &mut [(u32, TrackKind, Track)],
    ) -> Result<(), MediaError> {
        let mut fragments = Fragments::new(moov, self.length, tracks)?;
        for extent in top.iter().filter(|extent| extent.name == *b"moof") {
            let bytes = load(&mut *self.source.borrow_mut(), extent.start, extent.end, MAX_INDEX_BYTES)?;
            let moof = children(&bytes).next().ok_or_else(incomplete)?;
            fragments.read(moof.payload, extent.start, tracks)?;
        }
        Ok(())
    }
}

/// The index with sample entries of a name that the library leaves alone: it reads some forms of `QuickTime` as damaged, and takes nothing from
/// any that is needed here ([`Track::entry`]).
fn without_sample_entries(moov: &[u8]) -> Vec<u8> {
    let mut renamed = moov.to_vec();
    let tracks = children(moov).flat_map(|moov| children(moov.payload));
    let tables = tracks.filter_map(|track| find(track.payload, &[*b"mdia", *b"minf", *b"stbl", *b"stsd"]));
    for entry in tables.flat_map(|table| children(table.get(8..).unwrap_or_default())) {
        let start = entry.whole.as_ptr().addr() - moov.as_ptr().addr();
        renamed[start + 4..start + 8].copy_from_slice(b"read");
    }
    renamed
}

struct BoxExtent {
    name: [u8; 4],
    start: u64,
    end: u64,
}

/// The top-level boxes. The last one may be truncated: samples in it are checked one by one.
fn top_level(source: &mut dyn Source, length: u64) -> Result<Vec<BoxExtent>, MediaError> {
    let io = MediaError::io;
    let mut boxes: Vec<BoxExtent> = Vec::new();
    let mut start = 0;
    while start + 8 <= length {
        if boxes.len() >= MAX_TOP_LEVEL_BOXES {
            return Err(MediaError::TooLarge {
                what: "the number of fragments".to_owned(),
                limit: format!("{MAX_TOP_LEVEL_BOXES} boxes"),
            });
        }
        let mut head = [0; 16];
        let available = (length - start).min(16) as usize;
        source.seek(SeekFrom::Start(start)).map_err(io("cannot read the file"))?;
        source.read_exact(&mut head[..available]).map_err(io("cannot read the file"))?;
        let name = [head[4], head[5], head[6], head[7]];
        let size = match u32::from_be_bytes([head[0], head[1], head[2], head[3]]) {
            0 => length - start,
            1 if available == 16 => u64::from_be_bytes([
                head[8], head[9], head[10], head[11], head[12], head[13], head[14], head[15],
            ]),
            size => u64::from(size),
        };
        if boxes.is_empty()
            && !matches!(&name, b"ftyp" | b"styp" | b"moov" | b"mdat" | b"free" | b"skip" | b"wide")
        {
            return Err(other_kind(source, length)?);
        }
        if size < 8 {
            break;
        }
        let end = start.saturating_add(size).min(length);
        boxes.push(BoxExtent { name, start, end });
        start = end;
    }
    if boxes.is_empty() {
        let reason = if length == 0 { "it is empty" } else { "it is too short to be a video" };
        return Err(MediaError::NotMedia(reason.to_owned()));
    }
    Ok(boxes)
}

/// What a file is that is not MP4, as far as its beginning tells.
fn other_kind(source: &mut dyn Source, length: u64) -> Result<MediaError, MediaError> {
    let mut beginning = vec![0; length.min(SNIFFED_BYTES) as usize];
    source.seek(SeekFrom::Start(0)).map_err(MediaError::io("cannot read the file"))?;
    source.read_exact(&mut beginning).map_err(MediaError::io("cannot read the file"))?;
    if MediaType::sniff(&beginning) == Some(MediaType::WebM) {
        return Ok(MediaError::needs("a WebM or Matroska file"));
    }
    Ok(MediaError::NotMedia(match name_content(&beginning) {
        Some(name) => format!("it looks like {name}"),
        None => "it does not begin like an MP4 file".to_owned(),
    }))
}

fn load(source: &mut dyn Source, start: u64, end: u64, limit: u64) -> Result<Vec<u8>, MediaError> {
    let size = end - start;
    if size > limit {
        return Err(MediaError::TooLarge {
            what: format!("an index of {} MiB", size >> 20),
            limit: format!("{} MiB", limit >> 20),
        });
    }
    let mut bytes = vec![0; size as usize];
    source.seek(SeekFrom::Start(start)).map_err(MediaError::io("cannot read the file"))?;
    source.read_exact(&mut bytes).map_err(MediaError::io("cannot read the file"))?;
    Ok(bytes)
}

fn empty_track(trak: &TrakBox, raw: &[u8], movie_matrix: &[i32; 9]) -> Result<Track, MediaError> {
    let missing = || MediaError::damaged("a track has no sample description");
    let stsd = find(raw, &[*b"mdia", *b"minf", *b"stbl", *b"stsd"]).ok_or_else(missing)?;
    let mut entries = children(stsd.get(8..).ok_or_else(missing)?);
    let entry = entries.next().ok_or_else(missing)?.whole.to_vec();
    let timescale = trak.mdia_box.mdhd_box.timescale.get();
    Ok(Track {
        entry,
        has_one_entry: entries.next().is_none(),
        timescale,
        turn: Turn::from_matrices(&trak.tkhd_box.matrix, movie_matrix),
        samples: Vec::new(),
        edits: Vec::new(),
    })
}

/// The sample table, each sample inside the file.
fn samples(trak: &TrakBox, length: u64) -> Result<Vec<Sample>, MediaError> {
    let stbl = &trak.mdia_box.minf_box.stbl_box;
    let count = match &stbl.stsz_box {
        StszBox::Fixed { sample_count, .. } => u64::from(*sample_count),
        StszBox::Variable { entry_sizes } => entry_sizes.len() as u64,
    };
    check_count(count, length)?;
    let table = catch_panic(|| SampleTableAccessor::new(stbl))?.map_err(|error| contradictory(&error))?;
    catch_panic(|| {
        let mut samples = Vec::with_capacity(count as usize);
        for sample in table.samples() {
            let (offset, size) = (sample.data_offset(), sample.data_size());
            if offset.checked_add(u64::from(size)).is_none_or(|end| end > length) {
                return Err(incomplete());
            }
            let decoding = i64::try_from(sample.timestamp()).map_err(|_| clock())?;
            let composition =
                decoding.checked_add(sample.composition_time_offset().unwrap_or(0)).ok_or_else(clock)?;
            let (duration, sync) = (sample.duration(), sample.is_sync_sample());
            samples.push(Sample { offset, size, duration, composition, is_sync: sync });
        }
        Ok(samples)
    })?
}

/// A sample that has no bytes of its own costs memory for nothing.
pub(super) fn check_count(count: u64, length: u64) -> Result<(), MediaError> {
    if count > length || count > MAX_SAMPLES as u64 {
        return Err(MediaError::Damaged(format!(
            "it claims {count} samples, which cannot be in a file of its size"
        )));
    }
    Ok(())
}

/// The file is shorter than its index says.
pub(super) fn incomplete() -> MediaError {
    MediaError::damaged("the file ends before its last sample: the download may be incomplete")
}

pub(super) fn clock() -> MediaError {
    MediaError::damaged("its clock runs beyond all bounds")
}

/// The presented part of a track: its edit list if it has one, everything otherwise. Never longer than the media.
fn edits(trak: Option<&TrakBox>, track: &Track, movie_timescale: u32) -> Vec<Edit> {
    let first = track.samples.iter().map(|s| s.composition).min().unwrap_or(0);
    let end =
        track.samples.iter().map(|s| s.composition.saturating_add(i64::from(s.duration))).max().unwrap_or(0);
    let listed = trak
        .and_then(|trak| trak.edts_box.as_ref())
        .and_then(|edts| edts.elst_box.as_ref())
        .map_or(&[][..], |elst| elst.entries.as_slice());
    let mut edits = Vec::new();
    for entry in listed.iter().take(64) {
        let length = rescale(i128::from(entry.edit_duration), movie_timescale, track.timescale);
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        // A gap longer than a day is no gap but a mistake.
        let day = i64::from(track.timescale) * 86_400;
        if entry.media_time < 0 {
            edits.push(Edit { media: None, length: length.min(day) });
            continue;
        }
        // A length of zero means the rest, in fragmented files.
        let rest = end.saturating_sub(entry.media_time).max(0);
        let length = if length == 0 { rest } else { length.min(rest) };
        if length > 0 {
            edits.push(Edit { media: Some(entry.media_time), length });
        }
    }
    if !edits.iter().any(|edit| edit.media.is_some()) {
        edits = vec![Edit { media: Some(first.max(0)), length: end.saturating_sub(first.max(0)).max(0) }];
    }
    edits
}

/// An error of the MP4 library in the terms of the format; the library's own text has lines of its source in it.
fn malformed(error: &shiguredo_mp4::Error) -> MediaError {
    let location = error.box_type.map_or_else(|| "it".to_owned(), |kind| format!("the box `{kind}`"));
    let problem = match error.kind {
        ErrorKind::InsufficientBuffer => "ends too early",
        ErrorKind::Unsupported => "has an unknown form",
        ErrorKind::InvalidInput | ErrorKind::InvalidData => "has invalid contents",
    };
    let colon = if error.reason.is_empty() { "" } else { ": " };
    MediaError::Damaged(format!("its index is malformed: {location} {problem}{colon}{}", error.reason))
}

fn contradictory(error: &SampleTableAccessorError) -> MediaError {
    MediaError::Damaged(format!("the sample table contradicts itself: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clip::{AudioSpec, audio_track};
    use crate::h264::Effort;
    use crate::mp4::{StoredTags, audio_config, write_movie};

    /// As ffmpeg, iMovie and phones write sound into `.mov`: a description of version 1, with the configuration inside of `wave`.
    #[test]
    fn quicktime_sound_description_is_read() {
        let spec = AudioSpec { sample_rate: 48_000, channels: 1 };
        let (mut track, packets) = audio_track(&vec![0.1; 9_600], spec, Effort::Full).unwrap();
        let boxed = |name: &[u8; 4], payload: &[u8]| {
            let size = (payload.len() as u32 + 8).to_be_bytes();
            [&size[..], name, payload].concat()
        };
        let (mut fixed, esds) = (track.entry[8..36].to_vec(), track.entry[36..].to_vec());
        fixed[8..10].copy_from_slice(&[0, 1]);
        let wave = boxed(b"wave", &[boxed(b"frma", b"mp4a"), boxed(b"mp4a", &[0; 4]), esds].concat());
        track.entry = boxed(b"mp4a", &[fixed, vec![0; 16], wave].concat());
        let mut file = Vec::new();
        write_movie(&mut file, &[track], &StoredTags::default(), &mut |_, sample, bytes| {
            bytes.extend_from_slice(&packets[sample]);
            Ok(())
        })
        .unwrap();
        let audio = Movie::from_bytes(file).unwrap().audio.unwrap();
        let config = audio.configuration(*b"esds").and_then(audio_config).unwrap();
        assert_eq!((config.object_type, audio.samples.len()), (0x40, packets.len()));
    }
}
