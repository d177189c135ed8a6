//! Broken and malicious files end in an error, in bounded time and memory, never in a panic.

use media::{MediaError, decode_image, first_frame_bytes, last_frame_bytes, probe_bytes};
use proptest::prelude::*;

use crate::fixtures::{PLAIN, Recipe};

/// Every operation on files from elsewhere.
fn run_every_parser(bytes: &[u8]) {
    let probed = probe_bytes(bytes);
    let first = first_frame_bytes(bytes);
    let last = last_frame_bytes(bytes);
    if let Ok(probe) = &probed {
        assert!(probe.video.is_some() || probe.audio.is_some());
    }
    for image in [first, last].into_iter().flatten() {
        assert_eq!(image.pixels().len(), image.width() as usize * image.height() as usize * 3);
    }
}

fn clip() -> &'static [u8] {
    static CLIP: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    CLIP.get_or_init(|| Recipe { size: (64, 48), frames: 6, sound: Some((16_000, 1)), ..PLAIN }.make())
}

/// Where boxes begin: their sizes are the numbers that matter most.
fn box_starts(file: &[u8]) -> Vec<usize> {
    (4..file.len() - 4)
        .filter(|&position| {
            file[position..position + 4]
                .iter()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'C')
        })
        .map(|position| position - 4)
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn truncated_file_does_not_panic(length in 0..clip().len()) {
        let cut = &clip()[..length];
        run_every_parser(cut);
        prop_assert!(last_frame_bytes(cut).is_err(), "a file without its end has no last frame");
    }

    #[test]
    fn flipped_bits_do_not_panic(flips in prop::collection::vec((0..clip().len(), 0..8u8), 1..12)) {
        let mut bytes = clip().to_vec();
        for (position, bit) in flips {
            bytes[position] ^= 1 << bit;
        }
        run_every_parser(&bytes);
    }

    #[test]
    fn wrong_box_size_does_not_panic(which in any::<prop::sample::Index>(), size in prop_oneof![0..64u32, any::<u32>()]) {
        let starts = box_starts(clip());
        let position = starts[which.index(starts.len())];
        let mut bytes = clip().to_vec();
        bytes[position..position + 4].copy_from_slice(&size.to_be_bytes());
        run_every_parser(&bytes);
    }

    #[test]
    fn decode_image_random_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..400), head in 0..3usize) {
        let heads: [&[u8]; 3] = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\xd8\xff\xe0", b"RIFF\0\0\0\0WEBPVP8 "];
        let file = [heads[head], &bytes].concat();
        prop_assert!(decode_image(&file).is_err());
    }
}

#[test]
fn probe_other_content_is_named() {
    let reason_for = |bytes: &[u8]| match probe_bytes(bytes) {
        Err(MediaError::NotMedia(reason)) => reason,
        other => panic!("expected a refusal, got {other:?}"),
    };
    assert_eq!(reason_for(b""), "it is empty");
    assert_eq!(reason_for(b"short"), "it is too short to be a video");
    for (file, expected) in [
        (&b"<!doctype html><title>502</title>"[..], "it looks like a web page or XML"),
        (br#"{"error":{"message":"expired"}}"#, "it looks like JSON"),
        (b"RIFF\0\0\0\0AVI LIST", "it looks like an AVI video"),
        (b"RIFF\0\0\0\0WAVEfmt ", "it looks like WAV audio"),
        (b"OggS\0\x02\0\0\0\0", "it looks like Ogg audio"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "it looks like a PNG image"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "it looks like a JPEG image"),
        (b"Good morning", "it does not begin like an MP4 file"),
    ] {
        assert_eq!(reason_for(file), expected);
    }
    let mut stream = vec![0; 1880];
    stream.iter_mut().step_by(188).for_each(|sync| *sync = 0x47);
    assert_eq!(reason_for(&stream), "it looks like an MPEG transport stream");
}

#[test]
fn probe_truncated_file_is_called_incomplete() {
    let clip = clip();
    let error = probe_bytes(&clip[..clip.len() - 10]).unwrap_err().to_string();
    assert!(error.contains("incomplete"), "{error}");
}
