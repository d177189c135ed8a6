//! A part of a sound that is encoded on its own, in parallel with others, and whose peaks are lowered where AAC raises them too far.

use std::f32::consts::PI;
use std::ops::Range;

use ebur128::{EbuR128, Mode};
use rusty_aac::{AacEncoder, AacEncoderConfig};

use super::{AudioDecoder, CONTEXT_BLOCKS, FRAME, failed};
use crate::MediaError;

/// Sound whose samples are this far below the highest peak is not decoded to look for higher ones: 3 dB.
const MAX_RISE: f32 = 1.41;
/// How often a peak is lowered at most.
const MAX_ROUNDS: usize = 4;
/// What a block with too high a peak is lowered by in each round, besides the excess, in decibels: its noise changes with its level, so that
/// later rounds lower it by more.
const MARGIN: f32 = 0.2;
/// Blocks beside those that are lowered whose packets are replaced too; the outermost come out as before.
const SEAM_BLOCKS: usize = 4;

/// A part of the sound: the packets `skip` to `end` of it are the result.
pub(super) struct Segment {
    /// Interleaved.
    pub(super) samples: Vec<f32>,
    pub(super) sample_rate: u32,
    pub(super) channels: u16,
    pub(super) bits_per_second: u32,
    pub(super) skip: usize,
    pub(super) end: usize,
    /// The highest true peak, as an amplitude, that the decoded sound is to have.
    pub(super) max_peak: Option<f32>,
}

impl Segment {
    /// The packets of the segment. Where the decoded sound exceeds the highest peak, its blocks are lowered by as much, with ramps over the blocks
    /// beside them, and what is around them is encoded again.
    ///
    /// Invariant: samples that packets of other segments see as well are unchanged, because a packet and the next one cancel each other's
    /// aliasing. A peak that lies there can remain.
    pub(super) fn encode(mut self) -> Result<Vec<Vec<u8>>, MediaError> {
        let mut packets = self.packets(0, usize::MAX, &self.samples)?;
        packets.truncate(self.end);
        let highest = self.samples.iter().fold(0.0_f32, |highest, sample| highest.max(sample.abs()));
        if let Some(max_peak) = self.max_peak.filter(|max_peak| highest * MAX_RISE > *max_peak) {
            self.lower_peaks(&mut packets, max_peak)?;
        }
        Ok(packets.split_off(self.skip.min(packets.len())))
    }

    fn lower_peaks(&mut self, packets: &mut [Vec<u8>], max_peak: f32) -> Result<(), MediaError> {
        let mut excesses = self.excesses(packets, 0, packets.len(), max_peak)?;
        let mut lowered = vec![0.0_f32; packets.len() + 1];
        let original = if excesses.is_empty() { Vec::new() } else { self.samples.clone() };
        for round in 1..=MAX_ROUNDS {
            let blocks = self.lower(&excesses, MARGIN * round as f32, &mut lowered);
            if blocks.is_empty() {
                break;
            }
            self.samples.copy_from_slice(&original);
            self.apply(&lowered);
            excesses.clear();
            for changed in clusters(&blocks) {
                excesses.extend(self.encode_again(packets, changed, max_peak)?);
            }
        }
        Ok(())
    }

    /// Encodes again what is around some blocks, and returns their excesses.
    fn encode_again(
        &self,
        packets: &mut [Vec<u8>],
        changed: Range<usize>,
        max_peak: f32,
    ) -> Result<Vec<(usize, f32)>, MediaError> {
        let from = changed.start.saturating_sub(1 + SEAM_BLOCKS);
        // A packet sees its block and the one before.
        let to = (changed.end + 2 + SEAM_BLOCKS).min(packets.len());
        let window = from.saturating_sub(CONTEXT_BLOCKS)..to + CONTEXT_BLOCKS;
        let encoded = self.packets(window.start, window.end, &self.samples)?;
        let encoded = encoded.get(from - window.start..to - window.start).unwrap_or_default();
        let is_seamless = |index: usize| encoded.get(index) == packets.get(from + index);
        let fits_before = from == 0 || is_seamless(0);
        let fits_after = to == packets.len() || is_seamless(to - from - 1);
        if encoded.len() != to - from || !fits_before || !fits_after {
            return Ok(Vec::new());
        }
        packets[from..to].clone_from_slice(encoded);
        self.excesses(packets, from.saturating_sub(1), to, max_peak)
    }

