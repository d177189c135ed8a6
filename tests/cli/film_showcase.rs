//! One film with everything that an edit can have: it plays, and its frames, its sound and its names are measured.

use std::path::Path;

use media::{ClipSpec, ClipWriter, FrameRate, RgbImage};

use crate::film::{assert_ffprobe_agrees, loudness, tone};
use crate::support::project_state::accepted;
use crate::support::{Project, browser, inline_snapshot};

/// The colors of the two shots differ by six levels of gray, as if the service had drifted.
const SHOWCASE: &str = r#"version: 1
name: lamp
params: {long: false, level: 60}
defaults: {model: modela-video-2-0-260128, resolution: 480p, ratio: "1:1", seconds: 4}
cast:
  keeper: Mara, a keeper of sixty
groups:
  act-2:
    params: {level: 200}
    defaults: {seed: 48}
shots:
  - {id: door, seed: 40, prompt: "a door in gray 120", dialogue: {text: "Who is there?", at: 1s, length: 1s, speaker: Keeper}}
  - {id: stairs, seed: 46, continues: door, prompt: "a door in gray 126"}
  - {id: night, seed: 47, continues: stairs, prompt: "a door in gray {{ level }}"}
  - {id: cellar, seed: 49, continues: stairs, when: long, prompt: "a door in gray 126"}
  - {id: walk, group: act-2, repeat: 2, continues: cellar, cast: [keeper], prompt: "step {{ step }} in gray {{ level }}"}
  - {id: coast, group: act-2, first_frame: {file: storm.mp4, frame: last}, prompt: "a coast in gray 246"}
films:
  - output: lamp.mp4
    color_match: true
    poster: stairs
    fit: blur
    subtitles: {burn: true}
    music: {file: score.wav, gain: -12dB, repeat: true, duck: 8dB, fade_out: 0.5s}
    voice: [{file: said.wav, at: stairs, delay: 0.5s}]
    loudness: -16 LUFS
    shots:
      - {title: "THE LAMP\na film", seconds: 1, transition: {dissolve: 4f}}
      - door
      - {shot: stairs, title: "Ada\nkeeper of the light", in: 2f, out: -2f, transition: {fade: black, length: 4f}}
      - {file: logo.png, seconds: 1, transition: {wipe: left, length: 4f}}
      - {file: storm.mp4, speed: 0.5, in: 4f, seconds: 2, gain: -6dB}
      - {file: storm.mp4, speed: 200%, mute: true, transition: {fade: white, length: 2f}}
  - {output: drift.mp4, poster: stairs, shots: [door, stairs]}
  - {output: matched.mp4, color_match: true, shots: [door, stairs]}
  - {output: acts.mp4, size: 240x240, color_match: true, shots: [stairs, night, cellar, walk, {file: storm.mp4}, coast]}
  - {output: act-2.mp4, size: 240x240, shots: [{group: act-2, gain: -3dB, transition: {fade: black, length: 4f}}]}
"#;

/// Two seconds of white frames with noise, at the rate of the stub.
fn storm() -> Vec<u8> {
    let rate = FrameRate::new(8, 1).expect("a rate");
    let mut writer = ClipWriter::new(ClipSpec::new(640, 360, rate).with_audio(48_000, 1)).expect("a writer");
    let mut white = RgbImage::new(640, 360);
    white.pixels_mut().fill(250);
    (0..16).for_each(|_| writer.push_frame(&white).expect("a frame"));
    let mut state = 1_u32;
    let noise: Vec<f32> = (0..96_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 8) as f32 / 16_777_216.0 - 0.5) * 0.4
        })
        .collect();
    writer.push_audio(&noise).expect("sound");
    writer.finish().expect("a clip")
}

fn gray(frame: &RgbImage) -> f64 {
    frame.pixels().iter().map(|value| f64::from(*value)).sum::<f64>() / frame.pixels().len() as f64
}

/// The step of brightness from a film's first frame to its last one.
fn step(film: &Path) -> f64 {
    let (first, last) =
        (media::first_frame(film).expect("a frame"), media::last_frame(film).expect("a frame"));
    (gray(&last) - gray(&first)).abs()
}

