//! An editor's cut is taken back into the film of its workflow.

use serde_json::{Value, json};

use crate::support::project_state::accepted;
use crate::support::{Project, cli_snapshot, inline_snapshot};

const WORKFLOW: &str = r#"version: 1
name: pier
params: {keeper: Ada}
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: door, prompt: the door opens }
  - { id: stairs, continues: door, prompt: up the stairs }
  - { id: lamp, takes: 2, pick: 2, prompt: the lamp }
film:
  output: pier.mp4
  # The order is not final.
  shots:
    - {title: "{{ keeper }}", seconds: 1} # to be approved
    # They belong together.
    - door
    - {shot: stairs, transition: {dissolve: 2f}} # smooth
    - {shot: lamp, in: 0.25s, gain: -6dB, transition: {fade: black, length: 2f}}
"#;

fn text(project: &Project, file: &str) -> String {
    fs_err::read_to_string(project.file(file)).expect("the file is there")
}

/// Lets an editor change the video track of the exported cut.
fn change(project: &Project, edit: impl FnOnce(&mut Vec<Value>)) {
    let mut document: Value = serde_json::from_str(&text(project, "out/pier/pier.otio")).expect("JSON");
    let track = document.pointer_mut("/tracks/children/0/children").expect("a track");
    edit(track.as_array_mut().expect("clips"));
    fs_err::write(project.file("cut.otio"), document.to_string()).expect("a file");
}

