//! Writing of MP4 files: index in front, tracks interleaved, exact durations, edit lists.

use std::io::Write;

use super::boxes::BoxWriter;
use super::tags::StoredTags;
use crate::MediaError;
use crate::rate::{least_common_multiple, rescale};

/// Seconds of a track that are stored together before the next track's samples.
const CHUNK_SECONDS: f64 = 0.5;

/// One track of a file to be written.
pub(crate) struct OutputTrack {
    pub(crate) kind: OutputKind,
    /// The sample entry, a whole box.
    pub(crate) entry: Vec<u8>,
    /// Ticks per second of every time in this track.
    pub(crate) timescale: u32,
    /// In decoding order.
    pub(crate) samples: Vec<OutputSample>,
    /// The composition time at which the presentation begins.
    pub(crate) start: u64,
    /// How much is presented from there, in ticks.
    pub(crate) presented: u64,
}

/// Contents of a track.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputKind {
    /// Sides in pixels.
    Video {
        width: u32,
        height: u32,
    },
    Audio,
    /// Names of parts of the film, which players offer as a list and do not show.
    Chapters,
}

/// One sample, all times in the track's ticks.
#[derive(Clone, Copy)]
pub(crate) struct OutputSample {
    pub(crate) size: u32,
    pub(crate) duration: u32,
    /// Composition time minus decoding time.
    pub(crate) offset: i32,
    pub(crate) is_sync: bool,
}

/// A run of samples of one track that lie together in the file.
struct Chunk {
    track: usize,
    first: usize,
    count: usize,
    bytes: u64,
}

/// Appends the bytes of a sample (track, sample) to a buffer.
type Payload<'a> = &'a mut dyn FnMut(usize, usize, &mut Vec<u8>) -> Result<(), MediaError>;

/// Writes the whole file. `payload` is called for each sample (track, sample) in file order and must append exactly the sample's size in
/// bytes. The track of chapters comes after the others, and its samples are in the tags.
pub(crate) fn write_movie(
    out: &mut dyn Write,
    tracks: &[OutputTrack],
    tags: &StoredTags,
    payload: Payload<'_>,
) -> Result<(), MediaError> {
    let others = tracks.len();
    let tracks: Vec<&OutputTrack> =
        tracks.iter().chain(tags.chapters.as_ref().map(|(track, _)| track)).collect();
    let tracks = tracks.as_slice();
    let chunks = interleave(tracks);
    let payload_bytes: u64 = chunks.iter().map(|chunk| chunk.bytes).sum();
    let ftyp = file_type();
    let mdat_header = media_header(payload_bytes);
    // The index holds offsets that depend on its own size, which depends only on how wide they are.
    let beside_index = (ftyp.len() + tags.after_index.len() + mdat_header.len()) as u64 + payload_bytes;
    let estimate = index(tracks, tags, &chunks, 0, false).len() as u64;
    let wide = beside_index + estimate * 2 > u64::from(u32::MAX);
    let index_bytes = index(tracks, tags, &chunks, 0, wide).len() as u64;
    let base = (ftyp.len() + tags.after_index.len() + mdat_header.len()) as u64 + index_bytes;
    let index = index(tracks, tags, &chunks, base, wide);

    let write = |out: &mut dyn Write, bytes: &[u8]| {
        out.write_all(bytes).map_err(MediaError::io("cannot write the video"))
    };
    write(out, &ftyp)?;
    write(out, &index)?;
    write(out, &tags.after_index)?;
    write(out, &mdat_header)?;
    let mut sample = Vec::new();
    for chunk in &chunks {
        for i in chunk.first..chunk.first + chunk.count {
            sample.clear();
            match &tags.chapters {
                Some((_, texts)) if chunk.track == others => sample.extend_from_slice(&texts[i]),
                _ => payload(chunk.track, i, &mut sample)?,
            }
            if sample.len() as u64 != u64::from(tracks[chunk.track].samples[i].size) {
                return Err(MediaError::damaged("a sample is not as long as the index says"));
            }
            write(out, &sample)?;
        }
    }
    Ok(())
}

fn interleave(tracks: &[&OutputTrack]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut next = vec![0usize; tracks.len()];
    let mut clock = vec![0u64; tracks.len()];
    loop {
        let seconds = |t: usize| clock[t] as f64 / f64::from(tracks[t].timescale);
        let Some(track) = (0..tracks.len())
            .filter(|&t| next[t] < tracks[t].samples.len())
            .min_by(|&a, &b| seconds(a).total_cmp(&seconds(b)))
        else {
            return chunks;
        };
        let max_ticks = (f64::from(tracks[track].timescale) * CHUNK_SECONDS) as u64;
        let first = next[track];
        let (mut ticks, mut bytes, mut count) = (0, 0, 0);
        for sample in &tracks[track].samples[first..] {
            if count > 0 && ticks + u64::from(sample.duration) > max_ticks {
                break;
            }
            ticks += u64::from(sample.duration);
            bytes += u64::from(sample.size);
            count += 1;
        }
        next[track] += count;
        clock[track] += ticks;
        chunks.push(Chunk { track, first, count, bytes });
    }
}

