//! Slices in which every macroblock is skipped (H.264 7.3.4): a picture that repeats the one before, in a few bytes and without any search.

use super::bits::{BitWriter, escape_into};
use super::header::NAL_SLICE;

/// A P slice of skipped macroblocks. It equals the reference picture before it, and no other picture refers to it.
#[derive(Clone, Copy)]
pub(super) struct Repetition {
    /// Arithmetic coding; otherwise CAVLC.
    pub(super) is_cabac: bool,
    /// Those of the picture.
    pub(super) macroblocks: u32,
    /// The number of the picture parameter set.
    pub(super) picture_set: u32,
    /// That of the next picture that others refer to, modulo 16 (7.4.3).
    pub(super) frame_number: u32,
    /// `pic_order_cnt_lsb`.
    pub(super) picture_order: u32,
}

/// `slice_type`: all slices of the picture are P.
const ALL_P: u32 = 5;

/// The context of `mb_skip_flag` where all neighbours are skipped, for `cabac_init_idc` 0 and quantizer 26 (table 9-13): a one is the more
/// probable symbol, with this state.
const SKIP_STATE: usize = 6;

impl Repetition {
    /// The NAL unit. It goes with picture parameter sets that name quantizer 26 and weighted prediction of P slices.
    pub(super) fn unit(&self) -> Vec<u8> {
        let mut out = BitWriter::default();
        out.unsigned(0); // first_mb_in_slice
        out.unsigned(ALL_P);
        out.unsigned(self.picture_set);
        out.bits(self.frame_number, 4);
        out.bits(self.picture_order, 8);
        out.bit(false); // num_ref_idx_active_override_flag
        out.bit(false); // ref_pic_list_modification_flag_l0
        out.unsigned(0); // luma_log2_weight_denom
        out.unsigned(0); // chroma_log2_weight_denom
        out.bits(0, 2); // luma_weight_l0_flag, chroma_weight_l0_flag
        if self.is_cabac {
            out.unsigned(0); // cabac_init_idc
        }
        out.signed(0); // slice_qp_delta
        out.unsigned(1); // disable_deblocking_filter_idc
        let payload = if self.is_cabac {
            out.align(true); // cabac_alignment_one_bit
            let mut coder = Coder::new();
            for macroblock in 1..=self.macroblocks {
                coder.more_probable();
                coder.terminate(macroblock == self.macroblocks);
            }
            coder.finish_into(&mut out);
            out.into_bytes()
        } else {
            out.unsigned(self.macroblocks); // mb_skip_run
            out.trailing()
        };
        // nal_ref_idc is 0: none refers to it.
        let mut unit = vec![NAL_SLICE];
        escape_into(&payload, &mut unit);
        unit
    }
}

/// The arithmetic coder (9.3.4.2) with one context, whose more probable symbol is all that it codes, and the flag that ends a slice.
struct Coder {
    low: u32,
    range: u32,
    state: usize,
    bits: Vec<bool>,
    /// Bits that depend on a carry, and whether the first bit, which is always 0 and not written, is still to come.
    outstanding: u32,
    is_first: bool,
}

impl Coder {
    fn new() -> Self {
        Self { low: 0, range: 510, state: SKIP_STATE, bits: Vec::new(), outstanding: 0, is_first: true }
    }

    fn more_probable(&mut self) {
        let row = LESS_PROBABLE_RANGES[self.state - SKIP_STATE];
        self.range -= u32::from(row[(self.range >> 6 & 3) as usize]);
        self.state = (self.state + 1).min(62);
        self.renormalize();
    }

    fn terminate(&mut self, is_last: bool) {
        self.range -= 2;
        if is_last {
            self.low += self.range;
            self.range = 2;
        }
        self.renormalize();
    }

    fn renormalize(&mut self) {
        while self.range < 256 {
            if self.low < 256 {
                self.write_bit(false);
            } else if self.low >= 512 {
                self.low -= 512;
                self.write_bit(true);
            } else {
                self.low -= 256;
                self.outstanding += 1;
            }
            self.range <<= 1;
            self.low <<= 1;
        }
    }

    fn write_bit(&mut self, bit: bool) {
        if !std::mem::take(&mut self.is_first) {
            self.bits.push(bit);
        }
        let outstanding = std::mem::take(&mut self.outstanding) as usize;
        self.bits.extend(std::iter::repeat_n(!bit, outstanding));
    }

    /// The rest of the code (9.3.4.5), whose last bit is the stop bit of the slice.
    fn finish_into(mut self, out: &mut BitWriter) {
        self.write_bit(self.low >> 9 & 1 == 1);
        self.bits.push(self.low >> 8 & 1 == 1);
        self.bits.push(true);
        self.bits.into_iter().for_each(|bit| out.bit(bit));
        out.align(false);
    }
}

/// `rangeTabLPS` (table 9-44), from [`SKIP_STATE`] on.
#[rustfmt::skip]
const LESS_PROBABLE_RANGES: [[u8; 4]; 57] = [
    [105, 128, 152, 175], [100, 122, 144, 166], [95, 116, 137, 158], [90, 110, 130, 150],
    [85, 104, 123, 142], [81, 99, 117, 135], [77, 94, 111, 128], [73, 89, 105, 122], [69, 85, 100, 116],
    [66, 80, 95, 110], [62, 76, 90, 104], [59, 72, 86, 99], [56, 69, 81, 94], [53, 65, 77, 89],
    [51, 62, 73, 85], [48, 59, 69, 80], [46, 56, 66, 76], [43, 53, 63, 72], [41, 50, 59, 69],
    [39, 48, 56, 65], [37, 45, 54, 62], [35, 43, 51, 59], [33, 41, 48, 56], [32, 39, 46, 53],
    [30, 37, 43, 50], [29, 35, 41, 48], [27, 33, 39, 45], [26, 31, 37, 43], [24, 30, 35, 41],
    [23, 28, 33, 39], [22, 27, 32, 37], [21, 26, 30, 35], [20, 24, 29, 33], [19, 23, 27, 31],
    [18, 22, 26, 30], [17, 21, 25, 28], [16, 20, 23, 27], [15, 19, 22, 25], [14, 18, 21, 24],
    [14, 17, 20, 23], [13, 16, 19, 22], [12, 15, 18, 21], [12, 14, 17, 20], [11, 14, 16, 19],
    [11, 13, 15, 18], [10, 12, 15, 17], [10, 12, 14, 16], [9, 11, 13, 15], [9, 11, 12, 14], [8, 10, 12, 14],
    [8, 9, 11, 13], [7, 9, 11, 12], [7, 9, 10, 12], [7, 8, 10, 11], [6, 8, 9, 11], [6, 7, 9, 10],
    [6, 7, 8, 9],
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_of_large_pictures_are_small() {
        let size = |is_cabac, macroblocks| {
            let (picture_set, frame_number, picture_order) = (0, 3, 8);
            Repetition { is_cabac, macroblocks, picture_set, frame_number, picture_order }.unit().len()
        };
        assert!(size(true, 1) < 16 && size(true, 54 * 30) < 64);
        assert!(size(false, 54 * 30) < 16);
    }
}
