//! Programs of all manners, as `sh` scripts.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise, in its helpers too")]

use std::{
    ops::ControlFlow,
    path::Path,
    time::{Duration, Instant},
};

use media::{AudioBuffer, ClipSpec, ClipWriter, FrameRate, RgbImage, probe_bytes};
use serde_json::Value;
use tempfile::TempDir;

use super::*;

/// A clip of two frames, beside the data directory.
fn clip(folder: &TempDir) -> Vec<u8> {
    let spec = ClipSpec::new(64, 36, FrameRate::new(24, 1).unwrap());
    let mut writer = ClipWriter::new(spec).unwrap();
    for _ in 0..2 {
        writer.push_frame(&RgbImage::new(64, 36)).unwrap();
    }
    let clip = writer.finish().unwrap();
    std::fs::write(folder.path().join("clip.mp4"), &clip).unwrap();
    clip
}

fn job() -> Job {
    Job {
        prompt: "a \"quoted\" $PROMPT".to_owned(),
        width: 64,
        height: 36,
        frame_rate: 24,
        seconds: 1.0,
        seed: u64::MAX,
        first_frame: Some(RgbImage::new(8, 8)),
        last_frame: None,
        references: vec![RgbImage::new(4, 4), RgbImage::new(5, 5)],
        reference_videos: Vec::new(),
        reference_audio: Some(AudioBuffer { sample_rate: 48_000, channels: 2, samples: vec![0.5; 8] }),
        generate_audio: true,
        camera_fixed: false,
        watermark: false,
        quality: Quality::Fast,
    }
}

/// A script as a renderer. `$OUT` is the folder of the test.
fn script(folder: &TempDir, text: &str, time_limit: Duration) -> Command {
    let text = text.replace("$OUT", folder.path().to_str().unwrap());
    let words = ["sh".to_owned(), "-c".to_owned(), text];
    Command::new(&words, std::env::var_os("PATH"), &folder.path().join("data"), time_limit).unwrap()
}

fn run(folder: &TempDir, text: &str) -> Result<Rendering, RenderError> {
    script(folder, text, Duration::from_secs(20)).render(&job(), &mut |_| ControlFlow::Continue(()))
}

fn code(result: Result<Rendering, RenderError>) -> String {
    match result {
        Err(RenderError::Task { code, message }) => format!("{code}: {message}"),
        other => panic!("{other:?}"),
    }
}

/// Nothing of a job stays behind.
fn is_tidy(folder: &TempDir) -> bool {
    std::fs::read_dir(folder.path().join("data").join(WORKING_DIR)).unwrap().next().is_none()
}

#[test]
fn the_program_gets_the_task_and_its_inputs_and_its_video_is_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip(&folder);
    let text = "cat > $OUT/stdin; cp task.json $OUT/; cp *.png *.wav $OUT/; env > $OUT/env; \
        pwd > $OUT/pwd; echo progress 50; cp $OUT/clip.mp4 output.mp4";
    let mut seen = Vec::new();
    let rendering = script(&folder, text, Duration::from_secs(20))
        .render(&job(), &mut |progress| {
            seen.push((progress.frames_done, progress.frames_total));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(rendering.mp4, clip);
    assert_eq!((rendering.last_frame.width(), rendering.last_frame.height()), (64, 36));
    assert!(seen.iter().all(|(done, total)| [0, 12].contains(done) && *total == 24), "{seen:?}");

    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("stdin"), read("task.json"));
    let task: Value = serde_json::from_str(&read("task.json")).unwrap();
    assert_eq!(task["prompt"], job().prompt);
    assert_eq!((task["frames"].as_u64(), task["seed"].as_u64()), (Some(24), Some(u64::MAX)));
    let pwd = read("pwd").trim().to_owned();
    assert_eq!(task["output"], format!("{pwd}/output.mp4"));
    assert_eq!(task["inputs"]["first_frame"], format!("{pwd}/first_frame.png"));
    assert_eq!(task["inputs"]["reference_images"][1], format!("{pwd}/reference-2.png"));
    let png = std::fs::read(folder.path().join("reference-2.png")).unwrap();
    assert_eq!(media::decode_image(&png).unwrap().width(), 5);
    let wav = std::fs::read(folder.path().join("reference.wav")).unwrap();
    let spec =
        media::AudioDecodeSpec { sample_rate: 48_000, channels: 2, max_duration: Duration::from_secs(1) };
    let sound = media::decode_audio(&wav, &media::Ffmpeg::default(), spec).unwrap();
    assert!(sound.samples.len() == 8 && sound.samples.iter().all(|sample| (sample - 0.5).abs() < 1e-3));
    // PATH, and what the shell sets by itself.
    let names: Vec<String> =
        read("env").lines().filter_map(|line| Some(line.split_once('=')?.0.to_owned())).collect();
    assert!(names.contains(&"PATH".to_owned()));
    assert!(
        names.iter().all(|name| ["PATH", "PWD", "OLDPWD", "SHLVL", "_"].contains(&name.as_str())),
        "{names:?}"
    );
    assert!(is_tidy(&folder));
}

