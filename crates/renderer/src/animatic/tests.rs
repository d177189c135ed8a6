//! The panel: when it is seen, what it changes, and that it is deterministic.

use std::ops::ControlFlow;

use media::RgbImage;

use super::panel::{Panel, Shot, visibility};
use super::{Animatic, Look};
use crate::procedural::Move;
use crate::{Job, Procedural};

fn job() -> Job {
    Job {
        model: "dreamina-seedance-2-0-fast".to_owned(),
        frame_rate: 8,
        seed: 7,
        ..Job::new("A keeper walks along the breakwater; 夜の港, مرحبا", (320, 180), 3.0)
    }
}

/// Frames that the panel changes.
fn changed(job: &Job) -> Vec<u32> {
    let panel = Panel::new(job, Shot { movement: Move::PanLeft }).expect("there is room");
    let plain = RgbImage::new(job.width, job.height);
    let lay = |frame: &u32| {
        let mut image = plain.clone();
        panel.lay(*frame, &mut image);
        image != plain
    };
    (0..job.frames_total()).filter(lay).collect()
}

#[test]
fn panel_leaves_the_first_frame_and_the_last_half_second() {
    // 24 frames; the last half second begins with frame 20.
    assert_eq!(changed(&job()), (1..20).collect::<Vec<_>>());
    assert_eq!(changed(&Job { seconds: 15.0, ..job() }), (1..116).collect::<Vec<_>>());
    // Too short for it.
    assert_eq!(changed(&Job { seconds: 0.9, ..job() }), Vec::<u32>::new());
}

#[test]
fn lower_third_follows_the_full_panel() {
    let seen = |time: f32| visibility(time, 5.0);
    assert_eq!((seen(1.0).full, seen(1.0).slim), (1.0, 0.0));
    assert_eq!((seen(2.0).full, seen(2.0).slim), (0.0, 1.0));
    assert_eq!((seen(4.5).full, seen(4.5).slim), (0.0, 0.0));
    let short = visibility(1.0, 2.0);
    assert_eq!((short.full, short.slim), (1.0, 0.0));
}

#[test]
fn panel_fits_every_ratio_and_prompt() {
    let image = RgbImage::new(50, 200);
    let sizes = [(854, 480), (480, 854), (640, 640), (1280, 544), (122, 900)];
    let prompts = ["", "x", &"word ".repeat(2_000), &"字".repeat(3_000), "\n\n\t"];
    for ((width, height), prompt) in sizes.into_iter().zip(prompts) {
        let job = Job {
            width,
            height,
            prompt: prompt.to_owned(),
            references: vec![image.clone(); 9],
            first_frame: Some(image.clone()),
            ..job()
        };
        let panel = Panel::new(&job, Shot { movement: Move::Orbit }).expect("there is room");
        panel.lay(10, &mut RgbImage::new(width, height));
    }
    assert!(Panel::new(&Job { width: 160, height: 96, ..job() }, Shot { movement: Move::Static }).is_none());
}

#[test]
fn last_frame_of_animatic_is_that_of_the_scene() {
    let job = Job { seconds: 1.25, prompt: "a cat in a room".to_owned(), ..job() };
    let render = |renderer: &dyn crate::Renderer| {
        renderer.render(&job, &mut |_| ControlFlow::Continue(())).expect("the job is a good one")
    };
    let (first, second, scene) = (render(&Animatic), render(&Animatic), render(&Procedural));
    assert!(first.mp4 == second.mp4, "two runs differ");
    assert!(first.mp4 != scene.mp4, "there is no panel");
    // Coded after other frames, so nearly the same bytes only.
    let differs = first.last_frame.pixels().iter().zip(scene.last_frame.pixels());
    let mean =
        differs.map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>() / first.last_frame.pixels().len() as f64;
    assert!(mean < 3.0, "{mean:.1}");
}

#[test]
fn names_select_the_look() {
    assert_eq!(Look::named("scene"), Some(Look::Scene));
    assert_eq!(Look::named("Animatic"), None);
    assert_eq!(Look::default(), Look::Animatic);
}
