//! `runner report`: the state of shots and films for people, spreadsheets, programs and CI systems.

use serde_json::Value;

use crate::support::transcript::REDACTIONS;
use crate::support::{Project, cli_snapshot};

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

#[test]
fn report_into_a_missing_folder_names_it() {
    let project = Project::new("pier.yaml", WORKFLOW);
    let ended = project.runner(&["report", "pier.yaml", "--output", "ci results/report.md"]).expect(2);
    cli_snapshot!("report_missing_folder", ended);
}