    /// The packets of the blocks `from` to `to`.
    fn packets(&self, from: usize, to: usize, samples: &[f32]) -> Result<Vec<Vec<u8>>, MediaError> {
        let block = FRAME as usize * usize::from(self.channels.max(1));
        let samples = &samples[from * block..to.saturating_mul(block).min(samples.len())];
        let bitrate_bps = self.bits_per_second;
        let mut encoder = AacEncoder::new(AacEncoderConfig { bitrate_bps, ..AacEncoderConfig::default() });
        encoder.push_pcm(samples, self.channels, self.sample_rate).map_err(|error| failed(&error))?;
        encoder.finish();
        let mut packets = Vec::new();
        loop {
            match encoder.next_packet() {
                Ok(packet) => packets.push(packet.data),
                Err(rusty_aac::Error::Eof) => return Ok(packets),
                Err(error) => return Err(failed(&error)),
            }
        }
    }

    /// By how many decibels blocks exceed the highest peak as the packets `from` to `to` are decoded.
    fn excesses(
        &self,
        packets: &[Vec<u8>],
        from: usize,
        to: usize,
        max_peak: f32,
    ) -> Result<Vec<(usize, f32)>, MediaError> {
        let meter_failed = |error| MediaError::Request(format!("peaks cannot be measured: {error}"));
        let mut decoder =
            AudioDecoder::new(&rusty_aac::audio_specific_config_bytes(self.sample_rate, self.channels))?;
        let mut meter = EbuR128::new(u32::from(self.channels), self.sample_rate, Mode::TRUE_PEAK)
            .map_err(meter_failed)?;
        let mut excesses = Vec::new();
        for (number, packet) in packets.iter().enumerate().take(to).skip(from) {
            let sound = decoder.decode(packet)?;
            // Half of the first block is not there, and blocks of other segments are theirs.
            if number == from && from > 0 || number < self.skip {
                continue;
            }
            meter.add_frames_f32(&sound.samples).map_err(meter_failed)?;
            let mut peak = 0.0_f64;
            for channel in 0..u32::from(self.channels) {
                peak = peak.max(meter.prev_true_peak(channel).map_err(meter_failed)?);
            }
            // A packet completes the block before the one with which it ends.
            if peak > f64::from(max_peak) {
                excesses.push((number.saturating_sub(1), 20.0 * (peak as f32 / max_peak).log10()));
            }
        }
        Ok(excesses)
    }

    /// Adds to the decibels by which blocks are lowered. Returns the blocks whose samples change.
    fn lower(&self, excesses: &[(usize, f32)], margin: f32, lowered: &mut [f32]) -> Vec<usize> {
        // With a block for the ramp on each side.
        let first = if self.skip == 0 { 0 } else { self.skip + 1 };
        let end = if self.end == usize::MAX { lowered.len() } else { self.end.saturating_sub(2) };
        let mut blocks = Vec::new();
        for (block, excess) in excesses.iter().filter(|(block, _)| (first..end).contains(block)) {
            lowered[*block] += excess + margin;
            blocks.push(*block);
        }
        blocks
    }

