//! Written clips have the specified properties.

use std::time::Duration;

use media::{ClipSpec, ClipWriter, FrameRate, MediaError, RgbImage, probe_bytes};

use crate::fixtures::{PLAIN, Recipe, psnr, sample_image, tone};

/// The sample entry of the frames: everything a player needs to set up its decoder.
fn entry(file: &[u8]) -> &[u8] {
    let position = file.windows(4).position(|w| w == b"avc1").expect("an ftyp brand");
    let position =
        position + 4 + file[position + 4..].windows(4).position(|w| w == b"avc1").expect("a sample entry");
    let size = u32::from_be_bytes(file[position - 4..position].try_into().unwrap()) as usize;
    &file[position - 4..position - 4 + size]
}

#[test]
fn probe_of_a_clip_matches_its_spec() {
    let clip = Recipe { frames: 36, sound: Some((48_000, 2)), ..PLAIN }.make();
    let probe = probe_bytes(&clip).unwrap();
    let video = probe.video.unwrap();
    let audio = probe.audio.unwrap();
    assert_eq!((video.codec.as_str(), video.profile.as_deref()), ("H.264", Some("High")));
    assert_eq!((video.width, video.height, video.frames), (160, 96, 36));
    assert_eq!(video.frame_rate, FrameRate::CINEMA);
    assert_eq!(video.duration, Duration::from_millis(1500));
    assert_eq!((audio.codec.as_str(), audio.sample_rate, audio.channels), ("AAC", 48_000, 2));
    assert_eq!(audio.duration, Duration::from_millis(1500));
    assert_eq!(probe.duration, Duration::from_millis(1500));
    assert!(probe.is_faststart);
}

#[test]
fn first_and_last_frame_match_the_input() {
    let recipe = Recipe { frames: 30, seed: 4, ..PLAIN };
    let clip = recipe.make();
    let first = media::first_frame_bytes(&clip).unwrap();
    let last = media::last_frame_bytes(&clip).unwrap();
    assert!(psnr(&first, &sample_image(160, 96, 4, 0)) > 36.0);
    assert!(psnr(&last, &sample_image(160, 96, 4, 29)) > 36.0);
    assert!(psnr(&first, &last) < psnr(&last, &sample_image(160, 96, 4, 29)), "the scene moved");
}

#[test]
fn clip_writer_is_deterministic() {
    let recipe = Recipe { sound: Some((44_100, 1)), ..PLAIN };
    assert_eq!(recipe.make(), recipe.make());
}

#[test]
fn sample_entry_depends_on_the_spec_only() {
    let calm = Recipe { frames: 5, ..PLAIN }.make();
    // Noise under a tight cap drives the quantiser up, through several groups.
    let mut spec = ClipSpec::new(160, 96, FrameRate::CINEMA);
    spec.bits_per_second = Some(200_000);
    let mut writer = ClipWriter::new(spec).unwrap();
    let mut state = 1u32;
    for _ in 0..60 {
        let mut image = RgbImage::new(160, 96);
        for byte in image.pixels_mut() {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (state >> 24) as u8;
        }
        writer.push_frame(&image).unwrap();
    }
    let noisy = writer.finish().unwrap();
    assert_eq!(entry(&calm), entry(&noisy));
    assert!(media::last_frame_bytes(&noisy).is_ok(), "rewritten slice headers decode");
    let differing = Recipe { size: (96, 160), ..PLAIN }.make();
    assert_ne!(entry(&calm), entry(&differing));
}

#[test]
fn bit_rate_stays_near_its_cap() {
    let megabits = |cap: u32| {
        let mut spec = ClipSpec::new(320, 192, FrameRate::CINEMA);
        spec.bits_per_second = Some(cap);
        let mut writer = ClipWriter::new(spec).unwrap();
        let mut state = 7u32;
        for frame in 0..96 {
            let mut image = sample_image(320, 192, 1, frame);
            for byte in image.pixels_mut() {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = byte.saturating_add((state >> 26) as u8);
            }
            writer.push_frame(&image).unwrap();
        }
        writer.finish().unwrap().len() as f64 * 8e-6 / 4.0
    };
    let (free, capped) = (megabits(100_000_000), megabits(1_000_000));
    assert!(free > 2.0, "this content is hard: {free:.2} Mb/s");
    assert!((0.4..1.4).contains(&capped), "{capped:.2} Mb/s under a cap of 1 Mb/s");
}

#[test]
fn audio_is_padded_or_cut_to_the_video() {
    for seconds in [0.1, 2.0] {
        let mut writer =
            ClipWriter::new(ClipSpec::new(64, 64, FrameRate::CINEMA).with_audio(48_000, 1)).unwrap();
        for frame in 0..12 {
            writer.push_frame(&sample_image(64, 64, 0, frame)).unwrap();
        }
        writer.push_audio(&tone(48_000, 1, seconds)).unwrap();
        let probe = probe_bytes(&writer.finish().unwrap()).unwrap();
        assert_eq!(probe.audio.unwrap().duration, Duration::from_millis(500));
    }
}

#[test]
fn clip_spec_impossible_is_refused() {
    let refused = |spec: ClipSpec| match ClipWriter::new(spec) {
        Err(MediaError::Request(why)) => why,
        other => panic!("expected a refusal, got {other:?}"),
    };
    assert!(refused(ClipSpec::new(161, 96, FrameRate::CINEMA)).contains("must be even"));
    assert!(refused(ClipSpec::new(0, 96, FrameRate::CINEMA)).contains("between 2 and 8192"));
    assert!(refused(ClipSpec::new(64, 64, FrameRate::CINEMA).with_audio(47_999, 2)).contains("48000"));
    assert!(refused(ClipSpec::new(64, 64, FrameRate::CINEMA).with_audio(48_000, 3)).contains("channels"));
    let mut writer = ClipWriter::new(ClipSpec::new(64, 64, FrameRate::CINEMA)).unwrap();
    assert!(writer.push_frame(&RgbImage::new(64, 62)).unwrap_err().to_string().contains("64x62"));
    assert!(writer.push_audio(&[0.0]).is_err());
    assert!(writer.finish().unwrap_err().to_string().contains("at least one frame"));
}

#[test]
fn repeated_frames_count_and_keep_the_image() {
    let mut writer = ClipWriter::new(ClipSpec::new(160, 96, FrameRate::CINEMA)).unwrap();
    assert!(matches!(writer.repeat_frame(), Err(MediaError::Request(_))));
    for frame in 0..10 {
        writer.push_frame(&sample_image(160, 96, 4, frame)).unwrap();
        writer.repeat_frame().unwrap();
    }
    let clip = writer.finish().unwrap();
    let video = probe_bytes(&clip).unwrap().video.unwrap();
    assert_eq!((video.frames, video.duration), (20, Duration::from_secs_f64(20.0 / 24.0)));
    assert!(psnr(&media::last_frame_bytes(&clip).unwrap(), &sample_image(160, 96, 4, 9)) > 36.0);
}
