//! External renderers as `sh` scripts.

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

/// For what comes, and on a busy machine later.
const TEST_TIMEOUT: Duration = Duration::from_mins(2);

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
        model: "m".to_owned(),
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
        fast: true,
    }
}

/// A script as a renderer. `$OUT` is the folder of the test.
fn script(folder: &TempDir, text: &str, timeout: Duration) -> ExternalRenderer {
    let text = text.replace("$OUT", folder.path().to_str().unwrap());
    let words = ["sh".to_owned(), "-c".to_owned(), text];
    let data = folder.path().join("data");
    std::fs::create_dir_all(&data).unwrap();
    ExternalRenderer::new(&words, std::env::var_os("PATH"), &data, timeout).unwrap()
}

fn run(folder: &TempDir, text: &str) -> Result<Rendering, RenderError> {
    script(folder, text, TEST_TIMEOUT).render(&job(), &mut |_| ControlFlow::Continue(()))
}

fn code(result: Result<Rendering, RenderError>) -> String {
    match result {
        Err(RenderError::Task { code, message }) => format!("{code}: {message}"),
        other => panic!("{other:?}"),
    }
}

/// Nothing of a job stays behind.
fn is_working_dir_empty(folder: &TempDir) -> bool {
    std::fs::read_dir(folder.path().join("data").join(WORKING_DIR)).unwrap().next().is_none()
}

#[test]
fn missing_data_directory_is_not_created() {
    let folder = tempfile::tempdir().unwrap();
    let renderer = script(&folder, "true", TEST_TIMEOUT);
    std::fs::remove_dir(folder.path().join("data")).unwrap();
    let failed = renderer.render(&job(), &mut |_| ControlFlow::Continue(()));
    assert!(code(failed).contains("creating its working directory failed"));
    assert!(!folder.path().join("data").exists());
}

