//! Clips at other speeds: their frames, their transitions and their sound.

use super::*;

#[test]
fn clip_at_another_speed_is_encoded_and_others_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (clip(folder.path(), "a.mp4", 60, 0, None), clip(folder.path(), "b.mp4", 60, 60, None));
    let at_speed = |speed: f64, clip: JoinClip| JoinClip { speed, ..clip };
    let clips =
        [part(&b, 0, 60), at_speed(0.5, part(&a, 10, 20)), part(&b, 0, 60), at_speed(2.0, part(&a, 4, 20))];
    let (report, path) = film(&clips, folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (120, 40));
    let slow = (0..20).map(|frame| 2.0 * (10 + frame / 2) as f32);
    let fast = (0..20).map(|frame| 2.0 * (4 + 2 * frame) as f32);
    let expected: Vec<f32> =
        rising(60, 0..60).into_iter().chain(slow).chain(rising(60, 0..60)).chain(fast).collect();
    assert_levels(&path, &expected);
    // Without a length it lasts as long as it is played.
    let (report, path) = film(&[at_speed(1.5, JoinClip::whole(a.clone()))], folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (0, 40));
    let expected: Vec<f32> = (0..40).map(|frame| 2.0 * (frame * 3 / 2) as f32).collect();
    assert_levels(&path, &expected);
    for speed in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let refused = join(&[at_speed(speed, part(&a, 0, 9))], &path, &JoinOptions::default()).unwrap_err();
        assert!(refused.to_string().contains("at a speed of"), "{refused}");
    }
}

#[test]
fn dissolve_between_speeds_plays_the_handles_of_both() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (clip(folder.path(), "a.mp4", 100, 0, None), clip(folder.path(), "b.mp4", 100, 50, None));
    let transition = Some(JoinTransition { kind: KIND, before: 4, after: 4 });
    let clips =
        [JoinClip { transition, speed: 2.0, ..part(&a, 0, 40) }, JoinClip { speed: 0.5, ..part(&b, 4, 40) }];
    let (_, path) = film(&clips, folder.path());
    let slow = |frame: i32| 50.0 + 2.0 * ((8 + frame).div_euclid(2)) as f32;
    let mixed = (0..8).map(|index| {
        let (from, to) = (2.0 * (2 * (36 + index)) as f32, slow(index - 4));
        from + (to - from) * (index as f32 + 0.5) / 8.0
    });
    let expected: Vec<f32> =
        (0..36).map(|frame| 4.0 * frame as f32).chain(mixed).chain((4..40).map(slow)).collect();
    assert_levels(&path, &expected);
}

#[test]
fn sound_follows_the_speed_at_its_own_pitch() {
    let folder = tempfile::tempdir().unwrap();
    // Half a second of silence between tones.
    let tone: Vec<f32> = (0..100 * SAMPLES)
        .map(|n| {
            let is_silent = (48_000..72_000).contains(&n);
            if is_silent { 0.0 } else { (n as f32 * 500.0 * std::f32::consts::TAU / 48_000.0).sin() * 0.3 }
        })
        .collect();
    let a = clip(folder.path(), "a.mp4", 100, 0, Some(&tone));
    for speed in [0.5, 2.0] {
        let frames = (90.0 / speed) as u64;
        let clips = [JoinClip { speed, ..part(&a, 10, frames) }];
        let (_, path) = film(&clips, folder.path());
        let spec = AudioDecodeSpec { sample_rate: 48_000, channels: 1, max_duration: Duration::from_mins(1) };
        let sound = decode_audio(&fs::read(&path).unwrap(), &Ffmpeg::default(), spec).unwrap().samples;
        assert_eq!(sound.len() as u64, frames * SAMPLES as u64, "as long as the frames");
        // The silence begins a second into the clip, which is shown from its frame 10 on.
        let begin = ((48_000.0 - 10.0 * SAMPLES as f64) / speed) as usize;
        let loudest =
            |range: std::ops::Range<usize>| sound[range].iter().fold(0.0_f32, |peak, s| peak.max(s.abs()));
        let length = (24_000.0 / speed) as usize;
        assert!(loudest(begin + 1_500..begin + length - 1_500) < 0.05, "at {speed}");
        assert!(
            loudest(begin - 2_000..begin - 1_000) > 0.25
                && loudest(begin + length + 1_000..begin + length + 2_000) > 0.25
        );
        let rising = sound[..begin - 1_500].windows(2).filter(|pair| pair[0] < 0.0 && pair[1] >= 0.0).count();
        let pitch = rising as f64 / (begin - 1_500) as f64 * 48_000.0;
        assert!((pitch / 500.0 - 1.0).abs() < 0.02, "{pitch} Hz at {speed}");
    }
}
