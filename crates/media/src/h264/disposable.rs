//! Pictures to which no other refers (`nal_ref_idc` 0, H.264 7.4.1): decoders may leave them out, and those whose macroblocks are all skipped
//! hold nothing that could be damaged.

use super::bits::{BitReader, unescape};
use super::header::NAL_SLICE;
use super::parameters::Sps;

/// Supplemental information, an access unit delimiter and filler data: decoders pass over them.
const NO_PICTURE: [u8; 3] = [6, 9, 12];

/// Whether a sample is a picture to which no other refers.
pub(super) fn is_disposable<'a>(units: impl Iterator<Item = &'a [u8]>) -> bool {
    let mut has_picture = false;
    for unit in units {
        match unit.first() {
            Some(&NAL_SLICE) => has_picture = true,
            Some(header) if NO_PICTURE.contains(header) => {}
            _ => return false,
        }
    }
    has_picture
}

/// Recognizes B pictures in which every macroblock is skipped, coded with CAVLC: a header and a number in each slice.
#[derive(Clone, Debug)]
pub(super) struct SkippedPictures {
    picture_set: u32,
    frame_number_bits: u32,
    picture_order_bits: u32,
    macroblocks: u64,
    has_bottom_order: bool,
    has_filter: bool,
}

impl SkippedPictures {
    /// For a stream with these parameter sets; `None` where its headers are of a kind that is not read here.
    pub(super) fn new(sps: &Sps, pps: &[u8]) -> Option<Self> {
        let rbsp = unescape(pps.get(1..)?);
        let mut r = BitReader::new(&rbsp);
        let picture_set = r.unsigned()?;
        let is_of_sequence = r.unsigned()? == sps.id;
        let cabac = r.bit()?;
        let has_bottom_order = r.bit()?;
        let has_slice_groups = r.unsigned()? != 0;
        r.unsigned()?; // num_ref_idx_l0_default_active_minus1
        r.unsigned()?; // num_ref_idx_l1_default_active_minus1
        r.bit()?; // weighted_pred_flag
        let has_explicit_weights = r.bits(2)? == 1;
        r.signed()?; // pic_init_qp_minus26
        r.signed()?; // pic_init_qs_minus26
        r.signed()?; // chroma_qp_index_offset
        let has_filter = r.bit()?;
        r.bit()?; // constrained_intra_pred_flag
        let has_redundant_pictures = r.bit()?;
        let is_read = is_of_sequence
            && sps.progressive
            && !(cabac || has_slice_groups || has_explicit_weights || has_redundant_pictures);
        is_read.then_some(Self {
            picture_set,
            frame_number_bits: sps.frame_number_bits,
            picture_order_bits: sps.picture_order_bits?,
            macroblocks: sps.macroblocks,
            has_bottom_order,
            has_filter,
        })
    }

    /// Whether a sample is such a picture, whole.
    pub(super) fn recognize<'a>(&self, units: impl Iterator<Item = &'a [u8]>) -> bool {
        let mut covered = 0;
        for unit in units {
            match self.skipped_in(unit) {
                Some((first, count)) if first == covered => covered += count,
                _ => return false,
            }
        }
        covered == self.macroblocks
    }

    /// The first macroblock of a slice, and how many it skips; `None` for one that holds anything else.
    fn skipped_in(&self, unit: &[u8]) -> Option<(u64, u64)> {
        let (&NAL_SLICE, payload) = unit.split_first()? else { return None };
        let rbsp = unescape(payload);
        let mut r = BitReader::new(&rbsp);
        let first = r.unsigned()?; // first_mb_in_slice
        let is_b = matches!(r.unsigned()?, 1 | 6); // slice_type
        if !is_b || r.unsigned()? != self.picture_set {
            return None;
        }
        r.bits(self.frame_number_bits)?; // frame_num
        r.bits(self.picture_order_bits)?; // pic_order_cnt_lsb
        if self.has_bottom_order {
            r.signed()?; // delta_pic_order_cnt_bottom
        }
        r.bit()?; // direct_spatial_mv_pred_flag
        if r.bit()? {
            r.unsigned()?; // num_ref_idx_l0_active_minus1
            r.unsigned()?; // num_ref_idx_l1_active_minus1
        }
        if r.bits(2)? != 0 {
            return None; // reference list modification
        }
        r.signed()?; // slice_qp_delta
        if self.has_filter && r.unsigned()? != 1 {
            r.signed()?; // slice_alpha_c0_offset_div2
            r.signed()?; // slice_beta_offset_div2
        }
        let count = r.unsigned()?; // mb_skip_run
        // rbsp_trailing_bits, and nothing behind them.
        let ends = r.bit()? && r.position().div_ceil(8) == rbsp.len();
        while !r.position().is_multiple_of(8) {
            if r.bit()? {
                return None;
            }
        }
        ends.then_some((u64::from(first), u64::from(count)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::tests::{spec, stripes};
    use super::super::encode::{CodedPicture, Effort, StreamSpec, VideoEncoder};
    use super::*;

    /// Stripes that move, every fourth picture coded; and the recognizer of their stream.
    fn stream(effort: Effort) -> (Vec<CodedPicture>, Option<SkippedPictures>) {
        let mut encoder = VideoEncoder::new(StreamSpec { effort, ..spec() }).unwrap();
        let mut pictures = vec![encoder.encode(&stripes(0)).unwrap()];
        for phase in 1..6 {
            pictures.extend(encoder.encode_after(&stripes(phase), 3).unwrap());
        }
        let sets = encoder.parameter_sets().unwrap();
        let recognizer = SkippedPictures::new(&Sps::parse(&sets.sps).unwrap(), &sets.pps);
        (pictures, recognizer)
    }

    /// The one unit of a picture.
    fn unit(picture: &CodedPicture) -> &[u8] {
        &picture.bytes[4..]
    }

    #[test]
    fn interpolated_pictures_are_recognized_and_no_others() {
        let (pictures, recognizer) = stream(Effort::Draft);
        let recognizer = recognizer.expect("it is coded with CAVLC");
        let skipped = |unit| recognizer.recognize(std::iter::once(unit));
        assert_eq!(pictures.iter().filter(|picture| picture.delay == 0).count(), 15);
        for picture in &pictures {
            assert_eq!(skipped(unit(picture)), picture.delay == 0);
            assert_eq!(is_disposable(std::iter::once(unit(picture))), picture.delay == 0);
        }
        let interpolated = unit(pictures.iter().find(|picture| picture.delay == 0).unwrap());
        for length in 0..interpolated.len() {
            assert!(!skipped(&interpolated[..length]), "the first {length} bytes");
        }
        assert!(!skipped(&[interpolated, &[0x80]].concat()));
        assert!(!recognizer.recognize([interpolated; 2].into_iter()), "twice the macroblocks");
        assert!(!recognizer.recognize(std::iter::empty()) && !is_disposable(std::iter::empty()));
    }

    #[test]
    fn arithmetic_coding_is_not_read() {
        let (pictures, recognizer) = stream(Effort::Full);
        assert!(recognizer.is_none());
        assert!(
            pictures
                .iter()
                .all(|picture| is_disposable(std::iter::once(unit(picture))) == (picture.delay == 0))
        );
    }
}
