//! Edits, compared frame by frame with those of the clips.

mod reordered;
mod report;
mod seams;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusty_h264::YuvFrame;

use super::*;
use crate::frames::FrameReader;
use crate::mp4::Movie;
use crate::{
    AudioDecodeSpec, ClipSpec, ClipWriter, Ffmpeg, Fit, FrameRate, Overlays, RgbImage, decode_audio,
};

const SIZE: (u32, u32) = (64, 48);
const KIND: TransitionKind = TransitionKind::Dissolve;

/// Samples of one frame.
const SAMPLES: usize = 2_000;

/// Noise, different for each seed. It is used instead of tones because its level is even after encoding. Its peaks are not limited.
fn noise(seed: u32, frames: usize) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        ((state >> 8) as f32 / 16_777_216.0 - 0.5) * 0.3
    };
    (0..frames * SAMPLES).map(|_| next()).collect()
}

/// A clip of plain frames whose brightness rises by 2 with each frame, from `base` on.
fn clip(folder: &Path, name: &str, frames: u32, base: u8, sound: Option<&[f32]>) -> PathBuf {
    let mut spec = ClipSpec::new(SIZE.0, SIZE.1, FrameRate::CINEMA);
    if sound.is_some() {
        spec = spec.with_audio(48_000, 1);
    }
    let mut writer = ClipWriter::new(spec).unwrap();
    for number in 0..frames {
        let mut image = RgbImage::new(SIZE.0, SIZE.1);
        image.pixels_mut().fill(base + 2 * number as u8);
        writer.push_frame(&image).unwrap();
    }
    if let Some(sound) = sound {
        writer.push_audio(sound).unwrap();
    }
    let path = folder.join(name);
    fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

/// The brightness of each frame, as it was written into the clips.
fn levels(path: &Path) -> Vec<f32> {
    let mut frames = FrameReader::new(Movie::open(path).unwrap()).unwrap().frames_from(0).unwrap();
    let mut levels = Vec::new();
    let mean =
        |frame: &YuvFrame| frame.y.iter().map(|value| f32::from(*value)).sum::<f32>() / frame.y.len() as f32;
    while let Some(frame) = frames.next().unwrap() {
        levels.push((mean(&frame.image) - 16.0) * 255.0 / 219.0);
    }
    levels
}

#[track_caller]
fn assert_levels(path: &Path, expected: &[f32]) {
    let levels = levels(path);
    assert_eq!(levels.len(), expected.len());
    for (index, (level, expected)) in levels.iter().zip(expected).enumerate() {
        assert!((level - expected).abs() < 2.0, "frame {index}: {level}, not {expected}");
    }
}

fn rising(base: u8, frames: std::ops::Range<u32>) -> Vec<f32> {
    frames.map(|number| f32::from(base) + 2.0 * number as f32).collect()
}

fn part(path: &Path, first: u64, frames: u64) -> JoinClip {
    JoinClip { first, frames: Some(frames), ..JoinClip::whole(path.to_owned()) }
}

fn film(clips: &[JoinClip], folder: &Path) -> (JoinReport, PathBuf) {
    let path = folder.join("film.mp4");
    let report = join(clips, &path, &JoinOptions::default()).unwrap();
    let probed = crate::probe(&path).unwrap().video.unwrap();
    assert_eq!(probed.frames, report.copied_frames + report.encoded_frames);
    assert_eq!(probed.duration, FrameRate::CINEMA.duration_of(probed.frames));
    (report, path)
}

#[test]
fn last_frames_are_dropped_without_encoding() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (clip(folder.path(), "a.mp4", 60, 0, None), clip(folder.path(), "b.mp4", 60, 60, None));
    let (report, path) = film(&[part(&a, 0, 59), part(&b, 0, 60)], folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (119, 0));
    assert_levels(&path, &[rising(0, 0..59), rising(60, 0..60)].concat());
}

#[test]
fn only_the_first_group_after_a_cut_is_encoded() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 100, 0, None);
    // Groups of 48 frames: those from 10 to 47 are encoded.
    let (report, path) = film(&[part(&a, 10, 85), JoinClip::whole(a.clone())], folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (147, 38));
    assert_levels(&path, &[rising(0, 10..95), rising(0, 0..100)].concat());
}