fn file_type() -> Vec<u8> {
    let mut out = BoxWriter::default();
    out.child(*b"ftyp", |out| {
        out.bytes(b"isom");
        out.u32(0x200);
        for brand in [b"isom", b"iso4", b"avc1", b"mp41"] {
            out.bytes(brand);
        }
    });
    out.into_bytes()
}

fn media_header(payload_bytes: u64) -> Vec<u8> {
    let mut out = BoxWriter::default();
    if let Ok(size) = u32::try_from(payload_bytes + 8) {
        out.u32(size);
        out.bytes(b"mdat");
    } else {
        out.u32(1);
        out.bytes(b"mdat");
        out.u64(payload_bytes + 16);
    }
    out.into_bytes()
}

/// The clock of the file as a whole: one on which every track's length is a whole number of ticks, where there is one.
fn movie_timescale(tracks: &[&OutputTrack]) -> u32 {
    tracks
        .iter()
        .try_fold(1, |common, track| least_common_multiple(common, track.timescale))
        .filter(|&common| common <= 100_000_000)
        .unwrap_or(90_000)
}

fn index(tracks: &[&OutputTrack], tags: &StoredTags, chunks: &[Chunk], base: u64, is_wide: bool) -> Vec<u8> {
    let timescale = movie_timescale(tracks);
    let length =
        |track: &OutputTrack| rescale(i128::from(track.presented), track.timescale, timescale) as u64;
    let duration = tracks.iter().map(|track| length(track)).max().unwrap_or(0);
    let chapters =
        tracks.iter().zip(1..).find(|(track, _)| track.kind == OutputKind::Chapters).map(|(_, id)| id);
    let mut out = BoxWriter::default();
    out.child(*b"moov", |out| {
        out.timed(*b"mvhd", 0, duration, |out, v1| {
            out.time(v1, 0);
            out.time(v1, 0);
            out.u32(timescale);
            out.time(v1, duration);
            out.u32(0x0001_0000); // rate
            out.u16(0x0100); // volume
            out.zeros(10);
            out.identity_matrix();
            out.zeros(24);
            out.u32(tracks.len() as u32 + 1); // next_track_ID
        });
        for (number, track) in tracks.iter().enumerate() {
            let chunks = offsets(chunks, number, base);
            out.child(*b"trak", |out| {
                track_boxes(out, track, number as u32 + 1, chapters, length(track), &chunks, is_wide);
            });
        }
        out.bytes(&tags.user_data);
    });
    out.into_bytes()
}

/// Where each chunk of one track begins, and how many samples it has.
fn offsets(chunks: &[Chunk], track: usize, base: u64) -> Vec<(u64, u32)> {
    let mut offset = base;
    let mut entries = Vec::new();
    for chunk in chunks {
        if chunk.track == track {
            entries.push((offset, chunk.count as u32));
        }
        offset += chunk.bytes;
    }
    entries
}

