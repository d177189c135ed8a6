//! Tests of the H.264 encoder.

use rusty_h264::Decoder;

use super::*;

pub(in crate::h264) fn spec() -> StreamSpec {
    StreamSpec {
        width: 160,
        height: 96,
        rate: FrameRate::CINEMA,
        bits_per_second: 6_000_000,
        ids: ParameterSetIds::default(),
        signal: VideoSignal::WRITTEN,
        effort: Effort::Full,
    }
}

pub(in crate::h264) fn stripes(phase: usize) -> YuvFrame {
    let mut frame = YuvFrame::black(160, 96);
    for (i, y) in frame.y.iter_mut().enumerate() {
        *y = 60 + ((i % 160 * 3 + i / 160 * 5 + phase * 7) % 120) as u8;
    }
    frame
}

/// Decodes pictures as a player does, one after the other.
fn decode(sets: &ParameterSets, pictures: &[CodedPicture]) -> Vec<YuvFrame> {
    let mut decoder = Decoder::new();
    let unit = |bytes: &[u8]| [&[0, 0, 0, 1], bytes].concat();
    decoder.decode(&[unit(&sets.sps), unit(&sets.pps)].concat()).expect("the sets are in order");
    pictures
        .iter()
        .map(|picture| {
            let mut stream = Vec::new();
            let mut rest = picture.bytes.as_slice();
            while let Some((length, tail)) = rest.split_first_chunk::<4>() {
                let (slice, tail) = tail.split_at(u32::from_be_bytes(*length) as usize);
                stream.extend(unit(slice));
                rest = tail;
            }
            let decoded = decoder.decode(&stream).expect("the picture is in order");
            decoded.expect("there is a picture")
        })
        .collect()
}

#[test]
fn repeated_pictures_decode_to_the_same_pixels() {
    let mut encoder = VideoEncoder::new(spec()).expect("the spec is supported");
    let mut pictures = Vec::new();
    // More reference pictures than `frame_num` counts, and more repetitions than `pic_order_cnt_lsb` does.
    for phase in 0..20 {
        pictures.push(encoder.encode(&stripes(phase)).expect("it encodes"));
        for _ in 0..7 {
            pictures.push(encoder.repeat());
        }
    }
    let decoded = decode(&encoder.parameter_sets().expect("they are written"), &pictures);
    for group in decoded.chunks(8) {
        assert!(group.iter().all(|picture| picture.y == group[0].y && picture.u == group[0].u));
    }
    assert!(decoded[8].y != decoded[0].y);
    let repetitions = pictures.iter().enumerate().filter(|(index, _)| index % 8 != 0);
    assert!(repetitions.map(|(_, picture)| picture.bytes.len()).max() < Some(64));
}

/// Waves that move by two pixels in each phase.
fn moving(phase: usize) -> YuvFrame {
    let mut frame = YuvFrame::black(160, 96);
    for (i, y) in frame.y.iter_mut().enumerate() {
        let (x, row) = ((i % 160 + 400 - phase * 2) as f32, (i / 160) as f32);
        *y = (128.0 + 45.0 * (x / 9.0 + row / 23.0).sin() + 45.0 * (row / 7.0 - x / 31.0).sin()) as u8;
    }
    frame
}

#[test]
fn interpolated_pictures_lie_on_the_way_between_their_neighbours() {
    for effort in [Effort::Full, Effort::Draft] {
        let mut encoder = VideoEncoder::new(StreamSpec { effort, ..spec() }).expect("the spec is supported");
        let mut pictures = vec![encoder.encode(&moving(0)).expect("it encodes")];
        // More pictures than `frame_num` and `pic_order_cnt_lsb` count, without a group's end.
        for phase in (4..46).step_by(4) {
            pictures.extend(encoder.encode_after(&moving(phase), 3).expect("it encodes"));
        }
        let decoded = decode(&encoder.parameter_sets().expect("they are written"), &pictures);
        // Pictures by when they are shown, as MP4 states it.
        let mut shown: Vec<(usize, &YuvFrame)> = decoded
            .iter()
            .enumerate()
            .map(|(position, frame)| (position + pictures[position].delay as usize, frame))
            .collect();
        shown.sort_by_key(|(position, _)| *position);
        for (number, (position, frame)) in shown.iter().enumerate() {
            assert_eq!(*position, number + 1);
            let mean_difference = |phase: usize| {
                let expected = moving(phase);
                let (width, from, to) = (160, 32, 128);
                let rows = frame.y.chunks(width).zip(expected.y.chunks(width));
                let pairs = rows.flat_map(|(a, b)| a[from..to].iter().zip(&b[from..to]));
                pairs.map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / (96.0 * (to - from) as f64)
            };
            assert!(mean_difference(number) < 8.0, "{effort:?} {number}: {:.1}", mean_difference(number));
            assert!(mean_difference(number) * 2.0 < mean_difference(number + 1), "{effort:?} {number}");
        }
        let coded = pictures.iter().filter(|picture| picture.delay == 0);
        assert!(coded.clone().count() == 33 && coded.map(|picture| picture.bytes.len()).max() < Some(300));
    }
}

#[test]
fn pictures_before_a_new_group_are_repeated() {
    let mut encoder = VideoEncoder::new(spec()).expect("the spec is supported");
    encoder.encode(&stripes(0)).expect("it encodes");
    encoder.cut().expect("it cuts");
    let pictures = encoder.encode_after(&stripes(1), 2).expect("it encodes");
    assert!(pictures.iter().map(|picture| (picture.is_sync, picture.delay)).eq([
        (false, 1),
        (false, 1),
        (true, 1)
    ]));
}

#[test]
fn repetitions_do_not_change_other_pictures() {
    let encode = |repeat: bool| {
        let mut encoder = VideoEncoder::new(spec()).expect("the spec is supported");
        let mut pictures = Vec::new();
        for phase in 0..6 {
            pictures.push(encoder.encode(&stripes(phase)).expect("it encodes"));
            if repeat {
                encoder.repeat();
            }
        }
        decode(&encoder.parameter_sets().expect("they are written"), &pictures)
    };
    let (plain, spaced) = (encode(false), encode(true));
    assert!(plain.iter().zip(&spaced).all(|(a, b)| a.y == b.y));
}
