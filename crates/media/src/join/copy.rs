//! Joining without re-encoding: the clips' video samples in sequence, under the sample entry that they share.

use std::io::Write;

use super::{Clip, JoinOptions, JoinReport, audio};
use crate::mp4::{Movie, OutputKind, OutputSample, OutputTrack, Sample, Track, write_movie};
use crate::rate::{duration, least_common_multiple};
use crate::{Ffmpeg, MediaError};

/// The finest clock that the film's pictures may need.
const FINEST_CLOCK: u32 = 10_000_000;

/// The pictures of the film, known to fit together.
pub(super) struct CopyPlan {
    entry: Vec<u8>,
    timescale: u32,
    /// On the film's clock, where the presentation begins in the media.
    start: u64,
    /// The samples of each clip, as they lie in its file.
    sources: Vec<Vec<Sample>>,
    samples: Vec<OutputSample>,
    /// Where each clip ends, on the film's clock.
    ends: Vec<u64>,
}

/// A plan where copying is possible: same sample entry, same size and rate as asked for, nothing hidden by an edit list, each
/// clip beginning with a picture that needs no other.
pub(super) fn plan(clips: &[Clip], options: &JoinOptions) -> Result<Option<CopyPlan>, MediaError> {
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
    let clock = tracks.iter().try_fold(1, |common, track| least_common_multiple(common, track.timescale));
    let Some(timescale) = clock.filter(|&clock| clock <= FINEST_CLOCK) else { return Ok(None) };
    Ok(lay(tracks, timescale))
}

/// Concatenates the clips' samples; `None` if their times exceed what the format can represent.
fn lay(tracks: Vec<Track>, timescale: u32) -> Option<CopyPlan> {
    let entry = tracks.first()?.entry.clone();
    let delays: Vec<i64> =
        tracks.iter().map(|track| delay(track) * i64::from(timescale / track.timescale)).collect();
    let start = *delays.iter().max()?;
    let (mut samples, mut ends, mut end) = (Vec::new(), Vec::new(), 0u64);
    for (track, delay) in tracks.iter().zip(&delays) {
        let scale = timescale / track.timescale;
        for sample in &track.samples {
            let offset = (sample.composition - sample.decoding) * i64::from(scale) + start - delay;
            let duration = sample.duration.checked_mul(scale)?;
            end += u64::from(duration);
            let offset = i32::try_from(offset).ok()?;
            samples.push(OutputSample { size: sample.size, duration, offset, sync: sample.sync });
        }
        ends.push(end);
    }
    let sources = tracks.into_iter().map(|track| track.samples).collect();
    Some(CopyPlan { entry, timescale, start: u64::try_from(start).ok()?, sources, samples, ends })
}

/// How much later than it is decoded the first picture is shown.
fn delay(track: &Track) -> i64 {
    let decoded = track.samples.first().map_or(0, |sample| sample.decoding);
    track.samples.iter().map(|sample| sample.composition).min().unwrap_or(0) - decoded
}

/// Everything in the track is presented, and can be decoded from its first sample.
fn is_whole(track: &Track) -> bool {
    let ticks: i64 = track.samples.iter().map(|sample| i64::from(sample.duration)).sum();
    let first = track.samples.iter().map(|sample| sample.composition).min().unwrap_or(0);
    // Edit lists often count in milliseconds.
    let tolerance = i64::from(track.timescale) / 1000 + 1;
    let all = match track.edits.as_slice() {
        [edit] => edit.media == Some(first) && (edit.length - ticks).abs() <= tolerance,
        _ => false,
    };
    let regular = track.samples.iter().all(|sample| sample.duration > 0);
    all && regular && track.one_entry && track.samples.first().is_some_and(|sample| sample.sync)
}

impl CopyPlan {
    pub(super) fn write(
        self,
        clips: &[Clip],
        out: &mut dyn Write,
        ffmpeg: &Ffmpeg,
    ) -> Result<JoinReport, MediaError> {
        let size = clips[0].size();
        let presented = self.ends.last().copied().unwrap_or(0);
        let spec = audio::form(clips);
        let mut tracks = vec![OutputTrack {
            kind: OutputKind::Video { width: size.0, height: size.1 },
            entry: self.entry,
            timescale: self.timescale,
            samples: self.samples,
            start: self.start,
            presented,
        }];
        let mut packets = Vec::new();
        if let Some(spec) = spec {
            let (track, sound) = audio::track(clips, &self.ends, self.timescale, spec, ffmpeg)?;
            tracks.push(track);
            packets = sound;
        }
        // Pictures are asked for in order, so one file is open at a time.
        let mut reader = Reader { clips, sources: &self.sources, clip: 0, next: 0, open: None };
        write_movie(out, &tracks, &mut |track, sample, bytes| {
            if track == 0 {
                return reader.read(bytes);
            }
            bytes.extend_from_slice(&packets[sample]);
            Ok(())
        })?;
        Ok(JoinReport {
            duration: duration(u128::from(presented), self.timescale),
            copied_video: true,
            size,
            frame_rate: clips[0].frame_rate(),
            audio: spec.is_some(),
        })
    }
}

/// Goes through the pictures of all clips.
struct Reader<'a> {
    clips: &'a [Clip],
    sources: &'a [Vec<Sample>],
    clip: usize,
    next: usize,
    open: Option<Movie>,
}

impl Reader<'_> {
    fn read(&mut self, bytes: &mut Vec<u8>) -> Result<(), MediaError> {
        while self.sources.get(self.clip).is_some_and(|samples| self.next >= samples.len()) {
            (self.clip, self.next, self.open) = (self.clip + 1, 0, None);
        }
        let (Some(clip), Some(samples)) = (self.clips.get(self.clip), self.sources.get(self.clip)) else {
            return Err(MediaError::damaged("the clips have fewer pictures than they had before"));
        };
        let mut movie = match self.open.take() {
            Some(movie) => movie,
            None => Movie::open(&clip.path).map_err(|error| error.at(&clip.path))?,
        };
        movie.load_sample(&samples[self.next], bytes).map_err(|error| error.at(&clip.path))?;
        self.open = Some(movie);
        self.next += 1;
        Ok(())
    }
}
