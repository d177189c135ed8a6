//! Shots that go on from a video of one's own: `first_frame: {file: clip.mp4, frame: last}`.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;

use crate::support::project_state::{accepted, shots};
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::scripted::{ScriptedService, clip_of, task_id};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const CHAIN: &str = r"version: 1
name: pier
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: calm, prompt: a calm sea}
  - {id: storm, continues: calm, prompt: the storm comes}
";

/// The video of a shot.
fn video(project: &Project, shot: &str) -> PathBuf {
    shots(project, "pier").into_iter().find(|(name, _)| name == shot).expect("the shot has a video").1
}

#[test]
fn frame_of_own_video_is_sent_and_is_the_work_of_a_chain() {
    let project = Project::new("pier.yaml", CHAIN).with_product_renderer();
    project.runner(&["run", "pier.yaml"]).expect(0);
    let calm = video(&project, "calm");
    fs_err::create_dir(project.file("mine")).expect("a folder");
    fs_err::copy(&calm, project.file("mine/calm.mp4")).expect("a copy");

    // The same frame of the same video: what was paid for as a chain is not paid for again.
    let text = CHAIN
        .replace("  - {id: calm, prompt: a calm sea}\n", "")
        .replace("continues: calm", "first_frame: {file: mine/calm.mp4, frame: last}");
    fs_err::write(project.file("pier.yaml"), &text).expect("a file");
    let next_run = project.runner(&["run", "pier.yaml"]).expect(0);
    inline_snapshot!(next_run.notes(), @"the shot is up to date, nothing was submitted");
    assert_eq!(accepted(&project), 2);

    // Another shot from there, and a film of both: the frame on which they meet is shown once.
    let film = text.replace("id: storm", "id: sun").replace("the storm comes", "the sun comes out")
        + "film: {output: pier.mp4, shots: [{file: mine/calm.mp4}, sun]}\n";
    fs_err::write(project.file("pier.yaml"), film).expect("a file");
    cli_snapshot!("frames_of_files_run", project.runner(&["run", "pier.yaml"]).expect(0));
    let sun = video(&project, "sun");
    let (end, begin) =
        (media::last_frame(&calm).expect("a frame"), media::first_frame(&sun).expect("a frame"));
    let distance: u64 = end.pixels().iter().zip(begin.pixels()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    assert!(distance / end.pixels().len() as u64 <= 4, "it begins on another frame: {distance}");
    let frames = |path: &PathBuf| media::probe(path).expect("it probes").video.expect("it has frames").frames;
    let film = project.file("out/pier/pier.mp4");
    assert_eq!(frames(&film), frames(&calm) + frames(&sun) - 1);

    // A file that is another one by the time of the run is refused.
    let plan = project.runner(&["plan", "pier.yaml"]).expect(0);
    inline_snapshot!(plan.notes(), @"
    nothing to submit
    not submitted: reuse 1
    film: pier.mp4 from 2 clips
    ");
    fs_err::copy(&sun, project.file("mine/calm.mp4")).expect("a copy");
    cli_snapshot!("frames_of_files_of_another_video", project.runner(&["plan", "pier.yaml"]).expect(0));
}

/// A clip of 320 by 192 pixels, half as wide again as they are high, that is to be turned clockwise by 90 degrees: red grows from left to
/// right, green from top to bottom.
fn turned_video() -> Vec<u8> {
    let (width, height) = (320, 192);
    let rate = media::FrameRate::new(24, 1).expect("a rate");
    let mut image = media::RgbImage::new(width, height);
    for (index, pixel) in image.pixels_mut().chunks_exact_mut(3).enumerate() {
        let (x, y) = (index as u32 % width, index as u32 / width);
        pixel.copy_from_slice(&[(x * 255 / width) as u8, (y * 255 / height) as u8, 128]);
    }
    let mut writer = media::ClipWriter::new(media::ClipSpec::new(width, height, rate)).expect("a writer");
    for _ in 0..24 {
        writer.push_frame(&image).expect("a frame");
    }
    let mut file = writer.finish().expect("a clip");
    let after = |file: &[u8], name: &[u8; 4]| {
        file.windows(4).position(|window| window == name).expect("a box of this name") + 4
    };
    let (matrix, fixed_one) = (after(&file, b"tkhd") + 40, 0x1_0000_i32);
    for (entry, factor) in [(0, 0), (1, fixed_one), (3, -fixed_one), (4, 0)] {
        file[matrix + entry * 4..][..4].copy_from_slice(&factor.to_be_bytes());
    }
    let aspect = after(&file, b"pasp");
    file[aspect..aspect + 8].copy_from_slice(&[0, 0, 0, 3, 0, 0, 0, 2]);
    file
}

#[test]
fn frame_of_a_turned_video_is_sent_upright() {
    let proxy = RecordingProxy::faithful();
    let workflow = CHAIN
        .replace("  - {id: calm, prompt: a calm sea}\n", "")
        .replace("continues: calm", "first_frame: {file: turned.mp4, frame: last}");
    let project = Project::new("pier.yaml", &workflow).against(&proxy.url, KEY);
    fs_err::write(project.file("turned.mp4"), turned_video()).expect("a file");
    project.runner(&["run", "pier.yaml"]).expect(0);

    let posts = proxy.posts();
    let body: serde_json::Value = serde_json::from_slice(&posts[0].body).expect("a body of JSON");
    let image = body["image"].as_str().and_then(|image| image.strip_prefix("data:image/png;base64,"));
    let image = BASE64_STANDARD.decode(image.expect("an image in the request")).expect("Base64");
    let sent = media::decode_image(&image).expect("an image");
    assert_eq!((posts.len(), sent.width(), sent.height()), (1, 192, 480));
    // What was left is above, and what was above is at the right.
    for (column, row) in [(10, 10), (180, 10), (96, 240), (10, 470), (180, 470)] {
        let pixel = sent.pixel(column, row);
        let expected = [row * 255 / 480, 255 - column * 255 / 192, 128];
        let fits =
            pixel.iter().zip(expected).all(|(actual, expected)| u32::from(*actual).abs_diff(expected) <= 8);
        assert!(fits, "{pixel:?} instead of {expected:?} at {column}, {row}");
    }
}

/// `storm` waits for `other` as well, so that something can happen to the video of `calm` before a frame of it is taken.
const WAITS: &str = "version: 1
name: pier
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: calm, prompt: a calm sea}
  - {id: other, prompt: a pier, needs: [calm]}
  - {id: storm, continues: calm, needs: [other], prompt: the storm comes}
";

/// Runs the workflow; `change` gets the video of `calm` while `other` is rendered.
fn run_with_changed_video(change: fn(&PathBuf)) -> (ScriptedService, Project) {
    let folder = Arc::new(OnceLock::<PathBuf>::new());
    let of_script = Arc::clone(&folder);
    let service = ScriptedService::start(move |call| {
        if call.path == format!("/v1/videos/{}", task_id(2)) && call.nth == 1 {
            let videos = fs_err::read_dir(of_script.get()?).expect("a folder").filter_map(Result::ok);
            let calm = videos.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains("calm-"));
            change(&calm.expect("`other` needs `calm`"));
        }
        None
    });
    let project = Project::new("pier.yaml", WAITS).against(&service.url, KEY);
    folder.set(project.file("out/pier")).expect("it is set once");
    (service, project)
}

#[test]
fn frame_of_a_video_that_is_changed_during_the_run_is_not_paid_for() {
    // In place: the copy in the store is the same file.
    let (service, project) = run_with_changed_video(|video| {
        fs_err::write(video, clip_of("another video")).expect("a writable file");
    });
    let run = project.runner(&["run", "pier.yaml"]).expect(1);
    cli_snapshot!("changed_video", run);
    assert_eq!(service.posts(), 2);
    // The next run downloads it again, and goes on.
    project.runner(&["run", "pier.yaml"]).expect(0);
    assert_eq!(service.posts(), 3);
    assert_eq!(fs_err::read(video(&project, "calm")).expect("a video"), clip_of(&task_id(1)));
}

#[test]
fn frame_of_a_video_that_is_removed_during_the_run_is_that_of_its_copy() {
    let (service, project) = run_with_changed_video(|video| fs_err::remove_file(video).expect("removable"));
    project.runner(&["run", "pier.yaml"]).expect(0);
    assert_eq!(service.posts(), 3);
}
