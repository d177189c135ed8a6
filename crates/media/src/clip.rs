//! Encoding of a clip: frames and audio in, an MP4 file out.

use rusty_h264::YuvFrame;

use crate::aac;
use crate::color::{ColorSpace, rgb_to_i420};
use crate::frame_size::MAX_SIDE;
use crate::h264::{CodedPicture, Effort, ParameterSetIds, StreamSpec, VideoEncoder, VideoSignal};
use crate::mp4::{OutputKind, OutputSample, OutputTrack, StoredTags, avc1, mp4a, write_movie};
use crate::rate::rescale;
use crate::{FrameRate, MediaError, RgbImage};

/// Specification of a clip. The same spec gives the same sample entry, so clips of one spec join without loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClipSpec {
    /// Columns: even, at most [`MAX_SIDE`].
    pub width: u32,
    /// Rows: even, at most [`MAX_SIDE`].
    pub height: u32,
    pub frame_rate: FrameRate,
    /// The sound track, if there is to be one.
    pub audio: Option<AudioSpec>,
    /// The most that frames may cost, in bits per second over a second or so; `None` for a limit that suits the size
    /// (6 Mb/s for 480p, 12 for 720p, 20 for 1080p). Easy frames stay far below it.
    pub bits_per_second: Option<u32>,
    /// How frames and sound are encoded.
    pub effort: Effort,
}

/// The sound of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AudioSpec {
    /// Samples per second and channel: one of the rates of AAC, from 8000 to 96000.
    pub sample_rate: u32,
    /// 1 or 2.
    pub channels: u16,
}

impl ClipSpec {
    /// A silent clip with the usual limit on its bit rate.
    pub fn new(width: u32, height: u32, frame_rate: FrameRate) -> Self {
        Self { width, height, frame_rate, audio: None, bits_per_second: None, effort: Effort::Full }
    }

    /// The same with sound.
    pub fn with_audio(self, sample_rate: u32, channels: u16) -> Self {
        Self { audio: Some(AudioSpec { sample_rate, channels }), ..self }
    }

    /// The same with another effort.
    pub fn with_effort(self, effort: Effort) -> Self {
        Self { effort, ..self }
    }

    fn check(&self) -> Result<(), MediaError> {
        let refuse = |reason: String| Err(MediaError::Request(reason));
        for side in [self.width, self.height] {
            if side == 0 || side % 2 != 0 || side > MAX_SIDE {
                return refuse(format!(
                    "a clip of {}x{} is not supported: both sides must be even and between 2 and {MAX_SIDE}",
                    self.width, self.height
                ));
            }
        }
        if !(0.1..=1000.0).contains(&self.frame_rate.as_f64()) {
            return refuse(format!(
                "{} frames per second are not supported: expected 0.1 to 1000",
                self.frame_rate
            ));
        }
        if let Some(AudioSpec { sample_rate, channels }) = self.audio {
            if !aac::SAMPLE_RATES.contains(&sample_rate) {
                return refuse(format!("AAC has no sample rate of {sample_rate} Hz: use 48000 or 44100"));
            }
            if !(1..=2).contains(&channels) {
                return refuse(format!("{channels} channels are not supported: use 1 or 2"));
            }
        }
        Ok(())
    }

    /// Parameters of its frames, if they are supported.
    pub(crate) fn checked_stream(&self) -> Result<StreamSpec, MediaError> {
        self.check()?;
        Ok(StreamSpec {
            width: self.width,
            height: self.height,
            rate: self.frame_rate,
            bits_per_second: self.bit_rate_limit().max(1),
            ids: ParameterSetIds::default(),
            signal: VideoSignal::WRITTEN,
            effort: self.effort,
        })
    }

    fn bit_rate_limit(&self) -> u32 {
        self.bits_per_second.unwrap_or(match u64::from(self.width) * u64::from(self.height) {
            0..=600_000 => 6_000_000,
            600_001..=1_200_000 => 12_000_000,
            1_200_001..=3_000_000 => 20_000_000,
            _ => 60_000_000,
        })
    }
}

