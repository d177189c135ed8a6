//! `runner export`: a film's edit for editors.

use std::path::Path;

use serde_json::Value;

use crate::support::transcript::REDACTIONS;
use crate::support::{Project, cli_snapshot, inline_snapshot};

const WORKFLOW: &str = r#"version: 1
name: pier
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: door, prompt: the door opens }
  - { id: stairs, continues: door, prompt: up the stairs }
  - { id: lamp, takes: 2, prompt: "=the \"lamp\" & the sea" }
film:
  output: pier.mp4
  shots:
    - door
    - {shot: stairs, transition: {dissolve: 2f}}
    - {shot: lamp, in: 0.25s, gain: -6dB, transition: {fade: black, length: 2f}}
"#;

fn text(project: &Project, file: &str) -> String {
    fs_err::read_to_string(project.file(file)).expect("the file was written")
}

/// Compares an exported file with the snapshot of this name.
fn file_snapshot(name: &str, text: &str) {
    insta::with_settings!({ filters => REDACTIONS.to_vec(), omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn film_is_exported_in_each_format() {
    let project = Project::new("pier.yaml", WORKFLOW);
    cli_snapshot!("export_before_pick", project.runner(&["export", "pier.yaml", "--otio"]).expect(2));
    project.runner(&["pick", "pier.yaml", "lamp", "2"]).expect(0);
    cli_snapshot!("export_before_run", project.runner(&["export", "pier.yaml", "--otio"]).expect(2));
    assert!(!project.file(".runner/ledger.db").exists() && !project.file("out").exists());
    project.runner(&["run", "pier.yaml"]).expect(0);

    cli_snapshot!("export_otio", project.runner(&["export", "pier.yaml", "--otio"]).expect(0));
    cli_snapshot!("export_existing_file", project.runner(&["export", "pier.yaml", "--otio"]).expect(2));
    project.runner(&["export", "pier.yaml", "--otio", "--overwrite"]).expect(0);
    file_snapshot("exported_otio", &text(&project, "out/pier/pier.otio"));
    project.runner(&["export", "pier.yaml", "--film", "pier", "--fcpxml"]).expect(0);
    file_snapshot("exported_fcpxml", &text(&project, "out/pier/pier.fcpxml"));

    // A file in another folder refers to the clips from there.
    fs_err::create_dir(project.file("edit")).expect("a folder");
    project.runner(&["export", "pier.yaml", "--otio", "--output", "edit/cut.otio"]).expect(0);
    project
        .runner(&["export", "pier.yaml", "--otio", "--absolute", "--output", "edit/absolute.otio"])
        .expect(0);
    let absolute = text(&project, "edit/absolute.otio");
    let urls: Vec<&str> = absolute.split("\"target_url\": \"").skip(1).collect();
    assert!(urls.len() == 4 && urls.iter().all(|url| url.starts_with("file:///")), "{absolute}");
    fs_err::create_dir(project.file("moved")).expect("a folder");
    for folder in ["out", "edit"] {
        fs_err::rename(project.file(folder), project.file("moved").join(folder)).expect("a folder");
    }
    let beside = media_files(&project.file("moved/out/pier/pier.otio"));
    assert_eq!(beside, media_files(&project.file("moved/edit/cut.otio")), "the same clips");
    assert_eq!(beside.len(), 4, "three clips and another take");
}

#[test]
fn dialogue_is_exported_as_subtitles() {
    let project = Project::new("pier.yaml", WORKFLOW);
    project.runner(&["run", "pier.yaml", "--only", "door", "stairs"]).expect(0);
    let film = |dialogue: &str| {
        WORKFLOW
            .replace("prompt: the door opens", &format!("prompt: the door opens{dialogue}"))
            .split("    - {shot: lamp")
            .next()
            .expect("a workflow")
            .replace(", transition: {dissolve: 2f}", ", in: 6f")
    };
    fs_err::write(project.file("pier.yaml"), film("")).expect("the folder can be written");
    cli_snapshot!("export_nobody_speaks", project.runner(&["export", "pier.yaml", "--srt"]).expect(2));
    let text_of_door =
        ", dialogue: [{speaker: Keeper, text: Who is there?, length: 0.5s}, \"<Only> the wind & the sea.\"]";
    let spoken =
        film(text_of_door).replace("prompt: up the stairs", "prompt: up the stairs, dialogue: I am coming.");
    fs_err::write(project.file("pier.yaml"), spoken).expect("the folder can be written");
    for format in ["srt", "vtt"] {
        project.runner(&["export", "pier.yaml", &format!("--{format}")]).expect(0);
        file_snapshot(&format!("exported_{format}"), &text(&project, &format!("out/pier/pier.{format}")));
    }
    let next_run = project.runner(&["run", "pier.yaml", "--only", "door", "stairs"]).expect(0);
    inline_snapshot!(next_run.notes(), @"
    film: out/pier/pier.mp4 (1.2 s, 640x640, silent, 8 frames copied, 2 encoded)
    2 of 4 shots are done, 2 not selected, nothing was submitted
    ");
    project.runner(&["view", "pier.yaml", "--no-open"]).expect(0);
    let manifest: Value = serde_json::from_str(&text(&project, "out/pier/manifest.json")).expect("JSON");
    assert_eq!(manifest["clips"][0]["dialogue"], "Keeper: Who is there?\n<Only> the wind & the sea.");
    assert_eq!(manifest["clips"][2]["dialogue"], Value::Null);
}

/// The media files of an OTIO document, all of which exist beside it.
fn media_files(document: &Path) -> Vec<String> {
    let text = fs_err::read_to_string(document).expect("a document");
    let document_value: Value = serde_json::from_str(&text).expect("JSON");
    let folder = document.parent().expect("a folder");
    let children = document_value.pointer("/tracks/children/0/children").and_then(Value::as_array);
    let mut files = Vec::new();
    for child in children.expect("children") {
        for reference in child["media_references"].as_object().into_iter().flat_map(|all| all.values()) {
            let url =
                reference["target_url"].as_str().expect("a URL").replace("%23", "#").replace("%40", "@");
            assert!(folder.join(&url).is_file(), "{url} beside {}", document.display());
            assert!(url.ends_with(reference["name"].as_str().expect("a name")));
            files.push(reference["name"].to_string());
        }
    }
    files
}

#[test]
fn export_errors_name_film_and_help() {
    let project = Project::new("pier.yaml", WORKFLOW);
    cli_snapshot!("export_no_format", project.runner(&["export", "pier.yaml"]).expect(2));
    cli_snapshot!(
        "export_two_formats",
        project.runner(&["export", "pier.yaml", "--otio", "--fcpxml"]).expect(2)
    );
    cli_snapshot!(
        "export_unknown_film",
        project.runner(&["export", "pier.yaml", "--otio", "--film", "boat"]).expect(2)
    );
    let no_film = WORKFLOW.split("film:").next().expect("a workflow");
    fs_err::write(project.file("none.yaml"), no_film).expect("the folder can be written");
    cli_snapshot!("export_no_film", project.runner(&["export", "none.yaml", "--otio"]).expect(2));
    let two = format!(
        "{no_film}films:\n  - {{output: a.mp4, shots: [door]}}\n  - {{output: b.mp4, shots: [stairs]}}\n"
    );
    fs_err::write(project.file("two.yaml"), two).expect("the folder can be written");
    cli_snapshot!("export_two_films", project.runner(&["export", "two.yaml", "--otio"]).expect(2));

    let long = format!(
        "{no_film}film:\n  output: pier.mp4\n  shots: [{{shot: door, out: 50f}}, {{shot: stairs, in: 40f}}]\n"
    );
    fs_err::write(project.file("pier.yaml"), long).expect("the folder can be written");
    project.runner(&["run", "pier.yaml", "--only", "door"]).expect(0);
    cli_snapshot!("export_missing_clip", project.runner(&["export", "pier.yaml", "--otio"]).expect(2));
    project.runner(&["run", "pier.yaml", "--only", "stairs"]);
    cli_snapshot!(
        "export_edit_outside_of_clips",
        project.runner(&["export", "pier.yaml", "--otio"]).expect(2)
    );
}
