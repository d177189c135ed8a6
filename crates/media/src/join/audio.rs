//! The audio track of a film: the sound of each clip for exactly as long as its frames, mixed where clips overlap.
//!
//! It is mixed and encoded clip by clip, in memory that does not depend on the film's length.

use std::ops::Range;

use super::clip::Clip;
use super::layout::Layout;
use super::loudness::Loudness;
use super::mastering::{TakeSound, master};
use super::most_common::most_common;
use super::soundtrack::{Soundtrack, Tracks};
use super::spec::{JoinOptions, TransitionKind};
use super::spool::SpoolReader;
use super::stretch::stretched;
use crate::audio_buffer::AudioBuffer;
use crate::mp4::{OutputKind, OutputSample, OutputTrack, mp4a};
use crate::rate::rescale;
use crate::{AudioSpec, Ffmpeg, MediaError, aac};

/// The length of the crossfade at a cut, where the clips have sound beyond it.
const CROSSFADE_SECONDS: f64 = 0.020;
/// The fade at a cut without sound beyond it: long enough to avoid a click.
const EDGE_SECONDS: f64 = 0.003;

/// The form of the film's sound: the rate that most clips have, two channels where any clip has them or there
/// is music. `None` for a silent film.
fn form(clips: &[Clip], soundtrack: &Soundtrack) -> Option<AudioSpec> {
    let audible = || clips.iter().filter(|clip| clip.gain > 0.0);
    let sounds = audible().filter_map(|clip| clip.probe.audio.as_ref());
    let rates = sounds.clone().map(|sound| sound.sample_rate).filter(|rate| aac::SAMPLE_RATES.contains(rate));
    let stereo = sounds.clone().any(|sound| sound.channels != 1) || soundtrack.music.is_some();
    if sounds.clone().next().is_none() && !soundtrack.has_sound() {
        return None;
    }
    Some(AudioSpec {
        sample_rate: most_common(&rates).unwrap_or(48_000),
        channels: if stereo { 2 } else { 1 },
    })
}

/// The encoded sound of a film.
pub(super) struct EncodedTrack {
    pub(super) track: OutputTrack,
    pub(super) packets: SpoolReader,
    /// `None` for silence.
    pub(super) loudness: Option<Loudness>,
}

/// Encodes the sound of the whole film; `None` for a silent one. `ends` is where each clip's frames end, on a clock of `timescale` per
/// second from the film's beginning.
pub(super) fn encode(
    clips: &[Clip],
    layout: &Layout,
    ends: &[u64],
    timescale: u32,
    options: &JoinOptions,
) -> Result<Option<EncodedTrack>, MediaError> {
    let Some(spec) = form(clips, &options.soundtrack) else { return Ok(None) };
    let mix = Mix { clips, layout, ends, timescale, spec, options };
    let encoded = master(spec, options.soundtrack.loudness, &mut |take| mix.produce(take))?;
    let sample = |size: &u32| OutputSample { size: *size, duration: aac::FRAME, offset: 0, is_sync: true };
    let track = OutputTrack {
        kind: OutputKind::Audio,
        entry: mp4a(spec.sample_rate, spec.channels, &encoded.config),
        timescale: spec.sample_rate,
        samples: encoded.sizes.iter().map(sample).collect(),
        start: u64::from(aac::PRIMING),
        presented: mix.at_sample(ends.last().copied().unwrap_or(0)) as u64,
    };
    Ok(Some(EncodedTrack { track, packets: encoded.packets, loudness: encoded.loudness }))
}

/// The sound of the clips, the music and the voices.
struct Mix<'a> {
    clips: &'a [Clip],
    layout: &'a Layout,
    ends: &'a [u64],
    timescale: u32,
    spec: AudioSpec,
    options: &'a JoinOptions,
}