    /// Lowers the samples of blocks by so many decibels.
    fn apply(&mut self, lowered: &[f32]) {
        let channels = usize::from(self.channels.max(1));
        let frame = FRAME as usize;
        let decibels_of =
            |block: Option<usize>| block.and_then(|block| lowered.get(block)).copied().unwrap_or(0.0);
        for (block, samples) in self.samples.chunks_mut(frame * channels).enumerate() {
            let (before, own, after) =
                (decibels_of(block.checked_sub(1)), decibels_of(Some(block)), decibels_of(Some(block + 1)));
            if before.max(own).max(after) <= 0.0 {
                continue;
            }
            for (index, frames) in samples.chunks_mut(channels).enumerate() {
                let rising = (1.0 - (PI * (index as f32 + 0.5) / frame as f32).cos()) / 2.0;
                let decibels = own.max(before * (1.0 - rising)).max(after * rising);
                let gain = 10_f32.powf(-decibels / 20.0);
                for sample in frames {
                    *sample *= gain;
                }
            }
        }
    }
}

/// Ascending blocks in ranges whose windows do not overlap.
fn clusters(blocks: &[usize]) -> Vec<Range<usize>> {
    let mut clusters: Vec<Range<usize>> = Vec::new();
    for block in blocks {
        match clusters.last_mut() {
            Some(last) if *block <= last.end + 2 * SEAM_BLOCKS + 4 => last.end = last.end.max(block + 1),
            _ => clusters.push(*block..block + 1),
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u32 = 48_000;
    const MAX_PEAK: f32 = 0.891;

    /// Noise at a ceiling below the highest peak, which AAC raises above it here and there.
    fn noise(blocks: usize) -> Vec<f32> {
        let mut state = 7_u32;
        let noise = (0..blocks * FRAME as usize * 2).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / (1 << 23) as f32 - 1.0) * 0.8
        });
        noise.collect()
    }

    fn segment(max_peak: Option<f32>, skip: usize, end: usize) -> Segment {
        Segment {
            samples: noise(40),
            sample_rate: RATE,
            channels: 2,
            bits_per_second: 160_000,
            skip,
            end,
            max_peak,
        }
    }

    #[test]
    fn peaks_that_aac_raises_are_lowered() {
        let excesses = |packets: &[Vec<u8>]| {
            segment(None, 0, usize::MAX).excesses(packets, 0, packets.len(), MAX_PEAK).unwrap()
        };
        let before = segment(None, 0, usize::MAX).encode().unwrap();
        assert!(excesses(&before).len() > 5, "{}", excesses(&before).len());
        let after = segment(Some(MAX_PEAK), 0, usize::MAX).encode().unwrap();
        assert_eq!(after.len(), before.len());
        assert_eq!(excesses(&after), []);
    }

    #[test]
    fn sound_below_the_highest_peak_is_encoded_once() {
        assert_eq!(
            segment(Some(4.0), 0, usize::MAX).encode().unwrap(),
            segment(None, 0, usize::MAX).encode().unwrap()
        );
    }

    #[test]
    fn samples_that_other_segments_see_are_unchanged() {
        let mut part = segment(Some(MAX_PEAK), 8, 32);
        let original = part.samples.clone();
        let mut lowered = vec![0.0; 40];
        let everywhere: Vec<(usize, f32)> = (0..40).map(|block| (block, 1.0)).collect();
        assert_eq!(part.lower(&everywhere, MARGIN, &mut lowered), (9..30).collect::<Vec<_>>());
        part.apply(&lowered);
        let block = FRAME as usize * 2;
        // The packet before sees block 7, and the one after the last block 31.
        assert_eq!(part.samples[..8 * block], original[..8 * block]);
        assert_eq!(part.samples[31 * block..], original[31 * block..]);
        let change = |index: usize| part.samples[index] / original[index];
        assert!((change(20 * block) - 10_f32.powf(-1.2 / 20.0)).abs() < 1e-3, "{}", change(20 * block));
        // Gradually: a thousandth of a decibel per frame and more is no step.
        let steps =
            part.samples.iter().zip(&original).map(|(new, old)| if *old == 0.0 { 1.0 } else { new / old });
        let gains: Vec<f32> = steps.step_by(2).collect();
        assert!(gains.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 0.001));
    }
}