#[test]
fn dissolve_plays_both_clips_and_copies_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (clip(folder.path(), "a.mp4", 100, 0, None), clip(folder.path(), "b.mp4", 100, 50, None));
    let transition = Some(JoinTransition { kind: KIND, before: 4, after: 4 });
    let clips = [JoinClip { transition, ..part(&a, 0, 96) }, part(&b, 4, 96)];
    let (report, path) = film(&clips, folder.path());
    // Of the second clip the frames up to 47 follow a frame that is mixed.
    assert_eq!((report.copied_frames, report.encoded_frames), (92 + 52, 8 + 40));
    let mixed = (0..8).map(|index| {
        let (from, to) = (2.0 * (92 + index) as f32, 50.0 + 2.0 * index as f32);
        from + (to - from) * (index as f32 + 0.5) / 8.0
    });
    let expected: Vec<f32> = rising(0, 0..92).into_iter().chain(mixed).chain(rising(50, 8..100)).collect();
    assert_levels(&path, &expected);
}

#[test]
fn film_fades_out_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 60, 100, Some(&noise(1, 60)));
    let transition = Some(JoinTransition { kind: TransitionKind::FadeBlack, before: 10, after: 0 });
    let (report, path) = film(&[JoinClip { transition, ..part(&a, 0, 60) }], folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (50, 10));
    let fading =
        (50..60).map(|index| (100.0 + 2.0 * index as f32) * (1.0 - ((index - 50) as f32 + 0.5) / 10.0));
    let expected: Vec<f32> = rising(100, 0..50).into_iter().chain(fading).collect();
    assert_levels(&path, &expected);
    let sound = sound(&path);
    assert!(power(&sound[..90_000]) > 0.005 && power(&sound[118_000..]) < 0.0001);
}

#[test]
fn differing_clips_are_encoded_with_their_trims_and_transitions() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 48, 0, None);
    let spec = ClipSpec::new(SIZE.0 * 2, SIZE.1 * 2, FrameRate::new(12, 1).unwrap());
    let mut writer = ClipWriter::new(spec).unwrap();
    for number in 0..24_u8 {
        let mut image = RgbImage::new(SIZE.0 * 2, SIZE.1 * 2);
        image.pixels_mut().fill(100 + 4 * number);
        writer.push_frame(&image).unwrap();
    }
    let b = folder.path().join("b.mp4");
    fs::write(&b, writer.finish().unwrap()).unwrap();
    let transition = Some(JoinTransition { kind: KIND, before: 2, after: 2 });
    // Of the second clip, at half the rate: from frame 6 on, 20 frames.
    let clips = [JoinClip { transition, ..part(&a, 10, 30) }, part(&b, 6, 20), part(&a, 0, 5)];
    let (report, path) = film(&clips, folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (0, 55));
    let second = |frame: i32| 100.0 + 4.0 * (6 + frame.div_euclid(2)) as f32;
    let mixed = (0..4).map(|index| {
        let (from, to) = (2.0 * (38 + index) as f32, second(index - 2));
        from + (to - from) * (index as f32 + 0.5) / 4.0
    });
    let expected: Vec<f32> = rising(0, 10..38)
        .into_iter()
        .chain(mixed)
        .chain((2..20).map(second))
        .chain(rising(0, 0..5))
        .collect();
    assert_levels(&path, &expected);
}

fn sound(path: &Path) -> Vec<f32> {
    let spec = AudioDecodeSpec { sample_rate: 48_000, channels: 1, max_duration: Duration::from_mins(2) };
    decode_audio(&fs::read(path).unwrap(), &Ffmpeg::default(), spec).unwrap().samples
}

fn power(samples: &[f32]) -> f32 {
    samples.iter().map(|sample| sample * sample).sum::<f32>() / samples.len() as f32
}

/// The deepest dip of the level around a sample, in decibels below the level of the whole, in windows of 10 ms.
fn dip(samples: &[f32], cut: usize) -> f32 {
    let average = power(&samples[cut - 24_000..cut + 24_000]);
    let windows = samples[cut - 4_800..cut + 4_800].windows(480).step_by(48);
    10.0 * (average / windows.map(power).fold(f32::INFINITY, f32::min)).log10()
}

