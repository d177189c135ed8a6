//! Camera moves, measured by the motion of the image.

use media::RgbImage;

use crate::{Job, Look};

const WIDTH: usize = 160;
const HEIGHT: usize = 96;

fn frames(prompt: &str, numbers: [u32; 2]) -> [RgbImage; 2] {
    let job = Job {
        seed: 5,
        ..Job::new(&format!("{prompt}, a bookshelf in a library at noon"), (WIDTH as u32, HEIGHT as u32), 2.0)
    };
    numbers.map(|frame| Look::Scene.draw_frame(&job, frame).expect("the job is a good one"))
}

/// By how many pixels a part of the image (x and y of its middle) moves to the right and down, by block matching.
fn motion([before, after]: &[RgbImage; 2], (cx, cy): (i32, i32)) -> (i32, i32) {
    let (half, reach) = (18, 20);
    let luma = |image: &RgbImage, x: i32, y: i32| {
        let [r, g, b] =
            image.pixel(x.clamp(0, WIDTH as i32 - 1) as u32, y.clamp(0, HEIGHT as i32 - 1) as u32);
        i32::from(r) + 2 * i32::from(g) + i32::from(b)
    };
    let difference = |dx: i32, dy: i32| -> i32 {
        let points = (-half..half).flat_map(|y| (-half..half).map(move |x| (cx + x, cy + y)));
        points.map(|(x, y)| (luma(before, x, y) - luma(after, x + dx, y + dy)).abs()).sum()
    };
    (-reach..=reach)
        .flat_map(|dx| (-reach..=reach).map(move |dy| (dx, dy)))
        .min_by_key(|(dx, dy)| (difference(*dx, *dy), dx * dx + dy * dy))
        .unwrap_or_default()
}

/// The motion of the middle of the image, and by how much its left and right parts move away from each other.
fn flow(prompt: &str) -> (i32, i32, i32) {
    let pair = frames(prompt, [19, 25]);
    let (dx, dy) = motion(&pair, (80, 44));
    let (left, _) = motion(&pair, (44, 44));
    let (right, _) = motion(&pair, (116, 44));
    (dx, dy, right - left)
}

#[test]
fn moves_go_in_their_direction() {
    let (dx, dy, zoom) = flow("static shot");
    assert!(dx.abs() <= 1 && dy.abs() <= 1 && zoom.abs() <= 1, "static: {dx} {dy} {zoom}");
    for (prompt, sign) in [
        ("pan right", -1),
        ("pan left", 1),
        ("镜头右移", -1),
        ("向左摇", 1),
        ("track right", -1),
        ("slide left", 1),
    ] {
        let (dx, dy, _) = flow(prompt);
        assert!(dx * sign >= 2 && dy.abs() <= 2, "{prompt}: {dx} {dy}");
    }
    for (prompt, sign) in [
        ("tilt up", 1),
        ("tilt down", -1),
        ("crane up", 1),
        ("crane down", -1),
        ("镜头上升", 1),
        ("镜头下降", -1),
    ] {
        let (dx, dy, _) = flow(prompt);
        assert!(dy * sign >= 2 && dx.abs() <= 2, "{prompt}: {dx} {dy}");
    }
    for (prompt, sign) in [("dolly in", 1), ("pull back", -1), ("镜头推进", 1), ("镜头拉远", -1)] {
        let (_, _, zoom) = flow(prompt);
        assert!(zoom * sign >= 1, "{prompt}: {zoom}");
    }
    let middle = (80, 44);
    let (whip, _) = motion(&frames("whip pan", [20, 21]), middle);
    let (pan, _) = motion(&frames("pan right", [20, 21]), middle);
    assert!(whip < 3 * pan && pan < 0, "whip pan {whip}, pan {pan}");
    let (_, _, zoom) = flow("dolly zoom");
    assert!(zoom < 0, "the background falls away: {zoom}");
}

#[test]
fn rolling_camera_turns_the_image() {
    let pair = frames("camera rolls", [19, 25]);
    let (_, left) = motion(&pair, (30, 48));
    let (_, right) = motion(&pair, (130, 48));
    assert!(right - left >= 3, "left {left}, right {right}");
}