#[test]
fn cut_is_taken_back_into_the_film() {
    let project = Project::new("pier.yaml", WORKFLOW);
    project.runner(&["run", "pier.yaml"]).expect(0);
    project.runner(&["export", "pier.yaml", "--otio"]).expect(0);
    let import = |arguments: &[&str]| {
        project.runner(&[&["import", "cut.otio", "--into", "pier.yaml"], arguments].concat())
    };

    // As it was.
    change(&project, |_| {});
    cli_snapshot!("import_cut_unchanged", import(&[]).expect(0));
    assert_eq!(text(&project, "pier.yaml"), WORKFLOW);

    // The lamp first, the door shorter, the stairs cut hard; the other take of the lamp at the end.
    change(&project, |track| {
        // Title, door, stairs, dissolve, lamp, fade.
        assert_eq!(track.len(), 6);
        let (fade, lamp) = (track.remove(5), track.remove(4));
        track.remove(3);
        track[1]["source_range"]["start_time"]["value"] = json!(2);
        track[1]["source_range"]["duration"]["value"] = json!(4);
        let mut other_take = lamp.clone();
        let takes = other_take["media_references"].as_object().expect("references");
        let take = takes.keys().find(|name| *name != "DEFAULT_MEDIA").expect("another take").clone();
        other_take["active_media_reference_key"] = json!(take);
        other_take["source_range"]["start_time"]["value"] = json!(0);
        other_take["source_range"]["duration"]["value"] = json!(8);
        track.insert(0, lamp);
        track.insert(1, fade);
        track.push(other_take);
    });
    cli_snapshot!("import_cut_dry_run", import(&["--dry-run"]).expect(0));
    assert_eq!(text(&project, "pier.yaml"), WORKFLOW);
    cli_snapshot!("import_cut", import(&[]).expect(0));
    project.runner(&["check", "pier.yaml", "--deny-warnings"]).expect(0);
    let run = project.runner(&["run", "pier.yaml"]).expect(0);
    inline_snapshot!(run.notes(), @"
    film: out/pier/pier.mp4 (4.1 s, 640x640, silent, 15 frames copied, 18 encoded)
    all 4 shots are up to date, nothing was submitted
    ");
    assert_eq!(accepted(&project), 4);

    // The film that comes out is the cut.
    project.runner(&["export", "pier.yaml", "--otio", "--overwrite"]).expect(0);
    let edited = text(&project, "pier.yaml");
    change(&project, |_| {});
    assert_eq!(import(&[]).expect(0).out.trim(), "nothing changes");
    assert_eq!(text(&project, "pier.yaml"), edited);
}

/// The most common change of all: a shot is cut out, and what was said over it goes with it.
#[test]
fn voice_of_a_shot_that_is_cut_goes_with_it() {
    let silence =
        [b"RIFF\0\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data".as_slice()];
    let wav = [silence[0], &800_u32.to_le_bytes(), &[128; 800]].concat();
    for voices in [
        "  voice:\n    # In the door.\n    - {file: a.wav, at: door}\n    - {file: b.wav, at: stairs} # said above\n",
        "  voice: [{file: a.wav, at: door}, {file: b.wav, at: stairs}]\n",
        "  voice: {file: b.wav, at: stairs}\n",
    ] {
        let project = Project::new("pier.yaml", &format!("{WORKFLOW}{voices}"));
        fs_err::write(project.file("a.wav"), &wav).expect("a file");
        fs_err::write(project.file("b.wav"), &wav).expect("a file");
        project.runner(&["run", "pier.yaml"]).expect(0);
        project.runner(&["export", "pier.yaml", "--otio"]).expect(0);
        change(&project, |track| {
            // The stairs and the dissolve after them.
            track.drain(2..4);
        });
        let imported = project.runner(&["import", "cut.otio", "--into", "pier.yaml"]).expect(0);
        assert!(imported.err.contains("the voice b.wav goes"), "{}", imported.transcript());
        let left = text(&project, "pier.yaml");
        assert!(!left.contains("b.wav") && left.contains("a.wav") == voices.contains("a.wav"), "{left}");
        assert!(!voices.contains('#') || left.contains("# In the door."), "{left}");
        project.runner(&["run", "pier.yaml"]).expect(0);
    }
}

#[test]
fn cut_of_a_group_lists_its_clips() {
    let workflow = "version: 1
name: pier
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
groups: {storm: {}}
shots:
  - { id: door, prompt: the door opens }
  - { id: looks, group: storm, matrix: { look: [noir, pastel] }, prompt: \"looks, {{ look }}\" }
  - { id: lamp, group: storm, prompt: the lamp }
film:
  output: pier.mp4
  shots:
    - door # first
    - {group: storm, gain: -6dB, speed: 0.5, transition: {fade: black, length: 2f}}
";
    let project = Project::new("pier.yaml", workflow);
    project.runner(&["run", "pier.yaml"]).expect(0);
    project.runner(&["export", "pier.yaml", "--otio"]).expect(0);
    let import = || project.runner(&["import", "cut.otio", "--into", "pier.yaml"]).expect(0);
    change(&project, |_| {});
    assert_eq!(import().out, "nothing changes\n");
    assert_eq!(text(&project, "pier.yaml"), workflow);

    // The first of the looks goes; the others stay as they are.
    change(&project, |track| {
        // Door, looks, looks, lamp, fade.
        assert_eq!(track.len(), 5);
        track.remove(1);
    });
    cli_snapshot!("import_cut_group", import());
    project.runner(&["run", "pier.yaml"]).expect(0);
    assert_eq!(accepted(&project), 4, "nothing is rendered for a cut");
    project.runner(&["export", "pier.yaml", "--otio", "--overwrite"]).expect(0);
    change(&project, |_| {});
    assert_eq!(import().out, "nothing changes\n");
}

#[test]
fn cuts_that_cannot_be_taken_over_change_nothing() {
    let project = Project::new("pier.yaml", WORKFLOW);
    project.runner(&["run", "pier.yaml"]).expect(0);
    project.runner(&["export", "pier.yaml", "--otio"]).expect(0);
    change(&project, |track| {
        track[1]["name"] = json!("theirs");
        track[1]["metadata"] = json!({});
        track[1]["media_references"]["DEFAULT_MEDIA"]["target_url"] = json!("theirs.mov");
    });
    let import = |arguments: &[&str]| project.runner(&[&["import", "cut.otio"], arguments].concat());
    cli_snapshot!("import_cut_unknown_clip", import(&["--into", "pier.yaml"]).expect(2));
    cli_snapshot!("import_cut_unknown_film", import(&["--into", "pier.yaml", "--film", "sea"]).expect(2));
    fs_err::write(project.file("cut.otio"), "TITLE: a list\n").expect("a file");
    cli_snapshot!("import_cut_not_otio", import(&["--into", "pier.yaml"]).expect(2));
    fs_err::write(project.file("cut.otio"), b"{\"name\": \"caf\xe9\"}").expect("a file");
    cli_snapshot!("import_cut_in_another_encoding", import(&["--into", "pier.yaml"]).expect(2));
    cli_snapshot!("import_cut_without_workflow", import(&[]).expect(2));
    assert_eq!(text(&project, "pier.yaml"), WORKFLOW);

    let per_cell = WORKFLOW.replace("name: pier", "name: pier\nmatrix: {look: [noir, pastel]}");
    fs_err::write(project.file("pier.yaml"), per_cell.replace("the lamp }", "\"the lamp, {{ look }}\" }"))
        .expect("a file");
    let refused = import(&["--into", "pier.yaml", "--film", "pier@look=noir"]).expect(2);
    cli_snapshot!("import_cut_film_of_a_cell", refused);
}
