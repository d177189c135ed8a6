//! The example storyboard with nothing configured: rendered, joined and played.
//!
//! Its shots last a second here; continuous integration runs it as it is (`.ci/run`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use media::RgbImage;

use crate::support::program::Output;
use crate::support::project_state::{accepted, shots};
use crate::support::{Project, browser, cli_snapshot, inline_snapshot};

#[test]
fn storyboard_renders_film_and_second_run_submits_nothing() {
    let project = Project::from_example("storyboard.yaml");
    shorten(&project.file("storyboard.yaml"));
    let first = project.runner(&["run", "storyboard.yaml"]).expect(0);
    cli_snapshot!("run_storyboard", first.sorted());

    let film = film(&project);
    let probe = media::probe(&film).expect("the film probes");
    let shots = shots(&project, "lighthouse");
    let clips: Vec<_> = shots.iter().map(|(_, clip)| media::probe(clip).expect("a clip probes")).collect();
    let chained = chained(&project);
    assert!(chained.len() >= 4, "two chains of three: {chained:?}");
    let sum: f64 = clips.iter().map(|clip| clip.duration.as_secs_f64()).sum();
    // The frame on which two shots meet is shown once.
    let length = sum - chained.len() as f64 / 24.0;
    assert!(shots.len() >= 6);
    assert!((probe.duration.as_secs_f64() - length).abs() < 0.05, "{:?} against {length} s", probe.duration);
    let sound = probe.audio.expect("the film has sound");
    assert!((sound.duration.as_secs_f64() - length).abs() < 0.05, "{:?} against {length} s", sound.duration);
    assert!(probe.is_faststart);

    for (before, after) in &chained {
        let clip = |name: &str| &shots.iter().find(|(shot, _)| shot == name).expect("the shot has a file").1;
        let end = media::last_frame(clip(before)).expect("a last frame");
        let begin = media::first_frame(clip(after)).expect("a first frame");
        let likeness = psnr(&end, &begin);
        assert!(likeness > 30.0, "{after} does not begin where {before} ends: {likeness:.1} dB");
    }

    let next_run = project.runner(&["run", "storyboard.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"
    film: out/lighthouse/lighthouse.mp4 (5.8 s, 854x480, with sound, up to date)
    all 6 shots are up to date, nothing was submitted
    ");
    assert_eq!(accepted(&project), shots.len(), "the service was asked once for each shot");

    assert_ffprobe_agrees(&film, length);
    browser::plays_to_its_end(&film, length);
}

/// Makes the shots as short as a model permits.
fn shorten(storyboard: &Path) {
    let mut text = fs_err::read_to_string(storyboard).expect("the example is there");
    for seed in [1101, 1102, 1103, 1201, 1202, 1203] {
        text = text.replace(&format!("    seed: {seed}\n"), "");
    }
    for (long, short) in [
        ("  model: modela-video-2-0-260128\n", "  model: modelb-video-480p\n"),
        ("  resolution: 480p\n", ""),
        ("  ratio: \"16:9\"\n", "  size: 854x480\n"),
        ("  seconds: 5\n", "  seconds: 1\n"),
        ("  generate_audio: true\n", ""),
    ] {
        assert_eq!(text.matches(long).count(), 1, "{long}");
        text = text.replace(long, short);
    }
    fs_err::write(storyboard, text).expect("the folder is writable");
}

/// Every shot of the workflow that continues another, after the one that it continues.
fn chained(project: &Project) -> Vec<(String, String)> {
    let plan = project.plan("storyboard.yaml");
    let edges = plan.edges().map(|(from, to, _)| (plan.node(from).name.clone(), plan.node(to).name.clone()));
    edges.collect()
}

/// The film of the project.
fn film(project: &Project) -> PathBuf {
    project.file("out/lighthouse/lighthouse.mp4")
}

/// Peak signal-to-noise ratio in dB; higher is more similar, above 30 hard to distinguish.
fn psnr(a: &RgbImage, b: &RgbImage) -> f64 {
    assert_eq!((a.width(), a.height()), (b.width(), b.height()));
    let squares: f64 =
        a.pixels().iter().zip(b.pixels()).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
    let mean = squares / a.pixels().len() as f64;
    10.0 * (255.0_f64.powi(2) / mean.max(1e-9)).log10()
}

pub(crate) fn assert_ffprobe_agrees(film: &Path, length: f64) {
    let result = Command::new("ffprobe")
        .args(["-v", "error", "-show_entries", "stream=codec_name:format=duration", "-of", "csv=p=0"])
        .arg(film)
        .output();
    let Ok(output) = result else {
        println!("skipped: ffprobe is not on this machine, so the film has no second opinion");
        return;
    };
    assert!(output.stderr.is_empty(), "ffprobe complains: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().map(|line| line.trim().trim_end_matches(',')).collect();
    let (seconds, codecs) = lines.split_last().expect("codecs and a duration");
    // A poster is a stream of its own, and so are chapters.
    let is_other = |codec: &str| codec == "mjpeg" || codec == "bin_data";
    let codecs: BTreeSet<&str> = codecs.iter().copied().filter(|codec| !is_other(codec)).collect();
    assert_eq!(codecs, BTreeSet::from(["aac", "h264"]), "{text}");
    let seconds: f64 = seconds.parse().expect("a duration");
    assert!((seconds - length).abs() < 0.1, "ffprobe says {seconds} s instead of {length} s");
}

const EDITED: &str = "version: 1
name: edited
defaults: {model: modelb-video-480p, seconds: 3, size: 640x640}
shots:
  - {id: pier, prompt: a pier in rain}
  - {id: sea, continues: pier, prompt: the sea at dusk}
film:
  shots:
    - {shot: pier, in: 4f}
    - {shot: sea, transition: {dissolve: 6f}}
    - {shot: pier, out: 1.5s, gain: -6dB, transition: {fade: black, length: 4f}}
";

#[test]
fn edited_film_has_its_trims_and_transitions() {
    let project = Project::new("edited.yaml", EDITED);
    let write =
        |text: &str| fs_err::write(project.file("edited.yaml"), text).expect("the folder is writable");
    let run = project.runner(&["run", "edited.yaml"]).expect(0);
    // 24 - 4 - 1 (the frame on which the shots meet) + 24 - 3 + 12 - 3 + 3: the dissolve plays three frames of each beyond the cut, and
    // the second clip has none before its beginning.
    cli_snapshot!("run_edited", run);
    let film = media::probe(&project.file("out/edited/edited.mp4")).expect("the film probes");
    assert_eq!(film.video.expect("frames").frames, 19 + 21 + 9);
    let last = media::last_frame(&project.file("out/edited/edited.mp4")).expect("a last frame");
    let brightest = last.pixels().iter().max().copied().unwrap_or_default();
    assert!(brightest < 64, "the film ends in black: {brightest}");
    project.runner(&["view", "edited.yaml", "--no-open"]).expect(0);
    let text = fs_err::read_to_string(project.file("out/edited/manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let starts: Vec<_> =
        manifest["films"][0]["cuts"].as_array().expect("cuts").iter().map(|cut| &cut["start"]).collect();
    assert_eq!(starts, [0.0, 19.0 / 8.0, 40.0 / 8.0], "as they are in the film");
    // Another edit of the same clips is another film, and costs nothing.
    write(&EDITED.replace("in: 4f", "in: 8f"));
    let next_run = project.runner(&["run", "edited.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"
    film: out/edited/edited.mp4 (5.6 s, 640x640, silent, 25 frames copied, 20 encoded)
    all 2 shots are up to date, nothing was submitted
    ");
    let film = media::probe(&project.file("out/edited/edited.mp4")).expect("the film probes");
    assert_eq!(film.video.expect("frames").frames, 15 + 21 + 9);
    assert!(project.file("out/edited/edited.1.mp4").exists(), "the earlier cut is kept");
    // What cannot fit is refused before anything is paid for; what does not fit the video fails the film and names the clip.
    write(&EDITED.replace("in: 4f", "in: 4s"));
    cli_snapshot!("run_edited_outside", project.runner(&["run", "edited.yaml"]).expect(2));
    write(&EDITED.replace("in: 4f", "in: 30f"));
    cli_snapshot!("run_edited_beyond_video", project.runner(&["run", "edited.yaml"]).expect(1));
}

const SCORED: &str = r"version: 1
name: lamp
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: door, prompt: the door opens}
  - {id: lamp, prompt: the lamp}
film:
  output: lamp.mp4
  music: {file: score.wav, gain: -12dB, repeat: true, duck: 8dB, fade_out: 0.5s}
  voice: [{file: said.wav, at: lamp, delay: 0.2s}]
  loudness: -16 LUFS
";

/// A tone of half a second.
pub(crate) fn tone(hertz: f32) -> Vec<u8> {
    let sample = |n: u32| (n as f32 * hertz * std::f32::consts::TAU / 48_000.0).sin() * 12_000.0;
    let data: Vec<u8> = (0..24_000).flat_map(|n| (sample(n) as i16).to_le_bytes()).collect();
    let mut file = b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0".to_vec();
    file.extend(48_000_u32.to_le_bytes());
    file.extend(96_000_u32.to_le_bytes());
    file.extend(b"\x02\0\x10\0data");
    file.extend((data.len() as u32).to_le_bytes());
    file.extend(data);
    file
}

/// The loudness of the film in the report of a run, in LUFS.
pub(crate) fn loudness(run: &Output) -> f64 {
    let loudness = run.out.split_once("with sound at ").and_then(|(_, rest)| rest.split_once(" LUFS"));
    loudness.expect("a loudness").0.parse().expect("a number")
}

#[test]
fn music_and_voices_lie_over_the_film_at_its_loudness() {
    let project = Project::new("lamp.yaml", SCORED);
    let write = |name: &str, content: &[u8]| fs_err::write(project.file(name), content).expect("a file");
    write("score.wav", &tone(220.0));
    cli_snapshot!("check_sound_missing", project.runner(&["check", "lamp.yaml"]).expect(2));
    write("said.wav", &tone(880.0));
    let run = project.runner(&["run", "lamp.yaml"]).expect(0);
    inline_snapshot!(run.notes(), @"
    film: out/lamp/lamp.mp4 (2.0 s, 640x640, with sound at [LOUDNESS] LUFS, all frames copied)
    2 of 2 shots are done, 2 submitted
    ");
    assert!((loudness(&run) + 16.0).abs() < 0.5, "{}", run.out);
    let film = project.file("out/lamp/lamp.mp4");
    let spec = media::AudioDecodeSpec {
        sample_rate: 48_000,
        channels: 1,
        max_duration: std::time::Duration::from_mins(1),
    };
    let sound = |file: &std::path::Path| {
        let bytes = fs_err::read(file).expect("a film");
        media::decode_audio(&bytes, &media::Ffmpeg::default(), spec).expect("sound").samples
    };
    let power = |samples: &[f32]| samples.iter().map(|sample| sample * sample).sum::<f32>();
    let samples = sound(&film);
    let voice = power(&samples[60_000..66_000]);
    assert!(power(&samples[10_000..16_000]) > voice / 100.0, "there is music before the voice");
    assert!(voice > 4.0 * power(&samples[10_000..16_000]), "the voice is louder than the music");

    // Another sound costs nothing; the film is joined again, and again only when something changes.
    write("said.wav", &tone(440.0));
    let next_run = project.runner(&["run", "lamp.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"
    film: out/lamp/lamp.mp4 (2.0 s, 640x640, with sound at [LOUDNESS] LUFS, all frames copied)
    all 2 shots are up to date, nothing was submitted
    ");
    assert!(project.file("out/lamp/lamp.1.mp4").is_file());
    assert_ne!(sound(&film), samples);
    let third_run = project.runner(&["run", "lamp.yaml"]).expect(0);
    inline_snapshot!(third_run.notes(), @"
    film: out/lamp/lamp.mp4 (2.0 s, 640x640, with sound, up to date)
    all 2 shots are up to date, nothing was submitted
    ");
    assert!(!project.file("out/lamp/lamp.2.mp4").exists());
    assert_eq!(accepted(&project), 2);
}

const SPOKEN: &str = r#"version: 1
name: lamp
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: door, prompt: the door opens, dialogue: [{text: "Who is there?", at: 0s, length: 0.5s, speaker: Keeper}]}
  - {id: stairs, prompt: up the stairs}
  - {id: lamp, prompt: the lamp, dialogue: "The lamp, 灯塔."}
films:
  - {output: lamp.mp4, subtitles: dialogue}
  - {output: burnt.mp4, subtitles: {burn: true}}
"#;

#[test]
fn subtitles_are_written_beside_the_film_and_drawn_into_it() {
    let project = Project::new("lamp.yaml", SPOKEN);
    let run = project.runner(&["run", "lamp.yaml"]).expect(0);
    // Nobody speaks on the stairs, whose 8 frames are copied.
    inline_snapshot!(run.notes(), @"
    film: out/lamp/lamp.mp4 (3.0 s, 640x640, silent, all frames copied)
    film: out/lamp/burnt.mp4 (3.0 s, 640x640, silent, 8 frames copied, 16 encoded)
    3 of 3 shots are done, 3 submitted
    ");
    let file = |name: &str| project.file(&format!("out/lamp/{name}"));
    let text = |name: &str| fs_err::read_to_string(file(name)).expect("subtitles");
    insta::assert_snapshot!("subtitles_srt", text("lamp.srt"));
    insta::assert_snapshot!("subtitles_vtt", text("lamp.vtt"));
    assert_eq!(text("lamp.srt"), text("burnt.srt"));
    // The page shows them at the same times, but for those that are in the frames.
    project.runner(&["view", "lamp.yaml"]).expect(0);
    let manifest: serde_json::Value = serde_json::from_str(&text("manifest.json")).expect("a manifest");
    assert_eq!(
        manifest["films"][0]["captions"],
        serde_json::json!([
            {"start": 0.0, "end": 0.5, "speaker": "Keeper", "text": "Who is there?"},
            {"start": 2.0, "end": 3.0, "speaker": null, "text": "The lamp, 灯塔."},
        ])
    );
    assert_eq!(manifest["films"][1]["captions"], serde_json::json!([]));

    // Letters at the lower edge of the first frame, and nothing elsewhere.
    let (plain, burnt) = (file("lamp.mp4"), file("burnt.mp4"));
    let differing = |rows: std::ops::Range<u32>, plain: &RgbImage, burnt: &RgbImage| {
        let pixels = rows.flat_map(|y| (0..plain.width()).map(move |x| (x, y)));
        pixels.filter(|(x, y)| plain.pixel(*x, *y)[1].abs_diff(burnt.pixel(*x, *y)[1]) > 40).count()
    };
    let (plain_frame, burnt_frame) =
        (media::first_frame(&plain).expect("a frame"), media::first_frame(&burnt).expect("a frame"));
    let height = plain_frame.height();
    assert!(differing(height * 3 / 4..height, &plain_frame, &burnt_frame) > 200);
    assert_eq!(differing(0..height / 2, &plain_frame, &burnt_frame), 0);

    // A file that is gone is written again; the films are as they were.
    let before = fs_err::read(&plain).expect("a film");
    fs_err::remove_file(file("lamp.srt")).expect("the file can be removed");
    let next_run = project.runner(&["run", "lamp.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"
    film: out/lamp/lamp.mp4 (3.0 s, 640x640, silent, up to date)
    film: out/lamp/burnt.mp4 (3.0 s, 640x640, silent, up to date)
    all 3 shots are up to date, nothing was submitted
    ");
    assert!(file("lamp.srt").is_file());

    // Another text costs nothing, copies the same frames, and leaves the earlier subtitles beside the film.
    let earlier = text("lamp.srt");
    fs_err::write(project.file("lamp.yaml"), SPOKEN.replace("Who is there?", "Who goes there?"))
        .expect("a file");
    let edited = project.runner(&["run", "lamp.yaml"]).expect(0);
    inline_snapshot!(edited.notes(), @"
    film: out/lamp/lamp.mp4 (3.0 s, 640x640, silent, all frames copied)
    film: out/lamp/burnt.mp4 (3.0 s, 640x640, silent, 8 frames copied, 16 encoded)
    all 3 shots are up to date, nothing was submitted
    ");
    assert_eq!(text("lamp.srt"), earlier.replace("Who is there?", "Who goes there?"));
    assert_eq!(text("lamp.1.srt"), earlier);
    assert_eq!(fs_err::read(&plain).expect("a film"), before);
    assert!(!file("lamp.1.mp4").exists() && file("burnt.1.mp4").exists());
    assert_eq!(accepted(&project), 3);
}

const TITLED: &str = r#"version: 1
name: lamp
params: {keeper: Ada}
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: door, prompt: the door opens}
  - {id: lamp, prompt: the lamp}
film:
  output: lamp.mp4
  fit: crop
  shots:
    - {title: "THE LAMP", seconds: 0.5}
    - door
    - {shot: lamp, title: "{{ keeper }}\nkeeper of the light"}
    - door
    - {file: logo.png, length: 6f}
    - {file: storm.mp4, in: 4f, length: 8f}
"#;

/// A clip of twelve white frames.
fn white_clip() -> Vec<u8> {
    let spec = media::ClipSpec::new(640, 640, media::FrameRate::new(8, 1).expect("a rate"));
    let mut writer = media::ClipWriter::new(spec).expect("a writer");
    let mut white = media::RgbImage::new(640, 640);
    white.pixels_mut().fill(250);
    (0..12).for_each(|_| writer.push_frame(&white).expect("a frame"));
    writer.finish().expect("a clip")
}

#[test]
fn titles_images_and_own_clips_are_parts_of_the_film() {
    let project = Project::new("lamp.yaml", TITLED);
    let write = |name: &str, content: &[u8]| fs_err::write(project.file(name), content).expect("a file");
    cli_snapshot!("check_clips_missing", project.runner(&["check", "lamp.yaml"]).expect(2));
    let mut red = media::RgbImage::new(40, 80);
    red.pixels_mut().chunks_exact_mut(3).for_each(|pixel| pixel[0] = 220);
    write("logo.png", &media::encode_png(&red));
    write("storm.mp4", &white_clip());
    let run = project.runner(&["run", "lamp.yaml"]).expect(0);
    // Titles, the image and the part of the clip are encoded; the two clips of the door are copied.
    inline_snapshot!(run.notes(), @"
    film: out/lamp/lamp.mp4 (5.2 s, 640x640, silent, 16 frames copied, 26 encoded)
    2 of 2 shots are done, 2 submitted
    ");
    let film = project.file("out/lamp/lamp.mp4");
    let frame = |path: &std::path::Path| media::last_frame(path).expect("a frame");
    let brightness = |image: &media::RgbImage| {
        image.pixels().iter().map(|value| u64::from(*value)).sum::<u64>() / image.pixels().len() as u64
    };
    assert!(brightness(&frame(&film)) > 240, "the film ends with the white clip");
    let first = media::first_frame(&film).expect("a frame");
    assert!((1..20).contains(&brightness(&first)), "letters on black: {}", brightness(&first));

    // What is known about it elsewhere.
    let plan = project.runner(&["plan", "lamp.yaml", "--format", "json"]).expect(0);
    let plan: serde_json::Value = serde_json::from_str(&plan.out).expect("a plan");
    assert_eq!(
        plan["films"][0]["clips"],
        serde_json::json!([
            {"title": "THE LAMP"}, {"shot": "door"}, {"shot": "lamp"}, {"shot": "door"},
            {"file": "logo.png"}, {"file": "storm.mp4"},
        ])
    );
    project.runner(&["view", "lamp.yaml"]).expect(0);
    let manifest = fs_err::read_to_string(project.file("out/lamp/manifest.json")).expect("it is written");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("a manifest");
    let kinds: Vec<&str> = manifest["films"][0]["cuts"]
        .as_array()
        .expect("cuts")
        .iter()
        .filter_map(|cut| cut["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["title", "shot", "shot", "shot", "file", "file"]);
    // A film that begins with a title is not stood for by a black frame.
    assert!(manifest["clips"][0]["poster"].is_string());
    assert_eq!(manifest["films"][0]["poster"], manifest["clips"][0]["poster"]);

    // A new title costs nothing, and so does another image; an image that is gone is refused.
    let text = TITLED.replace("keeper of the light", "the keeper");
    write("lamp.yaml", text.as_bytes());
    let next_run = project.runner(&["run", "lamp.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"
    film: out/lamp/lamp.mp4 (5.2 s, 640x640, silent, 16 frames copied, 26 encoded)
    all 2 shots are up to date, nothing was submitted
    ");
    assert!(project.file("out/lamp/lamp.1.mp4").is_file());
    red.pixels_mut().fill(9);
    write("logo.png", &media::encode_png(&red));
    project.runner(&["run", "lamp.yaml"]).expect(0);
    assert!(project.file("out/lamp/lamp.2.mp4").is_file());
    project.runner(&["run", "lamp.yaml"]).expect(0);
    assert!(!project.file("out/lamp/lamp.3.mp4").exists(), "nothing has changed");
    fs_err::remove_file(project.file("logo.png")).expect("the image is there");
    project.runner(&["run", "lamp.yaml"]).expect(2);
    assert_eq!(accepted(&project), 2);
}

const PAIR: &str = "version: 1
name: pair
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: one, prompt: a quiet sea}
  - {id: two, prompt: a loud sea}
film: {output: pair.mp4}
";

/// It would be made of its own earlier version at each run, and grow.
#[test]
fn film_of_itself_is_refused_before_anything_is_submitted() {
    let project = Project::new("pair.yaml", PAIR);
    project.runner(&["run", "pair.yaml"]).expect(0);
    let of_itself = PAIR
        .replace("output: pair.mp4", "output: pair.mp4, shots: [{file: out/pair/pair.mp4}, three]")
        + "  # the film\n";
    let of_itself = of_itself.replace("film:", "  - {id: three, prompt: a third sea}\nfilm:");
    fs_err::write(project.file("pair.yaml"), of_itself).expect("a file");
    cli_snapshot!("run_film_of_itself", project.runner(&["run", "pair.yaml"]).expect(2));
    project.runner(&["plan", "pair.yaml"]).expect(2);
    assert_eq!(accepted(&project), 2, "nothing was submitted");
    // Elsewhere it is an ordinary file.
    project.runner(&["plan", "pair.yaml", "-o", "elsewhere"]).expect(0);
    project.runner(&["run", "pair.yaml", "-o", "elsewhere"]).expect(0);
}

/// A clip in the output folder that is another file by now, of the same size and time: the film is made of the original.
#[test]
fn film_is_joined_of_the_videos_on_record() {
    let project = Project::new("pair.yaml", PAIR);
    project.runner(&["run", "pair.yaml"]).expect(0);
    let clip = shots(&project, "pair").into_iter().find(|(name, _)| name == "one").expect("a clip").1;
    let metadata = fs_err::metadata(&clip).expect("a clip");
    let modified = metadata.modified().expect("a time");
    let overwrite = |path: &std::path::Path| {
        let length = usize::try_from(metadata.len()).expect("a short file");
        let file =
            fs_err::OpenOptions::new().write(true).create(true).truncate(true).open(path).expect("a file");
        let mut file = file.into_parts().0;
        std::io::Write::write_all(&mut file, &vec![7; length]).expect("writable");
        file.set_modified(modified).expect("a time");
    };
    fs_err::remove_file(&clip).expect("removable");
    overwrite(&clip);
    fs_err::write(project.file("pair.yaml"), PAIR.replace("pair.mp4", "again.mp4")).expect("a file");
    project.runner(&["run", "pair.yaml"]).expect(0);
    let frames = |film: &str| {
        let frame = media::first_frame(&project.file("out/pair").join(film)).expect("a frame");
        frame.pixels().to_vec()
    };
    assert_eq!(frames("again.mp4"), frames("pair.mp4"));

    // The original as well: no film is made of what is not the shot's video.
    for entry in fs_err::read_dir(project.file(".runner/artifacts")).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "mp4") {
            let length = fs_err::metadata(&path).expect("a video").len();
            if length == metadata.len() {
                overwrite(&path);
            }
        }
    }
    fs_err::write(project.file("pair.yaml"), PAIR.replace("pair.mp4", "third.mp4")).expect("a file");
    let failed = project.runner(&["run", "pair.yaml"]).expect(1);
    let message = failed.err.lines().find(|line| line.starts_with("film:"));
    inline_snapshot!(message.unwrap_or_default(), @"film: [PROJECT]/out/pair/one-[KEY].mp4 was removed or changed since it was downloaded, and it is needed; the next run downloads it again");
    assert!(!project.file("out/pair/third.mp4").exists());
}

/// A rehearsal shows the same whether its shots are rendered in one run, with the frame that the service returned, or in several, with a frame taken
/// from the video.
#[test]
fn rehearsal_is_the_same_whichever_run_renders_its_shots() {
    let workflow = r#"version: 1
defaults: { model: modela-video-2-0-260128, resolution: 480p, ratio: "16:9", seconds: 4, generate_audio: true }
shots:
  - { id: pier, seed: 1, prompt: "A pier at dusk. Slow push in." }
  - { id: sea, seed: 2, continues: pier, prompt: "Rain over the sea at night. She says: “We are late.”" }
film: { output: film.mp4 }
"#;
    let rendered = |runs: &[&[&str]]| {
        let project = Project::new("film.yaml", workflow).with_product_renderer();
        for only in runs {
            project.runner(&[&["run", "film.yaml"], *only].concat()).expect(0);
        }
        let mut files: Vec<PathBuf> = shots(&project, "film").into_iter().map(|(_, file)| file).collect();
        files.push(project.file("out/film/film.mp4"));
        files.into_iter().map(|file| fs_err::read(file).expect("a video")).collect::<Vec<_>>()
    };
    let whole = rendered(&[&[]]);
    assert_eq!(whole.len(), 3);
    assert!(whole == rendered(&[&["--only", "pier"], &[]]), "another run renders other videos");
}
