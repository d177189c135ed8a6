//! AAC-LC in and out of interleaved `f32` samples.

mod segment;

use std::collections::VecDeque;
use std::num::NonZero;
use std::thread::JoinHandle;

use rusty_aac::AacDecoder;

use self::segment::Segment;
use crate::MediaError;
use crate::catch_panic::catch_panic;
use crate::h264::Effort;

/// Samples per channel in one AAC frame.
pub(crate) const FRAME: u32 = 1024;
/// Samples per channel that the encoder puts in front of the first real one.
pub(crate) const PRIMING: u32 = 1024;

/// The sample rates that AAC supports; callers resample others.
pub(crate) const SAMPLE_RATES: [u32; 12] =
    [96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000];

/// Encoded sound: access units of [`FRAME`] samples each, the first [`PRIMING`] samples being no part of the sound.
pub(crate) struct EncodedSound {
    pub(crate) packets: Vec<Vec<u8>>,
    /// The `AudioSpecificConfig` that decodes them.
    pub(crate) config: Vec<u8>,
}

/// Encodes interleaved samples in -1..=1; not finite ones count as silence. A draft has fewer bits, which are sooner found.
pub(crate) fn encode(
    samples: &[f32],
    sample_rate: u32,
    channels: u16,
    effort: Effort,
) -> Result<EncodedSound, MediaError> {
    let mut packets = Vec::with_capacity(samples.len() / (FRAME as usize * usize::from(channels.max(1))) + 2);
    let mut keep = |packet: Vec<u8>| {
        packets.push(packet);
        Ok(())
    };
    let mut encoder = AudioEncoder::new(sample_rate, channels);
    if effort == Effort::Draft {
        encoder.bits_per_second = encoder.bits_per_second / 5 * 3;
    }
    encoder.push(samples, &mut keep)?;
    let config = encoder.finish(&mut keep)?;
    Ok(EncodedSound { packets, config })
}

/// Takes a packet of encoded sound.
type TakePacket<'a> = &'a mut dyn FnMut(Vec<u8>) -> Result<(), MediaError>;

/// Blocks of [`FRAME`] samples that are encoded together: 5.5 s at 48 kHz.
const SEGMENT_BLOCKS: usize = 256;
/// Segments that are encoded at once: each takes about 8 MB.
const MAX_THREADS: usize = 4;
/// Blocks before and after a segment that are encoded with it and dropped, so that its windows fit those of its neighbors.
const CONTEXT_BLOCKS: usize = 8;

/// Encodes sound as it arrives, in memory that does not depend on its length.
///
/// The encoder holds everything that it is given until its end, so long sound is encoded in segments that overlap: a packet depends on
/// the samples of two blocks and on the choice of windows around them. Segments are encoded in parallel; their packets are passed on in
/// order.
pub(crate) struct AudioEncoder {
    sample_rate: u32,
    channels: u16,
    bits_per_second: u32,
    /// Interleaved, from `first_block` on.
    buffered: Vec<f32>,
    first_block: usize,
    /// The first packet that belongs to no segment yet; packet `n` ends with block `n`.
    next_packet: usize,
    /// Segments that are being encoded, in order.
    segments: VecDeque<JoinHandle<Result<Vec<Vec<u8>>, MediaError>>>,
    /// How many of them, besides the sound that arrives meanwhile.
    threads: usize,
    /// The highest true peak of the decoded sound, as an amplitude.
    max_peak: Option<f32>,
}

impl AudioEncoder {
    pub(crate) fn new(sample_rate: u32, channels: u16) -> Self {
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
        Self {
            sample_rate,
            channels,
            bits_per_second: bits_per_second(sample_rate, channels),
            buffered: Vec::new(),
            first_block: 0,
            next_packet: 0,
            segments: VecDeque::new(),
            threads,
            max_peak: None,
        }
    }

    /// Lowers the sound where it is decoded with higher true peaks than this amplitude. A peak at the boundary of two segments can remain.
    pub(crate) fn with_max_peak(mut self, max_peak: f32) -> Self {
        self.max_peak = Some(max_peak);
        self
    }

    /// Takes interleaved samples in -1..=1, whole sample frames; not finite ones count as silence. Passes on what is encoded.
    pub(crate) fn push(&mut self, mut samples: &[f32], take: TakePacket<'_>) -> Result<(), MediaError> {
        let capacity = (SEGMENT_BLOCKS + 2 * CONTEXT_BLOCKS) * self.block_samples();
        while !samples.is_empty() {
            let (now, rest) =
                samples.split_at(samples.len().min(capacity.saturating_sub(self.buffered.len())));
            self.buffered.extend_from_slice(now);
            samples = rest;
            if self.buffered.len() >= capacity {
                self.begin_segment(SEGMENT_BLOCKS + CONTEXT_BLOCKS)?;
                while self.segments.len() > self.threads {
                    self.pass_on(take)?;
                }
            }
        }
        Ok(())
    }

    /// Passes on the rest. The `AudioSpecificConfig` that decodes all of it.
    pub(crate) fn finish(mut self, take: TakePacket<'_>) -> Result<Vec<u8>, MediaError> {
        // Here, because most sounds have one segment; and while others are encoded.
        let last = self.segment(usize::MAX).encode();
        while !self.segments.is_empty() {
            self.pass_on(take)?;
        }
        last?.into_iter().try_for_each(take)?;
        Ok(self.config())
    }

