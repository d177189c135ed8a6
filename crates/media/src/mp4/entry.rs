//! The sample entries that this crate writes: decoder configurations.

use super::boxes::{BoxWriter, ChildBox, children};
use crate::h264::ParameterSets;

/// `avc1` with decoder configuration, BT.709 color in broadcast range, square pixels. The same parameter sets give the same bytes.
pub(crate) fn avc1(width: u32, height: u32, sets: &ParameterSets) -> Vec<u8> {
    let mut out = BoxWriter::default();
    out.child(*b"avc1", |out| {
        out.zeros(6);
        out.u16(1); // data_reference_index
        out.zeros(16);
        out.u16(width as u16);
        out.u16(height as u16);
        out.u32(0x0048_0000); // 72 dots per inch
        out.u32(0x0048_0000);
        out.u32(0);
        out.u16(1); // frame_count
        out.zeros(32); // compressorname
        out.u16(0x0018); // depth
        out.u16(0xffff);
        out.child(*b"avcC", |out| {
            out.u8(1);
            out.bytes(&sets.sps[1..4]); // profile, constraints, level
            out.u8(0xff); // lengths are four bytes
            out.u8(0xe1); // one sequence parameter set
            out.u16(sets.sps.len() as u16);
            out.bytes(&sets.sps);
            out.u8(1);
            out.u16(sets.pps.len() as u16);
            out.bytes(&sets.pps);
            out.bytes(&[0xfd, 0xf8, 0xf8, 0]); // 4:2:0, 8 bits, 8 bits, no extensions
        });
        out.child(*b"colr", |out| {
            out.bytes(b"nclx");
            for _primaries_transfer_matrix in 0..3 {
                out.u16(1);
            }
            out.u8(0); // broadcast range
        });
        out.child(*b"pasp", |out| {
            out.u32(1);
            out.u32(1);
        });
    });
    out.into_bytes()
}

/// The same `avc1` entry with another decoder configuration; `None` if it has none.
pub(crate) fn with_avcc(entry: &[u8], configuration: &[u8]) -> Option<Vec<u8>> {
    let mut is_replaced = false;
    let out = with_boxes(entry, |name, payload| {
        let is_configuration = name == *b"avcC";
        is_replaced |= is_configuration;
        Some(if is_configuration { configuration } else { payload })
    });
    out.filter(|_| is_replaced)
}

/// The same `avc1` entry without what decoding does not depend on and what differs from clip to clip: the bit rate (`btrt`, ISO/IEC 14496-12
/// 8.5.2), which ffmpeg writes, the encoder's name, and the version and vendor of `QuickTime`.
pub(crate) fn without_hints(entry: &[u8]) -> Option<Vec<u8>> {
    let mut out = with_boxes(entry, |name, payload| (name != *b"btrt").then_some(payload))?;
    out[16..32].fill(0);
    out[50..82].fill(0);
    Some(out)
}

/// The same `avc1` entry with what `change` makes of each box in it.
fn with_boxes<'a>(
    entry: &'a [u8],
    mut change: impl FnMut([u8; 4], &'a [u8]) -> Option<&'a [u8]>,
) -> Option<Vec<u8>> {
    let (fixed, boxes) = entry.split_at_checked(8 + 78)?;
    let mut out = fixed.to_vec();
    for ChildBox { name, payload, .. } in children(boxes) {
        let Some(payload) = change(name, payload) else { continue };
        out.extend(u32::try_from(payload.len() + 8).ok()?.to_be_bytes());
        out.extend(name);
        out.extend_from_slice(payload);
    }
    let size = u32::try_from(out.len()).ok()?;
    out[..4].copy_from_slice(&size.to_be_bytes());
    Some(out)
}

/// `mp4a` for AAC with this `AudioSpecificConfig`.
pub(crate) fn mp4a(sample_rate: u32, channels: u16, config: &[u8]) -> Vec<u8> {
    let mut out = BoxWriter::default();
    out.child(*b"mp4a", |out| {
        out.zeros(6);
        out.u16(1); // data_reference_index
        out.zeros(8);
        out.u16(channels);
        out.u16(16); // bits per sample
        out.u32(0);
        // A rate that does not fit into 16 bits is in the decoder configuration only, which takes precedence.
        out.u32(u32::from(u16::try_from(sample_rate).unwrap_or(0)) << 16);
        out.full(*b"esds", 0, 0, |out| {
            let specific = config.len() as u8;
            out.bytes(&[0x03, 3 + 2 + 13 + 2 + specific + 3, 0, 0, 0]); // ES_Descriptor
            out.bytes(&[0x04, 13 + 2 + specific, 0x40, 0x15]); // DecoderConfigDescriptor: AAC, a sound stream
            out.zeros(3 + 4 + 4); // buffer size and rates: unspecified
            out.bytes(&[0x05, specific]); // DecoderSpecificInfo
            out.bytes(config);
            out.bytes(&[0x06, 1, 2]); // SLConfigDescriptor: as MP4 has it
        });
    });
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_of_an_encoder_make_no_other_entry() {
        let sets = ParameterSets { sps: vec![0x67, 100, 0, 30, 1], pps: vec![0x68, 2] };
        let plain = avc1(64, 48, &sets);
        let mut hinted = plain.clone();
        hinted[20..24].copy_from_slice(b"FFMP");
        hinted[50..55].copy_from_slice(b"\x04Lavc");
        hinted.extend([0, 0, 0, 20]);
        hinted.extend(b"btrt");
        hinted.extend([7; 12]);
        let size = hinted.len() as u32;
        hinted[..4].copy_from_slice(&size.to_be_bytes());
        assert_eq!(without_hints(&hinted), Some(plain.clone()));
        assert_eq!(without_hints(&plain), Some(plain.clone()));
        let other = avc1(64, 48, &ParameterSets { pps: vec![0x68, 3], ..sets });
        assert_ne!(without_hints(&other), Some(plain));
    }
}
