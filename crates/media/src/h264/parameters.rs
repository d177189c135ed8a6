//! Reading of a sequence parameter set: picture size and format, and whether it can be decoded here.

use super::bits::{BitReader, unescape};

/// The decoded fields of a sequence parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sps {
    pub(crate) profile: u8,
    /// Cropped, as shown.
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) is_four_two_zero: bool,
    pub(crate) has_eight_bits: bool,
    pub(crate) is_progressive: bool,
    /// Color primaries, transfer characteristics and matrix, as code points (ISO/IEC 23001-8).
    pub(crate) color: Option<[u8; 3]>,
    pub(crate) full_range: Option<bool>,
    /// Width and height of a pixel, where they are stated.
    pub(crate) pixel_aspect: Option<(u32, u32)>,
    /// Its own number, which picture parameter sets refer to.
    pub(crate) id: u32,
    /// Bits of `frame_num` in slice headers.
    pub(crate) frame_number_bits: u32,
    /// Bits of `pic_order_cnt_lsb` in slice headers; `None` where the order is not stated that way.
    pub(crate) picture_order_bits: Option<u32>,
}

impl Sps {
    /// From a NAL unit with its header byte; `None` when it ends early or its numbers cannot be.
    pub(crate) fn parse(unit: &[u8]) -> Option<Self> {
        let rbsp = unescape(unit.get(1..)?);
        let mut r = BitReader::new(&rbsp);
        let profile = r.bits(8)? as u8;
        r.bits(16)?; // constraints, level
        let id = r.unsigned()?;
        let mut chroma = 1;
        let mut eight_bits = true;
        if matches!(profile, 44 | 83 | 86 | 100 | 110 | 118 | 122 | 128 | 134 | 135 | 138 | 139 | 244) {
            chroma = r.unsigned()?;
            if chroma == 3 {
                r.bit()?; // separate_colour_plane_flag
            }
            eight_bits = r.unsigned()? == 0;
            eight_bits &= r.unsigned()? == 0;
            r.bit()?; // qpprime_y_zero_transform_bypass_flag
            if r.bit()? {
                for list in 0..if chroma == 3 { 12 } else { 8 } {
                    if r.bit()? {
                        skip_scaling_list(&mut r, if list < 6 { 16 } else { 64 })?;
                    }
                }
            }
        }
        let frame_number_bits = r.unsigned()?.checked_add(4)?; // log2_max_frame_num_minus4
        let mut picture_order_bits = None;
        match r.unsigned()? {
            0 => picture_order_bits = r.unsigned()?.checked_add(4), // log2_max_pic_order_cnt_lsb_minus4
            1 => {
                r.bit()?;
                r.signed()?;
                r.signed()?;
                let cycle = r.unsigned()?;
                for _ in 0..cycle.min(256) {
                    r.signed()?;
                }
            }
            _ => {}
        }
        r.unsigned()?; // max_num_ref_frames
        r.bit()?; // gaps_in_frame_num_value_allowed_flag
        let columns = u64::from(r.unsigned()?) + 1;
        let rows = u64::from(r.unsigned()?) + 1;
        let progressive = r.bit()?;
        if !progressive {
            r.bit()?; // mb_adaptive_frame_field_flag
        }
        r.bit()?; // direct_8x8_inference_flag
        let mut crop = [0u64; 4];
        if r.bit()? {
            for side in &mut crop {
                *side = u64::from(r.unsigned()?);
            }
        }
        let unit_x = if matches!(chroma, 1 | 2) { 2 } else { 1 };
        let unit_y = if chroma == 1 { 2 } else { 1 } * if progressive { 1 } else { 2 };
        let coded_height = rows * 16 * if progressive { 1 } else { 2 };
        let width = (columns * 16).checked_sub((crop[0] + crop[1]) * unit_x)?;
        let height = coded_height.checked_sub((crop[2] + crop[3]) * unit_y)?;
        // The VUI is a courtesy: a set that ends within it is still a set.
        let has_vui = r.bit() == Some(true);
        let pixel_aspect = if has_vui { pixel_aspect_of(&mut r) } else { None };
        let (color, full_range) = if has_vui { color_of(&mut r).unwrap_or_default() } else { (None, None) };
        Some(Self {
            profile,
            width: u32::try_from(width).ok().filter(|&w| w > 0)?,
            height: u32::try_from(height).ok().filter(|&h| h > 0)?,
            is_four_two_zero: chroma == 1,
            has_eight_bits: eight_bits,
            is_progressive: progressive,
            color,
            full_range,
            pixel_aspect,
            id,
            frame_number_bits,
            picture_order_bits,
        })
    }

