//! Turned clips and pixels that are not square: frames, posters, proxies and films show them as players do.

use std::path::{Path, PathBuf};

use media::{
    Ffmpeg, FrameRate, JoinClip, JoinOptions, RgbImage, first_frame, join, last_frame, poster, probe,
    write_proxy,
};

use crate::fixtures::{PLAIN, Recipe, psnr};
use crate::foreign;

/// Degrees clockwise, and the shape of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    degrees: u32,
    pixel: (u32, u32),
}

const FORMS: [Shape; 6] = [
    Shape { degrees: 90, pixel: (1, 1) },
    Shape { degrees: 180, pixel: (1, 1) },
    Shape { degrees: 270, pixel: (1, 1) },
    Shape { degrees: 0, pixel: (4, 3) },
    Shape { degrees: 0, pixel: (2, 3) },
    Shape { degrees: 90, pixel: (4, 3) },
];

/// The clip with another display matrix and pixel aspect ratio.
fn shaped(clip: &[u8], shape: Shape) -> Vec<u8> {
    let mut file = clip.to_vec();
    let name = |file: &[u8], name: &[u8; 4]| file.windows(4).position(|window| window == name).unwrap() + 4;
    let one = 0x1_0000i32;
    let (cos, sin) = match shape.degrees {
        90 => (0, one),
        180 => (-one, 0),
        270 => (0, -one),
        _ => (one, 0),
    };
    // The first track is the video.
    let matrix = name(&file, b"tkhd") + 40;
    for (i, factor) in [(0, cos), (1, sin), (3, -sin), (4, cos)] {
        file[matrix + i * 4..][..4].copy_from_slice(&factor.to_be_bytes());
    }
    let pasp = name(&file, b"pasp");
    file[pasp..pasp + 4].copy_from_slice(&shape.pixel.0.to_be_bytes());
    file[pasp + 4..pasp + 8].copy_from_slice(&shape.pixel.1.to_be_bytes());
    file
}

fn write(folder: &Path, clip: &[u8], shape: Shape) -> PathBuf {
    let path = folder.join(format!("{}-{}-{}.mp4", shape.degrees, shape.pixel.0, shape.pixel.1));
    std::fs::write(&path, shaped(clip, shape)).unwrap();
    path
}

/// The stored frame as it is presented, by plain sampling.
fn presented(stored: &RgbImage, shape: Shape) -> RgbImage {
    let (width, height) = (f64::from(stored.width()), f64::from(stored.height()));
    let ratio = f64::from(shape.pixel.0) / f64::from(shape.pixel.1);
    let (wide, high) =
        if ratio > 1.0 { ((width * ratio).round(), height) } else { (width, (height / ratio).round()) };
    let sideways = shape.degrees % 180 == 90;
    let (columns, rows) = if sideways { (high, wide) } else { (wide, high) };
    let mut image = RgbImage::new(columns as u32, rows as u32);
    for row in 0..rows as u32 {
        for column in 0..columns as u32 {
            let (u, v) = ((f64::from(column) + 0.5) / columns, (f64::from(row) + 0.5) / rows);
            let (x, y) = match shape.degrees {
                90 => (v, 1.0 - u),
                180 => (1.0 - u, 1.0 - v),
                270 => (1.0 - v, u),
                _ => (u, v),
            };
            let offset = (row * columns as u32 + column) as usize * 3;
            let pixel = stored.pixel((x * width) as u32, (y * height) as u32);
            image.pixels_mut()[offset..offset + 3].copy_from_slice(&pixel);
        }
    }
    image
}

fn clip() -> Vec<u8> {
    Recipe { frames: 10, sound: Some((16_000, 1)), ..PLAIN }.make()
}

