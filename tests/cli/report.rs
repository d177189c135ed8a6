//! `runner report`: the state of shots and films for people, spreadsheets, programs and CI systems.

use serde_json::Value;

use crate::support::transcript::REDACTIONS;
use crate::support::{Project, cli_snapshot, inline_snapshot};

const WORKFLOW: &str = r#"version: 1
name: pier
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: door, prompt: "the door opens, {{ look }}", matrix: {look: [noir, pastel]}}
  - {id: stairs, continues: door@look=noir, prompt: up the stairs}
film: {output: pier.mp4}
"#;

#[test]
fn report_in_each_format() {
    let project = Project::new("pier.yaml", WORKFLOW);
    cli_snapshot!("report_before_run", project.runner(&["report", "pier.yaml"]).expect(0));
    assert!(
        !project.file("out").exists() && !project.file(".runner/ledger.db").exists(),
        "nothing is created"
    );
    project.runner(&["run", "pier.yaml", "--only", "door"]).expect(0);
    let times = [
        (r"\| 1\.0 \| \d+\.\d \|", "| 1.0 | [TOOK] |"),
        (r",1,\d+(\.\d+)?,", ",1,[TOOK],"),
        (r#"time="\d+\.\d{3}""#, r#"time="[TOOK]""#),
    ];
    for (format, file) in [("md", "report.md"), ("csv", "report.csv"), ("junit", "report.xml")] {
        let written =
            project.runner(&["report", "pier.yaml", "--format", format, "--output", file]).expect(0);
        assert_eq!(written.out, format!("{file}\n"));
        let text = fs_err::read_to_string(project.file(file)).expect("the report");
        insta::with_settings!({ filters => [REDACTIONS, &times].concat(), omit_expression => true }, {
            insta::assert_snapshot!(format!("report_{format}"), text);
        });
    }
    let json = project.runner(&["report", "pier.yaml", "--format", "json"]).expect(0);
    let manifest: Value = serde_json::from_str(&json.out).expect("JSON");
    let schema: Value = serde_json::from_str(include_str!("../../docs/manifest.schema.json")).expect("JSON");
    let errors: Vec<_> = jsonschema::validator_for(&schema)
        .expect("a schema")
        .iter_errors(&manifest)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(manifest["clips"].as_array().expect("clips").len(), 3);
}

/// Values are in the file's order of axes, the row of a table goes by its name, and an axis keeps its order where `exclude` leaves holes.
#[test]
fn axes_are_columns_with_the_names_of_rows() {
    let text = r#"version: 1
name: sweep
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - id: sea
    prompt: "the sea, {{ style.light }}, {{ move }}"
    matrix:
      style: {csv: styles.csv}
      move: [crane up, push in]
      exclude: [{style: {name: noir, light: "hard, low"}, move: crane up}]
  - {id: pier, prompt: the pier}
"#;
    let project = Project::new("sweep.yaml", text);
    fs_err::write(project.file("styles.csv"), "name,light\nnoir,\"hard, low\"\ngold,warm\n")
        .expect("a table");
    let report = |format: &str| project.runner(&["report", "sweep.yaml", "--format", format]).expect(0).out;
    let csv = report("csv");
    let last_two = |line: &str| line.rsplit(',').take(2).collect::<Vec<_>>().join("|");
    let ends: Vec<String> = csv.lines().map(last_two).collect();
    assert_eq!(ends, ["axis move|axis style", "push in|noir", "crane up|gold", "push in|gold", "|"]);
    let manifest: Value = serde_json::from_str(&report("json")).expect("JSON");
    let values = &manifest["shots"][0]["axes"][1]["values"];
    assert_eq!(values, &serde_json::json!(["crane up", "push in"]));
    let cell = manifest["clips"][0]["cell"].as_object().expect("a cell");
    assert_eq!(cell.keys().collect::<Vec<_>>(), ["style", "move"]);
}

/// Only a film that a run could not join is a failure: one that nobody tried to join is joined by the next run.
#[test]
fn film_that_is_not_joined_has_not_failed() {
    let lamp = |edit: &str| {
        format!(
            "version: 1\nname: lamp\ndefaults: {{model: modelb-video-480p, seconds: 1, size: 480x480}}\n\
             shots:\n  - {{id: lamp, prompt: the lamp}}\nfilm: {{output: lamp.mp4, shots: [{{shot: lamp, {edit}}}]}}\n"
        )
    };
    let project = Project::new("lamp.yaml", &lamp("in: 4f"));
    let write = |text: &str| fs_err::write(project.file("lamp.yaml"), text).expect("the workflow");
    let films = |format: &str| {
        let report = project.runner(&["report", "lamp.yaml", "--format", format]).expect(0).out;
        let lines = report.lines().filter(|line| line.contains("lamp.mp4") || line.contains("message="));
        lines.map(|line| line.trim().to_owned() + "\n").collect::<String>()
    };
    project.runner(&["run", "lamp.yaml"]).expect(0);
    fs_err::remove_file(project.file("out/lamp/lamp.mp4")).expect("the film");
    inline_snapshot!(films("md"), @"| lamp.mp4 | not-joined |  | 1 |");
    inline_snapshot!(films("junit"), @r#"
    <testcase name="lamp.mp4" classname="lamp.films" time="0.000">
    <skipped message="not-joined"/>
    "#);
    write(&lamp("in: 30f"));
    project.runner(&["run", "lamp.yaml"]).expect(1);
    inline_snapshot!(films("md"), @"| lamp.mp4 | failed |  | 1 |");
    inline_snapshot!(films("junit"), @r#"
    <testcase name="lamp.mp4" classname="lamp.films" time="0.000">
    <failure type="failed" message="failed"/>
    "#);
    write(&lamp("in: 4f"));
    project.runner(&["run", "lamp.yaml"]).expect(0);
    inline_snapshot!(films("md"), @"| lamp.mp4 | done | 0.5 | 1 |");
}

/// A cut of another version of the shots is a film, but not the workflow's.
#[test]
fn film_that_is_out_of_date_is_not_done() {
    let project = Project::new("w.yaml", WORKFLOW);
    project.runner(&["run", "w.yaml"]).expect(0);
    let films = || {
        let report = project.runner(&["report", "w.yaml"]).expect(0).out;
        report.lines().filter(|line| line.contains("pier.mp4 |")).collect::<Vec<_>>().join("\n")
    };
    inline_snapshot!(films(), @"| pier.mp4 | done | 3.0 | 3 |");
    fs_err::write(project.file("w.yaml"), WORKFLOW.replace("up the stairs", "down the stairs"))
        .expect("the file can be written");
    inline_snapshot!(films(), @"| pier.mp4 | pending | 3.0 | 3 |");
    project.runner(&["run", "w.yaml"]).expect(0);
    inline_snapshot!(films(), @"| pier.mp4 | done | 3.0 | 3 |");
}

#[test]
fn clips_side_by_side_in_a_sheet() {
    let project = Project::new("pier.yaml", WORKFLOW);
    let sheet = ["report", "pier.yaml", "--format", "contact-sheet", "--output", "sheet.png"];
    cli_snapshot!("report_sheet_without_output", project.runner(&sheet[..4]).expect(2));
    cli_snapshot!("report_sheet_before_run", project.runner(&sheet).expect(2));
    project.runner(&["run", "pier.yaml", "--only", "door"]).expect(0);

    cli_snapshot!("report_sheet", project.runner(&sheet).expect(0));
    let image =
        media::decode_image(&fs_err::read(project.file("sheet.png")).expect("a file")).expect("a PNG");
    let tile = |x: u32, y: u32| image.pixel(x, y);
    assert_eq!(image.width(), 2 * 480 + 3 * 8, "three tiles in two columns");
    assert_eq!(tile(8 + 240, image.height() - 300), [38, 42, 50], "no frame of the third clip");
    assert_ne!(tile(8 + 240, 8 + 240), [38, 42, 50], "a frame of the first clip");

    let clips = fs_err::read_dir(project.file("out/pier")).expect("the output folder");
    let paid = clips
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "mp4"))
        .min()
        .expect("a clip");
    let paid = paid.to_str().expect("UTF-8");
    let before = fs_err::read(paid).expect("a clip");
    let refused = project.runner(&["report", "pier.yaml", "--format", "md", "--output", paid]).expect(2);
    inline_snapshot!(refused.transcript(), @"
    exit code: 2
    --- stdout
    --- stderr
    error: door-look=noir-[KEY].mp4 is a video of this workflow
    hint: name another file with --output
    ");
    assert_eq!(fs_err::read(paid).expect("a clip"), before);
    let unknown = project.runner(&["report", "pier.yaml", "--shot", "lamp"]).expect(2);
    cli_snapshot!("report_unknown_shot", unknown);
}

#[test]
fn report_into_a_missing_folder_names_it() {
    let project = Project::new("pier.yaml", WORKFLOW);
    let output = project.runner(&["report", "pier.yaml", "--output", "ci results/report.md"]).expect(2);
    cli_snapshot!("report_missing_folder", output);
}
