//! What help says to write is written, and must be what the author meant: a plan with these requests.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use contract::Contract;
use serde_json::Value;
use workflow::plan::Plan;
use workflow::{CheckOutcome, InMemory, Options, check};

use crate::gate;

/// What each file begins with.
const HEADER: &str =
    "version: 1\ndefaults: {model: modela-video-2-0-260128, resolution: 480p, ratio: \"16:9\", seconds: 5}\n";

fn checked(body: &str) -> CheckOutcome {
    let still = include_bytes!("valid/stills/keeper.png");
    let files = ["stills/keeper.png", "stills/boy.png"]
        .into_iter()
        .fold(InMemory::default().with_media_gate(gate::media_gate()), |files, path| {
            files.with(path, still.to_vec())
        });
    let text = format!("{HEADER}{body}");
    check(text.as_bytes(), "a.yaml", &files, &Options::default(), Contract::embedded())
}

/// Checks that the first error is in a line of the body and has help with the text to write instead of a part of it, and returns the plan
/// of the file with that text.
#[track_caller]
fn fixed(body: &str, line: usize, (part, instead): (&str, &str)) -> Plan {
    let report = checked(body).report;
    let record = report.to_json().into_iter().next().unwrap();
    assert_eq!(record.line, line + HEADER.lines().count(), "{report}");
    let help = record.help.unwrap_or_default();
    assert!(help.contains(&format!("`{}`", instead.trim())), "{report}");
    assert!(body.contains(part), "{part}");
    let CheckOutcome { plan, report } = checked(&body.replacen(part, instead, 1));
    plan.unwrap_or_else(|| panic!("{report}"))
}

fn request(plan: &Plan, name: &str, key: &str) -> Value {
    let node = plan.node(plan.find(name).unwrap());
    node.complete(&vec![String::new(); node.inputs.len()])[key].clone()
}

#[test]
fn prompt_that_a_comment_hides_is_quoted() {
    let plan = fixed(
        "shots:\n  - id: a\n    prompt: #3 pier at night\n",
        3,
        ("prompt: #3 pier at night", "prompt: \"#3 pier at night\""),
    );
    assert_eq!(request(&plan, "a", "prompt"), "#3 pier at night");
    for value in ["", " ~", " # TODO"] {
        let plan = fixed(
            &format!("shots:\n  - id: a\n    prompt:{value}\n"),
            3,
            (&format!("prompt:{value}"), "prompt: a quiet harbor at dawn"),
        );
        assert_eq!(request(&plan, "a", "prompt"), "a quiet harbor at dawn");
    }
}

#[test]
fn shot_with_the_id_of_its_anchor_gets_its_own() {
    let plan = fixed(
        "shots:\n  - &base {id: a, prompt: x}\n  - <<: *base\n    #\n    prompt: y\n",
        5,
        ("#", "id: a-2"),
    );
    assert_eq!(request(&plan, "a-2", "prompt"), "y");
}

#[test]
fn second_id_in_a_shot_begins_another_shot() {
    let plan =
        fixed("shots:\n  - id: a\n    prompt: x\n    id: b\n    prompt: y\n", 4, ("    id: b", "  - id: b"));
    assert_eq!(request(&plan, "b", "prompt"), "y");
}

#[test]
fn axis_without_values_gets_some() {
    let plan = fixed(
        "shots:\n  - id: a\n    prompt: \"x {{ look }}\"\n    matrix: {look: []}\n",
        4,
        ("look: []", "look: [a, b]"),
    );
    assert_eq!(request(&plan, "a@look=b", "prompt"), "x b");
}

#[test]
fn anchors_at_the_top_level_are_below_an_extension_key() {
    let plan = fixed(
        "night: &night {seed: 1}\nshots:\n  - id: a\n    <<: *night\n    prompt: x\n",
        1,
        ("night", "x-night"),
    );
    assert_eq!(request(&plan, "a", "seed"), 1);
}

