//! Takes, picks, axes and parameters on the command line.

use crate::support::project_state::accepted;
use crate::support::{Project, cli_snapshot};

const TAKES: &str = r"version: 1
name: lighthouse
defaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }
shots:
  - { id: pier, prompt: a pier }
  - { id: lamp, takes: 3, prompt: the lamp turns on }
  - { id: sea, continues: lamp, prompt: the sea }
film:
  output: lighthouse.mp4
";

/// The three takes run, what begins on one of them and the film wait; the pick lets them go on.
#[test]
fn unpicked_takes_block_dependents_until_picked() {
    let project = Project::new("lighthouse.yaml", TAKES);
    let plan = project.runner(&["plan", "lighthouse.yaml"]).expect(0);
    cli_snapshot!("plan_unpicked", plan);

    let first = project.runner(&["run", "lighthouse.yaml"]).expect(3);
    assert_eq!(accepted(&project), 4, "{}", first.transcript());
    cli_snapshot!("run_unpicked", first.sorted());
    let open = project.runner(&["pick", "lighthouse.yaml"]).expect(3);
    cli_snapshot!("pick_list", open);
    let rendered = project.runner(&["plan", "lighthouse.yaml"]).expect(0);
    cli_snapshot!("plan_unpicked_rendered", rendered);
    let no_take = project.runner(&["plan", "lighthouse.yaml", "--only", "lamp#4"]).expect(2);
    cli_snapshot!("plan_only_missing_take", no_take);

    let wrong = project.runner(&["pick", "lighthouse.yaml", "lamp", "4"]).expect(2);
    cli_snapshot!("pick_unknown_take", wrong);
    let wrong = project.runner(&["pick", "lighthouse.yaml", "pier", "2"]).expect(2);
    cli_snapshot!("pick_unknown_render", wrong);

    cli_snapshot!("pick_take", project.runner(&["pick", "lighthouse.yaml", "lamp#2"]).expect(0));
    let second = project.runner(&["run", "lighthouse.yaml"]).expect(0);
    assert_eq!(accepted(&project), 5, "only the shot that waited is new: {}", second.transcript());
    assert!(project.file("out/lighthouse/lighthouse.mp4").exists());
    let picks = fs_err::read_to_string(project.file(".runner/picks.json")).expect("the picks are kept");
    insta::assert_snapshot!(picks, @r#"
    {
      "version": 1,
      "workflows": {
        "lighthouse.yaml": {
          "takes": {
            "lamp": 2
          }
        }
      }
    }
    "#);

    // A pick in the file overrides a recorded one, and the message names its location.
    let text = TAKES.replace("takes: 3,", "takes: 3, pick: 1,");
    fs_err::write(project.file("lighthouse.yaml"), text).expect("it can be written");
    let refused = project.runner(&["pick", "lighthouse.yaml", "lamp", "3"]).expect(2);
    cli_snapshot!("pick_overridden_by_file", refused);
}

/// A rating is of a video, and is shown: what is rendered from another prompt has none, and the earlier text its own.
#[test]
fn videos_are_rated() {
    let project = Project::new("lighthouse.yaml", TAKES);
    let rate = |shot: &str, rating: &str, code| {
        project.runner(&["rate", "lighthouse.yaml", shot, rating]).expect(code)
    };
    let ratings = || {
        let manifest = project.runner(&["report", "lighthouse.yaml", "--format", "json"]).expect(0).out;
        let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
        let clips = manifest["clips"].as_array().expect("clips").iter();
        let rated = clips.filter(|clip| !clip["rating"].is_null());
        rated
            .map(|clip| format!("{} {}", clip["id"].as_str().unwrap_or_default(), clip["rating"]))
            .collect::<Vec<_>>()
    };
    cli_snapshot!("rate_without_video", rate("lamp#2", "4", 2));
    cli_snapshot!("rate_invalid", rate("lamp#2", "6", 2));
    project.runner(&["run", "lighthouse.yaml"]).expect(3);
    cli_snapshot!("rate_takes", rate("lamp", "reject", 0));
    project.runner(&["pick", "lighthouse.yaml", "lamp", "2"]).expect(0);
    rate("lamp#2", "4", 0);
    rate("lamp#3", "none", 0);
    assert_eq!(ratings(), ["lamp#1 0", "lamp#2 4"]);
    let other = TAKES.replace("the lamp turns on", "the lamp is broken");
    fs_err::write(project.file("lighthouse.yaml"), other).expect("it can be written");
    project.runner(&["run", "lighthouse.yaml", "--only", "lamp"]).expect(0);
    assert!(ratings().is_empty());
    fs_err::write(project.file("lighthouse.yaml"), TAKES).expect("it can be written");
    assert_eq!(ratings(), ["lamp#1 0", "lamp#2 4"]);
    // The pick is still there, and goes alone.
    project.runner(&["pick", "lighthouse.yaml", "lamp", "--clear"]).expect(0);
    assert_eq!(ratings(), ["lamp#1 0", "lamp#2 4"]);
}

const SWEEP: &str = r#"version: 1
name: sweep
defaults: { model: modela-video-2-0-fast-260128, seconds: 4, resolution: 480p, ratio: "1:1" }
shots:
  - id: looks
    matrix: { look: [noir, pastel], seed: [1, 2] }
    pick: open
    seed: "{{ seed }}"
    prompt: the harbor in {{ look }}
  - { id: after, continues: looks, prompt: "the pier in {{ look }}", seed: 7 }
film: { output: sweep.mp4 }
"#;

fn films(project: &Project) -> Vec<u8> {
    fs_err::read(project.file("out/sweep/sweep.mp4")).expect("a film")
}

/// A sweep runs, what depends on its winner waits; another winner pays for its own dependents only, and the first one again for nothing.
#[test]
fn picked_instance_goes_on_and_another_pick_pays_for_nothing_twice() {
    let project = Project::new("sweep.yaml", SWEEP);
    cli_snapshot!("plan_open_sweep", project.runner(&["plan", "sweep.yaml"]).expect(0));
    let first = project.runner(&["run", "sweep.yaml"]).expect(3);
    assert_eq!(accepted(&project), 4, "{}", first.transcript());
    cli_snapshot!("run_open_sweep", first.sorted());
    cli_snapshot!("status_open_sweep", project.runner(&["status", "sweep.yaml"]).expect(3));
    cli_snapshot!("pick_sweep_candidates", project.runner(&["pick", "sweep.yaml", "looks"]).expect(3));

    cli_snapshot!(
        "pick_cell",
        project.runner(&["pick", "sweep.yaml", "looks", "look=noir,seed=2"]).expect(0)
    );
    project.runner(&["run", "sweep.yaml"]).expect(0);
    assert_eq!(accepted(&project), 5, "the dependent of the winner");
    let noir = films(&project);
    cli_snapshot!("pick_sweep_picked", project.runner(&["pick", "sweep.yaml"]).expect(0));

    project.runner(&["pick", "sweep.yaml", "looks", "looks@seed=1,look=pastel"]).expect(0);
    project.runner(&["run", "sweep.yaml"]).expect(0);
    assert_eq!(accepted(&project), 6, "the dependent of the other one");
    assert_ne!(films(&project), noir);
    project.runner(&["pick", "sweep.yaml", "looks@look=noir", "seed=2"]).expect(0);
    let next_run = project.runner(&["run", "sweep.yaml"]).expect(0);
    assert_eq!(accepted(&project), 6, "nothing is paid for twice: {}", next_run.transcript());
    assert_eq!(films(&project), noir);

    // The same pick in the file.
    project.runner(&["pick", "sweep.yaml", "looks", "--clear"]).expect(0);
    let text = SWEEP.replace("pick: open", "pick: { look: noir, seed: 2 }");
    fs_err::write(project.file("sweep.yaml"), text).expect("it can be written");
    project.runner(&["run", "sweep.yaml"]).expect(0);
    assert_eq!(accepted(&project), 6);
    cli_snapshot!(
        "pick_cell_in_file",
        project.runner(&["pick", "sweep.yaml", "looks", "look=noir,seed=1"]).expect(2)
    );

    // Without `pick`, all of them go on.
    fs_err::write(project.file("sweep.yaml"), SWEEP.replace("    pick: open\n", ""))
        .expect("it can be written");
    project.runner(&["pick", "sweep.yaml"]).expect(0);
    project.runner(&["run", "sweep.yaml"]).expect(0);
    assert_eq!(accepted(&project), 8, "the dependents of the two that were never picked");
}

#[test]
fn pick_among_equal_requests_pays_for_nothing_twice() {
    let equal = "version: 1\nname: equal\ndefaults: {model: modelb-video-480p, seconds: 1, size: 480x480}\nshots:\n  - \
        {id: a, prompt: \"the sea{{ i * 0 }}\", matrix: {i: [1, 2, 3]}}\n  - {id: b, continues: a, prompt: the storm}\n";
    let project = Project::new("equal.yaml", equal);
    project.runner(&["run", "equal.yaml"]).expect(0);
    assert_eq!(accepted(&project), 6);
    for picked in ["i=3", "i=2", "i=1"] {
        project.runner(&["pick", "equal.yaml", "a", picked]).expect(0);
        let run = project.runner(&["run", "equal.yaml"]).expect(0);
        assert_eq!(accepted(&project), 6, "{picked}: {}", run.transcript());
    }
}

#[test]
fn wrong_choices_are_refused_and_leave_the_picks() {
    let project = Project::new("sweep.yaml", SWEEP);
    project.runner(&["pick", "sweep.yaml", "looks", "look=noir,seed=2"]).expect(0);
    let before = fs_err::read(project.file(".runner/picks.json")).expect("picks");
    for (name, choice) in [
        ("pick_unknown_axis", "lok=noir,seed=1"),
        ("pick_unknown_value", "look=nior,seed=1"),
        ("pick_several", "look=noir"),
        ("pick_neither", "noir"),
        ("pick_take_of_none", "2"),
    ] {
        cli_snapshot!(name, project.runner(&["pick", "sweep.yaml", "looks", choice]).expect(2));
    }
    // A film that names an instance that the pick leaves out.
    let text = SWEEP.replace("sweep.mp4 }", "sweep.mp4, shots: [\"after@look=noir,seed=2\"] }");
    fs_err::write(project.file("sweep.yaml"), text).expect("it can be written");
    cli_snapshot!(
        "pick_that_breaks_the_file",
        project.runner(&["pick", "sweep.yaml", "looks", "look=pastel,seed=1"]).expect(2)
    );
    assert_eq!(fs_err::read(project.file(".runner/picks.json")).expect("picks"), before);
}

#[test]
fn axis_flag_adds_a_film_per_value() {
    let project = Project::new(
        "looks.yaml",
        "version: 1\nname: looks\nparams: {look: noir}\ndefaults: {model: modelb-video-480p, seconds: 1, size: 480x480, seed: 1}\n\
         shots:\n  - {id: a, prompt: \"{{ look }} sea\"}\n  - {id: b, continues: a, prompt: \"{{ look }} land\"}\nfilm: {output: film.mp4}\n",
    );
    let plan = project.runner(&["plan", "looks.yaml", "-a", "look=noir,golden hour"]).expect(0);
    insta::assert_snapshot!(plan.out);
    let wrong = project.runner(&["plan", "looks.yaml", "-a", "lok=noir"]).expect(2);
    cli_snapshot!("plan_unknown_axis", wrong);
}

#[test]
fn param_file_is_validated_in_place() {
    let text = "version: 1\nparams:\n  look: {type: text, required: true, one_of: [noir, pastel]}\nshots:\n  \
                - {id: a, model: modelb-video-480p, seconds: 4, prompt: \"{{ look }}\"}\n";
    let project = Project::new("look.yaml", text);
    let missing = project.runner(&["check", "look.yaml"]).expect(2);
    cli_snapshot!("check_missing_param", missing);
    fs_err::write(project.file("values.yaml"), "look: pastell\nloook: x\n").expect("it can be written");
    let wrong = project.runner(&["check", "look.yaml", "--param-file", "values.yaml"]).expect(2);
    insta::assert_snapshot!(wrong.transcript());
    project.runner(&["check", "look.yaml", "-p", "look=noir"]).expect(0);
}
