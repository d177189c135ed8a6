//! Takes, picks and films for each cell, through the whole program: what is picked decides what goes on, and nothing is made twice.

use crate::support::Project;
use crate::support::project_state::accepted;

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
    assert!(plan.out.contains("to pick: one of the 3 takes of lamp"), "{}", plan.out);

    let first = project.runner(&["run", "lighthouse.yaml"]).expect(3);
    assert_eq!(accepted(&project), 4, "{}", first.transcript());
    assert!(first.out.contains("runner pick FILE lamp TAKE"), "{}", first.out);
    assert!(first.out.contains("film: not joined yet, 2 of its shots wait for a pick"), "{}", first.out);
    let open = project.runner(&["pick", "lighthouse.yaml"]).expect(3);
    assert_eq!(open.out, "shot  takes    picked\nlamp  1, 2, 3  open\n");

    let wrong = project.runner(&["pick", "lighthouse.yaml", "lamp", "4"]).expect(2);
    assert_eq!(wrong.err, "error: lamp has no take 4; its takes are 1, 2, 3\n");
    let wrong = project.runner(&["pick", "lighthouse.yaml", "pier", "1"]).expect(2);
    assert_eq!(wrong.err, "error: there is nothing to pick from in `pier`; shots with takes are lamp\n");

    project.runner(&["pick", "lighthouse.yaml", "lamp#2"]).expect(0);
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

    // What the file says itself goes before what was recorded, and says where.
    let text = TAKES.replace("takes: 3,", "takes: 3, pick: 1,");
    fs_err::write(project.file("lighthouse.yaml"), text).expect("it can be written");
    let refused = project.runner(&["pick", "lighthouse.yaml", "lamp", "3"]).expect(2);
    assert!(refused.err.contains("lighthouse.yaml:6:27: the file itself says which take"), "{}", refused.err);
}

#[test]
fn axis_flag_adds_a_film_per_value() {
    let project = Project::new(
        "looks.yaml",
        "version: 1\nname: looks\nparams: {look: noir}\ndefaults: {model: modelb-video-480p, seconds: 1, size: 480x480, seed: 1}\n\
         shots:\n  - {id: a, prompt: \"{{ look }} sea\"}\n  - {id: b, continues: a, prompt: \"{{ look }} land\"}\nfilm: {output: film.mp4}\n",
    );
    let plan = project.runner(&["plan", "looks.yaml", "-s", "look=noir,golden hour"]).expect(0);
    insta::assert_snapshot!(plan.out);
    let wrong = project.runner(&["plan", "looks.yaml", "-s", "lok=noir"]).expect(2);
    assert!(wrong.err.contains("did you mean `look`?"), "{}", wrong.err);
}

#[test]
fn param_file_is_validated_in_place() {
    let text = "version: 1\nparams:\n  look: {type: text, required: true, one_of: [noir, pastel]}\nshots:\n  \
                - {id: a, model: modelb-video-480p, seconds: 4, prompt: \"{{ look }}\"}\n";
    let project = Project::new("look.yaml", text);
    let missing = project.runner(&["check", "look.yaml"]).expect(2);
    assert!(missing.err.contains("error[missing-param]"), "{}", missing.err);
    fs_err::write(project.file("values.yaml"), "look: pastell\nloook: x\n").expect("it can be written");
    let wrong = project.runner(&["check", "look.yaml", "--params", "values.yaml"]).expect(2);
    insta::assert_snapshot!(wrong.transcript());
    project.runner(&["check", "look.yaml", "-p", "look=noir"]).expect(0);
}
