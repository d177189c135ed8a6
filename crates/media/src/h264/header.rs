//! Rewriting of the encoder's headers, so that all clips of one spec share their parameter sets.
//!
//! The encoder writes its quantiser into the picture parameter set, and no color at all into the sequence parameter set. Both
//! are put right here: the quantiser moves into each slice header, where it may differ from group to group while
//! the parameter sets of a [`crate::ClipSpec`] stay the same bytes; color, rate and reorder depth go into the VUI.
//! Only what the encoder writes is understood (one slice a picture, progressive, no reordering).

use super::bits::{BitReader, BitWriter, escape_into, unescape};
use crate::FrameRate;

/// The quantiser that the written picture parameter set names.
pub(super) const INITIAL_QP: i32 = 26;

pub(super) const NAL_SLICE: u8 = 1;
pub(super) const NAL_IDR: u8 = 5;
pub(super) const NAL_SPS: u8 = 7;
pub(super) const NAL_PPS: u8 = 8;

/// The color that a sequence parameter set names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VideoSignal {
    pub(crate) is_full_range: bool,
    /// Color primaries, transfer characteristics and matrix, as code points (ISO/IEC 23001-8).
    pub(crate) color: Option<[u8; 3]>,
}

impl VideoSignal {
    /// BT.709 in broadcast range.
    pub(crate) const WRITTEN: Self = Self { is_full_range: false, color: Some([1, 1, 1]) };
}

/// The numbers of parameter sets, which slices and picture parameter sets refer to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParameterSetIds {
    pub(crate) sequence: u32,
    pub(crate) picture: u32,
}

/// Reference pictures that the encoder uses and decoders keep.
pub(super) const REFERENCE_FRAMES: u32 = 1;

/// The same sequence parameter set with another number and a VUI: square pixels, this color, chroma sited in the middle, this frame rate,
/// no reordering. `None` when the set already has one.
pub(super) fn with_vui(
    sps: &[u8],
    ids: ParameterSetIds,
    signal: VideoSignal,
    rate: FrameRate,
) -> Option<Vec<u8>> {
    let (&header, payload) = sps.split_first()?;
    let rbsp = unescape(payload);
    let stop = rbsp.iter().rposition(|&byte| byte != 0)?;
    let stop_bit = stop * 8 + 7 - rbsp[stop].trailing_zeros() as usize;
    let flag = stop_bit.checked_sub(1)?;
    if rbsp[flag / 8] >> (7 - flag % 8) & 1 == 1 {
        return None;
    }
    let mut out = BitWriter::default();
    // Profile, constraints and level lie in front of the number.
    out.copy(&rbsp, 24);
    out.unsigned(ids.sequence);
    let mut reader = BitReader::new(&rbsp);
    reader.bits(24)?;
    reader.unsigned()?;
    out.copy_range(&rbsp, reader.position(), flag);
    out.bit(true); // vui_parameters_present_flag
    out.bit(true); // aspect_ratio_info_present_flag
    out.bits(1, 8); // 1:1
    out.bit(false); // overscan_info_present_flag
    out.bit(true); // video_signal_type_present_flag
    out.bits(5, 3); // video_format: unspecified
    out.bit(signal.is_full_range); // video_full_range_flag
    out.bit(signal.color.is_some()); // color_description_present_flag
    for code_point in signal.color.iter().flatten() {
        out.bits(u32::from(*code_point), 8);
    }
    out.bit(true); // chroma_loc_info_present_flag
    out.unsigned(1); // both fields: centre
    out.unsigned(1);
    out.bit(true); // timing_info_present_flag
    out.bits(rate.denominator(), 32);
    out.bits(rate.numerator().saturating_mul(2), 32);
    out.bit(true); // fixed_frame_rate_flag
    out.bit(false); // nal_hrd_parameters_present_flag
    out.bit(false); // vcl_hrd_parameters_present_flag
    out.bit(false); // pic_struct_present_flag
    out.bit(true); // bitstream_restriction_flag
    out.bit(true); // motion_vectors_over_pic_boundaries_flag
    out.unsigned(0); // max_bytes_per_pic_denom: unlimited
    out.unsigned(0); // max_bits_per_mb_denom: unlimited
    out.unsigned(15); // log2_max_mv_length_horizontal
    out.unsigned(15); // log2_max_mv_length_vertical
    out.unsigned(0); // max_num_reorder_frames
    out.unsigned(REFERENCE_FRAMES); // max_dec_frame_buffering
    let mut unit = vec![header];
    escape_into(&out.trailing(), &mut unit);
    Some(unit)
}

