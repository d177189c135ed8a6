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