    /// The `AudioSpecificConfig` that decodes its packets.
    pub(crate) fn config(&self) -> Vec<u8> {
        rusty_aac::audio_specific_config_bytes(self.sample_rate, self.channels)
    }

    fn block_samples(&self) -> usize {
        FRAME as usize * usize::from(self.channels.max(1))
    }

    /// What is buffered, of which the packets of the first `blocks` are passed on.
    fn segment(&self, blocks: usize) -> Segment {
        let samples = self.buffered.clone();
        let skip = self.next_packet - self.first_block;
        let (sample_rate, channels, max_peak) = (self.sample_rate, self.channels, self.max_peak);
        let bits_per_second = self.bits_per_second;
        Segment { samples, sample_rate, channels, bits_per_second, skip, end: blocks, max_peak }
    }

    /// Begins to encode what is buffered, up to the packet that ends with this block of it.
    fn begin_segment(&mut self, blocks: usize) -> Result<(), MediaError> {
        let segment = self.segment(blocks);
        let thread = std::thread::Builder::new().name("aac".to_owned());
        let thread = thread.spawn(move || segment.encode());
        self.segments.push_back(thread.map_err(MediaError::io("cannot start a thread"))?);
        self.next_packet = self.first_block + blocks;
        let done = self.next_packet - CONTEXT_BLOCKS - self.first_block;
        self.buffered.drain(..done * self.block_samples());
        self.first_block += done;
        Ok(())
    }

    /// Passes on the packets of the oldest segment.
    fn pass_on(&mut self, take: TakePacket<'_>) -> Result<(), MediaError> {
        let Some(segment) = self.segments.pop_front() else { return Ok(()) };
        let packets = segment.join().unwrap_or_else(|_| {
            Err(MediaError::Encode { codec: "AAC", reason: "the encoder ended unexpectedly".to_owned() })
        });
        packets?.into_iter().try_for_each(take)
    }
}

fn failed(error: &rusty_aac::Error) -> MediaError {
    MediaError::Encode { codec: "AAC", reason: error.to_string() }
}

/// Transparent for music at 48 kHz: 160 kb/s for stereo, 96 kb/s for mono, in proportion at lower rates.
fn bits_per_second(sample_rate: u32, channels: u16) -> u32 {
    let full = if channels == 1 { 96_000 } else { 80_000 * u32::from(channels) };
    (u64::from(full) * u64::from(sample_rate.min(48_000)) / 48_000) as u32
}

/// A decoder for access units as MP4 stores them.
pub(crate) struct AudioDecoder {
    decoder: AacDecoder,
}

/// One decoded access unit.
pub(crate) struct Pcm {
    pub(crate) sample_rate: u32,
    pub(crate) channels: u16,
    /// Interleaved.
    pub(crate) samples: Vec<f32>,
}

impl AudioDecoder {
    /// `config` is the `AudioSpecificConfig` from the sample entry.
    pub(crate) fn new(config: &[u8]) -> Result<Self, MediaError> {
        let decoder =
            catch_panic(|| AacDecoder::with_config_bytes(config))?.map_err(|error| refuse(&error))?;
        Ok(Self { decoder })
    }

    pub(crate) fn decode(&mut self, packet: &[u8]) -> Result<Pcm, MediaError> {
        let pcm = catch_panic(|| self.decoder.decode(packet, None))?.map_err(|error| refuse(&error))?;
        Ok(Pcm { sample_rate: pcm.sample_rate, channels: pcm.channels, samples: pcm.samples })
    }
}

fn refuse(error: &rusty_aac::Error) -> MediaError {
    match error {
        rusty_aac::Error::Unsupported(what) => MediaError::needs(format!("this kind of AAC sound ({what})")),
        other => MediaError::Damaged(format!("the sound cannot be decoded: {other}")),
    }
}

#[cfg(test)]
mod tests {
    use rusty_aac::{AacEncoder, AacEncoderConfig};

    use super::*;

    #[test]
    fn sound_in_segments_is_encoded_like_the_whole() {
        let frames = (2 * SEGMENT_BLOCKS + 3 * CONTEXT_BLOCKS) * FRAME as usize + 77;
        let mut noise = 1_u32;
        let samples: Vec<f32> = (0..frames)
            .map(|i| {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // A click every third of a second changes the windows.
                let click = if i % 16_000 < 40 { 0.8 } else { 0.05 };
                (i as f32 * 0.05).sin() * 0.2 + (noise >> 16) as f32 / 65_536.0 * click
            })
            .collect();
        let mut single_pass = AacEncoder::new(AacEncoderConfig {
            bitrate_bps: bits_per_second(48_000, 1),
            ..AacEncoderConfig::default()
        });
        single_pass.push_pcm(&samples, 1, 48_000).unwrap();
        single_pass.finish();
        let mut expected = Vec::new();
        while let Ok(packet) = single_pass.next_packet() {
            expected.push(packet.data);
        }
        let mut packets = Vec::new();
        let mut keep = |packet| {
            packets.push(packet);
            Ok(())
        };
        let mut encoder = AudioEncoder::new(48_000, 1);
        for chunk in samples.chunks(100_003) {
            encoder.push(chunk, &mut keep).unwrap();
        }
        encoder.finish(&mut keep).unwrap();
        assert_eq!(packets.len(), expected.len());
        let differing = packets.iter().zip(&expected).filter(|(one, other)| one != other).count();
        assert_eq!(differing, 0, "of {}", expected.len());
    }
}
