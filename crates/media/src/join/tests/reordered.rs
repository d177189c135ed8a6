//! Films of clips whose frames are decoded in another order than they are shown, as other encoders write them.

use super::*;
use crate::clip::media_clock;
use crate::h264::VideoEncoder;
use crate::mp4::{OutputKind, OutputSample, OutputTrack, StoredTags, avc1, write_movie};

/// Frames of a group: in each, two and two are decoded in the other order, as a B frame and the one that it refers to.
const GROUP: u32 = 25;

/// As [`clip`], with 100 frames in four groups.
fn reordered(folder: &Path, name: &str, base: u8) -> PathBuf {
    let spec = ClipSpec::new(SIZE.0, SIZE.1, FrameRate::CINEMA);
    let (timescale, ticks) = media_clock(spec.frame_rate);
    let mut encoder = VideoEncoder::new(spec.checked_stream().unwrap()).unwrap();
    let (mut coded, mut samples) = (Vec::new(), Vec::new());
    for decoded in 0..4 * GROUP {
        let shown = match decoded % GROUP {
            0 => decoded,
            place if place % 2 == 1 => decoded + 1,
            _ => decoded - 1,
        };
        if decoded % GROUP == 0 {
            encoder.cut().unwrap();
        }
        let mut frame = YuvFrame::black(SIZE.0 as usize, SIZE.1 as usize);
        frame.y.fill((16.0 + (f32::from(base) + 2.0 * shown as f32) * 219.0 / 255.0).round() as u8);
        let picture = encoder.encode(&frame).unwrap();
        let (size, offset) = (picture.bytes.len() as u32, (shown + 1 - decoded) * ticks);
        let offset = offset.cast_signed();
        samples.push(OutputSample { size, duration: ticks, offset, is_sync: picture.is_sync });
        coded.push(picture.bytes);
    }
    let tracks = [OutputTrack {
        kind: OutputKind::Video { width: SIZE.0, height: SIZE.1 },
        entry: avc1(SIZE.0, SIZE.1, &encoder.parameter_sets().unwrap()),
        timescale,
        samples,
        start: u64::from(ticks),
        presented: u64::from(4 * GROUP * ticks),
    }];
    let mut file = Vec::new();
    write_movie(&mut file, &tracks, &StoredTags::default(), &mut |_, sample, bytes| {
        bytes.extend_from_slice(&coded[sample]);
        Ok(())
    })
    .unwrap();
    let path = folder.join(name);
    fs::write(&path, file).unwrap();
    path
}

#[test]
fn reordered_frames_are_read_in_the_order_in_which_they_are_shown() {
    let folder = tempfile::tempdir().unwrap();
    let a = reordered(folder.path(), "a.mp4", 20);
    assert_levels(&a, &rising(20, 0..100));
    assert_eq!(Ffmpeg::default().verify(&a).unwrap().video.unwrap().frames, 100);
    let level = |image: RgbImage| i32::from(image.pixels()[0]);
    assert!((level(crate::first_frame(&a).unwrap()) - 20).abs() < 3);
    assert!((level(crate::last_frame(&a).unwrap()) - 218).abs() < 3);
}

#[test]
fn cuts_between_reordered_frames_keep_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (reordered(folder.path(), "a.mp4", 0), clip(folder.path(), "b.mp4", 60, 60, None));
    for (first, frames) in [(0, 100), (10, 85), (11, 86), (12, 87), (0, 44), (47, 2)] {
        let parts = [part(&a, first, frames), JoinClip::whole(a.clone()), JoinClip::whole(b.clone())];
        let (_, path) = film(&parts, folder.path());
        let shown = rising(0, first as u32..(first + frames) as u32);
        assert_levels(&path, &[shown, rising(0, 0..100), rising(60, 0..60)].concat());
    }
    let (report, _) = film(&[JoinClip::whole(a.clone()), part(&a, 25, 74)], folder.path());
    // The last frame of a group is decoded before the last but one.
    assert_eq!((report.copied_frames, report.encoded_frames), (100 + 73, 1));
}

#[test]
fn dissolve_between_reordered_clips_copies_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (reordered(folder.path(), "a.mp4", 0), reordered(folder.path(), "b.mp4", 50));
    let transition = Some(JoinTransition { kind: KIND, before: 4, after: 4 });
    let (report, path) = film(&[JoinClip { transition, ..part(&a, 0, 96) }, part(&b, 4, 96)], folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (92 + 75, 8 + 17));
    let mixed = (0..8).map(|index| {
        let (from, to) = (2.0 * (92 + index) as f32, 50.0 + 2.0 * index as f32);
        from + (to - from) * (index as f32 + 0.5) / 8.0
    });
    let expected: Vec<f32> = rising(0, 0..92).into_iter().chain(mixed).chain(rising(50, 8..100)).collect();
    assert_levels(&path, &expected);
}
