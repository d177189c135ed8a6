//! `runner export --capcut`: a film's edit as a draft.

use std::path::{MAIN_SEPARATOR, Path};

use media::RgbImage;
use serde_json::Value;

use crate::film::tone;
use crate::support::{Project, cli_snapshot, inline_snapshot};

const WORKFLOW: &str = r#"version: 1
name: pier
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: door, prompt: the door opens, dialogue: Who is there? }
  - { id: stairs, prompt: up the stairs }
film:
  output: pier.mp4
  music: {file: score.wav, repeat: true}
  shots:
    - {title: THE LAMP, seconds: 1}
    - {shot: door, title: "Ada\nkeeper of the light", transition: {dissolve: 2f}}
    - {shot: stairs, gain: -6dB}
    - {file: logo.png, seconds: 1}
"#;

fn read(draft: &Path, file: &str) -> Value {
    serde_json::from_slice(&fs_err::read(draft.join(file)).expect("the file was written")).expect("JSON")
}

#[test]
fn film_is_exported_as_draft() {
    let project = Project::new("pier.yaml", WORKFLOW);
    fs_err::write(project.file("score.wav"), tone(220.0)).expect("the folder can be written");
    let logo = media::encode_png(&RgbImage::new(40, 80));
    fs_err::write(project.file("logo.png"), logo).expect("the folder can be written");
    project.runner(&["run", "pier.yaml"]).expect(0);
    let exported = project.runner(&["export", "pier.yaml", "--capcut"]).expect(0);
    inline_snapshot!(exported.out, @"out/pier/pier.capcut");

    let draft = project.file("out/pier/pier.capcut");
    let mut names: Vec<_> =
        fs_err::read_dir(&draft).expect("a draft").map(|entry| entry.expect("a file").file_name()).collect();
    names.sort();
    assert_eq!(names, ["black.png", "draft_content.json", "draft_info.json", "draft_meta_info.json"]);
    let (content, meta) = (read(&draft, "draft_content.json"), read(&draft, "draft_meta_info.json"));
    assert_eq!(meta["draft_name"], "pier");
    let tracks = content["tracks"].as_array().expect("tracks");
    let tracks = tracks.iter().map(|track| {
        let segments = track["segments"].as_array().expect("segments").len();
        format!(
            "{} {} {segments}",
            track["type"].as_str().expect("a type"),
            track["name"].as_str().expect("a name")
        )
    });
    assert_eq!(
        tracks.collect::<Vec<_>>(),
        ["video  4", "text titles 2", "text subtitles 1", "audio music 8"]
    );
    let media =
        ["videos", "audios"].map(|list| content["materials"][list].as_array().expect("media").clone());
    for file in media.concat().iter().filter(|file| file["material_name"] != "black.png") {
        let path = Path::new(file["path"].as_str().expect("a path"));
        assert!(path.is_absolute() && path.is_file(), "{}", path.display());
    }
    assert_eq!((&media[0][3]["width"], &media[0][3]["height"]), (&40.into(), &80.into()));

    // The same film is the same draft.
    let other = format!("edit{MAIN_SEPARATOR}cut");
    fs_err::create_dir(project.file("edit")).expect("a folder");
    project.runner(&["export", "pier.yaml", "--capcut", "--output", &other]).expect(0);
    for name in names {
        let [one, another] =
            [&draft, &project.file(&other)].map(|draft| fs_err::read(draft.join(&name)).expect("a file"));
        assert!(one == another, "{} differs", name.display());
    }
}

#[test]
fn draft_replaces_only_a_draft_and_on_request() {
    let project =
        Project::new("pier.yaml", &WORKFLOW.replace("  music: {file: score.wav, repeat: true}\n", ""));
    fs_err::write(project.file("logo.png"), media::encode_png(&RgbImage::new(40, 80))).expect("an image");
    project.runner(&["run", "pier.yaml"]).expect(0);
    project.runner(&["export", "pier.yaml", "--jianying"]).expect(0);
    let draft = project.file("out/pier/pier.jianying");
    fs_err::write(draft.join("draft_content.json"), "edited").expect("a file");
    fs_err::write(draft.join("cover.jpg"), "of the program").expect("a file");
    cli_snapshot!("export_existing_draft", project.runner(&["export", "pier.yaml", "--jianying"]).expect(2));
    assert_eq!(fs_err::read(draft.join("draft_content.json")).expect("a file"), b"edited");
    project.runner(&["export", "pier.yaml", "--jianying", "--overwrite"]).expect(0);
    assert!(read(&draft, "draft_content.json").is_object() && !draft.join("cover.jpg").exists());

    let refused =
        project.runner(&["export", "pier.yaml", "--capcut", "--overwrite", "--output", "out"]).expect(2);
    cli_snapshot!("export_draft_over_folder", refused);
    let parts = fs_err::read_dir(project.file("out/pier")).expect("a folder");
    let mut names = parts.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
    assert!(names.all(|name| !name.contains(".part")), "nothing is left over");
}
