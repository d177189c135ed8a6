//! Joining with as little re-encoding as possible: the clips' coded pictures in sequence, under the sample entry that they share. Only
//! pictures of transitions, and those between a cut and the next picture that needs no other, are encoded again.

use std::io::Write;
use std::ops::Range;

use super::frames::PictureForm;
use super::layout::Layout;
use super::render::Renderer;
use super::spool::{Spool, SpoolReader};
use super::{Clip, JoinOptions, JoinReport, audio};
use crate::h264::{Configuration, StreamSpec, VideoEncoder, begins_with_idr};
use crate::mp4::{
    Movie, OutputKind, OutputSample, OutputTrack, Sample, StoredTags, Track, avc1, find, with_avcc,
    write_movie,
};
use crate::presentation::Presentation;
use crate::rate::{duration, least_common_multiple};
use crate::{ClipSpec, FrameRate, MediaError};

/// The finest clock that the film's pictures may need.
const FINEST_CLOCK: u32 = 10_000_000;
/// The largest share of pictures that are encoded again beside copied ones. Beyond it the whole film is encoded, in one quality.
const MAX_ENCODED_SHARE: f64 = 0.7;

/// The pictures of the film, known to fit together.
pub(super) struct SmartCut {
    entry: Vec<u8>,
    /// Parameters of the pictures that are encoded, if any are.
    stream: Option<StreamSpec>,
    timescale: u32,
    ticks_per_frame: u32,
    frame_rate: FrameRate,
    layout: Layout,
    runs: Vec<Run>,
    /// The samples of each clip in decoding order.
    samples: Vec<Vec<Sample>>,
    /// The ticks of each clip's own clock on the film's.
    scales: Vec<u32>,
}

/// Consecutive pictures of the film.
#[derive(Debug, PartialEq, Eq)]
enum Run {
    /// Samples of a clip in decoding order; the first is a sync sample, and they are presented one after the other.
    Copy { clip: usize, samples: Range<usize> },
    /// Frames of the film that are encoded.
    Encode(Range<u64>),
}

/// The smart cut where one is possible: same sample entry, same size and rate as asked for, nothing hidden by an edit list, each
/// clip beginning with a picture that needs no other.
pub(super) fn plan(clips: &[Clip], options: &JoinOptions) -> Result<Option<SmartCut>, MediaError> {
    let asked_for = |clip: &Clip| {
        !clip.foreign
            && options.size.is_none_or(|size| size == clip.size())
            && options.frame_rate.is_none_or(|rate| rate == clip.frame_rate())
    };
    if !clips.iter().all(asked_for) {
        return Ok(None);
    }
    let mut tracks: Vec<Track> = Vec::new();
    for clip in clips {
        let movie = Movie::open(&clip.path).map_err(|error| error.at(&clip.path))?;
        let Some(track) = movie.video.filter(is_whole) else { return Ok(None) };
        if track.coding() != *b"avc1" || tracks.first().is_some_and(|first| first.entry != track.entry) {
            return Ok(None);
        }
        tracks.push(track);
    }
    let Some(frame_rate) = clips.first().map(Clip::frame_rate) else { return Ok(None) };
    let clock = tracks
        .iter()
        .map(|track| track.timescale)
        .chain([frame_rate.numerator()])
        .try_fold(1, least_common_multiple);
    let Some(timescale) = clock.filter(|&clock| clock <= FINEST_CLOCK) else { return Ok(None) };
    let Some(ticks_per_frame) = (timescale / frame_rate.numerator()).checked_mul(frame_rate.denominator())
    else {
        return Ok(None);
    };
    // In a copied clip each picture is one frame of the film.
    let counted: Vec<Clip> = clips
        .iter()
        .zip(&tracks)
        .map(|(clip, track)| {
            let all = (track.samples.len() as u64).saturating_sub(clip.first);
            Clip { frames: Some(clip.frames.unwrap_or(all)), ..clip.clone() }
        })
        .collect();
    let layout = Layout::new(&counted, frame_rate)?;
    let Some(runs) = runs(clips, &tracks, &layout, frame_rate) else { return Ok(None) };
    let encoded = encoded_frames(&runs);
    // Where a clip is not shown from its beginning, and where pictures of two encoders meet, decoding can go on at an IDR picture only.
    let is_entered =
        |run: &&Run| encoded > 0 || matches!(run, Run::Copy { samples, .. } if samples.start > 0);
    if !runs.iter().filter(is_entered).all(|run| begins_with_idr_picture(clips, &tracks, run)) {
        return Ok(None);
    }
    let (mut entry, mut stream) = (tracks[0].entry.clone(), None);
    if encoded > 0 {
        let is_worthwhile = encoded as f64 <= layout.frames() as f64 * MAX_ENCODED_SHARE;
        let beside = encoder_beside(&entry, clips[0].size(), frame_rate).filter(|_| is_worthwhile);
        let Some((merged, encoder)) = beside else { return Ok(None) };
        (entry, stream) = (merged, Some(encoder));
    }
    let scales = tracks.iter().map(|track| timescale / track.timescale).collect();
    let samples = tracks.into_iter().map(|track| track.samples).collect();
    Ok(Some(SmartCut {
        entry,
        stream,
        timescale,
        ticks_per_frame,
        frame_rate,
        layout,
        runs,
        samples,
        scales,
    }))
}

