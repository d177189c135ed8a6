//! Shots that go on from a video of one's own: `first_frame: {file: clip.mp4, frame: last}`.

use std::path::PathBuf;

use crate::support::project_state::{accepted, shots};
use crate::support::{Project, cli_snapshot};

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
    let project = Project::new("pier.yaml", CHAIN).with_pictures();
    project.runner(&["run", "pier.yaml"]).expect(0);
    let calm = video(&project, "calm");
    fs_err::create_dir(project.file("mine")).expect("a folder");
    fs_err::copy(&calm, project.file("mine/calm.mp4")).expect("a copy");

    // The same frame of the same video: what was paid for as a chain is not paid for again.
    let own = CHAIN
        .replace("  - {id: calm, prompt: a calm sea}\n", "")
        .replace("continues: calm", "first_frame: {file: mine/calm.mp4, frame: last}");
    fs_err::write(project.file("pier.yaml"), &own).expect("a file");
    let again = project.runner(&["run", "pier.yaml"]).expect(0);
    assert!(again.out.contains("nothing was submitted"), "{}", again.out);
    assert_eq!(accepted(&project), 2);

    // Another shot from there, and a film of both: the picture on which they meet is shown once.
    let film = own.replace("id: storm", "id: sun").replace("the storm comes", "the sun comes out")
        + "film: {output: pier.mp4, shots: [{file: mine/calm.mp4}, sun]}\n";
    fs_err::write(project.file("pier.yaml"), film).expect("a file");
    cli_snapshot!("frames_of_files_run", project.runner(&["run", "pier.yaml"]).expect(0));
    let sun = video(&project, "sun");
    let (end, begin) =
        (media::last_frame(&calm).expect("a frame"), media::first_frame(&sun).expect("a frame"));
    let distance: u64 =
        end.pixels().iter().zip(begin.pixels()).map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
    assert!(distance / end.pixels().len() as u64 <= 4, "it begins on another picture: {distance}");
    let frames =
        |path: &PathBuf| media::probe(path).expect("it probes").video.expect("it has pictures").frames;
    let film = project.file("out/pier/pier.mp4");
    assert_eq!(frames(&film), frames(&calm) + frames(&sun) - 1);

    // A file that is another one by the time of the run is refused.
    let plan = project.runner(&["plan", "pier.yaml"]).expect(0);
    assert!(plan.out.contains("nothing to submit"), "{}", plan.out);
    fs_err::copy(&sun, project.file("mine/calm.mp4")).expect("a copy");
    cli_snapshot!("frames_of_files_of_another_video", project.runner(&["plan", "pier.yaml"]).expect(0));
}
