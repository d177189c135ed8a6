//! Writing of a smart cut.

use std::io::Write;

use super::SmartCut;
use super::runs::{Run, encoded_frames};
use crate::MediaError;
use crate::h264::VideoEncoder;
use crate::join::audio;
use crate::join::clip::Clip;
use crate::join::cover::cover;
use crate::join::frames::FrameForm;
use crate::join::render::Renderer;
use crate::join::spec::{JoinOptions, JoinReport};
use crate::join::spool::{Spool, SpoolReader};
use crate::mp4::{Movie, OutputKind, OutputSample, OutputTrack, StoredTags, write_movie};
use crate::overlay::OverlayPainter;
use crate::rate::duration;

impl SmartCut {
    pub(in crate::join) fn write(
        self,
        clips: &[Clip],
        out: &mut dyn Write,
        options: &JoinOptions,
    ) -> Result<JoinReport, MediaError> {
        let size = self.size;
        let (encoded, mut spool) = self.encode(clips, options)?;
        let overlays = options.overlays.as_ref();
        let cover = options.poster.map(|frame| cover(&self.renderer(clips, options), overlays, frame));
        let cover = cover.transpose()?;
        let (samples, start, ends) = self.lay(&encoded)?;
        let presented = ends.last().copied().unwrap_or(0);
        let copied_frames = samples.len() as u64 - encoded.len() as u64;
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
        // Frames are asked for in order, so one file is open at a time.
        let mut sources = self.sources();
        let mut open: Option<(usize, Movie)> = None;
        let tags = StoredTags::new(&options.tags, cover.as_deref(), &ends, self.timescale);
        write_movie(out, &tracks, &tags, &mut |track, sample, bytes| {
            let size = tracks[track].samples[sample].size;
            if track > 0 {
                return packets.as_mut().map_or(Ok(()), |packets| packets.next(size, bytes));
            }
            match sources.next() {
                Some(SampleSource::Encoded) => spool.next(size, bytes),
                Some(SampleSource::Clip(clip, sample)) => {
                    let path = &clips[clip].path;
                    let movie = match open.take() {
                        Some((open_clip, movie)) if open_clip == clip => movie,
                        _ => clips[clip].movie()?,
                    };
                    movie.load_sample(&self.samples[clip][sample], bytes).map_err(|error| error.at(path))?;
                    open = Some((clip, movie));
                    Ok(())
                }
                None => Err(MediaError::damaged("the clips have fewer frames than they had before")),
            }
        })?;
        Ok(JoinReport {
            duration: duration(u128::from(presented), self.timescale),
            copied_frames,
            encoded_frames: encoded.len() as u64,
            size,
            frame_rate: self.frame_rate,
            has_audio: packets.is_some(),
            loudness,
            unmatched: Vec::new(),
            poster: cover,
        })
    }

    /// Encodes the frames that are not copied: size and sync of each.
    fn encode(
        &self,
        clips: &[Clip],
        options: &JoinOptions,
    ) -> Result<(Vec<(u32, bool)>, SpoolReader), MediaError> {
        let mut spool = Spool::new(&options.ffmpeg.cancellation)?;
        let mut encoded = Vec::new();
        let mut encoder = None;
        let all = self.layout.frames();
        let copied = all - encoded_frames(&self.runs).min(all);
        let mut painter =
            options.overlays.as_ref().map(|overlays| OverlayPainter::new(overlays, self.size, self.color));
        let renderer = self.renderer(clips, options);
        options.report(copied, all);
        for run in &self.runs {
            let Run::Encode(frames) = run else { continue };
            let encoder = match &mut encoder {
                Some(encoder) => encoder,
                none => {
                    let stream = self.stream.ok_or_else(|| MediaError::damaged("the clips have changed"))?;
                    none.insert(VideoEncoder::new(stream)?)
                }
            };
            // Frames of other runs lie before it: it cannot refer to those of the last one.
            encoder.cut()?;
            let mut frame = frames.start;
            renderer.render(frames.clone(), &mut |image| {
                let painted = painter.as_mut().and_then(|painter| painter.paint(frame, image));
                frame += 1;
                let coded = encoder.encode(painted.as_ref().unwrap_or(image))?;
                encoded.push((spool.push(&coded.bytes)?, coded.is_sync));
                options.report(copied + encoded.len() as u64, all);
                Ok(())
            })?;
        }
        Ok((encoded, spool.into_reader()?))
    }

    fn renderer<'a>(&'a self, clips: &'a [Clip], options: &'a JoinOptions) -> Renderer<'a> {
        let form = FrameForm { size: self.size, rate: self.frame_rate, fit: options.fit, color: self.color };
        let full_range = self.stream.is_some_and(|stream| stream.signal.is_full_range);
        Renderer { clips, layout: &self.layout, form, is_full_range: full_range, ffmpeg: &options.ffmpeg }
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
                        samples.push(OutputSample {
                            size: sample.size,
                            duration,
                            offset,
                            is_sync: sample.is_sync,
                        });
                        end += u64::from(duration);
                    }
                    frame += copied.len() as u64;
                }
                Run::Encode(frames) => {
                    for (size, sync) in encoded.by_ref().take((frames.end - frames.start) as usize) {
                        let duration = self.ticks_per_frame;
                        samples.push(OutputSample { size: *size, duration, offset: 0, is_sync: *sync });
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
    /// The next encoded frame.
    Encoded,
}
