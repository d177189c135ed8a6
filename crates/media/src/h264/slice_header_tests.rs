//! Tests of reading and writing slice headers.

use super::super::bits::{BitWriter, escape_into};
use super::super::encode::tests::{spec, stripes};
use super::super::encode::{CodedPicture, Effort, StreamSpec, VideoEncoder};
use super::*;

/// Stripes that move, and the reader of their headers.
fn stream(effort: Effort) -> (Vec<CodedPicture>, SliceHeaders) {
    let mut encoder = VideoEncoder::new(StreamSpec { effort, ..spec() }).unwrap();
    let pictures = (0..6).map(|phase| encoder.encode(&stripes(phase)).unwrap()).collect();
    let sets = encoder.parameter_sets().unwrap();
    let headers = SliceHeaders::new(&Sps::parse(&sets.sps).unwrap(), &sets.pps).unwrap();
    (pictures, headers)
}

#[test]
fn filter_of_coded_pictures_is_turned_off_in_place() {
    for effort in [Effort::Draft, Effort::Full] {
        let (pictures, headers) = stream(effort);
        for picture in &pictures {
            let before = picture.bytes[4..].to_vec();
            let mut after = before.clone();
            assert!(headers.turn_off_filter(&mut after), "{effort:?}");
            assert_eq!(headers.plain_filter(after[0], &unescape(&after[1..])), None);
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
        is_cabac: true,
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
    assert_eq!(headers.plain_filter(unit[0], &rbsp), Some(104));
    for length in 0..=104 / 8 {
        assert_eq!(headers.plain_filter(unit[0], &rbsp[..length]), None, "the first {length} bytes");
    }
    let other_set = SliceHeaders { picture_set: 2, ..headers };
    assert_eq!(other_set.plain_filter(unit[0], &rbsp), None);
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
