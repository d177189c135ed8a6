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

    let wrong = project.runner(&["pick", "lighthouse.yaml", "lamp", "4"]).expect(2);
    cli_snapshot!("pick_unknown_take", wrong);
    let wrong = project.runner(&["pick", "lighthouse.yaml", "pier", "1"]).expect(2);
    cli_snapshot!("pick_shot_without_takes", wrong);

    cli_snapshot!("pick_take", project.runner(&["pick", "lighthouse.yaml", "lamp#2"]).expect(0));
    let second = project.runner(&["run", "lighthouse.yaml"]).expect(0);
    assert_eq!(accepted(&project), 5, "only the shot that waited is new: {}", second.transcript());
    assert!(project.file("out/lighthouse/lighthouse.mp4").exists());
    let kept = fs_err::read_to_string(project.file(".runner/picks.json")).expect("the picks are kept");
    insta::assert_snapshot!(kept, @r#"
    {
      "version": 1,
      "workflows": {
        "lighthouse.yaml": {
          "lamp": 2
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