#[test]
fn film_with_everything_plays_and_measures_right() {
    let project = Project::new("lamp.yaml", SHOWCASE);
    let write = |name: &str, content: &[u8]| fs_err::write(project.file(name), content).expect("a file");
    write("score.wav", &tone(220.0));
    write("said.wav", &tone(660.0));
    write("storm.mp4", &storm());
    let mut red = RgbImage::new(40, 80);
    red.pixels_mut().chunks_exact_mut(3).for_each(|pixel| pixel[0] = 220);
    write("logo.png", &media::encode_png(&red));
    let run = project.runner(&["run", "lamp.yaml"]).expect(0);
    let file = |name: &str| project.file(&format!("out/lamp/{name}"));
    let film = file("lamp.mp4");

    let probe = media::probe(&film).expect("the film probes");
    let (video, audio) = (probe.video.expect("frames"), probe.audio.expect("sound"));
    let seconds = video.duration.as_secs_f64();
    assert!(probe.is_faststart);
    assert!((audio.duration.as_secs_f64() - seconds).abs() < 0.05, "sound ends with the frames");
    project.runner(&["view", "lamp.yaml", "--no-open"]).expect(0);
    let manifest = fs_err::read_to_string(file("manifest.json")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    let cuts = manifest["films"][0]["cuts"].as_array().expect("cuts");
    let starts: Vec<f64> =
        cuts.iter().filter_map(|cut| cut["start"].as_f64()).map(|start| start * 8.0).collect();
    // At 8 frames per second: the title; the door without the two frames that the dissolve plays before it; the stairs from 2 to 30; the
    // logo; 2 s of the storm at half speed; all 16 frames of it at double speed.
    assert_eq!(starts, [0.0, 8.0, 38.0, 66.0, 74.0, 90.0]);
    assert_eq!(video.frames, 98);

    // What players show: chapters and a poster, which is also beside it.
    let bytes = fs_err::read(&film).expect("a film");
    let has = |name: &[u8]| bytes.windows(name.len()).any(|part| part == name);
    assert!(has(b"chpl") && has(b"covr") && has("algorithmicMedia".as_bytes()));
    let poster = fs_err::read(file("lamp.jpg")).expect("a poster");
    assert!(has(&poster));
    let poster = media::decode_image(&poster).expect("a JPEG");
    assert_eq!((poster.width(), poster.height()), (video.width, video.height));
    let subtitles = fs_err::read_to_string(file("lamp.srt")).expect("subtitles");
    // The door begins a second into the film, and a quarter of a second into its video.
    inline_snapshot!(subtitles, @"
    1
    00:00:01,750 --> 00:00:02,750
    Keeper: Who is there?
    ");

    // Its loudness, and the step where the service has drifted. `night` is darker than any drift, and `coast` is not.
    inline_snapshot!(run.notes(), @"
    film: out/lamp/lamp.mp4 (12.2 s, 640x640, with sound at [LOUDNESS] LUFS, all frames encoded)
    film: out/lamp/drift.mp4 (7.9 s, 640x640, silent, all frames copied)
    film: out/lamp/matched.mp4 (7.9 s, 640x640, silent, 31 frames copied, 32 encoded)
    film: out/lamp/acts.mp4 (21.6 s, 240x240, with sound, all frames encoded)
      colors not matched, they differ by more than a drift: night
    film: out/lamp/act-2.mp4 (11.9 s, 240x240, silent, all frames encoded)
    6 of 6 shots are done, 6 submitted
    ");
    assert!((loudness(&run) + 16.0).abs() < 1.0, "{}", run.out);
    let (before, after) = (step(&file("drift.mp4")), step(&file("matched.mp4")));
    assert!((5.0..8.0).contains(&before) && after < 1.5, "{before} levels, then {after}");

    // Acts, a take in steps, a shot that is left out, a video of one's own that a shot goes on from; the frames on which two meet are shown
    // once.
    let acts = media::probe(&file("acts.mp4")).expect("the film probes").video.expect("frames");
    assert_eq!(acts.frames, 31 + 32 + 31 + 32 + 15 + 32);
    let act = media::probe(&file("act-2.mp4")).expect("the film probes").video.expect("frames");
    assert_eq!(act.frames, 31 + 32 + 32);
    let plan = project.plan("lamp.yaml");
    let prompts = plan.nodes().filter_map(|(_, node)| node.request.get("prompt")?.as_str());
    inline_snapshot!(prompts.collect::<Vec<_>>().join("\n"), @"
    a door in gray 120
    a door in gray 126
    a door in gray 60
    Mara, a keeper of sixty
    step 1 in gray 200
    Mara, a keeper of sixty
    step 2 in gray 200
    a coast in gray 246
    ");

    assert_ffprobe_agrees(&film, seconds);
    browser::plays_to_its_end(&film, seconds);

    // The music and the voice are handed over as well.
    project.runner(&["export", "lamp.yaml", "--film", "lamp.mp4", "--otio"]).expect(0);
    let otio = fs_err::read_to_string(file("lamp.otio")).expect("a document");
    let otio: serde_json::Value = serde_json::from_str(&otio).expect("JSON");
    let tracks = otio["tracks"]["children"].as_array().expect("tracks").iter();
    let roles: Vec<&str> = tracks
        .filter_map(|track| {
            track["children"].as_array()?.iter().find_map(|clip| clip["metadata"]["runner"]["role"].as_str())
        })
        .collect();
    assert_eq!(roles, ["music", "voice"]);

    // Every hand-over, and the cut as it comes back.
    for format in ["--otio", "--fcpxml", "--srt"] {
        project.runner(&["export", "lamp.yaml", "--film", "lamp.mp4", format, "--overwrite"]).expect(0);
    }
    let cut = project.runner(&["import", "out/lamp/lamp.otio", "--into", "lamp.yaml", "--film", "lamp.mp4"]);
    inline_snapshot!(cut.transcript(), @"
    exit code: 0
    --- stdout
    nothing changes
    --- stderr
    ");

    // Another speed costs nothing. The poster of a film that stays as it is is written again where somebody has removed it.
    let poster = fs_err::read(file("drift.jpg")).expect("a poster");
    fs_err::remove_file(file("drift.jpg")).expect("the poster can be removed");
    write("lamp.yaml", SHOWCASE.replace("speed: 0.5", "speed: 0.4").as_bytes());
    let next_run = project.runner(&["run", "lamp.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"
    film: out/lamp/lamp.mp4 (12.2 s, 640x640, with sound at [LOUDNESS] LUFS, all frames encoded)
    film: out/lamp/drift.mp4 (7.9 s, 640x640, silent, up to date)
    film: out/lamp/matched.mp4 (7.9 s, 640x640, silent, up to date)
    film: out/lamp/acts.mp4 (21.6 s, 240x240, with sound, up to date)
    film: out/lamp/act-2.mp4 (11.9 s, 240x240, silent, up to date)
    all 6 shots are up to date, nothing was submitted
    ");
    assert!(file("lamp.1.mp4").is_file() && !file("drift.1.mp4").exists());
    assert!(fs_err::read(file("drift.jpg")).expect("a poster") == poster);
    assert_eq!(accepted(&project), 6);
}
