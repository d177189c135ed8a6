//! Seams in color and in time: chains whose colors are matched, and sound beside frames after many clips.

use super::*;

/// A clip of a moving scene with light and color, whose values are changed by a function.
fn scene(folder: &Path, name: &str, from: u32, frames: u32, change: impl Fn(f64) -> f64) -> PathBuf {
    let mut writer = ClipWriter::new(ClipSpec::new(SIZE.0, SIZE.1, FrameRate::CINEMA)).unwrap();
    for number in from..from + frames {
        let mut image = RgbImage::new(SIZE.0, SIZE.1);
        for (index, pixel) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
            let (x, y) = (
                f64::from(index as u32 % SIZE.0 + number / 2) / 96.0,
                f64::from(index as u32 / SIZE.0) / 48.0,
            );
            for (channel, value) in pixel.iter_mut().zip([0.2 + 0.4 * x, 0.3 + 0.3 * y, 0.6 - 0.3 * x * y]) {
                *channel = (change(value) * 255.0).round().clamp(0.0, 255.0) as u8;
            }
        }
        writer.push_frame(&image).unwrap();
    }
    let path = folder.join(name);
    fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

/// The mean difference between a frame of a film and the next one, in levels of luma and of both chroma components.
fn step(path: &Path, after: u64) -> [f32; 3] {
    let mut frames = FrameReader::new(Movie::open(path).unwrap()).unwrap().frames_from(0).unwrap();
    let mut images = Vec::new();
    while let Some(frame) = frames.next().unwrap() {
        images.push(frame.image);
    }
    let (first, second) = (&images[after as usize], &images[after as usize + 1]);
    [(&first.y, &second.y), (&first.u, &second.u), (&first.v, &second.v)].map(|(first, second)| {
        let sum: f32 = first.iter().zip(second).map(|(a, b)| f32::from(a.abs_diff(*b))).sum();
        sum / first.len() as f32
    })
}

#[test]
fn colors_of_a_chain_are_those_of_its_first_clip() {
    let folder = tempfile::tempdir().unwrap();
    let drifted = |value: f64| value * 1.04 + 0.01;
    let clips = [
        scene(folder.path(), "a.mp4", 0, 48, |value| value),
        // Each begins on the last frame of the one before it, and each is brighter.
        scene(folder.path(), "b.mp4", 47, 48, drifted),
        scene(folder.path(), "c.mp4", 94, 48, |value| drifted(value) * 1.03),
    ];
    let chain = |matches_previous| -> Vec<JoinClip> {
        clips.iter().map(|clip| JoinClip { matches_previous, ..JoinClip::whole(clip.clone()) }).collect()
    };
    let (report, path) = film(&chain(false), folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (144, 0));
    let before = [step(&path, 47), step(&path, 95)];
    assert!(before[0][0] > 5.0 && before[1][0] > 2.5, "the service has changed the light: {before:?}");
    // The first clip is copied. Where more than 70 % are touched, all are encoded, in one quality.
    let (_, path) = film(&chain(true), folder.path());
    for after in [step(&path, 47), step(&path, 95)] {
        // What is left is the noise of encoding.
        assert!(
            after[0] < 1.0 && after[1..].iter().all(|step| *step < 1.5),
            "{after:?} instead of {before:?}"
        );
    }
    let long = scene(folder.path(), "long.mp4", 1_000, 144, |value| value * 0.5);
    let (report, _) = film(&[&chain(true)[..2], &[JoinClip::whole(long.clone())]].concat(), folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (48 + 144, 48));
    // Another scene stays as it is.
    let continuation = JoinClip { matches_previous: true, ..JoinClip::whole(long) };
    let (report, _) = film(&[JoinClip::whole(clips[0].clone()), continuation], folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (48 + 144, 0));
}

/// A clip with a white frame and a tone from the same instant on, for three frames.
fn clap(folder: &Path, name: &str, frames: u32, rate: FrameRate, sample_rate: u32) -> PathBuf {
    let mut writer = ClipWriter::new(ClipSpec::new(SIZE.0, SIZE.1, rate).with_audio(sample_rate, 1)).unwrap();
    for number in 0..frames {
        let mut image = RgbImage::new(SIZE.0, SIZE.1);
        image.pixels_mut().fill(if (12..15).contains(&number) { 230 } else { 20 });
        writer.push_frame(&image).unwrap();
    }
    let samples_of = |number: f64| (number / rate.as_f64() * f64::from(sample_rate)).round() as usize;
    let tone = |n: usize| (n as f32 * 2_000.0 * std::f32::consts::TAU / sample_rate as f32).sin() * 0.5;
    let sound: Vec<f32> = (0..samples_of(f64::from(frames)))
        .map(|n| if (samples_of(12.0)..samples_of(15.0)).contains(&n) { tone(n) } else { 0.0 })
        .collect();
    writer.push_audio(&sound).unwrap();
    let path = folder.join(name);
    fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

#[test]
fn sound_is_with_its_frames_at_the_end_of_sixty_mixed_clips() {
    let folder = tempfile::tempdir().unwrap();
    let ntsc = FrameRate::new(30_000, 1_001).unwrap();
    let clips = [
        clap(folder.path(), "a.mp4", 25, FrameRate::CINEMA, 48_000),
        clap(folder.path(), "b.mp4", 31, ntsc, 44_100),
        clap(folder.path(), "c.mp4", 29, FrameRate::CINEMA, 44_100),
    ];
    let clips: Vec<JoinClip> = (0..60).map(|index| JoinClip::whole(clips[index % 3].clone())).collect();
    let path = folder.path().join("film.mp4");
    join(&clips, &path, &JoinOptions::default()).unwrap();
    let flashes: Vec<usize> = levels(&path)
        .windows(2)
        .enumerate()
        .filter(|(_, pair)| pair[0] < 120.0 && pair[1] >= 120.0)
        .map(|(index, _)| index + 1)
        .collect();
    assert_eq!(flashes.len(), 60);
    let sound = sound(&path);
    for (number, flash) in flashes.iter().enumerate() {
        let flash = *flash as f64 / 24.0;
        let from = ((flash - 0.1) * 48_000.0) as usize;
        let begins = sound[from..].windows(48).position(|window| power(window) > 0.02).unwrap() + from;
        let off = begins as f64 / 48_000.0 - flash;
        // At another rate the frame itself is up to half a frame off.
        let max_offset = if number % 3 == 1 { 0.010 + 0.5 / 24.0 } else { 0.010 };
        assert!(off.abs() < max_offset, "clip {number}: {off} s");
    }
}