/// The sample entry for the clips' pictures and encoded ones, and the parameters of the latter. `None` where they cannot be in one track.
fn encoder_beside(
    entry: &[u8],
    (width, height): (u32, u32),
    rate: FrameRate,
) -> Option<(Vec<u8>, StreamSpec)> {
    let mut stream = ClipSpec::new(width, height, rate).checked_stream().ok()?;
    let own = VideoEncoder::new(stream).ok()?;
    if entry == avc1(width, height, own.parameter_sets()) {
        return Some((entry.to_vec(), stream));
    }
    let avcc = find(entry.get(8 + 78..)?, &[*b"avcC"])?;
    let configuration = Configuration::parse(avcc)?;
    stream.ids = configuration.free_ids()?;
    stream.signal = configuration.signal()?;
    let merged = configuration.merged(VideoEncoder::new(stream).ok()?.parameter_sets())?;
    Some((with_avcc(entry, &merged)?, stream))
}

/// Whether a run of copied samples begins with an IDR picture. Other pictures that are sync samples (recovery points) may be followed by
/// pictures that need earlier ones.
fn begins_with_idr_picture(clips: &[Clip], tracks: &[Track], run: &Run) -> bool {
    let Run::Copy { clip, samples } = run else { return true };
    let mut bytes = Vec::new();
    Movie::open(&clips[*clip].path)
        .and_then(|mut movie| movie.load_sample(&tracks[*clip].samples[samples.start], &mut bytes))
        .is_ok_and(|()| begins_with_idr(&bytes))
}

fn encoded_frames(runs: &[Run]) -> u64 {
    runs.iter().map(|run| if let Run::Encode(frames) = run { frames.end - frames.start } else { 0 }).sum()
}

/// Everything in the track is presented as it is stored, and can be decoded from its first sample.
fn is_whole(track: &Track) -> bool {
    let ticks: i64 = track.samples.iter().map(|sample| i64::from(sample.duration)).sum();
    let first = track.samples.iter().map(|sample| sample.composition).min().unwrap_or(0);
    let all = match track.edits.as_slice() {
        [edit] => edit.media == Some(first) && (edit.length - ticks).abs() <= tolerance(track),
        _ => false,
    };
    let regular = track.samples.iter().all(|sample| sample.duration > 0);
    let plain = Presentation::from_track(track).is_plain();
    all && regular && plain && track.one_entry && track.samples.first().is_some_and(|sample| sample.sync)
}

/// Edit lists often count in milliseconds, and some writers round durations to them.
fn tolerance(track: &Track) -> i64 {
    i64::from(track.timescale) / 1000 + 1
}

/// Whether each picture lasts as long as a frame of the film.
fn is_regular(track: &Track, rate: FrameRate) -> bool {
    let frame = i64::from(track.timescale) * i64::from(rate.denominator()) / i64::from(rate.numerator());
    track.samples.iter().all(|sample| (i64::from(sample.duration) - frame).abs() <= tolerance(track))
}