/// Encodes a clip as its frames and its sound arrive, in any order between the two.
///
/// Compressed frames and raw sound are held in memory until [`ClipWriter::finish`]. The same calls give the same bytes.
pub struct ClipWriter {
    spec: ClipSpec,
    encoder: VideoEncoder,
    frame: YuvFrame,
    coded: Vec<u8>,
    samples: Vec<OutputSample>,
    sound: Vec<f32>,
    timescale: u32,
    ticks_per_frame: u32,
}

impl ClipWriter {
    /// Begins a clip.
    ///
    /// # Errors
    /// [`MediaError::Request`] for an unsupported size, rate or channel count.
    pub fn new(spec: ClipSpec) -> Result<Self, MediaError> {
        let encoder = VideoEncoder::new(spec.checked_stream()?)?;
        let (timescale, ticks_per_frame) = media_clock(spec.frame_rate);
        let frame = YuvFrame::black(spec.width as usize, spec.height as usize);
        let (coded, samples, sound) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { spec, encoder, frame, coded, samples, sound, timescale, ticks_per_frame })
    }

    /// Adds the next frame, which must have the clip's size.
    ///
    /// # Errors
    /// [`MediaError::Request`] for another size.
    pub fn push_frame(&mut self, image: &RgbImage) -> Result<(), MediaError> {
        if (image.width(), image.height()) != (self.spec.width, self.spec.height) {
            return Err(MediaError::Request(format!(
                "a frame of {}x{} does not belong into a clip of {}x{}",
                image.width(),
                image.height(),
                self.spec.width,
                self.spec.height
            )));
        }
        rgb_to_i420(image, ColorSpace::WRITTEN, &mut self.frame);
        let frame = self.encoder.encode(&self.frame)?;
        self.keep(&frame)
    }

    /// Adds the frame before once more. It costs a few bytes and no time, and is decoded to the same pixels.
    ///
    /// # Errors
    /// [`MediaError::Request`] for a clip without a frame.
    pub fn repeat_frame(&mut self) -> Result<(), MediaError> {
        if self.samples.is_empty() {
            return Err(MediaError::Request("there is no frame yet that could be repeated".to_owned()));
        }
        let frame = self.encoder.repeat();
        self.keep(&frame)
    }

    /// Tells that the next frame shows something else altogether: it becomes a point to seek to.
    ///
    /// # Errors
    /// [`MediaError::Encode`], which is not expected.
    pub fn cut(&mut self) -> Result<(), MediaError> {
        self.encoder.cut()
    }

    /// Adds audio: interleaved samples in -1..=1, any number of whole sample frames. When the clip is finished, samples after the last
    /// frame are dropped and missing ones are silence.
    ///
    /// # Errors
    /// [`MediaError::Request`] when the clip has no audio track or the samples are no whole number of sample frames.
    pub fn push_audio(&mut self, interleaved: &[f32]) -> Result<(), MediaError> {
        let Some(audio) = self.spec.audio else {
            return Err(MediaError::Request("sound was given for a clip without a sound track".to_owned()));
        };
        if !interleaved.len().is_multiple_of(usize::from(audio.channels)) {
            return Err(MediaError::Request(format!(
                "{} samples cannot be shared by {} channels",
                interleaved.len(),
                audio.channels
            )));
        }
        self.sound.extend_from_slice(interleaved);
        Ok(())
    }

    /// Frames so far.
    pub fn frames(&self) -> u64 {
        self.samples.len() as u64
    }

    /// The whole file: H.264 High and AAC-LC, index in front, exact durations, an edit list that hides the encoder's delay.
    ///
    /// # Errors
    /// [`MediaError::Request`] for a clip without a frame.
    pub fn finish(self) -> Result<Vec<u8>, MediaError> {
        let mut file = Vec::with_capacity(self.coded.len() + self.samples.len() * 16 + (64 << 10));
        self.finish_into(&mut file)?;
        Ok(file)
    }

    /// As [`ClipWriter::finish`], into any writer.
    pub(crate) fn finish_into(mut self, out: &mut dyn std::io::Write) -> Result<(), MediaError> {
        if self.samples.is_empty() {
            return Err(MediaError::Request("a clip needs at least one frame".to_owned()));
        }
        let presented = self.samples.len() as u64 * u64::from(self.ticks_per_frame);
        let starts = starts(&self.samples);
        let mut tracks = vec![OutputTrack {
            kind: OutputKind::Video { width: self.spec.width, height: self.spec.height },
            entry: avc1(self.spec.width, self.spec.height, &self.encoder.parameter_sets()?),
            timescale: self.timescale,
            samples: std::mem::take(&mut self.samples),
            start: 0,
            presented,
        }];
        let mut packets = Vec::new();
        if let Some(audio) = self.spec.audio {
            let frames = rescale(i128::from(presented), self.timescale, audio.sample_rate) as usize;
            self.sound.resize(frames.max(1) * usize::from(audio.channels), 0.0);
            let (track, sound) = audio_track(&self.sound, audio, self.spec.effort)?;
            tracks.push(track);
            packets = sound;
        }
        let coded = &self.coded;
        write_movie(out, &tracks, &StoredTags::default(), &mut |track, sample, bytes| {
            if track == 0 {
                let size = tracks[0].samples[sample].size as usize;
                bytes.extend_from_slice(&coded[starts[sample]..][..size]);
            } else {
                bytes.extend_from_slice(&packets[sample]);
            }
            Ok(())
        })
    }

    fn keep(&mut self, frame: &CodedPicture) -> Result<(), MediaError> {
        let too_large =
            |_| MediaError::Encode { codec: "H.264", reason: "it wrote a frame of 4 GiB".to_owned() };
        let size = u32::try_from(frame.bytes.len()).map_err(too_large)?;
        self.coded.extend_from_slice(&frame.bytes);
        let duration = self.ticks_per_frame;
        self.samples.push(OutputSample { size, duration, offset: 0, is_sync: frame.is_sync });
        Ok(())
    }
}