impl Mix<'_> {
    fn at_sample(&self, ticks: u64) -> i64 {
        rescale(i128::from(ticks), self.timescale, self.spec.sample_rate) as i64
    }

    /// The sample frames of so many film frames beside a transition, where frames are equally long.
    fn frames_before(&self, clip: usize, frames: u64) -> i64 {
        let placement = self.layout.placements[clip];
        let begin = if clip == 0 { 0 } else { self.ends[clip - 1] };
        let length = (placement.end - placement.start).max(1);
        self.at_sample((self.ends[clip] - begin) * frames / length)
    }

    /// The sample frames of a clip that may be heard, from its first video frame in the film on: as long as it is shown, and what transitions and
    /// crossfades play beyond that.
    fn audible_range(&self, clip: usize, start: i64, end: i64) -> Range<i64> {
        let crossfade = (f64::from(self.spec.sample_rate) * CROSSFADE_SECONDS) as i64;
        let placement = self.layout.placements[clip];
        let lead = clip.checked_sub(1).map_or(0, |before| self.frames_before(before, placement.lead));
        let lead = lead.max(self.frames_before(clip, placement.lead)) + crossfade;
        -lead..end - start + self.frames_before(clip, placement.tail) + crossfade
    }

    fn produce(&self, take: TakeSound<'_>) -> Result<(), MediaError> {
        let (clips, spec, ffmpeg) = (self.clips, self.spec, &self.options.ffmpeg);
        let length = self.at_sample(self.ends.last().copied().unwrap_or(0));
        let length = usize::try_from(length).unwrap_or(0);
        let tracks = Tracks::open(&self.options.soundtrack, spec, length, ffmpeg)?;
        let mut mixer = Mixer { spec, mixed: Vec::new(), start: 0 };
        let mut fade_in = Fade::edge(spec);
        for (index, clip) in clips.iter().enumerate() {
            let start = if index == 0 { 0 } else { self.at_sample(self.ends[index - 1]) };
            let end = self.at_sample(self.ends[index]);
            let shown = self.audible_range(index, start, end);
            let sound = ClipSound::read(clip, spec, shown, ffmpeg).map_err(|error| error.at(&clip.path))?;
            let boundary = match (clip.transition, clips.get(index + 1)) {
                (Some(transition), next) if transition.before + transition.after > 0 => Fade {
                    before: self.frames_before(index, transition.before),
                    after: if next.is_some() { self.frames_before(index, transition.after) } else { 0 },
                    shape: if next.is_some() {
                        CrossfadeCurve::from_kind(transition.kind)
                    } else {
                        CrossfadeCurve::Linear
                    },
                },
                (_, Some(next)) => {
                    let beyond = sound.beyond(end - start);
                    let ahead = if next.probe.audio.is_some() && next.gain > 0.0 {
                        let before = next.first as f64 / next.frame_rate().as_f64() / next.speed;
                        (before * f64::from(spec.sample_rate)) as i64
                    } else {
                        0
                    };
                    Fade::at_cut(
                        spec,
                        ahead,
                        beyond,
                        next.continues && !clip.is_retimed() && !next.is_retimed(),
                    )
                }
                (_, None) => Fade::edge(spec),
            };
            mixer.add(&sound, start, end, fade_in, boundary, clip.gain);
            let complete_end = if index + 1 == clips.len() { end } else { end - boundary.before };
            let from = usize::try_from(mixer.start).unwrap_or(0);
            let mut mixed = mixer.take(complete_end);
            tracks.add(from, &mut mixed);
            take(&mixed)?;
            fade_in = boundary;
        }
        Ok(())
    }
}

/// How the sound of two clips is joined: from `before` the cut until `after` it, in sample frames.
#[derive(Clone, Copy)]
struct Fade {
    before: i64,
    after: i64,
    shape: CrossfadeCurve,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CrossfadeCurve {
    /// Of sounds that are the same: the amplitudes add up to one.
    Linear,
    /// Of different sounds: the powers add up to one.
    EqualPower,
    /// Out, then in: there is silence in the middle.
    Through,
    /// Each fades at its own edge, because it has no sound beyond the cut.
    Edge,
}

impl CrossfadeCurve {
    fn from_kind(kind: TransitionKind) -> Self {
        if kind.has_color() { Self::Through } else { Self::EqualPower }
    }
}

impl Fade {
    fn edge(spec: AudioSpec) -> Self {
        let edge = (f64::from(spec.sample_rate) * EDGE_SECONDS) as i64;
        Self { before: edge, after: edge, shape: CrossfadeCurve::Edge }
    }

    /// At a cut: a crossfade in the sound that the clips have beyond it.
    fn at_cut(spec: AudioSpec, ahead: i64, beyond: i64, continues: bool) -> Self {
        let length = (f64::from(spec.sample_rate) * CROSSFADE_SECONDS) as i64;
        let after = beyond.min(length - ahead.min(length / 2));
        let before = ahead.min(length - after);
        let shape = if continues { CrossfadeCurve::Linear } else { CrossfadeCurve::EqualPower };
        let edge = Self::edge(spec);
        if before + after > edge.before { Self { before, after, shape } } else { edge }
    }