/// The same picture parameter set with other numbers, naming [`INITIAL_QP`]. `None` for one that the encoder does not write.
pub(super) fn with_initial_qp(pps: &[u8], ids: ParameterSetIds) -> Option<Vec<u8>> {
    let (&header, payload) = pps.split_first()?;
    let rbsp = unescape(payload);
    let stop = rbsp.iter().rposition(|&byte| byte != 0)?;
    let stop_bit = stop * 8 + 7 - rbsp[stop].trailing_zeros() as usize;
    let mut reader = BitReader::new(&rbsp);
    for _ids in 0..2 {
        reader.unsigned()?;
    }
    let mut out = BitWriter::default();
    out.unsigned(ids.picture);
    out.unsigned(ids.sequence);
    let start = reader.position();
    reader.bits(2)?; // entropy_coding_mode_flag, bottom_field_pic_order_in_frame_present_flag
    if reader.unsigned()? != 0 {
        return None; // slice groups
    }
    for _reference_counts in 0..2 {
        reader.unsigned()?;
    }
    if !reader.bit()? {
        return None; // weighted_pred_flag: the slices that are written here expect it
    }
    reader.bits(2)?; // weighted_bipred_idc
    out.copy_range(&rbsp, start, reader.position());
    reader.signed()?; // pic_init_qp_minus26
    out.signed(0);
    out.copy_range(&rbsp, reader.position(), stop_bit);
    let mut unit = vec![header];
    escape_into(&out.trailing(), &mut unit);
    Some(unit)
}

/// The parameters of the stream that a slice header depends on.
pub(super) struct SliceContext {
    /// The quantiser that the encoder's own picture parameter set names.
    pub(super) coded_initial_qp: i32,
    pub(super) has_weighted_prediction: bool,
    pub(super) is_cabac: bool,
    /// The number of the picture parameter set that the slice names.
    pub(super) picture_set: u32,
    /// Told apart in neighbouring IDR pictures, as the standard demands.
    pub(super) idr_picture_id: u32,
    /// `pic_order_cnt_lsb`: twice the picture's place in its group, modulo 256.
    pub(super) picture_order: u32,
}

/// Appends the slice to `out`, its quantiser now relative to [`INITIAL_QP`]. `None` for a slice that the encoder does not write.
pub(super) fn rewrite_slice(slice: &[u8], context: &SliceContext, out: &mut Vec<u8>) -> Option<()> {
    let (&header, payload) = slice.split_first()?;
    let idr = header & 0x1f == NAL_IDR;
    let rbsp = unescape(payload);
    let mut reader = BitReader::new(&rbsp);
    let mut writer = BitWriter::default();
    for _first_macroblock_and_type in 0..2 {
        writer.unsigned(reader.unsigned()?);
    }
    reader.unsigned()?;
    writer.unsigned(context.picture_set);
    let frame_number = reader.bits(4)?;
    writer.bits(frame_number, 4); // frame_num
    if idr {
        reader.unsigned()?;
        writer.unsigned(context.idr_picture_id);
    }
    reader.bits(8)?;
    writer.bits(context.picture_order, 8); // pic_order_cnt_lsb
    if idr {
        writer.bits(reader.bits(2)?, 2); // no_output_of_prior_pics_flag, long_term_reference_flag
    } else {
        let mut references = 1;
        let overridden = reader.bit()?;
        writer.bit(overridden);
        if overridden {
            references = reader.unsigned()? + 1;
            writer.unsigned(references - 1);
        }
        if reader.bit()? {
            return None; // reference list modification
        }
        writer.bit(false);
        if context.has_weighted_prediction {
            copy_weights(&mut reader, &mut writer, references)?;
        }
        if reader.bit()? {
            return None; // adaptive reference marking
        }
        writer.bit(false);
        if context.is_cabac {
            writer.unsigned(reader.unsigned()?); // cabac_init_idc
        }
    }
    writer.signed(reader.signed()? + context.coded_initial_qp - INITIAL_QP); // slice_qp_delta
    let filter = reader.unsigned()?;
    writer.unsigned(filter); // disable_deblocking_filter_idc
    if filter != 1 {
        writer.signed(reader.signed()?); // slice_alpha_c0_offset_div2
        writer.signed(reader.signed()?); // slice_beta_offset_div2
    }
    out.push(header);
    if context.is_cabac {
        // Its payload begins on a whole byte, in front of it there are ones.
        writer.align(true);
        let mut rewritten = writer.into_bytes();
        rewritten.extend_from_slice(rbsp.get(reader.position().div_ceil(8)..)?);
        escape_into(&rewritten, out);
    } else {
        let stop = rbsp.iter().rposition(|&byte| byte != 0)?;
        let end = stop * 8 + 8 - rbsp[stop].trailing_zeros() as usize;
        writer.copy_range(&rbsp, reader.position(), end);
        writer.align(false);
        escape_into(&writer.into_bytes(), out);
    }
    Some(())
}

/// `pred_weight_table` of a P slice.
fn copy_weights(reader: &mut BitReader<'_>, writer: &mut BitWriter, references: u32) -> Option<()> {
    for _luma_and_chroma_denominator in 0..2 {
        writer.unsigned(reader.unsigned()?);
    }
    for _reference in 0..references.min(32) {
        for numbers in [2, 4] {
            let weighted = reader.bit()?;
            writer.bit(weighted);
            for _ in 0..if weighted { numbers } else { 0 } {
                writer.signed(reader.signed()?);
            }
        }
    }
    Some(())
}