#[test]
fn sound_is_crossfaded_without_dips() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 60, 0, Some(&noise(1, 60)));
    let b = clip(folder.path(), "b.mp4", 60, 60, Some(&noise(2, 60)));
    // Both have sound beyond the cut.
    let (_, path) = film(&[part(&a, 0, 50), part(&b, 10, 50)], folder.path());
    let samples = sound(&path);
    assert_eq!(samples.len(), 100 * SAMPLES);
    let deepest = dip(&samples, 50 * SAMPLES);
    assert!(deepest < 3.0, "{deepest} dB");
    // A chain: the last frame of the first clip is dropped, and its sound goes on in that of the second.
    let sounds = noise(3, 119);
    let a = clip(folder.path(), "a.mp4", 60, 0, Some(&sounds[..60 * SAMPLES]));
    let b = clip(folder.path(), "b.mp4", 60, 60, Some(&sounds[59 * SAMPLES..]));
    let clips = [part(&a, 0, 59), JoinClip { continues: true, ..JoinClip::whole(b) }];
    let (_, path) = film(&clips, folder.path());
    let deepest = dip(&sound(&path), 59 * SAMPLES);
    assert!(deepest < 3.0, "{deepest} dB");
}

#[test]
fn gain_and_mute_change_the_sound() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 48, 0, Some(&noise(1, 48)));
    let quiet = JoinClip { gain: 0.5, ..JoinClip::whole(a.clone()) };
    let mute = JoinClip { gain: 0.0, ..JoinClip::whole(a.clone()) };
    let (report, path) = film(&[JoinClip::whole(a), quiet, mute.clone()], folder.path());
    assert!(report.has_audio);
    let sound = sound(&path);
    let level = |second: usize| power(&sound[second * 96_000 + 9_600..(second + 1) * 96_000 - 9_600]);
    let decibels = 10.0 * (level(0) / level(1)).log10();
    assert!((decibels - 6.02).abs() < 1.0, "{decibels}");
    assert!(level(2) < 1e-6);
    let (report, _) = film(&[mute], folder.path());
    assert!(!report.has_audio);
}

#[test]
fn transitions_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 10, 0, None);
    let transition = Some(JoinTransition { kind: KIND, before: 12, after: 0 });
    let clips = [JoinClip { transition, ..part(&a, 0, 10) }, part(&a, 0, 10)];
    let path = folder.path().join("film.mp4");
    let error = join(&clips, &path, &JoinOptions::default()).unwrap_err();
    assert!(matches!(error.root(), MediaError::Request(_)), "{error}");
    assert!(!path.exists());
}

/// A sound file of so many seconds at 48 kHz.
fn wav(folder: &Path, name: &str, samples: &[f32]) -> PathBuf {
    let data: Vec<u8> =
        samples.iter().flat_map(|sample| ((sample * 32_767.0) as i16).to_le_bytes()).collect();
    let mut file = crate::wav::tests::file(1, 16, 1, &data);
    let rate = file.windows(4).position(|bytes| bytes == 8_000_u32.to_le_bytes()).unwrap();
    file[rate..rate + 4].copy_from_slice(&48_000_u32.to_le_bytes());
    let path = folder.join(name);
    fs::write(&path, file).unwrap();
    path
}

fn tone(hertz: f32, amplitude: f32, seconds: f32) -> Vec<f32> {
    let sample = |n: usize| (n as f32 * hertz * std::f32::consts::TAU / 48_000.0).sin() * amplitude;
    (0..(seconds * 48_000.0) as usize).map(sample).collect()
}

/// The amplitude of a frequency in sound.
fn amplitude_of(hertz: f32, samples: &[f32]) -> f32 {
    let angle = |n: usize| n as f32 * hertz * std::f32::consts::TAU / 48_000.0;
    let sum = |wave: fn(f32) -> f32| {
        samples.iter().enumerate().map(|(n, sample)| f64::from(sample * wave(angle(n)))).sum::<f64>()
    };
    (2.0 * sum(f32::sin).hypot(sum(f32::cos)) / samples.len() as f64) as f32
}

