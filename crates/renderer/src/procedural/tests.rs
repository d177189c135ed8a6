//! The procedural renderer through its interface: jobs in, files out.

use std::ops::ControlFlow;
use std::time::Duration;

use media::RgbImage;

use super::Procedural;
use crate::{Job, Look, Progress, Quality, RenderError, Renderer, Rendering};

fn job(prompt: &str) -> Job {
    Job { seed: 7, ..Job::new(prompt, (160, 96), 0.5) }
}

fn render(job: &Job) -> Rendering {
    Procedural.render(job, &mut |_| ControlFlow::Continue(())).expect("the job is a good one")
}

/// A test image with smooth shapes.
fn sample_image(width: u32, height: u32) -> RgbImage {
    let mut image = RgbImage::new(width, height);
    for (i, p) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
        let (x, y) = ((i as u32 % width) as f32 / width as f32, (i as u32 / width) as f32 / height as f32);
        let sun = (1.0 - (x - 0.7).hypot(y - 0.3) * 3.0).max(0.0);
        let land = if y > 0.6 + 0.1 * (x * 9.0).sin() { 0.4 } else { 1.0 };
        p.copy_from_slice(&[
            ((60.0 + 120.0 * y + 70.0 * sun) * land) as u8,
            ((90.0 + 50.0 * y + 60.0 * sun) * land) as u8,
            ((150.0 - 40.0 * y) * land) as u8,
        ]);
    }
    image
}

/// Peak signal-to-noise ratio in dB.
fn likeness(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!((a.width(), a.height()), (b.width(), b.height()));
    let squares: f64 =
        a.pixels().iter().zip(b.pixels()).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
    10.0 * (255.0 * 255.0 / (squares / a.pixels().len() as f64).max(1e-9)).log10()
}

fn first_frame(rendering: &Rendering) -> RgbImage {
    media::first_frame_bytes(&rendering.mp4).expect("the file decodes")
}

#[test]
fn render_is_deterministic() {
    let job = Job { generate_audio: true, ..job("a lighthouse in a storm at dusk, a keeper with a lantern") };
    let (first, second) = (render(&job), render(&job));
    assert!(first.mp4 == second.mp4, "two runs differ");
    assert!(first.last_frame == second.last_frame);
}

#[test]
fn rendering_has_requested_size_length_and_audio() {
    let mut seen = Vec::new();
    let job = Job { generate_audio: true, ..job("a calm sea at sunrise") };
    let rendering = Procedural
        .render(&job, &mut |progress| {
            seen.push(progress);
            ControlFlow::Continue(())
        })
        .expect("the job is a good one");
    let probe = media::probe_bytes(&rendering.mp4).expect("the file probes");
    let video = probe.video.expect("there are frames");
    assert_eq!((video.width, video.height, video.frames), (160, 96, 12));
    assert!(probe.audio.is_some() && probe.is_faststart);
    assert_eq!(seen.len(), 12);
    assert_eq!(seen.last(), Some(&Progress { frames_done: 12, frames_total: 12 }));
    assert!(seen.windows(2).all(|pair| pair[0].frames_done + 1 == pair[1].frames_done));
}

#[test]
fn sketches_have_mono_sound() {
    for (look, quality, channels) in [
        (Look::Scene, Quality::Standard, 2),
        (Look::Scene, Quality::Fast, 1),
        (Look::Animatic, Quality::Standard, 1),
    ] {
        let job = Job { generate_audio: true, quality, ..job("a calm sea at sunrise") };
        let rendering = look.renderer().render(&job, &mut |_| ControlFlow::Continue(())).expect("it renders");
        let audio =
            media::probe_bytes(&rendering.mp4).expect("the file probes").audio.expect("there is sound");
        assert_eq!((audio.channels, audio.duration), (channels, Duration::from_secs_f64(job.seconds)));
    }
}

#[test]
fn last_frame_equals_decoded_last_frame() {
    let rendering = render(&job("dunes at golden hour"));
    assert!(media::last_frame_bytes(&rendering.mp4).expect("the file decodes") == rendering.last_frame);
}

#[test]
fn first_frame_starts_the_video_and_dissolves() {
    let image = sample_image(160, 96);
    let rendering = render(&Job { first_frame: Some(image.clone()), ..job("a snowfield at noon") });
    let start = likeness(&first_frame(&rendering), &image);
    assert!(start > 30.0, "frame 0 is only {start:.1} dB like the given image");
    let end = likeness(&rendering.last_frame, &image);
    assert!(end < 24.0, "the last frame still is the given image ({end:.1} dB)");
}

#[test]
fn first_frame_of_other_size_covers_the_frame() {
    let rendering = render(&Job { first_frame: Some(sample_image(300, 100)), ..job("a meadow") });
    let fitted = super::transition::cover(&sample_image(300, 100), 160, 96);
    assert!(likeness(&first_frame(&rendering), &fitted) > 30.0);
}