fn track_boxes(
    out: &mut BoxWriter,
    track: &OutputTrack,
    id: u32,
    chapters: Option<u32>,
    movie_duration: u64,
    chunks: &[(u64, u32)],
    wide: bool,
) {
    let is_audio = track.kind == OutputKind::Audio;
    // In the movie; chapters are not enabled, because they are not shown.
    let flags = if track.kind == OutputKind::Chapters { 2 } else { 3 };
    out.timed(*b"tkhd", flags, movie_duration, |out, v1| {
        out.time(v1, 0);
        out.time(v1, 0);
        out.u32(id);
        out.u32(0);
        out.time(v1, movie_duration);
        out.zeros(8);
        out.u16(0); // layer
        out.u16(0); // alternate_group
        out.u16(if is_audio { 0x0100 } else { 0 }); // volume
        out.u16(0);
        out.identity_matrix();
        let (width, height) = match track.kind {
            OutputKind::Video { width, height } => (width, height),
            OutputKind::Audio | OutputKind::Chapters => (0, 0),
        };
        out.u32(width << 16);
        out.u32(height << 16);
    });
    out.child(*b"edts", |out| {
        let last = movie_duration.max(track.start);
        out.timed(*b"elst", 0, last, |out, v1| {
            out.u32(1);
            out.time(v1, movie_duration);
            out.time(v1, track.start);
            out.u32(0x0001_0000); // media_rate
        });
    });
    if let (OutputKind::Video { .. }, Some(chapters)) = (track.kind, chapters) {
        out.child(*b"tref", |out| out.child(*b"chap", |out| out.u32(chapters)));
    }
    out.child(*b"mdia", |out| {
        let media_duration = track.samples.iter().map(|s| u64::from(s.duration)).sum();
        out.timed(*b"mdhd", 0, media_duration, |out, v1| {
            out.time(v1, 0);
            out.time(v1, 0);
            out.u32(track.timescale);
            out.time(v1, media_duration);
            out.u16(0x55c4); // language: undetermined
            out.u16(0);
        });
        out.full(*b"hdlr", 0, 0, |out| {
            out.u32(0);
            let (kind, name): (&[u8; 4], &[u8]) = match track.kind {
                OutputKind::Video { .. } => (b"vide", b"VideoHandler\0"),
                OutputKind::Audio => (b"soun", b"SoundHandler\0"),
                OutputKind::Chapters => (b"text", b"ChapterHandler\0"),
            };
            out.bytes(kind);
            out.zeros(12);
            out.bytes(name);
        });
        out.child(*b"minf", |out| {
            match track.kind {
                OutputKind::Video { .. } => out.full(*b"vmhd", 0, 1, |out| out.zeros(8)),
                OutputKind::Audio => out.full(*b"smhd", 0, 0, |out| out.zeros(4)),
                OutputKind::Chapters => text_header(out),
            }
            out.child(*b"dinf", |out| {
                out.full(*b"dref", 0, 0, |out| {
                    out.u32(1);
                    out.full(*b"url ", 0, 1, |_| {});
                });
            });
            out.child(*b"stbl", |out| sample_table(out, track, chunks, wide));
        });
    });
}

/// The header of a text track in `QuickTime`'s form, which chapters need there.
fn text_header(out: &mut BoxWriter) {
    out.child(*b"gmhd", |out| {
        out.full(*b"gmin", 0, 0, |out| {
            out.u16(0x40); // graphics mode: copy
            (0..3).for_each(|_| out.u16(0x8000)); // operation color
            out.zeros(4); // balance
        });
        out.child(*b"text", BoxWriter::identity_matrix);
    });
}

fn sample_table(out: &mut BoxWriter, track: &OutputTrack, chunks: &[(u64, u32)], wide: bool) {
    let samples = &track.samples;
    out.full(*b"stsd", 0, 0, |out| {
        out.u32(1);
        out.bytes(&track.entry);
    });
    out.full(*b"stts", 0, 0, |out| {
        let runs = runs(samples.iter().map(|s| s.duration));
        out.u32(runs.len() as u32);
        for (count, duration) in runs {
            out.u32(count);
            out.u32(duration);
        }
    });
    if samples.iter().any(|s| s.offset != 0) {
        let version = u8::from(samples.iter().any(|s| s.offset < 0));
        out.full(*b"ctts", version, 0, |out| {
            let runs = runs(samples.iter().map(|s| s.offset));
            out.u32(runs.len() as u32);
            for (count, offset) in runs {
                out.u32(count);
                out.bytes(&offset.to_be_bytes());
            }
        });
    }
    if samples.iter().any(|s| !s.is_sync) {
        out.full(*b"stss", 0, 0, |out| {
            let sync = samples.iter().enumerate().filter(|(_, s)| s.is_sync);
            out.u32(sync.clone().count() as u32);
            sync.for_each(|(i, _)| out.u32(i as u32 + 1));
        });
    }
    out.full(*b"stsc", 0, 0, |out| {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for (i, &(_, count)) in chunks.iter().enumerate() {
            if runs.last().is_none_or(|last| last.1 != count) {
                runs.push((i as u32 + 1, count));
            }
        }
        out.u32(runs.len() as u32);
        for (first_chunk, count) in runs {
            out.u32(first_chunk);
            out.u32(count);
            out.u32(1); // sample_description_index
        }
    });
    out.full(*b"stsz", 0, 0, |out| {
        out.u32(0);
        out.u32(samples.len() as u32);
        for sample in samples {
            out.u32(sample.size);
        }
    });
    out.full(if wide { *b"co64" } else { *b"stco" }, 0, 0, |out| {
        out.u32(chunks.len() as u32);
        for &(offset, _) in chunks {
            if wide { out.u64(offset) } else { out.u32(offset as u32) }
        }
    });
}

/// Equal neighbours, counted.
fn runs<T: PartialEq + Copy>(values: impl Iterator<Item = T>) -> Vec<(u32, T)> {
    let mut runs: Vec<(u32, T)> = Vec::new();
    for value in values {
        match runs.last_mut() {
            Some((count, last)) if *last == value => *count += 1,
            _ => runs.push((1, value)),
        }
    }
    runs
}
