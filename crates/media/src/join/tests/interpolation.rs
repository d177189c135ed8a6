//! Films of clips whose frames are interpolated in part, which are decoded in another order than they are shown.

use super::*;
use crate::Effort;

/// As [`clip`], with every third frame pushed, and those between interpolated.
fn interpolated(folder: &Path, name: &str, frames: u32, base: u8) -> PathBuf {
    let spec = ClipSpec::new(SIZE.0, SIZE.1, FrameRate::CINEMA).with_effort(Effort::Draft);
    let mut writer = ClipWriter::new(spec).unwrap();
    let mut next = 0;
    for number in 0..frames {
        if number < next {
            writer.interpolate_frame().unwrap();
            continue;
        }
        let mut image = RgbImage::new(SIZE.0, SIZE.1);
        image.pixels_mut().fill(base + 2 * number as u8);
        writer.push_frame(&image).unwrap();
        let is_full = writer.is_group_full(2) || number + 3 >= frames;
        next = number + if is_full { 1 } else { 3 };
    }
    let path = folder.join(name);
    fs::write(&path, writer.finish().unwrap()).unwrap();
    path
}

#[test]
fn interpolated_frames_are_shown_between_the_others() {
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
fn cuts_between_interpolated_frames_keep_every_frame() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (interpolated(folder.path(), "a.mp4", 100, 0), clip(folder.path(), "b.mp4", 60, 60, None));
    for (first, frames) in [(0, 100), (10, 85), (11, 86), (12, 87), (0, 44), (47, 2)] {
        let parts = [part(&a, first, frames), JoinClip::whole(a.clone()), JoinClip::whole(b.clone())];
        let (_, path) = film(&parts, folder.path());
        let shown = rising(0, first as u32..(first + frames) as u32);
        assert_levels(&path, &[shown, rising(0, 0..100), rising(60, 0..60)].concat());
    }
    let (report, _) = film(&[JoinClip::whole(a.clone()), JoinClip::whole(a)], folder.path());
    assert_eq!((report.copied_frames, report.encoded_frames), (200, 0));
}

#[test]
fn dissolve_between_interpolated_clips_copies_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) =
        (interpolated(folder.path(), "a.mp4", 100, 0), interpolated(folder.path(), "b.mp4", 100, 50));
    let transition = Some(JoinTransition { kind: KIND, before: 4, after: 4 });
    let clips = [JoinClip { transition, ..part(&a, 0, 96) }, part(&b, 4, 96)];
    let (report, path) = film(&clips, folder.path());
    assert!(report.copied_frames > 100 && report.encoded_frames < 90, "{report:?}");
    let mixed = (0..8).map(|index| {
        let (from, to) = (2.0 * (92 + index) as f32, 50.0 + 2.0 * index as f32);
        from + (to - from) * (index as f32 + 0.5) / 8.0
    });
    let expected: Vec<f32> = rising(0, 0..92).into_iter().chain(mixed).chain(rising(50, 8..100)).collect();
    assert_levels(&path, &expected);
}

/// Decoded frames, one after the other: luma, then both chroma planes.
fn planes(path: &Path) -> Vec<u8> {
    let mut frames = FrameReader::new(Movie::open(path).unwrap()).unwrap().frames_from(0).unwrap();
    let mut planes = Vec::new();
    while let Some(frame) = frames.next().unwrap() {
        let YuvFrame { y, u, v, .. } = frame.image;
        planes.extend([y, u, v].concat());
    }
    planes
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn ffmpeg_decodes_the_same_frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("moving.mp4");
    let (width, height) = (160, 96);
    for effort in [Effort::Draft, Effort::Full] {
        let spec = ClipSpec::new(width, height, FrameRate::CINEMA).with_effort(effort);
        let mut writer = ClipWriter::new(spec).unwrap();
        for number in 0..41_u32 {
            if !number.is_multiple_of(4) {
                writer.interpolate_frame().unwrap();
                continue;
            }
            // Waves that move, and a patch that appears: there decoders blend without motion.
            let mut image = RgbImage::new(width, height);
            for (index, pixel) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
                let (x, y) = (index as u32 % width, index as u32 / width);
                let wave = (((x + 3 * number) as f32) / 9.0).sin() * ((y + number) as f32 / 7.0).cos();
                let is_patch = number > 16 && (40..72).contains(&x) && (32..64).contains(&y);
                let level = (128.0 + 90.0 * wave) as u8;
                pixel.copy_from_slice(&if is_patch {
                    [250, x as u8 * 3, 10]
                } else {
                    [level, 90, 255 - level]
                });
            }
            writer.push_frame(&image).unwrap();
        }
        fs::write(&path, writer.finish().unwrap()).unwrap();
        let mut ffmpeg = std::process::Command::new("ffmpeg");
        ffmpeg.args(["-v", "error", "-nostdin", "-i"]).arg(&path);
        ffmpeg.args(["-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-"]);
        let Ok(decoded) = ffmpeg.output() else {
            eprintln!("skipped: ffmpeg is not installed: nothing to compare with");
            return;
        };
        assert!(decoded.status.success(), "{}", String::from_utf8_lossy(&decoded.stderr));
        let own = planes(&path);
        assert_eq!(own.len(), decoded.stdout.len());
        let differing = own.iter().zip(&decoded.stdout).filter(|(own, other)| own != other).count();
        assert_eq!(differing, 0, "{effort:?}: samples of {} that differ", own.len());
    }
}