#[test]
fn last_frame_input_ends_the_video() {
    let image = sample_image(160, 96);
    let rendering = render(&Job {
        first_frame: Some(RgbImage::new(160, 96)),
        last_frame: Some(image.clone()),
        ..job("city at night")
    });
    let end = likeness(&rendering.last_frame, &image);
    assert!(end > 30.0, "the last frame is only {end:.1} dB like the given image");
    assert!(likeness(&first_frame(&rendering), &RgbImage::new(160, 96)) > 30.0);
}

#[test]
fn chained_jobs_join_without_jump() {
    let before = render(&job("a lake at dawn"));
    let after = render(&Job { first_frame: Some(before.last_frame.clone()), ..job("a lake at dusk") });
    assert!(likeness(&first_frame(&after), &before.last_frame) > 30.0);
}

#[test]
fn seed_and_prompt_change_the_scene() {
    let job = |prompt: &str| Job { seconds: 0.1, ..job(prompt) };
    let base = render(&job("mountains"));
    let other_seed = render(&Job { seed: 8, ..job("mountains") });
    let other_prompt = render(&job("a city at night in rain"));
    for other in [&other_seed, &other_prompt] {
        let likeness = likeness(&base.last_frame, &other.last_frame);
        assert!(likeness < 26.0, "{likeness:.1} dB alike");
    }
}

#[test]
fn fixed_camera_moves_less_but_scene_is_animated() {
    let moving = render(&job("pan right over a calm sea at sunset"));
    let fixed = render(&Job { camera_fixed: true, ..job("pan right over a calm sea at sunset") });
    let change = |rendering: &Rendering| likeness(&first_frame(rendering), &rendering.last_frame);
    assert!(change(&fixed) > change(&moving) + 3.0, "{} against {}", change(&fixed), change(&moving));
    assert!(change(&fixed) < 60.0, "nothing moves at all");
}

#[test]
fn references_change_colors() {
    let mut red = RgbImage::new(32, 32);
    red.pixels_mut().chunks_exact_mut(3).for_each(|p| p.copy_from_slice(&[190, 50, 40]));
    let plain = render(&Job { seconds: 0.1, ..job("a room at noon") });
    let tinted = render(&Job { seconds: 0.1, references: vec![red], ..job("a room at noon") });
    let redness = |image: &RgbImage| {
        image.pixels().chunks_exact(3).map(|p| f64::from(p[0]) - f64::from(p[2])).sum::<f64>()
    };
    assert!(redness(&tinted.last_frame) > redness(&plain.last_frame) + 10.0 * 160.0 * 96.0);
}

#[test]
fn watermark_is_drawn_only_if_requested() {
    let plain = render(&Job { width: 320, height: 180, seconds: 0.1, ..job("a room") });
    let marked = render(&Job { width: 320, height: 180, seconds: 0.1, watermark: true, ..job("a room") });
    assert!(plain.last_frame != marked.last_frame);
}