    /// The gain of the clip that begins (`true`) or ends here, at a sample relative to the cut.
    fn gain(self, offset: i64, begins: bool) -> f32 {
        if self.shape == CrossfadeCurve::Edge {
            let (inside, length) = if begins { (offset, self.after) } else { (-offset - 1, self.before) };
            return if inside < 0 { 0.0 } else { ((inside as f32 + 0.5) / length.max(1) as f32).min(1.0) };
        }
        let progress = ((offset + self.before) as f32 + 0.5) / (self.before + self.after).max(1) as f32;
        let progress = progress.clamp(0.0, 1.0);
        let share = if begins { progress } else { 1.0 - progress };
        match self.shape {
            CrossfadeCurve::Linear => share,
            CrossfadeCurve::EqualPower => (share * std::f32::consts::FRAC_PI_2).sin(),
            CrossfadeCurve::Through | CrossfadeCurve::Edge => (share * 2.0 - 1.0).max(0.0),
        }
    }
}

/// The sound of a clip, and where in it the film begins.
struct ClipSound {
    sound: AudioBuffer,
    /// The sample frame of the clip's first video frame in the film; it may be before the sound.
    first: i64,
}

impl ClipSound {
    /// `shown` is the part that may be heard, from the first video frame on.
    fn read(clip: &Clip, spec: AudioSpec, shown: Range<i64>, ffmpeg: &Ffmpeg) -> Result<Self, MediaError> {
        let before = clip.probe.video.as_ref().map_or(0.0, |video| video.start.as_secs_f64())
            + clip.first as f64 / clip.frame_rate().as_f64();
        let first = (before * f64::from(spec.sample_rate)).round() as i64;
        let silence =
            AudioBuffer { sample_rate: spec.sample_rate, channels: spec.channels, samples: Vec::new() };
        if clip.probe.audio.is_none() || clip.gain <= 0.0 {
            return Ok(Self { sound: silence, first });
        }
        let sound = if clip.is_native() {
            let sound = AudioBuffer::from_movie(&clip.movie()?)?;
            sound.map_or(silence, |sound| sound.converted(spec.sample_rate, spec.channels))
        } else {
            ffmpeg.sound(&clip.path, spec.sample_rate, spec.channels)?
        };
        if clip.is_retimed() {
            let first = (first as f64 / clip.speed).round() as i64;
            let length = (sound.frames() as f64 / clip.speed).round() as i64;
            let range = (first + shown.start).clamp(0, length)..(first + shown.end).clamp(0, length);
            let sound = stretched(&sound, clip.speed, range.clone());
            return Ok(Self { sound, first: first - range.start });
        }
        Ok(Self { sound, first })
    }

    fn frames(&self) -> i64 {
        self.sound.frames() as i64
    }

    /// The sample frames that there are after `length` of the clip in the film.
    fn beyond(&self, length: i64) -> i64 {
        (self.frames() - self.first - length).max(0)
    }
}

/// Adds up the sound of clips that overlap.
struct Mixer {
    spec: AudioSpec,
    /// Interleaved, from the sample frame `start` of the film on.
    mixed: Vec<f32>,
    start: i64,
}

impl Mixer {
    /// Adds a clip that lies from `start` to `end` on the film, faded at both.
    fn add(&mut self, clip: &ClipSound, start: i64, end: i64, fade_in: Fade, fade_out: Fade, gain: f32) {
        let channels = usize::from(self.spec.channels);
        let begin =
            (start - if fade_in.shape == CrossfadeCurve::Edge { 0 } else { fade_in.before }).max(self.start);
        let until = end + if fade_out.shape == CrossfadeCurve::Edge { 0 } else { fade_out.after };
        let length = usize::try_from(until - self.start).unwrap_or(0) * channels;
        if self.mixed.len() < length {
            self.mixed.resize(length, 0.0);
        }
        // Sound that ends before its frames fades where it ends.
        let audible_end = (start + clip.frames() - clip.first).min(until);
        let edge = Fade::edge(self.spec);
        for frame in begin..audible_end {
            let source = frame - start + clip.first;
            let Ok(source) = usize::try_from(source) else { continue };
            let mut level = gain * fade_in.gain(frame - start, true) * fade_out.gain(frame - end, false);
            if audible_end < end {
                level *= edge.gain(frame - audible_end, false);
            }
            let target = (frame - self.start) as usize * channels;
            for channel in 0..channels {
                self.mixed[target + channel] += clip.sound.samples[source * channels + channel] * level;
            }
        }
    }

    /// Takes the sound before a sample frame of the film, to which nothing will be added; what no clip reaches is silent.
    fn take(&mut self, end: i64) -> Vec<f32> {
        let length = usize::try_from(end - self.start).unwrap_or(0) * usize::from(self.spec.channels);
        if self.mixed.len() < length {
            self.mixed.resize(length, 0.0);
        }
        let rest = self.mixed.split_off(length);
        self.start = self.start.max(end);
        std::mem::replace(&mut self.mixed, rest)
    }
}
