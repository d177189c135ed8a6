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
    is_cabac: bool,
    has_bottom_order: bool,
    /// Active entries of the two reference lists, where a slice states no others.
    references: [u32; 2],
    has_weights: bool,
    has_filter: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SliceKind {
    P,
    B,
    I,
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
            && sps.is_progressive
            && sps.is_four_two_zero
            && !(has_slice_groups || has_explicit_weights || has_redundant_pictures);
        is_read.then_some(Self {
            picture_set,
            frame_number_bits: sps.frame_number_bits,
            picture_order_bits: sps.picture_order_bits?,
            is_cabac: cabac,
            has_bottom_order,
            references,
            has_weights,
            has_filter,
        })
    }

    /// Where `disable_deblocking_filter_idc` begins in the header of a slice, if it and the offsets after it are zero: three bits, all of them ones.
    /// `None` for other values, for a slice that refers to another picture parameter set, and for what is no header.
    fn plain_filter(&self, nal_header: u8, rbsp: &[u8]) -> Option<usize> {
        let is_idr = match nal_header & 0x1f {
            NAL_SLICE => false,
            NAL_IDR => true,
            _ => return None,
        };
        let mut r = BitReader::new(rbsp);
        r.unsigned()?; // first_mb_in_slice
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
        for _list in 0..lists {
            if r.bit()? {
                skip_list_modification(&mut r)?;
            }
        }
        if kind == SliceKind::P && self.has_weights {
            skip_weights(&mut r, references[0])?;
        }
        if nal_header >> 5 & 3 != 0 {
            skip_reference_marking(&mut r, is_idr)?;
        }
        if self.is_cabac && kind != SliceKind::I {
            r.unsigned()?; // cabac_init_idc
        }
        r.signed()?; // slice_qp_delta
        let position = r.position();
        // disable_deblocking_filter_idc, slice_alpha_c0_offset_div2, slice_beta_offset_div2
        let is_plain = self.has_filter && r.bits(3)? == 0b111;
        is_plain.then_some(position)
    }

    /// Turns off the deblocking filter of a slice. Returns whether it is off now.
    ///
    /// The filter's two offsets are stated only where it is on. If all three numbers are zero, `disable_deblocking_filter_idc` 1 has as many bits as
    /// they have, so that nothing after it moves. Other slices stay as they are.
    pub(super) fn turn_off_filter(&self, unit: &mut [u8]) -> bool {
        self.try_turn_off_filter(unit).is_some()
    }

    fn try_turn_off_filter(&self, unit: &mut [u8]) -> Option<()> {
        let (&mut nal_header, payload) = unit.split_first_mut()?;
        let beginning = &payload[..payload.len().min(MAX_HEADER_LEN)];
        let filter = self.plain_filter(nal_header, &unescape(beginning))?;
        // ue(1) is 010.
        let mut changed = [(0, 0); 2];
        for (change, bit) in changed.iter_mut().zip([filter, filter + 2]) {
            *change = (unescaped_position(beginning, bit / 8)?, 0x80 >> (bit % 8));
        }
        for (position, mask) in changed {
            payload[position] &= !mask;
        }
        // Bytes up to three may need stuffing in front of them.
        if changed.iter().any(|(position, _)| payload[*position] <= 3) {
            for (position, mask) in changed {
                payload[position] |= mask;
            }
            return None;
        }
        Some(())
    }
}

/// `ref_pic_list_modification` of one list, after its flag.
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
#[path = "slice_header_tests.rs"]
mod tests;