/// The film's pictures in order; `None` where the clips' pictures are not the film's frames.
fn runs(clips: &[Clip], tracks: &[Track], layout: &Layout, rate: FrameRate) -> Option<Vec<Run>> {
    let mut runs: Vec<Run> = Vec::new();
    let mut next = 0;
    let encode = |runs: &mut Vec<Run>, range: Range<u64>| match runs.last_mut() {
        _ if range.is_empty() => {}
        Some(Run::Encode(last)) if last.end == range.start => last.end = range.end,
        _ => runs.push(Run::Encode(range)),
    };
    for (at, (clip, track)) in clips.iter().zip(tracks).enumerate() {
        let start = layout.placements[at].start;
        let unmixed = layout.unmixed(at);
        let first = clip.first + (unmixed.start - start);
        let end = clip.first + (unmixed.end - start);
        let count = track.samples.len() as u64;
        let is_all = first == 0 && end == count;
        if end > count || (!is_all && !is_regular(track, rate)) {
            return None;
        }
        let (samples, shown) = copied(track, first..end);
        let on_film = |picture: u64| unmixed.start + (picture - first);
        encode(&mut runs, next..on_film(shown.start));
        if !samples.is_empty() {
            runs.push(Run::Copy { clip: at, samples });
        }
        encode(&mut runs, on_film(shown.end)..unmixed.end);
        next = unmixed.end;
    }
    encode(&mut runs, next..layout.frames());
    Some(runs)
}

/// The longest range of samples that can be copied for these pictures, in decoding order, and the pictures that it shows. Both are
/// empty where none can.
fn copied(track: &Track, pictures: Range<u64>) -> (Range<usize>, Range<u64>) {
    let order = track.presentation_order();
    let mut position = vec![0u64; order.len()];
    order.iter().zip(0..).for_each(|(&i, index)| position[i] = index);
    // The first sync sample after which nothing is presented before it.
    let mut begin = None;
    let mut earliest = u64::MAX;
    for (i, sample) in track.samples.iter().enumerate().rev() {
        earliest = earliest.min(position[i]);
        if sample.sync && earliest == position[i] && pictures.contains(&position[i]) {
            begin = Some(i);
        }
    }
    let Some(begin) = begin else { return (0..0, pictures.start..pictures.start) };
    let first = position[begin];
    // The longest run of samples that shows consecutive pictures: what follows in decoding order is not needed by it.
    let (mut end, mut last, mut shown) = (begin, first, first);
    for (i, &at) in position.iter().enumerate().skip(begin) {
        last = last.max(at);
        let count = (i + 1 - begin) as u64;
        if last + 1 > pictures.end && count > pictures.end - first {
            break;
        }
        if last + 1 == first + count && last < pictures.end {
            (end, shown) = (i + 1, last + 1);
        }
    }
    (begin..end, first..shown)
}

impl SmartCut {
    pub(super) fn write(
        self,
        clips: &[Clip],
        out: &mut dyn Write,
        options: &JoinOptions,
    ) -> Result<JoinReport, MediaError> {
        let size = clips[0].size();
        let (encoded, mut spool) = self.encode(clips, options)?;
        let (samples, start, ends) = self.lay(&encoded)?;
        let presented = ends.last().copied().unwrap_or(0);
        let copied_pictures = samples.len() as u64 - encoded.len() as u64;
        let mut tracks = vec![OutputTrack {
            kind: OutputKind::Video { width: size.0, height: size.1 },
            entry: self.entry.clone(),
            timescale: self.timescale,
            samples,
            start,
            presented,
        }];
        let sound = audio::encode(clips, &self.layout, &ends, self.timescale, options)?;
        let (mut packets, mut loudness) = (None, None);
        if let Some(sound) = sound {
            tracks.push(sound.track);
            packets = Some(sound.packets);
            loudness = sound.loudness;
        }
        // Pictures are asked for in order, so one file is open at a time.
        let mut sources = self.sources();
        let mut open: Option<(usize, Movie)> = None;
        let tags = StoredTags::new(&options.tags, &ends, self.timescale);
        write_movie(out, &tracks, &tags, &mut |track, sample, bytes| {
            let size = tracks[track].samples[sample].size;
            if track > 0 {
                return packets.as_mut().map_or(Ok(()), |packets| packets.next(size, bytes));
            }
            match sources.next() {
                Some(SampleSource::Encoded) => spool.next(size, bytes),
                Some(SampleSource::Clip(clip, sample)) => {
                    let path = &clips[clip].path;
                    let mut movie = match open.take() {
                        Some((at, movie)) if at == clip => movie,
                        _ => Movie::open(path).map_err(|error| error.at(path))?,
                    };
                    movie.load_sample(&self.samples[clip][sample], bytes).map_err(|error| error.at(path))?;
                    open = Some((clip, movie));
                    Ok(())
                }
                None => Err(MediaError::damaged("the clips have fewer pictures than they had before")),
            }
        })?;
        Ok(JoinReport {
            duration: duration(u128::from(presented), self.timescale),
            copied_pictures,
            encoded_pictures: encoded.len() as u64,
            size,
            frame_rate: self.frame_rate,
            audio: packets.is_some(),
            loudness,
        })
    }