#[test]
fn exit_codes_are_task_errors() {
    let folder = tempfile::tempdir().unwrap();
    let told = |text| code(run(&folder, text));
    assert_eq!(told("exit 3"), "input_moderated: the renderer rejected the prompt or an input");
    assert_eq!(told("echo message no storms here; exit 4"), "output_moderated: no storms here");
    assert_eq!(told("exit 5"), "render_unsupported: the renderer does not support the request");
    assert_eq!(told("echo a secret >&2; exit 77"), "render_failed: the renderer failed with exit code 77");
    assert_eq!(told("kill -9 $$"), "render_failed: the renderer was killed by a signal");
    assert!(is_tidy(&folder));
}

#[test]
fn what_is_no_video_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    clip(&folder);
    let told = |text| code(run(&folder, text));
    assert!(told("exit 0").ends_with("there is no output.mp4"));
    assert!(told("echo words > output.mp4").starts_with("render_failed: the renderer succeeded but"));
    assert!(told("ln -s $OUT/clip.mp4 output.mp4").contains("must be a regular file"));
    assert!(told("mkdir output.mp4").contains("must be a regular file"));
    let whole = std::fs::read(folder.path().join("clip.mp4")).unwrap();
    assert!(probe_bytes(&whole).is_ok());
    assert!(told("head -c 700 $OUT/clip.mp4 > output.mp4").starts_with("render_failed"));
}

/// Whether a process that was started by a script is there still.
fn is_alive(pid_file: &Path) -> bool {
    let pid = std::fs::read_to_string(pid_file).unwrap();
    // A process that has ended and that nobody has asked for yet counts as gone.
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Writes the number of a process that would sleep for a minute.
const SLEEPY: &str = "sleep 60 & echo $! > $OUT/pid.part; mv $OUT/pid.part $OUT/pid; wait";

#[test]
fn the_time_limit_ends_the_program_and_all_that_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let begin = Instant::now();
    let renderer = script(&folder, SLEEPY, Duration::from_secs(1));
    let told = code(renderer.render(&job(), &mut |_| ControlFlow::Continue(())));
    assert_eq!(told, "render_timed_out: the renderer did not end within 1 s");
    assert!(begin.elapsed() < Duration::from_secs(20));
    until(|| !is_alive(&folder.path().join("pid")));
    assert!(is_tidy(&folder));
}

#[test]
fn a_cancelled_job_ends_the_program_and_all_that_it_has_started() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let renderer = script(&folder, SLEEPY, Duration::from_mins(1));
    let mut stop_when_asleep =
        |_| if pid.exists() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let result = renderer.render(&job(), &mut stop_when_asleep);
    assert!(matches!(result, Err(RenderError::Cancelled)));
    until(|| !is_alive(&pid));
}

/// The system takes a moment to end what was killed.
fn until(met: impl Fn() -> bool) {
    let begin = Instant::now();
    while !met() {
        assert!(begin.elapsed() < Duration::from_secs(10), "never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn floods_and_nonsense_on_the_pipes_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip(&folder);
    let text = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; printf '\\nprogress\\nprogress x\\n-5%%\\n1e999%%\\n900%%'; \
        cp $OUT/clip.mp4 output.mp4";
    assert_eq!(run(&folder, text).unwrap().mp4, clip);
}

#[test]
fn lines_are_read_as_documented() {
    assert_eq!(ProgramOutput::parse("progress 37"), Some(ProgramOutput::Percent(37)));
    assert_eq!(ProgramOutput::parse(" progress 37.9% "), Some(ProgramOutput::Percent(37)));
    assert_eq!(ProgramOutput::parse("37%"), Some(ProgramOutput::Percent(37)));
    assert_eq!(ProgramOutput::parse("-3%"), Some(ProgramOutput::Percent(0)));
    assert_eq!(ProgramOutput::parse("1000%"), Some(ProgramOutput::Percent(100)));
    assert_eq!(
        ProgramOutput::parse("message  too dark "),
        Some(ProgramOutput::Message("too dark".to_owned()))
    );
    for other in ["", "37", "progress", "progress soon", "NaN%", "loading model: 37 of 90"] {
        assert_eq!(ProgramOutput::parse(other), None, "{other}");
    }
}

#[test]
fn a_program_that_is_not_there_is_refused_at_once() {
    let new = |words: &[String]| {
        Command::new(words, std::env::var_os("PATH"), Path::new("data"), Duration::ZERO).map(drop)
    };
    assert!(matches!(new(&[]), Err(CommandError::Empty)));
    let told = new(&["no-such-program-anywhere".to_owned()]).unwrap_err().to_string();
    assert!(told.contains("no-such-program-anywhere is not found"), "{told}");
}