impl std::fmt::Debug for ClipWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClipWriter")
            .field("spec", &self.spec)
            .field("frames", &self.frames())
            .finish_non_exhaustive()
    }
}

/// A sound track of exactly these samples, and its packets.
pub(crate) fn audio_track(
    interleaved: &[f32],
    audio: AudioSpec,
    effort: Effort,
) -> Result<(OutputTrack, Vec<Vec<u8>>), MediaError> {
    let sound = aac::encode(interleaved, audio.sample_rate, audio.channels, effort)?;
    let samples = sound
        .packets
        .iter()
        .map(|packet| OutputSample {
            size: packet.len() as u32,
            duration: aac::FRAME,
            offset: 0,
            is_sync: true,
        })
        .collect();
    let track = OutputTrack {
        kind: OutputKind::Audio,
        entry: mp4a(audio.sample_rate, audio.channels, &sound.config),
        timescale: audio.sample_rate,
        samples,
        start: u64::from(aac::PRIMING),
        presented: (interleaved.len() / usize::from(audio.channels)) as u64,
    };
    Ok((track, sound.packets))
}

/// Ticks per second, and per frame. Fine enough for players that round to their own clock.
pub(crate) fn media_clock(rate: FrameRate) -> (u32, u32) {
    let (mut timescale, mut ticks) = (rate.numerator(), rate.denominator());
    while timescale < 10_000 && ticks < 1 << 20 {
        timescale *= 2;
        ticks *= 2;
    }
    (timescale, ticks)
}

/// Where each sample begins when they lie one after the other.
fn starts(samples: &[OutputSample]) -> Vec<usize> {
    samples
        .iter()
        .scan(0, |position, sample| {
            let start = *position;
            *position += sample.size as usize;
            Some(start)
        })
        .collect()
}