#[test]
fn keys_of_other_tools_are_the_keys_that_they_mean() {
    let shots = "shots:\n  - {id: z, prompt: x}\n  - id: a\n    prompt: x\n";
    for (line, key) in [
        ("dependsOn: z", "needs"),
        ("requires: z", "needs"),
        ("after: z", "needs"),
        ("continues_from: z", "continues"),
        ("startImage: stills/keeper.png", "first_frame"),
        ("image_url: stills/keeper.png", "first_frame"),
        ("init-image: stills/keeper.png", "first_frame"),
        ("reference_images: stills/keeper.png", "references"),
        ("aspectRatio: \"9:16\"", "ratio"),
        ("foreach: {seed: [1, 2]}", "matrix"),
        ("candidates: 2", "takes"),
        ("sound: true", "generate_audio"),
        ("condition: \"1 == 1\"", "when"),
        ("comment: wide", "note"),
        ("maxRetries: 2", "retry"),
        ("timeout_seconds: 90", "timeout"),
        ("duration_seconds: 8", "seconds"),
        ("length: 8", "seconds"),
    ] {
        let written = line.split(':').next().unwrap();
        fixed(&format!("{shots}    {line}\n"), 5, (written, key));
    }
    for (line, key) in [
        ("parameters: {look: noir}", "params"),
        ("inputs: {look: noir}", "params"),
        ("title: pier", "name"),
        ("characters: {keeper: an old man}", "cast"),
    ] {
        let written = line.split(':').next().unwrap();
        fixed(&format!("{shots}{line}\n"), 5, (written, key));
    }
    for key in ["enum", "choices", "options"] {
        let param = format!("params: {{p: {{{key}: [a, b], default: a}}}}\nshots: [{{id: a, prompt: x}}]\n");
        fixed(&param, 1, (key, "one_of"));
    }
}

#[test]
fn keys_that_say_the_opposite_are_turned_round() {
    let plan = fixed(
        "shots: [{id: a, prompt: x}]\nfilm: {shots: [{shot: a, audio: false}]}\n",
        2,
        ("audio: false", "mute: true"),
    );
    assert!(plan.films()[0].clips[0].mute);
    let plan = fixed(
        "shots: [{id: z, prompt: y}, {id: a, prompt: x, skip: true}]\n",
        1,
        ("skip: true", "when: false"),
    );
    assert!(plan.find("a").is_none());
}

#[test]
fn limit_of_cost_is_a_flag() {
    let report = checked("shots: [{id: a, prompt: x}]\nmax_cost: 10\n").report.render(false);
    assert!(report.contains("`runner run --max-cost`"), "{report}");
}

#[test]
fn help_for_an_unknown_field_names_the_keys_of_shots() {
    let report = checked("shots: [{id: a, prompt: x, xyzzy: 1}]\n").report;
    let help = report.to_json().into_iter().next().unwrap().help.unwrap();
    for key in ["continues", "first_frame", "needs", "matrix", "takes", "timeout", "cast", "seed"] {
        assert!(help.contains(&format!("`{key}`")), "{key}: {help}");
    }
}

#[test]
fn several_names_in_one_text_are_a_list() {
    let shots = "shots:\n  - {id: pier, prompt: x}\n  - {id: lamp, prompt: x}\n";
    let sea = "  - id: sea\n    prompt: y\n";
    for written in ["pier, lamp", "\"pier, lamp\"", "pier lamp"] {
        let plan = fixed(
            &format!("{shots}{sea}    needs: {written}\n"),
            6,
            (&format!("needs: {written}"), "needs: [pier, lamp]"),
        );
        assert_eq!(plan.predecessors(plan.find("sea").unwrap()).len(), 2);
    }
    let plan = fixed(
        &format!("{shots}film:\n  shots: \"pier, lamp\"\n"),
        5,
        ("shots: \"pier, lamp\"", "shots: [pier, lamp]"),
    );
    assert_eq!(plan.films()[0].clips.len(), 2);
    let plan = fixed(
        &format!("{shots}{sea}    continues: {{shot: pier}}\n"),
        6,
        ("continues: {shot: pier}", "continues: pier"),
    );
    assert_eq!(plan.predecessors(plan.find("sea").unwrap()).len(), 1);
}

#[test]
fn names_of_files_lead_to_files_that_exist() {
    for (written, meant, key) in [
        ("stills/keper.png", "stills/keeper.png", "first_frame"),
        ("Stills/Keeper.PNG", "stills/keeper.png", "first_frame"),
        ("'stills\\keeper.png'", "stills/keeper.png", "first_frame"),
        ("stills/keeper.png, stills/boy.png", "[stills/keeper.png, stills/boy.png]", "references"),
    ] {
        let body = format!("shots:\n  - id: a\n    prompt: x\n    {key}: {written}\n");
        let plan = fixed(&body, 4, (written, meant));
        assert!(!plan.node(plan.find("a").unwrap()).inputs.is_empty(), "{written}");
    }
}
