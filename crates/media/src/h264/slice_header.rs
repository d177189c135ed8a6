//! Reading of slice headers (H.264 7.3.3), and turning off the deblocking filter in them.

use super::bits::{BitReader, unescape, unescaped_position};
use super::header::{NAL_IDR, NAL_SLICE};
use super::parameters::Sps;

/// Bytes of a slice in which its header is looked for. Only tables of weights for many references are longer.
const MAX_HEADER_LEN: usize = 256;
/// Reference pictures that a list can have (7.4.3).
const MAX_REFERENCES: u32 = 32;

/// Reads the headers of slices that refer to one picture parameter set.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "they are the flags of a parameter set")]
pub(super) struct SliceHeaders {
    picture_set: u32,
    frame_number_bits: u32,
    picture_order_bits: u32,
    /// Arithmetic coding; otherwise CAVLC.
    pub(super) cabac: bool,
    has_bottom_order: bool,
    /// Active entries of the two reference lists, where a slice states no others.
    references: [u32; 2],
    has_weights: bool,
    has_filter: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SliceKind {
    P,
    B,
    I,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SliceHeader {
    pub(super) first_macroblock: u32,
    pub(super) kind: SliceKind,
    /// Whether its reference lists are in another order than the usual one.
    pub(super) is_reordered: bool,
    /// Where `disable_deblocking_filter_idc` begins, if it and the offsets behind it are zero: three bits, all of them ones.
    plain_filter: Option<usize>,
    /// Its length in bits.
    pub(super) len: usize,
}

impl SliceHeaders {
    /// For a stream with these parameter sets; `None` where its headers are of a kind that is not read here.
    pub(super) fn new(sps: &Sps, pps: &[u8]) -> Option<Self> {
        let rbsp = unescape(pps.get(1..)?);
        let mut r = BitReader::new(&rbsp);
        let picture_set = r.unsigned()?;
        let is_of_sequence = r.unsigned()? == sps.id;
        let cabac = r.bit()?;
        let has_bottom_order = r.bit()?;
        let has_slice_groups = r.unsigned()? != 0;
        let mut references = [0; 2];
        for count in &mut references {
            *count = r.unsigned()?.checked_add(1)?;
        }
        let has_weights = r.bit()?; // weighted_pred_flag
        let has_explicit_weights = r.bits(2)? == 1; // of B slices
        r.signed()?; // pic_init_qp_minus26
        r.signed()?; // pic_init_qs_minus26
        r.signed()?; // chroma_qp_index_offset
        let has_filter = r.bit()?;
        r.bit()?; // constrained_intra_pred_flag
        let has_redundant_pictures = r.bit()?;
        let is_read = is_of_sequence
            && sps.progressive
            && sps.four_two_zero
            && !(has_slice_groups || has_explicit_weights || has_redundant_pictures);
        is_read.then_some(Self {
            picture_set,
            frame_number_bits: sps.frame_number_bits,
            picture_order_bits: sps.picture_order_bits?,
            cabac,
            has_bottom_order,
            references,
            has_weights,
            has_filter,
        })
    }

    /// The header of a slice. `None` for one that refers to another picture parameter set, and for what is no header.
    pub(super) fn read(&self, nal_header: u8, rbsp: &[u8]) -> Option<SliceHeader> {
        let is_idr = match nal_header & 0x1f {
            NAL_SLICE => false,
            NAL_IDR => true,
            _ => return None,
        };
        let mut r = BitReader::new(rbsp);
        let first_macroblock = r.unsigned()?;
        let kind = match r.unsigned()? {
            0 | 5 => SliceKind::P,
            1 | 6 => SliceKind::B,
            2 | 7 => SliceKind::I,
            _ => return None,
        };
        if r.unsigned()? != self.picture_set {
            return None;
        }
        r.bits(self.frame_number_bits)?; // frame_num
        if is_idr {
            r.unsigned()?; // idr_pic_id
        }
        r.bits(self.picture_order_bits)?; // pic_order_cnt_lsb
        if self.has_bottom_order {
            r.signed()?; // delta_pic_order_cnt_bottom
        }
        if kind == SliceKind::B {
            r.bit()?; // direct_spatial_mv_pred_flag
        }
        let lists = match kind {
            SliceKind::I => 0,
            SliceKind::P => 1,
            SliceKind::B => 2,
        };
        let mut references = self.references;
        if lists > 0 && r.bit()? {
            for count in &mut references[..lists] {
                *count = r.unsigned()?.checked_add(1)?;
            }
        }
        let mut is_reordered = false;
        for _list in 0..lists {
            if r.bit()? {
                is_reordered = true;
                skip_list_modification(&mut r)?;
            }
        }
        if kind == SliceKind::P && self.has_weights {
            skip_weights(&mut r, references[0])?;
        }
        if nal_header >> 5 & 3 != 0 {
            skip_reference_marking(&mut r, is_idr)?;
        }
        if self.cabac && kind != SliceKind::I {
            r.unsigned()?; // cabac_init_idc
        }
        r.signed()?; // slice_qp_delta
        let mut plain_filter = None;
        if self.has_filter {
            let position = r.position();
            let filter = r.unsigned()?;
            if filter != 1 {
                let offsets = (r.signed()?, r.signed()?); // slice_alpha_c0_offset_div2, slice_beta_offset_div2
                plain_filter = (filter == 0 && offsets == (0, 0)).then_some(position);
            }
        }
        Some(SliceHeader { first_macroblock, kind, is_reordered, plain_filter, len: r.position() })
    }

    /// Turns off the deblocking filter of a slice. Returns whether it is off now.
    ///
    /// The filter's two offsets are stated only where it is on. If all three numbers are zero, `disable_deblocking_filter_idc` 1 has as many bits as
    /// they have, so that nothing behind it moves. Other slices stay as they are.
    pub(super) fn turn_off_filter(&self, unit: &mut [u8]) -> bool {
        self.try_turn_off_filter(unit).is_some()
    }

    fn try_turn_off_filter(&self, unit: &mut [u8]) -> Option<()> {
        let (&mut nal_header, payload) = unit.split_first_mut()?;
        let beginning = &payload[..payload.len().min(MAX_HEADER_LEN)];
        let header = self.read(nal_header, &unescape(beginning))?;
        let filter = header.plain_filter?;
        // ue(1) is 010.
        let mut changed = [(0, 0); 2];
        for (change, bit) in changed.iter_mut().zip([filter, filter + 2]) {
            *change = (unescaped_position(beginning, bit / 8)?, 0x80 >> (bit % 8));
        }
        for (at, mask) in changed {
            payload[at] &= !mask;
        }
        // Bytes up to three may need stuffing in front of them.
        if changed.iter().any(|(at, _)| payload[*at] <= 3) {
            for (at, mask) in changed {
                payload[at] |= mask;
            }
            return None;
        }
        Some(())
    }
}

/// `ref_pic_list_modification` of one list, behind its flag.
fn skip_list_modification(r: &mut BitReader<'_>) -> Option<()> {
    loop {
        match r.unsigned()? {
            0..=2 => r.unsigned()?,
            3 => return Some(()),
            _ => return None,
        };
    }
}

/// `pred_weight_table` of a P slice with chroma.
fn skip_weights(r: &mut BitReader<'_>, references: u32) -> Option<()> {
    for _luma_and_chroma_denominator in 0..2 {
        r.unsigned()?;
    }
    for _reference in 0..references.min(MAX_REFERENCES) {
        for numbers in [2, 4] {
            for _ in 0..if r.bit()? { numbers } else { 0 } {
                r.signed()?;
            }
        }
    }
    Some(())
}

/// `dec_ref_pic_marking`.
fn skip_reference_marking(r: &mut BitReader<'_>, is_idr: bool) -> Option<()> {
    if is_idr {
        r.bits(2)?; // no_output_of_prior_pics_flag, long_term_reference_flag
        return Some(());
    }
    if !r.bit()? {
        return Some(());
    }
    loop {
        let numbers = match r.unsigned()? {
            0 => return Some(()),
            1 | 2 | 4 | 6 => 1,
            3 => 2,
            5 => 0,
            _ => return None,
        };
        for _ in 0..numbers {
            r.unsigned()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bits::{BitWriter, escape_into};
    use super::super::encode::tests::{spec, stripes};
    use super::super::encode::{CodedPicture, Effort, StreamSpec, VideoEncoder};
    use super::*;

    /// Stripes that move, every third picture coded; and the reader of their headers.
    fn stream(effort: Effort) -> (Vec<CodedPicture>, SliceHeaders) {
        let mut encoder = VideoEncoder::new(StreamSpec { effort, ..spec() }).unwrap();
        let mut pictures = vec![encoder.encode(&stripes(0)).unwrap()];
        for phase in 1..6 {
            pictures.extend(encoder.encode_after(&stripes(phase), 2).unwrap());
        }
        let sets = encoder.parameter_sets().unwrap();
        let headers = SliceHeaders::new(&Sps::parse(&sets.sps).unwrap(), &sets.pps).unwrap();
        (pictures, headers)
    }

    #[test]
    fn filter_of_coded_pictures_is_turned_off_in_place() {
        for effort in [Effort::Draft, Effort::Full] {
            let (pictures, headers) = stream(effort);
            for picture in pictures.iter().filter(|picture| picture.delay != 0) {
                let before = picture.bytes[4..].to_vec();
                let mut after = before.clone();
                let header = headers.read(before[0], &unescape(&before[1..])).unwrap();
                assert_eq!(header.kind == SliceKind::I, picture.sync);
                assert!(headers.turn_off_filter(&mut after), "{effort:?}");
                let changed = headers.read(after[0], &unescape(&after[1..])).unwrap();
                assert_eq!(changed, SliceHeader { plain_filter: None, ..header });
                assert_eq!(before.len(), after.len());
                let flipped: u32 = before.iter().zip(&after).map(|(a, b)| (a ^ b).count_ones()).sum();
                assert_eq!(flipped, 2);
            }
        }
    }

    /// Headers with everything that they can hold: a P slice that refers to two pictures in another order, with weights, which unmarks a reference.
    fn full_header(picture_order: u32, filter: &[i32]) -> (SliceHeaders, Vec<u8>) {
        let headers = SliceHeaders {
            picture_set: 3,
            frame_number_bits: 12,
            picture_order_bits: 16,
            cabac: true,
            has_bottom_order: true,
            references: [1, 1],
            has_weights: true,
            has_filter: true,
        };
        let mut out = BitWriter::default();
        out.unsigned(0); // first_mb_in_slice
        out.unsigned(5); // slice_type
        out.unsigned(3);
        out.bits(picture_order & 0xfff, 12); // frame_num
        out.bits(picture_order, 16);
        out.signed(-1); // delta_pic_order_cnt_bottom
        out.bit(true); // num_ref_idx_active_override_flag
        out.unsigned(1);
        out.bit(true); // ref_pic_list_modification_flag_l0
        for number in [0, 4, 3] {
            out.unsigned(number);
        }
        out.unsigned(5); // luma_log2_weight_denom
        out.unsigned(5);
        out.bit(true); // luma_weight_l0_flag
        out.signed(31);
        out.signed(-2);
        out.bits(0, 3); // chroma_weight_l0_flag, and both of the second reference
        out.bit(true); // adaptive_ref_pic_marking_mode_flag
        for number in [1, 0, 0] {
            out.unsigned(number);
        }
        out.unsigned(2); // cabac_init_idc
        out.signed(-7); // slice_qp_delta
        out.unsigned(filter[0].unsigned_abs());
        for offset in &filter[1..] {
            out.signed(*offset);
        }
        out.align(true);
        let mut rbsp = out.into_bytes();
        rbsp.extend([0x5a, 0, 0, 1]);
        let mut unit = vec![0x61];
        escape_into(&rbsp, &mut unit);
        (headers, unit)
    }

    #[test]
    fn every_field_of_a_header_is_read() {
        let (headers, unit) = full_header(0x1234, &[0, 0, 0]);
        let rbsp = unescape(&unit[1..]);
        let header = headers.read(unit[0], &rbsp).unwrap();
        assert!(header.kind == SliceKind::P && header.is_reordered && header.plain_filter.is_some());
        // The payload begins on the next whole byte.
        assert_eq!(rbsp[header.len.div_ceil(8)..], [0x5a, 0, 0, 1]);
        for length in 0..header.len / 8 {
            assert_eq!(headers.read(unit[0], &rbsp[..length]), None, "the first {length} bytes");
        }
        let other = SliceHeaders { picture_set: 2, ..headers };
        assert_eq!(other.read(unit[0], &rbsp), None);
    }

    #[test]
    fn filter_is_turned_off_behind_stuffing() {
        let (headers, mut unit) = full_header(0, &[0, 0, 0]);
        assert!(unit[..8].windows(3).any(|bytes| bytes == [0, 0, 3]), "{unit:x?}");
        let (_, without) = full_header(0, &[1]);
        assert!(headers.turn_off_filter(&mut unit));
        assert_eq!(unit, without);
    }

    #[test]
    fn other_filters_stay() {
        for filter in [&[1][..], &[0, 3, 3], &[0, 0, -1], &[2, 0, 0]] {
            let (headers, mut unit) = full_header(0x1234, filter);
            let before = unit.clone();
            assert!(!headers.turn_off_filter(&mut unit));
            assert_eq!(unit, before);
        }
    }

    #[test]
    fn filter_stays_where_stuffing_would_change() {
        let headers = SliceHeaders {
            picture_set: 0,
            frame_number_bits: 4,
            picture_order_bits: 4,
            cabac: false,
            has_bottom_order: false,
            references: [1, 1],
            has_weights: false,
            has_filter: true,
        };
        // An I slice to which no other refers: 1 011 1 0000 0000 1 111 and data, so that the second byte is 0x0e plus data.
        let mut out = BitWriter::default();
        out.unsigned(0);
        out.unsigned(2);
        out.unsigned(0);
        out.bits(0, 8);
        out.signed(0);
        out.bits(0b111, 3);
        out.bits(0, 7);
        out.bits(0x5a, 8);
        let mut unit = vec![NAL_SLICE];
        escape_into(&out.trailing(), &mut unit);
        let before = unit.clone();
        assert!(headers.read(NAL_SLICE, &unit[1..]).unwrap().plain_filter.is_some());
        assert!(!headers.turn_off_filter(&mut unit));
        assert_eq!(unit, before);
    }
}
