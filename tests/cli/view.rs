//! `runner view`: the page and the manifest of a workflow's clips.

use serde_json::Value;

use crate::support::project_state::accepted;
use crate::support::{Project, cli_snapshot};

const WORKFLOW: &str = r#"version: 1
name: harbor
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: storm, prompt: "a {{ look }} storm </script><script>alert(1)</script>", matrix: { look: [noir, pastel] } }
  - { id: lamp, takes: 2, prompt: the lamp turns on }
  - { id: sea, continues: lamp, prompt: the sea }
film: { output: harbor.mp4, shots: [lamp, sea] }
"#;

fn manifest(project: &Project) -> Value {
    let text = fs_err::read_to_string(project.file("out/harbor/manifest.json")).expect("a manifest");
    serde_json::from_str(&text).expect("JSON")
}

/// Each clip in one line.
fn clips(manifest: &Value) -> String {
    let clips = manifest["clips"].as_array().expect("clips").iter();
    let line = |clip: &Value| {
        let text = |name: &str| clip[name].as_str().unwrap_or("-").to_owned();
        // Without the key and its number.
        let digits = |part: &&str| !(part.len() == 12 && part.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let parts = clip["file"].as_str().unwrap_or("-").trim_end_matches(".mp4").split('-');
        let file = parts.take_while(digits).collect::<Vec<_>>().join("-");
        let poster = if clip["poster"].is_null() { "no poster" } else { "poster" };
        let parents: Vec<String> = clip["parents"]
            .as_array()
            .expect("parents")
            .iter()
            .map(|parent| {
                format!(
                    "{} {}",
                    parent["kind"].as_str().unwrap_or("-"),
                    parent["clip"].as_str().unwrap_or("-")
                )
            })
            .collect();
        let picked = if clip["is_picked"] == true { ", picked" } else { "" };
        format!(
            "{}: {}{picked}, {file}, {poster}, {}; {}",
            text("id"),
            text("state"),
            parents.join(" + "),
            text("command")
        )
    };
    clips.map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn view_shows_what_exists_and_follows_the_pick() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    cli_snapshot!("view_before_run", project.runner(&["view", "harbor.yaml"]).expect(0));
    insta::assert_snapshot!("manifest_before_run", clips(&manifest(&project)));
    project.runner(&["run", "harbor.yaml", "--open"]).expect(3);
    insta::assert_snapshot!("manifest_unpicked", clips(&manifest(&project)));
    project.runner(&["pick", "harbor.yaml", "lamp", "2"]).expect(0);
    project.runner(&["run", "harbor.yaml"]).expect(0);
    // A service of one's own needs no key to look at what exists.
    let view =
        project.command(&["view", "harbor.yaml"]).env("RUNNER_BASE_URL", "https://example.com").output();
    assert!(view.expect("the program can be started").status.success());
    assert_eq!(manifest(&project)["clips"][0]["state"], "not-started", "at that service there is no work");
    cli_snapshot!("view_picked", project.runner(&["view", "harbor.yaml", "--no-open"]).expect(0));
    let picked = manifest(&project);
    insta::assert_snapshot!("manifest_picked", clips(&picked));
    let film = &picked["films"][0];
    assert_eq!((&film["file"], &film["state"]), (&"harbor.mp4".into(), &"done".into()));
    for name in [&picked["clips"][0]["poster"], &film["poster"], &film["file"]] {
        assert!(project.file("out/harbor").join(name.as_str().expect("a path")).is_file(), "{name}");
    }
    let page = fs_err::read_to_string(project.file("out/harbor/index.html")).expect("a page");
    // The page has the viewer's scripts, and its data is in a snapshot: this is about how a prompt is written into it.
    assert!(page.contains(r"a noir storm \u003c/script>") && !page.contains("storm </script>"));

    // Whoever gets the folder can look at it without the workflow.
    fs_err::remove_file(project.file("out/harbor/index.html")).expect("it was written");
    fs_err::rename(project.file("out/harbor"), project.file("received")).expect("a folder");
    cli_snapshot!("view_folder", project.runner(&["view", "received"]).expect(0));
    assert_eq!(fs_err::read_to_string(project.file("received/index.html")).expect("a page"), page);
}

/// A run does not leave a page that says otherwise, and writes none where nobody has asked for one.
#[test]
fn run_writes_an_existing_page_again() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    project.runner(&["run", "harbor.yaml"]).expect(3);
    assert!(!project.file("out/harbor/index.html").exists());
    project.runner(&["view", "harbor.yaml"]).expect(0);
    assert_eq!(manifest(&project)["films"][0]["state"], "unpicked");
    project.runner(&["pick", "harbor.yaml", "lamp", "2"]).expect(0);
    project.runner(&["run", "harbor.yaml"]).expect(0);
    assert_eq!(manifest(&project)["films"][0]["state"], "done");
    let page = fs_err::read_to_string(project.file("out/harbor/index.html")).expect("a page");
    assert!(page.contains(r#""state":"done","cuts""#));
    // A page that cannot be written is no failed run.
    fs_err::remove_file(project.file("out/harbor/index.html")).expect("it was written");
    fs_err::create_dir(project.file("out/harbor/index.html")).expect("a folder");
    let output = project.runner(&["run", "harbor.yaml"]).expect(0);
    assert!(output.err.contains("was not written again"), "{}", output.transcript());
}

/// The winner of a sweep is the shot's pick, and the only parent of what continues it.
#[test]
fn manifest_names_the_picked_instance() {
    let text =
        WORKFLOW.replace("continues: lamp,", "continues: storm,").replace("[lamp, sea]", "[storm, sea]");
    let project = Project::new("harbor.yaml", &text);
    project.runner(&["pick", "harbor.yaml", "storm", "look=pastel"]).expect(0);
    project.runner(&["view", "harbor.yaml"]).expect(0);
    let manifest = manifest(&project);
    assert_eq!(manifest["shots"][0]["pick"], "storm@look=pastel");
    let picked: Vec<&Value> = manifest["clips"]
        .as_array()
        .expect("clips")
        .iter()
        .filter(|clip| clip["is_picked"] == true)
        .collect();
    assert_eq!((picked.len(), &picked[0]["id"]), (1, &"storm@look=pastel".into()));
    let cuts: Vec<&Value> =
        manifest["films"][0]["cuts"].as_array().expect("cuts").iter().map(|cut| &cut["clip"]).collect();
    assert_eq!(cuts, ["storm@look=pastel", "sea@look=pastel"]);
}

#[test]
fn view_of_foreign_manifests_is_bounded() {
    let project = Project::new("harbor.yaml", WORKFLOW);
    fs_err::create_dir(project.file("empty")).expect("a folder");
    cli_snapshot!("view_folder_without_manifest", project.runner(&["view", "empty"]).expect(2));
    let write = |text: &str| fs_err::write(project.file("empty/manifest.json"), text).expect("a file");
    write("{\"version\": 1}");
    cli_snapshot!("view_malformed_manifest", project.runner(&["view", "empty"]).expect(2));
    project.runner(&["view", "harbor.yaml"]).expect(0);
    let mut foreign = manifest(&project);
    foreign["clips"][0]["file"] = "../../../etc/passwd".into();
    foreign["clips"][0]["poster"] = "https://example.com/tracker.png".into();
    write(&foreign.to_string());
    cli_snapshot!("view_foreign_manifest", project.runner(&["view", "empty"]).expect(0));
    let page = fs_err::read_to_string(project.file("empty/index.html")).expect("a page");
    // Absent from a page that has the viewer's scripts.
    assert!(!page.contains("etc/passwd") && !page.contains("tracker.png"));
}

/// A grid plays up to nine clips as they are, and small versions of more.
/// The page of another folder says how the videos get there, and the printed command does it without a submission.
#[test]
fn view_of_a_folder_without_the_videos_says_what_to_do() {
    let project = Project::new("harbor.yaml", &WORKFLOW.replace("lamp, takes: 2", "lamp"));
    project.runner(&["run", "harbor.yaml"]).expect(0);
    let viewed = project.runner(&["view", "harbor.yaml", "-o", "elsewhere", "--no-open"]).expect(0);
    cli_snapshot!("view_videos_elsewhere", viewed);
    project.runner(&["run", "harbor.yaml", "-o", "elsewhere"]).expect(0);
    assert_eq!(accepted(&project), 4, "nothing was submitted");
    let viewed = project.runner(&["view", "harbor.yaml", "-o", "elsewhere", "--no-open"]).expect(0);
    assert_eq!(viewed.err, "");
}

#[test]
fn many_clips_of_a_shot_have_proxies() {
    let sweep = |count: usize| {
        format!(
            "version: 1\nname: harbor\ndefaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480 }}\n\
             shots:\n  - {{ id: storm, prompt: \"storm {{{{ n }}}}\", matrix: {{ n: {{ from: 1, to: {count} }} }} }}\n"
        )
    };
    let project = Project::new("harbor.yaml", &sweep(9));
    let proxies = |project: &Project| -> Vec<String> {
        let manifest = manifest(project);
        let clips = manifest["clips"].as_array().expect("clips").iter();
        clips.filter_map(|clip| clip["proxy"].as_str().map(str::to_owned)).collect()
    };
    project.runner(&["run", "harbor.yaml", "--open"]).expect(0);
    assert_eq!(proxies(&project), [""; 0]);
    fs_err::write(project.file("harbor.yaml"), sweep(10)).expect("the folder can be written");
    let output = project.runner(&["run", "harbor.yaml", "--open"]).expect(0);
    cli_snapshot!("run_many_clips", output.sorted());
    let proxy_files = proxies(&project);
    assert_eq!(proxy_files.len(), 10);
    for name in &proxy_files {
        let probe = media::probe(&project.file("out/harbor").join(name)).expect("a video");
        let track = probe.video.expect("frames");
        assert_eq!((track.width, track.height), (180, 180));
    }
    let second_view = project.runner(&["view", "harbor.yaml"]).expect(0);
    // They are made once.
    cli_snapshot!("view_many_clips", second_view);
    assert_eq!(proxies(&project), proxy_files);
}
