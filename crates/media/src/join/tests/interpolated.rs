//! Films of clips whose pictures are interpolated in part, which are decoded in another order than they are shown.

use super::*;
use crate::Effort;

/// As [`clip`], with every third picture pushed, and those between interpolated.
fn interpolated(folder: &Path, name: &str, pictures: u32, base: u8) -> PathBuf {
    let spec = ClipSpec::new(SIZE.0, SIZE.1, FrameRate::CINEMA).with_effort(Effort::Draft);
    let mut writer = ClipWriter::new(spec).unwrap();
    let mut next = 0;
    for number in 0..pictures {
        if number < next {
            writer.interpolate_frame().unwrap();
            continue;
        }
        let mut image = RgbImage::new(SIZE.0, SIZE.1);
        image.pixels_mut().fill(base + 2 * number as u8);
        writer.push_frame(&image).unwrap();
        let is_full = writer.is_group_full(2) || number + 3 >= pictures;
        next = number + if is_full { 1 } else { 3 };
    }
    let path = folder.join(name);
    fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

#[test]
fn interpolated_pictures_are_shown_between_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let a = interpolated(folder.path(), "a.mp4", 100, 20);
    assert_levels(&a, &rising(20, 0..100));
    let video = crate::probe(&a).unwrap().video.unwrap();
    assert_eq!((video.frames, video.duration), (100, FrameRate::CINEMA.duration_of(100)));
    let level = |image: RgbImage| i32::from(image.pixels()[0]);
    assert!((level(crate::first_frame(&a).unwrap()) - 20).abs() < 3);
    assert!((level(crate::last_frame(&a).unwrap()) - 218).abs() < 3);
}

#[test]
fn cuts_between_interpolated_pictures_keep_every_picture() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (interpolated(folder.path(), "a.mp4", 100, 0), clip(folder.path(), "b.mp4", 60, 60, None));
    for (first, frames) in [(0, 100), (10, 85), (11, 86), (12, 87), (0, 44), (47, 2)] {
        let parts = [part(&a, first, frames), JoinClip::whole(a.clone()), JoinClip::whole(b.clone())];
        let (_, path) = film(&parts, folder.path());
        let shown = rising(0, first as u32..(first + frames) as u32);
        assert_levels(&path, &[shown, rising(0, 0..100), rising(60, 0..60)].concat());
    }
    let (report, _) = film(&[JoinClip::whole(a.clone()), JoinClip::whole(a)], folder.path());
    assert_eq!((report.copied_pictures, report.encoded_pictures), (200, 0));
}

#[test]
fn dissolve_between_interpolated_clips_copies_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) =
        (interpolated(folder.path(), "a.mp4", 100, 0), interpolated(folder.path(), "b.mp4", 100, 50));
    let transition = Some(JoinTransition { kind: KIND, before: 4, after: 4 });
    let clips = [JoinClip { transition, ..part(&a, 0, 96) }, part(&b, 4, 96)];
    let (report, path) = film(&clips, folder.path());
    assert!(report.copied_pictures > 100 && report.encoded_pictures < 90, "{report:?}");
    let mixed = (0..8).map(|at| {
        let (from, to) = (2.0 * (92 + at) as f32, 50.0 + 2.0 * at as f32);
        from + (to - from) * (at as f32 + 0.5) / 8.0
    });
    let expected: Vec<f32> = rising(0, 0..92).into_iter().chain(mixed).chain(rising(50, 8..100)).collect();
    assert_levels(&path, &expected);
}