fn music(path: PathBuf) -> Music {
    Music {
        path,
        gain: 1.0,
        start: Duration::ZERO,
        is_repeated: false,
        fade_in: Duration::ZERO,
        fade_out: Duration::ZERO,
        duck: 1.0,
        speech: Vec::new(),
    }
}

#[test]
fn music_makes_room_for_speech() {
    let folder = tempfile::tempdir().unwrap();
    // Silent clips: the film has sound because of its music.
    let clip = JoinClip::whole(clip(folder.path(), "a.mp4", 48, 0, None));
    let score = wav(folder.path(), "score.wav", &tone(1_000.0, 0.2, 4.0));
    let voice = wav(folder.path(), "said.wav", &tone(3_000.0, 0.2, 1.0));
    let soundtrack = Soundtrack {
        music: Some(Music {
            is_repeated: true,
            duck: 0.25,
            speech: std::iter::once(Duration::from_secs(4)..Duration::from_millis(4_800)).collect(),
            ..music(score)
        }),
        voices: vec![Voice { path: voice, start: Duration::from_secs(2), gain: 0.5 }],
        loudness: None,
    };
    let path = folder.path().join("film.mp4");
    let options = JoinOptions { soundtrack, ..JoinOptions::default() };
    let report = join(&[clip.clone(), clip.clone(), clip], &path, &options).unwrap();
    assert!(report.has_audio && report.loudness.is_some());
    let sound = sound(&path);
    let level_at = |hertz: f32, seconds: f32| {
        let start = (seconds * 48_000.0) as usize;
        amplitude_of(hertz, &sound[start..start + 9_600])
    };
    for (second, hertz, expected) in [
        (1.0, 1_000.0, 0.2),
        (2.2, 1_000.0, 0.05),
        (2.2, 3_000.0, 0.1),
        (3.5, 1_000.0, 0.2),
        (3.5, 3_000.0, 0.0),
        (4.3, 1_000.0, 0.05),
        (5.5, 1_000.0, 0.2),
    ] {
        let actual = level_at(hertz, second);
        assert!((actual - expected).abs() < 0.02, "{hertz} Hz at {second} s: {actual}, not {expected}");
    }
}

#[test]
fn film_has_the_loudness_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 96, 0, Some(&noise(1, 96)));
    let b = clip(folder.path(), "b.mp4", 96, 60, Some(&tone(440.0, 0.9, 4.0)));
    for target in [-23.0, -14.0] {
        let path = folder.path().join("film.mp4");
        let soundtrack = Soundtrack { loudness: Some(target), ..Soundtrack::default() };
        let options = JoinOptions { soundtrack, ..JoinOptions::default() };
        let clips = [JoinClip::whole(a.clone()), JoinClip::whole(b.clone())];
        let reported = join(&clips, &path, &options).unwrap().loudness.unwrap();
        assert!((reported.integrated - target).abs() < 0.3, "{reported:?}");
        // As it is played, after AAC.
        let mode = ebur128::Mode::I | ebur128::Mode::TRUE_PEAK;
        let mut meter = ebur128::EbuR128::new(1, 48_000, mode).unwrap();
        meter.add_frames_f32(&sound(&path)).unwrap();
        let played = meter.loudness_global().unwrap();
        let peak = 20.0 * meter.true_peak(0).unwrap().log10();
        assert!((played - target).abs() < 1.0 && peak < -0.9, "{played} LUFS, {peak} dBTP for {target}");
    }
}

/// A plain frame of this brightness.
fn still(level: u8, frames: u64) -> JoinClip {
    let draw = move |(width, height): (u32, u32)| {
        RgbImage::from_pixels(width, height, vec![level; (width * height * 3) as usize]).unwrap()
    };
    let still = Still::Drawn { name: "a card".into(), draw: std::sync::Arc::new(draw) };
    JoinClip { source: JoinSource::Still(still), frames: Some(frames), ..JoinClip::whole(PathBuf::new()) }
}

