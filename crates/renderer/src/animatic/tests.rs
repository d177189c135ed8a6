//! Frames and renderings of the animatic.

use std::ops::ControlFlow;

use super::*;

fn job(prompt: &str) -> Job {
    Job::new(prompt, (320, 180), 4.0)
}

fn frame(job: &Job, seconds: f64) -> RgbImage {
    Animatic.draw_frame(job, (seconds * 24.0) as u32).unwrap()
}

fn rendered(job: &Job) -> Rendering {
    Animatic.render(job, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// The mean difference of two frames, 0 to 255.
fn difference(a: &RgbImage, b: &RgbImage) -> f64 {
    let sum: u64 = a.pixels().iter().zip(b.pixels()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / a.pixels().len() as f64
}

#[test]
fn nothing_moves_that_the_prompt_does_not_name() {
    let still = job("A pier at dusk.");
    let clean = |job: &Job, seconds: f64| frame(&Job { seconds, ..job.clone() }, seconds);
    // The last frames of shots of any length are the same background.
    assert_eq!(clean(&still, 3.0), clean(&still, 4.0));
    let moving = job("A pier at dusk. Pan right.");
    assert_ne!(frame(&moving, 3.6), frame(&moving, 3.9));
    assert_eq!(
        frame(&Job { camera_fixed: true, ..moving.clone() }, 3.6),
        frame(&Job { camera_fixed: true, ..moving }, 3.9)
    );
    let rain = job("A pier at dusk in the rain.");
    assert_ne!(frame(&rain, 3.6), frame(&rain, 3.9));
}

#[test]
fn type_is_gone_before_the_end() {
    for prompt in ["A pier.", "A keeper says: \"The lamp is out, and the sea is rising.\" He runs. Night."] {
        let job = job(prompt);
        let clean = frame(&job, 4.0);
        assert_eq!(frame(&job, 3.55), clean, "{prompt}");
        assert!(difference(&frame(&job, 1.0), &clean) > 1.0, "{prompt}");
    }
}

#[test]
fn continuation_begins_on_exactly_its_first_frame() {
    let first = frame(&job("A red wall."), 4.0);
    let next = Job { first_frame: Some(first.clone()), ..job("Night over the sea. Slow push in.") };
    assert_eq!(frame(&next, 0.0), first);
    let own = frame(&Job { first_frame: None, ..next.clone() }, 4.0);
    assert_eq!(frame(&next, 4.0), own, "its own mood");
    let ended = Job { last_frame: Some(first.clone()), ..next };
    assert_eq!(frame(&ended, 4.0), first);
}

#[test]
fn renderings_depend_on_the_job_alone() {
    let job = Job { generate_audio: true, ..job("Rain on a street. Handheld.") };
    let (one, two) = (
        rendered(&job),
        std::thread::spawn({
            let job = job.clone();
            move || rendered(&job)
        })
        .join()
        .unwrap(),
    );
    assert_eq!(one.mp4, two.mp4);
    assert_eq!(one.last_frame, media::last_frame_bytes(&one.mp4).unwrap());
    // Takes, and prompts without a word of mood, are told apart.
    let end = |job: &Job| frame(job, 4.0);
    let plain = Job::new("A pier.", (320, 180), 4.0);
    assert!(difference(&end(&plain), &end(&Job { seed: 2, ..plain.clone() })) > 4.0);
    assert!(difference(&end(&plain), &end(&Job { prompt: "A door.".to_owned(), ..plain.clone() })) > 4.0);
}

#[test]
fn every_size_and_prompt_is_drawn() {
    let odd = ["", "\u{0}\n\t", "🙂🙂🙂", "«»「」\"\"", &"word ".repeat(2_000), "ออออ अआइ שלום مرحبا"];
    for (index, size) in
        [(16, 16), (854, 480), (480, 854), (640, 640), (1120, 480), (4096, 16)].into_iter().enumerate()
    {
        let movements = ["", "Orbit.", "Pull back.", "Handheld.", "Crane up.", "Tilt down."];
        let job = Job {
            width: size.0,
            height: size.1,
            references: vec![RgbImage::new(5, 300); 9],
            ..job(&format!("{} {}", odd[index], movements[index]))
        };
        for seconds in [0.0, 0.7, 2.0, 4.0] {
            let drawn = frame(&job, seconds);
            assert_eq!((drawn.width(), drawn.height()), size);
        }
    }
    let short = Job { seconds: 0.05, first_frame: Some(RgbImage::new(7, 9)), ..job("Short.") };
    assert_eq!(rendered(&short).last_frame.width(), 320);
}

#[test]
fn invalid_jobs_are_refused() {
    for job in [
        Job { width: 321, ..job("") },
        Job { height: 8, ..job("") },
        Job { frame_rate: 0, ..job("") },
        Job { seconds: f64::NAN, ..job("") },
        Job { seconds: 61.0, ..job("") },
    ] {
        assert!(matches!(Animatic.draw_frame(&job, 0), Err(RenderError::Job { .. })));
    }
    let mut seen = 0;
    let cancelled = Animatic.render(&job("A pier."), &mut |_| {
        seen += 1;
        if seen == 3 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(cancelled, Err(RenderError::Cancelled)) && seen == 3);
}