#[test]
fn program_receives_task_and_inputs_and_its_video_is_returned() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip(&folder);
    let text = "cat > $OUT/stdin; cp task.json $OUT/; cp *.png *.wav $OUT/; env > $OUT/env; \
        pwd > $OUT/pwd; echo progress 50; cp $OUT/clip.mp4 output.mp4";
    let mut reported = Vec::new();
    let rendering = script(&folder, text, TEST_TIMEOUT)
        .render(&job(), &mut |progress| {
            reported.push((progress.frames_done, progress.frames_total));
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(rendering.mp4, clip);
    assert_eq!((rendering.last_frame.width(), rendering.last_frame.height()), (64, 36));
    assert!(reported.iter().all(|(done, total)| [0, 12].contains(done) && *total == 24), "{reported:?}");

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
    assert!(is_working_dir_empty(&folder));
}

#[test]
fn exit_codes_map_to_task_errors() {
    let folder = tempfile::tempdir().unwrap();
    let error = |text| code(run(&folder, text));
    assert_eq!(error("exit 3"), "input_moderated: the renderer rejected the prompt or an input");
    assert_eq!(error("echo message no storms here; exit 4"), "output_moderated: no storms here");
    assert_eq!(error("exit 5"), "render_unsupported: the renderer does not support the request");
    assert_eq!(error("echo a secret >&2; exit 77"), "render_failed: the renderer failed with exit code 77");
    assert_eq!(error("kill -9 $$"), "render_failed: the renderer was killed by a signal");
    assert!(is_working_dir_empty(&folder));
}

#[test]
fn invalid_output_fails_the_task() {
    let folder = tempfile::tempdir().unwrap();
    clip(&folder);
    let error = |text| code(run(&folder, text));
    assert!(error("exit 0").ends_with("there is no output.mp4"));
    assert!(error("echo words > output.mp4").starts_with("render_failed: the renderer succeeded but"));
    assert!(error("ln -s $OUT/clip.mp4 output.mp4").contains("must be a regular file"));
    assert!(error("mkdir output.mp4").contains("must be a regular file"));
    let intact = std::fs::read(folder.path().join("clip.mp4")).unwrap();
    assert!(probe_bytes(&intact).is_ok());
    assert!(error("head -c 700 $OUT/clip.mp4 > output.mp4").starts_with("render_failed"));
}

/// Whether a process that was started by a script is there still.
fn is_alive(pid_file: &Path) -> bool {
    let pid = std::fs::read_to_string(pid_file).unwrap();
    // An ended process that has not been waited for counts as gone.
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Writes the number of a process that would sleep for ten minutes.
const SLEEPY: &str = "sleep 600 & echo $! > $OUT/pid.part; mv $OUT/pid.part $OUT/pid; wait";

#[test]
fn timeout_kills_process_group() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let begin = Instant::now();
    let renderer = script(&folder, SLEEPY, Duration::from_secs(1));
    // Its time is not looked at before it sleeps.
    let mut go_on_when_asleep = |_| {
        until(|| pid.exists());
        ControlFlow::Continue(())
    };
    let error = code(renderer.render(&job(), &mut go_on_when_asleep));
    assert_eq!(error, "render_timed_out: the renderer did not end within 1 s");
    assert!(begin.elapsed() < Duration::from_mins(5), "it has not slept to its end");
    until(|| !is_alive(&pid));
    assert!(is_working_dir_empty(&folder));
}

#[test]
fn cancellation_kills_process_group() {
    let folder = tempfile::tempdir().unwrap();
    let pid = folder.path().join("pid");
    let renderer = script(&folder, SLEEPY, TEST_TIMEOUT);
    let mut stop_when_asleep =
        |_| if pid.exists() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let result = renderer.render(&job(), &mut stop_when_asleep);
    assert!(matches!(result, Err(RenderError::Cancelled)));
    until(|| !is_alive(&pid));
}

/// The system takes a moment to end what was killed.
fn until(condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < TEST_TIMEOUT, "never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn excessive_and_malformed_output_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let clip = clip(&folder);
    let text = "head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; printf '\\nprogress\\nprogress x\\n-5%%\\n1e999%%\\n900%%'; \
        cp $OUT/clip.mp4 output.mp4";
    assert_eq!(run(&folder, text).unwrap().mp4, clip);
}

#[test]
fn output_lines_parse_as_documented() {
    assert_eq!(ProgramOutput::parse("progress 37"), Some(ProgramOutput::Percent(37)));
    assert_eq!(ProgramOutput::parse(" progress 37.9% "), Some(ProgramOutput::Percent(37)));
    assert_eq!(ProgramOutput::parse("37%"), Some(ProgramOutput::Percent(37)));
    assert_eq!(ProgramOutput::parse("-3%"), Some(ProgramOutput::Percent(0)));
    assert_eq!(ProgramOutput::parse("1000%"), Some(ProgramOutput::Percent(100)));
    assert_eq!(
        ProgramOutput::parse("message  too dark "),
        Some(ProgramOutput::Message("too dark".to_owned()))
    );
    for line in ["", "37", "progress", "progress soon", "NaN%", "loading model: 37 of 90"] {
        assert_eq!(ProgramOutput::parse(line), None, "{line}");
    }
}

#[test]
fn new_fails_if_program_does_not_exist() {
    let new = |words: &[String]| {
        ExternalRenderer::new(words, std::env::var_os("PATH"), Path::new("data"), Duration::ZERO).map(drop)
    };
    assert!(matches!(new(&[]), Err(ExternalRendererError::Empty)));
    let error = new(&["no-such-program-anywhere".to_owned()]).unwrap_err().to_string();
    assert!(error.contains("no-such-program-anywhere is not found"), "{error}");
}

#[test]
fn frames_become_a_video_in_which_each_is_held() {
    let folder = tempfile::tempdir().unwrap();
    for (number, shade) in [40, 120, 200].into_iter().enumerate() {
        let image = RgbImage::from_pixels(64, 36, vec![shade; 64 * 36 * 3]).unwrap();
        std::fs::write(folder.path().join(format!("{number}.png")), encode_png(&image)).unwrap();
    }
    std::fs::write(folder.path().join("small.png"), encode_png(&RgbImage::new(8, 8))).unwrap();
    let wav = AudioBuffer { sample_rate: 48_000, channels: 2, samples: vec![0.25; 4_800] };
    write_wav(&folder.path().join("sound.wav"), &wav).unwrap();

    let rendering = run(&folder, "cp $OUT/[0-9].png frames && cp $OUT/sound.wav .").unwrap();
    let probe = probe_bytes(&rendering.mp4).unwrap();
    let video = probe.video.unwrap();
    assert_eq!((video.width, video.height, video.frames), (64, 36, 24));
    assert!(probe.audio.is_some());
    let shade = |image: &RgbImage| image.pixel(30, 20)[0];
    assert!(shade(&media::first_frame_bytes(&rendering.mp4).unwrap()).abs_diff(40) < 6);
    assert!(shade(&rendering.last_frame).abs_diff(200) < 6);

    let small = code(run(&folder, "cp $OUT/small.png frames"));
    assert!(small.ends_with("small.png is 8x8, not 64x36"), "{small}");
    let link = code(run(&folder, "ln -s $OUT/0.png frames/0.png"));
    assert!(link.contains("0.png must be a regular file"), "{link}");
    let broken = code(run(&folder, "echo x > frames/0.png"));
    assert!(broken.contains("expected a PNG, JPEG or WebP image"), "{broken}");
    assert!(code(run(&folder, "true")).contains("there is no output.mp4"));
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn example_in_python_renders() {
    let has_pillow = process::Command::new("python3").args(["-c", "import PIL"]).output();
    if !has_pillow.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: this needs Python 3 with Pillow");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/own_renderer.py");
    let words = ["python3".to_owned(), example.to_owned()];
    let renderer =
        ExternalRenderer::new(&words, std::env::var_os("PATH"), &data, Duration::from_mins(10)).unwrap();
    let render = |job: &Job| renderer.render(job, &mut |_| ControlFlow::Continue(())).unwrap();
    let job = Job { first_frame: None, ..job() };
    let (rendered, repeated) = (render(&job), render(&job));
    assert!(rendered.mp4 == repeated.mp4, "it is deterministic");
    assert_eq!(probe_bytes(&rendered.mp4).unwrap().video.unwrap().frames, 24);
    let other_prompt = render(&Job { prompt: "another prompt".to_owned(), ..job.clone() });
    assert!(rendered.last_frame != other_prompt.last_frame);
    // What continues it begins where it ended.
    let next = render(&Job { first_frame: Some(rendered.last_frame.clone()), ..job });
    let first = media::first_frame_bytes(&next.mp4).unwrap();
    let differs =
        first.pixels().iter().zip(rendered.last_frame.pixels()).map(|(a, b)| u64::from(a.abs_diff(*b)));
    assert!(differs.sum::<u64>() / (first.pixels().len() as u64) < 6);
}
