//! Parameter sets of two encoders in one decoder configuration, so that pictures of both can follow each other in one track.
//!
//! A track with two sample entries does not play everywhere. One entry with the sets of both, each under numbers of its own, does.

use super::bits::{BitReader, unescape};
use super::encode::ParameterSets;
use super::header::{NAL_IDR, ParameterSetIds, VideoSignal};
use super::parameters::Sps;

/// The decoder configuration of a track (`avcC`, ISO/IEC 14496-15, 5.3.3.1), with its sets apart.
pub(crate) struct Configuration<'a> {
    /// Version, profile, constraints, level and the size of lengths.
    head: &'a [u8],
    sequence_sets: Vec<&'a [u8]>,
    picture_sets: Vec<&'a [u8]>,
    /// Chroma format and bit depths, in High and related profiles.
    extension: &'a [u8],
}

impl<'a> Configuration<'a> {
    /// From the payload of an `avcC` box; `None` if it is malformed or its lengths are not four bytes.
    pub(crate) fn parse(avcc: &'a [u8]) -> Option<Self> {
        let (head, mut rest) = avcc.split_at_checked(5)?;
        let mut sets = |mask: u8| {
            let (count, mut tail) = rest.split_first()?;
            let mut units = Vec::new();
            for _ in 0..count & mask {
                let (length, after) = tail.split_first_chunk::<2>()?;
                let (unit, after) = after.split_at_checked(usize::from(u16::from_be_bytes(*length)))?;
                units.push(unit);
                tail = after;
            }
            rest = tail;
            Some(units)
        };
        let (sequence_sets, picture_sets) = (sets(0x1f)?, sets(0xff)?);
        (head[4] & 3 == 3).then_some(Self { head, sequence_sets, picture_sets, extension: rest })
    }

    /// The smallest numbers that none of its sets has.
    pub(crate) fn free_ids(&self) -> Option<ParameterSetIds> {
        let mut sequence = Vec::new();
        for unit in &self.sequence_sets {
            sequence.push(Sps::parse(unit)?.id);
        }
        let mut picture = Vec::new();
        for unit in &self.picture_sets {
            picture.push(BitReader::new(&unescape(unit.get(1..)?)).unsigned()?);
        }
        let first_free = |used: &[u32], end: u32| (0..end).find(|id| !used.contains(id));
        Some(ParameterSetIds { sequence: first_free(&sequence, 32)?, picture: first_free(&picture, 256)? })
    }

    /// The color that its sets name.
    pub(crate) fn signal(&self) -> Option<VideoSignal> {
        let sps = Sps::parse(self.sequence_sets.first()?)?;
        Some(VideoSignal { is_full_range: sps.full_range.unwrap_or(false), color: sps.color })
    }

    /// The configuration with other sets too, which have numbers of their own.
    pub(crate) fn merged(&self, other: &ParameterSets) -> Option<Vec<u8>> {
        let profile = other.sps.get(1..4)?;
        let mut out = self.head.to_vec();
        let is_high = !self.extension.is_empty();
        if !is_high {
            // The other sets are of High profile, whose configuration has an extension.
            out[1..3].copy_from_slice(&profile[..2]);
        }
        out[3] = out[3].max(profile[2]);
        let mut sets = |mask: u8, own: &[&[u8]], added: &[u8]| {
            out.push(u8::try_from(own.len() + 1).ok()? | !mask);
            for unit in own.iter().copied().chain([added]) {
                out.extend(u16::try_from(unit.len()).ok()?.to_be_bytes());
                out.extend_from_slice(unit);
            }
            Some(())
        };
        sets(0x1f, &self.sequence_sets, &other.sps)?;
        sets(0xff, &self.picture_sets, &other.pps)?;
        if is_high {
            out.extend_from_slice(self.extension);
        } else {
            out.extend([0xfd, 0xf8, 0xf8, 0]); // 4:2:0, 8 bits, 8 bits, no extensions
        }
        Some(out)
    }
}

/// Whether the picture of a sample (NAL units after lengths of four bytes) is an IDR picture, at which other parameter sets may be used.
pub(crate) fn begins_with_idr(sample: &[u8]) -> bool {
    let mut rest = sample;
    while let Some((length, tail)) = rest.split_first_chunk::<4>() {
        let Some((unit, tail)) = tail.split_at_checked(u32::from_be_bytes(*length) as usize) else {
            return false;
        };
        match unit.first().map(|header| header & 0x1f) {
            Some(NAL_IDR) => return true,
            Some(1..=4) => return false,
            _ => rest = tail,
        }
    }
    false
}