    /// Encodes the pictures that are not copied: size and sync of each.
    fn encode(
        &self,
        clips: &[Clip],
        options: &JoinOptions,
    ) -> Result<(Vec<(u32, bool)>, SpoolReader), MediaError> {
        let mut spool = Spool::new()?;
        let mut encoded = Vec::new();
        let mut encoder = None;
        let (width, height) = clips[0].size();
        let form = PictureForm { size: (width, height), rate: self.frame_rate, as_stored: true };
        let full_range = self.stream.is_some_and(|stream| stream.signal.full_range);
        let renderer = Renderer { clips, layout: &self.layout, form, full_range, ffmpeg: &options.ffmpeg };
        for run in &self.runs {
            let Run::Encode(frames) = run else { continue };
            let encoder = match &mut encoder {
                Some(encoder) => encoder,
                none => {
                    let stream = self.stream.ok_or_else(|| MediaError::damaged("the clips have changed"))?;
                    none.insert(VideoEncoder::new(stream)?)
                }
            };
            // Pictures of other runs lie before it: it cannot refer to those of the last one.
            encoder.cut()?;
            renderer.render(frames.clone(), &mut |picture| {
                let picture = encoder.encode(picture)?;
                encoded.push((spool.push(&picture.bytes)?, picture.sync));
                Ok(())
            })?;
        }
        Ok((encoded, spool.into_reader()?))
    }

    /// Where the bytes of each sample of the film come from.
    fn sources(&self) -> impl Iterator<Item = SampleSource> + '_ {
        self.runs.iter().flat_map(|run| {
            let (clip, samples, encoded) = match run {
                Run::Copy { clip, samples } => (*clip, samples.clone(), 0),
                Run::Encode(frames) => (0, 0..0, frames.end - frames.start),
            };
            samples
                .map(move |sample| SampleSource::Clip(clip, sample))
                .chain((0..encoded).map(|_| SampleSource::Encoded))
        })
    }

    /// The film's samples, the composition time at which it begins, and where each clip ends, in ticks.
    fn lay(&self, encoded: &[(u32, bool)]) -> Result<(Vec<OutputSample>, u64, Vec<u64>), MediaError> {
        let too_long =
            || MediaError::TooLarge { what: "the film".to_owned(), limit: "the clock of MP4".to_owned() };
        let mut samples: Vec<OutputSample> = Vec::new();
        let mut encoded = encoded.iter();
        // Ticks and frames of the film before the current run.
        let (mut end, mut frame) = (0u64, 0u64);
        let mut delay = 0i64;
        let mut ends = Vec::new();
        let mut bounds = self.layout.placements.iter().map(|placement| placement.end).peekable();
        for run in &self.runs {
            let begin = end;
            match run {
                Run::Copy { clip, samples: range } => {
                    let scale = self.scales[*clip];
                    let copied = &self.samples[*clip][range.clone()];
                    let first = copied.iter().map(|sample| sample.composition).min().unwrap_or(0);
                    for sample in copied {
                        let duration = sample.duration.checked_mul(scale).ok_or_else(too_long)?;
                        let shown = (sample.composition - first).saturating_mul(i64::from(scale));
                        let offset = shown - (end - begin) as i64;
                        delay = delay.max(-offset);
                        let offset = i32::try_from(offset).map_err(|_| too_long())?;
                        samples.push(OutputSample { size: sample.size, duration, offset, sync: sample.sync });
                        end += u64::from(duration);
                    }
                    frame += copied.len() as u64;
                }
                Run::Encode(frames) => {
                    for (size, sync) in encoded.by_ref().take((frames.end - frames.start) as usize) {
                        let duration = self.ticks_per_frame;
                        samples.push(OutputSample { size: *size, duration, offset: 0, sync: *sync });
                        end += u64::from(duration);
                    }
                    frame = frames.end;
                }
            }
            // A clip ends inside a run only where frames are encoded.
            while let Some(bound) = bounds.next_if(|bound| *bound <= frame) {
                ends.push(end - (frame - bound) * u64::from(self.ticks_per_frame));
            }
        }
        let shift = i32::try_from(delay).map_err(|_| too_long())?;
        for sample in &mut samples {
            sample.offset = sample.offset.checked_add(shift).ok_or_else(too_long)?;
        }
        Ok((samples, delay.unsigned_abs(), ends))
    }
}

/// Source of one sample of the film.
enum SampleSource {
    /// A sample of a clip.
    Clip(usize, usize),
    /// The next encoded picture.
    Encoded,
}