#[test]
fn frames_are_upright_with_square_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip();
    let (first, last) = (media::first_frame_bytes(&clip).unwrap(), media::last_frame_bytes(&clip).unwrap());
    for shape in FORMS {
        let path = write(folder.path(), &clip, shape);
        for (actual, stored) in [(first_frame(&path).unwrap(), &first), (last_frame(&path).unwrap(), &last)] {
            let expected = presented(stored, shape);
            let quality = psnr(&actual, &expected);
            assert!(quality > 30.0, "{shape:?}: {quality:.1} dB");
            let video = probe(&path).unwrap().video.unwrap();
            assert_eq!((video.width, video.height), (actual.width(), actual.height()), "{shape:?}");
        }
        let jpeg = media::decode_image(&poster(&path, 9999, false, &Ffmpeg::default()).unwrap()).unwrap();
        assert!(psnr(&jpeg, &presented(&first, shape)) > 28.0, "{shape:?}");
    }
}

#[test]
fn film_of_shaped_clips_is_upright_with_square_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip();
    let first = media::first_frame_bytes(&clip).unwrap();
    for shape in FORMS {
        let path = write(folder.path(), &clip, shape);
        let film = folder.path().join("film.mp4");
        let clips = [JoinClip::whole(path.clone()), JoinClip::whole(path)];
        let report = join(&clips, &film, &JoinOptions::default()).unwrap();
        let expected = presented(&first, shape);
        let even = |side: u32| side.next_multiple_of(2);
        assert_eq!(report.size, (even(expected.width()), even(expected.height())), "{shape:?}");
        assert_eq!(report.encoded_frames, 20, "{shape:?}");
        let shown = first_frame(&film).unwrap();
        if (expected.width(), expected.height()) == report.size {
            let quality = psnr(&shown, &expected);
            assert!(quality > 28.0, "{shape:?}: {quality:.1} dB");
        }
    }
}

#[test]
fn turned_clip_beside_another_has_bars() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip();
    let turned = write(folder.path(), &clip, Shape { degrees: 90, pixel: (1, 1) });
    let plain = folder.path().join("plain.mp4");
    std::fs::write(&plain, &clip).unwrap();
    let film = folder.path().join("film.mp4");
    let clips = [plain.clone(), plain, turned].map(JoinClip::whole);
    let report = join(&clips, &film, &JoinOptions::default()).unwrap();
    assert_eq!(report.size, (160, 96));
    let last = last_frame(&film).unwrap();
    // 96x160 inside 160x96.
    assert!(last.pixel(40, 48).iter().all(|value| *value < 24), "{:?}", last.pixel(40, 48));
    assert!(last.pixel(119, 48).iter().all(|value| *value < 24), "{:?}", last.pixel(119, 48));
    assert!(last.pixel(80, 48).iter().any(|value| *value > 60), "{:?}", last.pixel(80, 48));
}

#[test]
fn proxy_of_a_turned_clip_is_upright() {
    let folder = tempfile::tempdir().unwrap();
    let clip = Recipe { size: (480, 320), frames: 2, ..PLAIN }.make();
    let path = write(folder.path(), &clip, Shape { degrees: 270, pixel: (1, 1) });
    let proxy = folder.path().join("proxy.mp4");
    assert!(write_proxy(&path, &proxy, &Ffmpeg::default()).unwrap());
    let video = probe(&proxy).unwrap().video.unwrap();
    assert_eq!((video.width, video.height), (180, 270));
    assert_eq!(video.frame_rate, FrameRate::new(24, 1).unwrap());
}

#[test]
fn shaped_clips_equal_ffmpegs() {
    let Some(program) = foreign::ffmpeg() else { return };
    let folder = tempfile::tempdir().unwrap();
    let clip = clip();
    for shape in FORMS {
        let path = write(folder.path(), &clip, shape);
        // ffmpeg turns frames; the shape of pixels it only passes on.
        let image = folder.path().join("theirs.png");
        let square = "scale=trunc(iw*max(sar\\,1)+0.5):trunc(ih*max(1/sar\\,1)+0.5)";
        let arguments = [
            "-i",
            foreign::text(&path),
            "-vf",
            square,
            "-frames:v",
            "1",
            "-update",
            "1",
            foreign::text(&image),
        ];
        assert!(foreign::run(&program, &arguments));
        let theirs = media::decode_image(&std::fs::read(&image).unwrap()).unwrap();
        let quality = psnr(&first_frame(&path).unwrap(), &theirs);
        assert!(quality > 28.0, "{shape:?}: {quality:.1} dB");
    }
}