    pub(crate) fn profile_name(&self) -> String {
        match self.profile {
            66 => "Baseline".to_owned(),
            77 => "Main".to_owned(),
            88 => "Extended".to_owned(),
            100 => "High".to_owned(),
            110 => "High 10".to_owned(),
            122 => "High 4:2:2".to_owned(),
            244 => "High 4:4:4 Predictive".to_owned(),
            other => format!("profile {other}"),
        }
    }
}

/// The pixel aspect ratio from the front of a VUI (ITU-T H.264, table E-1); zeros where it is not stated.
fn pixel_aspect_of(r: &mut BitReader<'_>) -> Option<(u32, u32)> {
    const RATIOS: [(u32, u32); 16] = [
        (1, 1),
        (12, 11),
        (10, 11),
        (16, 11),
        (40, 33),
        (24, 11),
        (20, 11),
        (32, 11),
        (80, 33),
        (18, 11),
        (15, 11),
        (64, 33),
        (160, 99),
        (4, 3),
        (3, 2),
        (2, 1),
    ];
    if !r.bit()? {
        return Some((0, 0));
    }
    Some(match r.bits(8)? {
        255 => (r.bits(16)?, r.bits(16)?),
        number => {
            (number as usize).checked_sub(1).and_then(|index| RATIOS.get(index).copied()).unwrap_or_default()
        }
    })
}

/// The color and the range from a VUI, after the pixel aspect ratio.
fn color_of(r: &mut BitReader<'_>) -> Option<(Option<[u8; 3]>, Option<bool>)> {
    if r.bit()? {
        r.bit()?; // overscan
    }
    if !r.bit()? {
        return Some((None, None));
    }
    r.bits(3)?; // video_format
    let full_range = r.bit()?;
    let mut color = None;
    if r.bit()? {
        color = Some([r.bits(8)? as u8, r.bits(8)? as u8, r.bits(8)? as u8]);
    }
    Some((color, Some(full_range)))
}

fn skip_scaling_list(r: &mut BitReader<'_>, size: usize) -> Option<()> {
    let mut next = 8;
    for _ in 0..size {
        if next != 0 {
            next = (next + r.signed()?).rem_euclid(256);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::super::bits::{BitWriter, escape_into};
    use super::*;

    /// An interlaced set of as many macroblocks as can be written, cropped to a few pixels.
    #[test]
    fn numbers_at_their_limits_are_refused() {
        let max = u32::MAX - 1;
        let mut out = BitWriter::default();
        out.bits(77, 8); // profile_idc
        out.bits(0, 16); // constraints, level_idc
        for number in [0, 0, 0, 0, 1] {
            out.unsigned(number); // numbers of the set, of frames and of their order; max_num_ref_frames
        }
        out.bit(false); // gaps_in_frame_num_value_allowed_flag
        out.unsigned(max); // pic_width_in_mbs_minus1
        out.unsigned(max); // pic_height_in_map_units_minus1
        out.bits(0, 2); // frame_mbs_only_flag, mb_adaptive_frame_field_flag
        out.bit(false); // direct_8x8_inference_flag
        out.bit(true); // frame_cropping_flag
        for side in [max, max, max, max] {
            out.unsigned(side);
        }
        out.bit(false); // vui_parameters_present_flag
        let mut unit = vec![0x67];
        escape_into(&out.trailing(), &mut unit);
        assert_eq!(Sps::parse(&unit), None);
    }
}