#[test]
fn stills_are_encoded_between_copied_clips() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 60, 60, Some(&noise(1, 60)));
    let transition = Some(JoinTransition { kind: KIND, before: 2, after: 2 });
    let clips = [still(200, 20), JoinClip { transition, ..part(&a, 0, 56) }, still(100, 30)];
    let (report, path) = film(&clips, folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (54, 20 + 32));
    let mixed = (0..4).map(|index| {
        let from = 60.0 + 2.0 * (54 + index) as f32;
        from + (100.0 - from) * (index as f32 + 0.5) / 4.0
    });
    let expected: Vec<f32> =
        [200.0; 20].into_iter().chain(rising(60, 0..54)).chain(mixed).chain([100.0; 28]).collect();
    assert_levels(&path, &expected);
    let sound = sound(&path);
    let power_at = |frame: usize| power(&sound[frame * SAMPLES..][..SAMPLES * 4]);
    assert!(
        power_at(5) < 1e-6 && power_at(40) > 0.005 && power_at(90) < 1e-6,
        "{} {} {}",
        power_at(5),
        power_at(40),
        power_at(90)
    );
}

#[test]
fn film_of_stills_has_the_size_and_rate_that_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.mp4");
    let options = JoinOptions {
        size: Some((64, 48)),
        frame_rate: Some(FrameRate::new(25, 1).unwrap()),
        ..JoinOptions::default()
    };
    let report = join(&[still(40, 10), still(90, 10)], &path, &options).unwrap();
    assert_eq!(
        (report.size, report.frame_rate, report.has_audio),
        ((64, 48), FrameRate::new(25, 1).unwrap(), false)
    );
    assert_levels(&path, &[[40.0; 10], [90.0; 10]].concat());
    let endless = JoinClip { frames: None, ..still(1, 1) };
    let refused = join(&[endless], &path, &options).unwrap_err().to_string();
    assert!(refused.contains("needs a number of frames"), "{refused}");
}

#[test]
fn images_fill_the_frame_and_damaged_ones_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let image = folder.path().join("tall.png");
    let tall = RgbImage::from_pixels(24, 48, vec![180; 24 * 48 * 3]).unwrap();
    fs::write(&image, crate::encode_png(&tall)).unwrap();
    let still_clip =
        |path: &Path| JoinClip { source: JoinSource::Still(Still::Image(path.to_owned())), ..still(0, 4) };
    let path = folder.path().join("film.mp4");
    let mean = |fit| {
        let options = JoinOptions { size: Some((64, 48)), fit, ..JoinOptions::default() };
        join(&[still_clip(&image)], &path, &options).unwrap();
        levels(&path)[0]
    };
    let (boxed, cropped, blurred) = (mean(Fit::Letterbox), mean(Fit::Crop), mean(Fit::Blur));
    assert!((boxed - 180.0 * 24.0 / 64.0).abs() < 3.0, "{boxed}");
    assert!((cropped - 180.0).abs() < 2.0, "{cropped}");
    assert!(blurred > boxed + 40.0 && blurred < cropped - 30.0, "{blurred}");
    let encoded = fs::read(&image).unwrap();
    fs::write(&image, &encoded[..encoded.len() / 2]).unwrap();
    let refused = join(&[still_clip(&image)], &path, &JoinOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("tall.png") && refused.contains("damaged"), "{refused}");
}

#[test]
fn frames_are_encoded_only_under_overlays() {
    let folder = tempfile::tempdir().unwrap();
    let a = clip(folder.path(), "a.mp4", 120, 0, None);
    // Groups of 48 frames: after an overlay, copying goes on with the next group.
    let draw = |_: usize, (width, height): (u32, u32)| {
        let ink = RgbImage::from_pixels(width, height, vec![250; (width * height * 3) as usize])?;
        crate::Overlay::new((0, 0), ink, vec![255; (width * height) as usize])
    };
    let spans = vec![crate::OverlaySpan { frames: 60..70, fade: 0 }];
    let overlays = Some(Overlays { spans, draw: std::sync::Arc::new(draw) });
    let path = folder.path().join("film.mp4");
    let clips = [part(&a, 0, 110)];
    let report = join(&clips, &path, &JoinOptions { overlays, ..JoinOptions::default() }).unwrap();
    assert_eq!((report.copied_frames, report.encoded_frames), (60 + 14, 36));
    let expected = [rising(0, 0..60), vec![250.0; 10], rising(0, 70..110)].concat();
    assert_levels(&path, &expected);
}
