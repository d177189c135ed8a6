//! `runner edit`: one field of a shot in the workflow file.

use serde_json::Value;

use crate::support::{Project, cli_snapshot};

const PRICES: &str = "version: 1\ncurrency: EUR\nas_of: 2026-01-31\nsource: a test\nprices:\n  \
    - { model: modela-video-2-0-260128, per_second: 0.03 }\n";

const WORKFLOW: &str = "\
version: 1
name: sea
defaults: { model: modela-video-2-0-260128, seconds: 4, resolution: 480p } # for all
shots:
  # before the storm
  - id: calm
    prompt: a calm sea   # tried out
    seed: 7
  - { id: storm, prompt: a storm, continues: calm }
";

#[test]
fn edit_shows_the_difference_and_what_a_run_would_cost() {
    let project = Project::new("sea.yaml", WORKFLOW);
    fs_err::write(project.file("prices.yaml"), PRICES).expect("a file can be written");
    cli_snapshot!(
        "edit_dry_run",
        project
            .runner(&["edit", "sea.yaml", "calm", "--prompt", "a grey sea", "--seed", "8", "--dry-run"])
            .expect(0)
    );
    assert_eq!(fs_err::read_to_string(project.file("sea.yaml")).expect("a file"), WORKFLOW);
    let digest = engine::artifact::sha256(WORKFLOW.as_bytes());
    let json = project
        .runner(&[
            "edit",
            "sea.yaml",
            "calm",
            "--seed",
            "{{ 4 * 2 }}",
            "--digest",
            &digest,
            "--format",
            "json",
        ])
        .expect(0);
    let json: Value = serde_json::from_str(&json.out).expect("JSON");
    assert_eq!(
        (json["written"].as_bool(), json["plan"]["shots"][0]["decision"].as_str()),
        (Some(true), Some("execute"))
    );
    let edited = fs_err::read_to_string(project.file("sea.yaml")).expect("a file");
    assert_eq!(edited, WORKFLOW.replace("seed: 7", "seed: \"{{ 4 * 2 }}\""));
    cli_snapshot!(
        "edit_changed_in_the_meantime",
        project.runner(&["edit", "sea.yaml", "calm", "--seed", "9", "--digest", &digest]).expect(3)
    );
    cli_snapshot!(
        "edit_nothing",
        project.runner(&["edit", "sea.yaml", "calm", "--prompt", "a calm sea"]).expect(0)
    );
    assert_eq!(fs_err::read_to_string(project.file("sea.yaml")).expect("a file"), edited);
}

#[test]
fn edit_refuses_what_would_make_the_file_invalid() {
    let project = Project::new("sea.yaml", WORKFLOW);
    cli_snapshot!(
        "edit_invalid_template",
        project.runner(&["edit", "sea.yaml", "storm", "--prompt", "{{ nobody }}"]).expect(2)
    );
    cli_snapshot!(
        "edit_unknown_shot",
        project.runner(&["edit", "sea.yaml", "strom", "--seed", "1"]).expect(2)
    );
    cli_snapshot!(
        "edit_to_a_blank_prompt",
        project.runner(&["edit", "sea.yaml", "storm", "--prompt", " ", "--dry-run"]).expect(0)
    );
    cli_snapshot!("edit_no_field", project.runner(&["edit", "sea.yaml", "storm"]).expect(2));
    assert_eq!(fs_err::read_to_string(project.file("sea.yaml")).expect("a file"), WORKFLOW);
}