#[test]
fn progress_break_cancels_immediately() {
    let mut calls = 0;
    let outcome = Procedural.render(&job("a room"), &mut |_| {
        calls += 1;
        if calls == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(outcome, Err(RenderError::Cancelled)));
    assert_eq!(calls, 3);
}

#[test]
fn invalid_jobs_are_rejected() {
    let bad = [
        Job { width: 161, ..job("x") },
        Job { height: 8, ..job("x") },
        Job { frame_rate: 0, ..job("x") },
        Job { seconds: 0.0, ..job("x") },
        Job { seconds: f64::NAN, ..job("x") },
        Job { seconds: 1e9, ..job("x") },
    ];
    for job in bad {
        let outcome = Procedural.render(&job, &mut |_| ControlFlow::Continue(()));
        assert!(matches!(outcome, Err(RenderError::Job { .. })), "accepted {job:?}");
    }
}

#[test]
fn every_landscape_hour_and_aspect_renders() {
    let prompts = [
        "mountains at dawn, crane up",
        "snowy pine forest at night, aurora, tilt up",
        "stormy sea with lightning, handheld",
        "harbour at dusk, fishing boats, gulls, track left",
        "the lamp turns on in the lighthouse, orbit",
        "a woman in a red dress walks on the beach at sunrise",
        "canyon at noon, drone flyover",
        "cyberpunk city in rain, neon, pull back",
        "autumn meadow with fireflies, noir",
        "desert in fog, embers, pan left",
        "the keeper climbs the stairs, tilt down",
        "he opens the door of the lighthouse, descend",
        "close-up of a woman in a room at night, rain at the window",
        "a perfume bottle on a white background, pull back",
        "papercraft fish in a coral reef",
        "cartoon of three dogs on a beach, whip pan",
        "watercolour of a train and a crowd",
    ];
    let shapes = [(160, 96), (96, 160), (112, 112), (168, 72)];
    for (index, prompt) in prompts.into_iter().enumerate() {
        let (width, height) = shapes[index % shapes.len()];
        let job = Job { width, height, ..job(prompt) };
        let frame = crate::Look::Scene.draw_frame(&job, 6).expect("the job is a good one");
        let pixels = frame.pixels();
        let mean = pixels.iter().map(|v| f64::from(*v)).sum::<f64>() / pixels.len() as f64;
        let spread =
            (pixels.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / pixels.len() as f64).sqrt();
        assert!((6.0..235.0).contains(&mean) && spread > 6.0, "{prompt}: mean {mean:.0}, spread {spread:.0}");
    }
}

#[test]
fn fast_quality_keeps_the_size() {
    let rendering =
        render(&Job { width: 320, height: 180, seconds: 0.1, quality: Quality::Fast, ..job("a lake") });
    assert_eq!((rendering.last_frame.width(), rendering.last_frame.height()), (320, 180));
}

#[test]
fn prompts_that_are_not_read_give_different_scenes() {
    let prompts = ["A chef tossing vegetables", "zxq", "zxr", "男人伸懒腰", "男人打哈欠", "zxq ", ""];
    let seeds: std::collections::HashSet<u64> =
        prompts.iter().map(|prompt| super::stage::scene_seed(prompt, 7)).collect();
    assert_eq!(seeds.len(), prompts.len());
    let drawn = |prompt: &str| {
        let job = Job { width: 64, height: 48, ..job(prompt) };
        crate::Look::Scene.draw_frame(&job, 0).expect("the job is a good one")
    };
    assert!(drawn("zxq in a room") != drawn("zxr in a room"));
}

#[test]
fn drawn_frame_equals_that_of_the_film() {
    let job = Job { width: 64, height: 48, seconds: 0.2, ..job("a dog in a room") };
    let mut frames = Vec::new();
    Procedural
        .draw(&job, &mut |frame| {
            frames.push(frame.clone());
            Ok(())
        })
        .expect("the job is a good one");
    assert!(crate::Look::Scene.draw_frame(&job, 3).expect("the job is a good one") == frames[3]);
}

/// The frames of a shot and of the one that continues it, without the frame that both have.
fn chain(first: &Job, second: &Job) -> (Vec<RgbImage>, usize, Rendering) {
    let rendered = render(first);
    let continuation = Job { first_frame: Some(rendered.last_frame.clone()), ..second.clone() };
    let mut frames = Vec::new();
    for job in [first, &continuation] {
        let mut drawn = Vec::new();
        Procedural
            .draw(job, &mut |frame| {
                drawn.push(frame.clone());
                Ok(())
            })
            .expect("the job is a good one");
        frames.push(drawn);
    }
    let seam = frames[0].len() - 1;
    let rest = frames.pop().expect("there are two shots").split_off(1);
    let mut all = frames.pop().expect("there are two shots");
    all.extend(rest);
    (all, seam, render(&continuation))
}

#[test]
fn continuation_goes_on_in_the_same_world_without_a_seam() {
    let shots = [
        ("a lighthouse on the coast at dusk, waves, dolly in", "The keeper looks up, dolly in."),
        ("drone flyover of mountains at sunset", "The valley opens, pan right."),
        ("a cat in a room with a window", "The cat yawns."),
    ];
    for (first, second) in shots {
        let long = |prompt: &str| Job { seconds: 0.8, ..job(prompt) };
        let (frames, seam, _) = chain(&long(first), &long(second));
        let steps: Vec<f64> = frames.windows(2).map(|pair| likeness(&pair[0], &pair[1])).collect();
        let mut calm = steps.clone();
        calm.sort_by(f64::total_cmp);
        let median = calm[calm.len() / 2];
        let step = steps[seam];
        assert!((step - median).abs() < 3.0, "{first}: the seam is {step:.1} dB, usual are {median:.1}");
        // Neither side stands still; a new move may be faster.
        for (index, step) in steps.iter().enumerate().take(seam + 8).skip(seam - 8) {
            assert!(step - median < 4.0, "{first}: step {index} is {step:.1} dB, usual are {median:.1}");
        }
    }
}

#[test]
fn continuation_is_deterministic_and_can_be_continued() {
    let job = job("a harbour at night, rain");
    let (_, _, continued) = chain(&job, &job);
    let (_, _, repeated) = chain(&job, &job);
    assert!(continued.mp4 == repeated.mp4 && continued.last_frame == repeated.last_frame);
    assert_eq!(continued.last_frame.note(), repeated.last_frame.note());
    let third = render(&Job { first_frame: Some(continued.last_frame.clone()), ..job.clone() });
    assert!(third.last_frame.note() != continued.last_frame.note());
    assert!(likeness(&continued.last_frame, &third.last_frame) > 16.0, "it is the same place");
}

#[test]
fn foreign_image_with_a_note_is_only_an_image() {
    let rendered = render(&job("a harbour at night, rain"));
    let mut image = sample_image(160, 96);
    let plain = render(&Job { first_frame: Some(image.clone()), ..job("a snowfield at noon") });
    image.set_note(rendered.last_frame.note().map(str::to_owned));
    let noted = render(&Job { first_frame: Some(image), ..job("a snowfield at noon") });
    assert!(noted.mp4 == plain.mp4);
}
