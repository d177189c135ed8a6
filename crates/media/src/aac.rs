//! AAC-LC in and out of interleaved `f32` samples.

use rusty_aac::{AacDecoder, AacEncoder, AacEncoderConfig};

use crate::MediaError;
use crate::catch_panic::catch_panic;

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

/// Encodes interleaved samples in -1..=1; not finite ones count as silence.
pub(crate) fn encode(samples: &[f32], sample_rate: u32, channels: u16) -> Result<EncodedSound, MediaError> {
    let failed = |error: rusty_aac::Error| MediaError::Encode { codec: "AAC", reason: error.to_string() };
    let bitrate_bps = bits_per_second(sample_rate, channels);
    let mut encoder = AacEncoder::new(AacEncoderConfig { bitrate_bps, ..AacEncoderConfig::default() });
    encoder.push_pcm(samples, channels, sample_rate).map_err(failed)?;
    encoder.finish();
    let mut packets = Vec::with_capacity(samples.len() / (FRAME as usize * usize::from(channels.max(1))) + 2);
    loop {
        match encoder.next_packet() {
            Ok(packet) => packets.push(packet.data),
            Err(rusty_aac::Error::Eof) => break,
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(EncodedSound { packets, config: rusty_aac::audio_specific_config_bytes(sample_rate, channels) })
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
