//! The plan and its keys: which changes keep a key, which change it, and what a stored plan preserves.
#![expect(clippy::unwrap_used, reason = "tests may stop at the first surprise")]

use contract::Contract;
use serde_json::{Value, json};
use workflow::plan::{InputIdentity, NodeKey, Plan, key};
use workflow::units::VideoDuration;
use workflow::{DirFiles, InMemory, Options, Source, load};

use crate::gate;

const CHAIN: &str = "version: 1
name: chain
params: {look: film}
defaults: {model: modela-video-2-0-260128, seconds: 5}
shots:
  - {id: a, note: first, prompt: \"a, {{ look }}\"}
  - {id: b, continues: a, prompt: b, seconds: 10}
  - {id: c, continues: b, prompt: c}
  - {id: d, prompt: d}
";

fn plan_with(text: &str, params: &[(&str, &str)]) -> Plan {
    let options = Options {
        params: params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..Options::default()
    };
    load(text.as_bytes(), "chain.yaml", &InMemory::default(), &options, Contract::embedded())
        .unwrap_or_else(|report| panic!("{report}"))
}

fn plan(text: &str) -> Plan {
    plan_with(text, &[])
}

fn key_of(plan: &Plan, name: &str) -> NodeKey {
    let node = plan.node(plan.find(name).unwrap());
    let inputs: Vec<InputIdentity> =
        node.inputs.iter().map(|_| InputIdentity::last_frame_of("00ff")).collect();
    key(node, "http://service.example", &inputs)
}

#[test]
fn rank_is_the_critical_path_in_seconds() {
    let plan = plan(CHAIN);
    let ranks: Vec<u64> = plan.nodes().map(|(ix, _)| plan.rank(ix)).collect();
    assert_eq!(ranks, [20, 15, 5, 5]);
    let (a, b) = (plan.find("a").unwrap(), plan.find("b").unwrap());
    assert_eq!((plan.predecessors(b), plan.successors(a)), (vec![a], vec![b]));
    assert_eq!((plan.len(), plan.find("nobody"), plan.films().len()), (4, None, 0));
    assert_eq!(plan.duration(), VideoDuration::from_secs(25));
}

#[test]
fn complete_fills_inputs_at_their_pointers() {
    let plan = plan(CHAIN);
    let b = plan.node(plan.find("b").unwrap());
    let request = b.complete(&["https://media.example/a.png".to_owned()]);
    assert_eq!(
        request.pointer("/metadata/content/0/image_url/url"),
        Some(&json!("https://media.example/a.png"))
    );
    assert_eq!(Contract::embedded().check_request(&request), []);
    assert_eq!(b.complete(&[]).pointer("/metadata/content/0/image_url/url"), Some(&Value::Null));
}

/// A workflow with one shot of family A, with these lines.
fn shot_of_family_a(lines: &str) -> Plan {
    plan(&format!(
        "version: 1\nname: t\ndefaults: {{model: modela-video-2-0-260128, seconds: 5, resolution: 480p, ratio: \"16:9\"}}\nshots:\n  \
         - {{id: a, prompt: a quiet sea}}\n  - {{id: b, prompt: the same sea, {lines}}}\n"
    ))
}

#[test]
fn complete_sends_the_data_of_a_lone_first_frame_in_its_own_field() {
    let data = "data:image/png;base64,AAAA".to_owned();
    let plan = shot_of_family_a("continues: a, metadata: {style: oil}");
    let b = plan.node(plan.find("b").unwrap());
    let request = b.complete(std::slice::from_ref(&data));
    assert_eq!(request["image"], json!(data));
    assert_eq!(request["metadata"], json!({ "style": "oil" }), "and not in `metadata.content`");
    assert_eq!(Contract::embedded().check_request(&request), []);

    let plan = shot_of_family_a("continues: a");
    let b = plan.node(plan.find("b").unwrap());
    assert_eq!(b.complete(std::slice::from_ref(&data)).get("metadata"), None);

    let plan = shot_of_family_a("continues: a, references: [https://media.example/lamp.png]");
    let b = plan.node(plan.find("b").unwrap());
    let request = b.complete(std::slice::from_ref(&data));
    assert_eq!(request.pointer("/metadata/content/0/image_url/url"), Some(&json!(data)));
    assert_eq!(request.get("image"), None, "the role of each is given");
}

#[test]
fn check_warns_of_local_files_only_where_a_url_is_wanted() {
    let warns = |lines: &str| {
        let text = format!(
            "version: 1\nname: t\ndefaults: {{model: modela-video-2-0-260128, seconds: 5, resolution: 480p, ratio: \"16:9\"}}\nshots:\n  \
             - {{id: a, prompt: a quiet sea, {lines}}}\n"
        );
        let files = InMemory::default().with_media_gate(gate::media_gate()).with("a.png", gate::png());
        let outcome =
            workflow::check(text.as_bytes(), "t.yaml", &files, &Options::default(), Contract::embedded());
        assert!(outcome.plan.is_some(), "{}", outcome.report);
        outcome.report.diagnostics.iter().any(|diagnostic| diagnostic.code == "service-may-refuse")
    };
    assert!(!warns("first_frame: a.png"), "it goes into `image`");
    assert!(warns("first_frame: a.png, last_frame: a.png"));
    assert!(warns("references: [a.png]"));
}

#[test]
fn key_ignores_shot_id_and_note() {
    let before = plan(CHAIN);
    let after = plan(
        &CHAIN
            .replace("id: a,", "id: opening,")
            .replace("continues: a", "continues: opening")
            .replace("first", "other"),
    );
    assert_eq!(key_of(&before, "a"), key_of(&after, "opening"));
    assert_eq!(key_of(&before, "b"), key_of(&after, "b"));
}

#[test]
fn key_ignores_return_last_frame() {
    let alone = plan(&CHAIN.replace("continues: a, ", ""));
    assert!(alone.node(alone.find("a").unwrap()).request.get("return_last_frame").is_none());
    let chained = plan(CHAIN);
    assert_eq!(chained.node(chained.find("a").unwrap()).request["return_last_frame"], json!(true));
    assert_eq!(key_of(&alone, "a"), key_of(&chained, "a"));
}

#[test]
fn changing_pick_keeps_requests_and_keys_of_takes() {
    let text = |pick: u32| {
        format!(
            "version: 1\ndefaults: {{model: modela-video-2-0-260128}}\nshots:\n  - {{id: a, takes: 3, pick: {pick}, \
             prompt: x}}\n  - {{id: b, continues: a, prompt: y}}\n"
        )
    };
    let (one, three) = (plan(&text(1)), plan(&text(3)));
    for take in ["a#1", "a#2", "a#3"] {
        assert_eq!(one.node(one.find(take).unwrap()).request, three.node(three.find(take).unwrap()).request);
        assert_eq!(key_of(&one, take), key_of(&three, take));
    }
}

#[test]
fn key_changes_with_request_salt_service_and_inputs() {
    let base = plan(CHAIN);
    let node = base.node(base.find("a").unwrap());
    let same = key(node, "http://service.example", &[]);
    assert_eq!(same, key_of(&base, "a"));
    assert_ne!(same, key(node, "http://other.example", &[]));
    for change in [
        ("prompt: \"a,", "prompt: \"A,"),
        ("id: a,", "id: a, seed: 1,"),
        ("id: a,", "id: a, salt: x,"),
        ("seconds: 5}", "seconds: 6}"),
        ("260128,", "fast-260128,"),
    ] {
        assert_ne!(same, key_of(&plan(&CHAIN.replacen(change.0, change.1, 1)), "a"), "{change:?}");
    }
    assert_ne!(same, key_of(&plan_with(CHAIN, &[("look", "pencil")]), "a"));
    let b = base.node(base.find("b").unwrap());
    let with = |identity| key(b, "s", &[identity]);
    assert_ne!(with(InputIdentity::last_frame_of("00")), with(InputIdentity::first_frame_of("00")));
    assert_ne!(with(InputIdentity::last_frame_of("00")), with(InputIdentity::last_frame_of("01")));
}

/// A changed key makes people pay again for existing videos: these values are pinned. By hand: SHA-256 over length-prefixed fields, see
/// `plan::key`.
#[test]
fn key_values_are_pinned() {
    let plan = plan(
        "version: 1
defaults: {model: modela-video-2-0-260128, seconds: 5}
shots:
  - {id: z, prompt: z}
  - id: a
    takes: 2
    salt: s
    prompt: \"{{ 'she says' }} \\\"go\\\"\\n — 走 \\\\o/\"
    seed: -7
    generate_audio: true
    metadata: {return_last_frame: true, z: [1.5, null], a: {y: 1, x: 0.25}}
  - {id: b, continues: z, prompt: on}
  - {id: c, continues: z, prompt: on}
",
    );
    let pinned = [
        ("a#2", "91b437fb20142fa3522c4416fd8cbb3e566d7f1f10fa314cc192526d413dc690"),
        ("c", "89af0a73c37a24d18ed8b1c8458ab12913a75fa09a14988e1fd0c07724551ba8"),
    ];
    for (name, key) in pinned {
        assert_eq!(key_of(&plan, name).to_string(), key, "{name}");
    }
}

#[test]
fn key_round_trips_through_text_and_json() {
    let key = key_of(&plan(CHAIN), "a");
    let text = key.to_string();
    assert_eq!((text.len(), text.starts_with(&key.short())), (64, true));
    assert_eq!(NodeKey::parse(&text), Some(key));
    assert_eq!(serde_json::from_value::<NodeKey>(json!(text)).unwrap(), key);
    assert_eq!(NodeKey::parse("zz"), None);
}

#[test]
fn key_is_that_of_the_request_whichever_shot_or_take_it_is() {
    let plan = plan(
        "version: 1\ndefaults: {model: modelb-video-480p, prompt: x}\nshots: [{id: a}, {id: b}, {id: c, salt: s}, {id: d, takes: 2}, {id: e, takes: 2, prompt: \"take {{ take }}\"}]\n",
    );
    let key = |name: &str| key_of(&plan, name);
    assert_eq!((key("a"), key("a"), key("a")), (key("b"), key("d#1"), key("d#2")));
    assert_ne!(key("a"), key("c"));
    assert_ne!(key("e#1"), key("e#2"));
}

#[test]
fn render_that_was_asked_for_is_a_take_or_a_node_beside_a_picked_one() {
    let asked = |open: Option<u32>, done: Option<u32>| workflow::AskedRenders { open, done };
    let names = |shot: &str, asked: workflow::AskedRenders| -> Vec<(String, Option<u32>, String)> {
        let text = format!(
            "version: 1\nname: w\ndefaults: {{model: modelb-video-480p}}\nshots: [{shot}, {{id: z, continues: a, prompt: z}}]\n"
        );
        let asked = [("w".to_owned(), [("a".to_owned(), asked)].into())].into();
        let options = workflow::Options { asked, ..workflow::Options::default() };
        let plan = workflow::load(
            text.as_bytes(),
            "w.yaml",
            &workflow::InMemory::default(),
            &options,
            contract::Contract::embedded(),
        )
        .expect("a plan");
        let of_shot = plan.nodes().filter(|(_, node)| &*node.shot == "a");
        let prompt = |ix| plan.request_outline(ix)["prompt"].as_str().unwrap_or_default().to_owned();
        of_shot.map(|(ix, node)| (node.name.clone(), node.picked, prompt(ix))).collect()
    };
    let node =
        |name: &str, picked: Option<u32>, prompt: &str| (name.to_owned(), picked, format!("take {prompt}"));
    let shot = "{id: a, prompt: \"take {{ take }}\"}";
    assert_eq!(names(shot, asked(None, None)), [node("a", None, "1")]);
    assert_eq!(names(shot, asked(Some(2), None)), [node("a", None, "2")]);
    assert_eq!(names(shot, asked(None, Some(2))), [node("a", None, "2")]);
    let picked = "{id: a, prompt: \"take {{ take }}\", pick: 1}";
    assert_eq!(names(picked, asked(None, Some(2))), [node("a", Some(1), "1")]);
    assert_eq!(names(picked, asked(Some(2), None)), [node("a", Some(1), "1"), node("a#2", None, "2")]);
    let takes = "{id: a, prompt: \"take {{ take }}\", takes: 2, pick: 1}";
    let three = [node("a#1", None, "1"), node("a#2", None, "2"), node("a#3", None, "3")];
    assert_eq!(names(takes, asked(Some(3), None)), three);
    assert_eq!(names(takes, asked(None, Some(3))), three);
    assert_eq!(names(takes, asked(None, Some(2))).len(), 2);
}

#[test]
fn deserialized_plan_is_validated() {
    let plan = plan(&format!("{CHAIN}film: {{output: f.mp4, shots: [a, b, c, a]}}\n"));
    let stored = serde_json::to_value(&plan).unwrap();
    let back: Plan = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!(serde_json::to_value(&back).unwrap(), stored);
    assert_eq!(key_of(&plan, "c"), key_of(&back, "c"));

    let broken = |pointer: &str, value: Value| {
        let mut stored = stored.clone();
        *stored.pointer_mut(pointer).unwrap() = value;
        serde_json::from_value::<Plan>(stored).unwrap_err().to_string()
    };
    assert!(broken("/version", json!(1)).contains("version 1"));
    assert!(broken("/nodes/1/name", json!("a")).contains("named `a`"));
    assert!(broken("/nodes/1/inputs/0/source", json!({"last_frame": 99})).contains("no node 99"));
    assert!(broken("/nodes/1/inputs/0/source", json!({"last_frame": 2})).contains("cycle"));
    assert!(broken("/nodes/1/inputs/0/pointer", json!("/prompt")).contains("does not lead to a null"));
    assert!(broken("/films/0/clips/0/source", json!({"node": 7})).contains("no node 7"));
    assert!(broken("/order", json!([[0, 9]])).contains("no node 9"));
}

#[test]
fn param_override_is_not_rendered_as_template() {
    let plan = plan_with(CHAIN, &[("look", "pencil"), ("look", "{{ shot }} ink")]);
    assert_eq!(plan.node(plan.find("a").unwrap()).request["prompt"], json!("a, {{ shot }} ink"));

    let options = Options { params: vec![("lok".to_owned(), "x".to_owned())], ..Options::default() };
    let report = load(CHAIN.as_bytes(), "chain.yaml", &InMemory::default(), &options, Contract::embedded())
        .unwrap_err();
    let record = &report.to_json()[0];
    assert_eq!(
        (record.code, record.help.as_deref(), record.line),
        ("unknown-param", Some("did you mean `look`?"), 3)
    );
}

#[test]
fn phases_run_separately_give_the_same_plan() {
    let mut source = Source::new("chain.yaml", CHAIN);
    let options = Options::default();
    let parse = |source: &mut Source| workflow::parse(source, &InMemory::default(), &options);
    let parsed = parse(&mut source).unwrap();
    assert_eq!(parsed.shots.len(), 4);
    let instances =
        workflow::expand(&parsed, &source, &InMemory::default(), &options, Contract::embedded()).unwrap();
    assert_eq!(instances.nodes().len(), 4);
    assert_eq!(
        serde_json::to_value(workflow::seal(instances).unwrap()).unwrap(),
        serde_json::to_value(plan(CHAIN)).unwrap()
    );

    let mut wrong = Source::new("wrong.yaml", "version: 1\nshots: [{id: a, continues: b}]\n");
    assert!(parse(&mut wrong).is_ok());
    assert!(parse(&mut Source::new("wrong.yaml", "version: 1\nshots: {}\n")).is_err());
}

#[test]
fn file_outside_folder_is_refused() {
    let text = "version: 1\nshots: [{id: a, model: modelb-video-480p, prompt: x, first_frame: ../a.png}]\n";
    let files = InMemory::default().with("../a.png", gate::png()).with_media_gate(gate::media_gate());
    let refused =
        load(text.as_bytes(), "a.yaml", &files, &Options::default(), Contract::embedded()).unwrap_err();
    assert!(refused.diagnostics[0].message.contains("in its own folder or below"), "{refused}");
    let inside = text.replace("../a.png", "a.png");
    let files = InMemory::default().with("a.png", gate::png()).with_media_gate(gate::media_gate());
    let plan = load(inside.as_bytes(), "a.yaml", &files, &Options::default(), Contract::embedded()).unwrap();
    assert_eq!(plan.nodes().next().unwrap().1.inputs.len(), 1);
}

#[cfg(unix)]
#[test]
fn symlink_out_of_folder_is_rejected() {
    let root = std::env::temp_dir().join(format!("workflow-links-{}", std::process::id()));
    let inside = root.join("inside");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(root.join("secret.png"), gate::png()).unwrap();
    std::os::unix::fs::symlink(root.join("secret.png"), inside.join("link.png")).unwrap();
    let text = "version: 1\nshots: [{id: a, model: modelb-video-480p, prompt: x, first_frame: link.png}]\n";
    let options = Options::default();
    let refused = load(
        text.as_bytes(),
        "a.yaml",
        &DirFiles::new(&inside, gate::media_gate()),
        &options,
        Contract::embedded(),
    )
    .unwrap_err();
    assert!(refused.diagnostics[0].message.contains("outside"), "{refused}");
    std::fs::remove_dir_all(&root).unwrap();
}

#[test]
fn chain_of_ten_thousand_instances_is_planned() {
    let text = "version: 1\ndefaults: {model: modelb-video-480p}\nshots:\n  - id: a\n    matrix: {s: {from: 1, to: 5000}}\n    \
                prompt: \"{{ s }} of many\"\n  - id: b\n    continues: a\n    prompt: \"after {{ s }}\"\n";
    let plan = plan(text);
    assert_eq!(plan.len(), 10_000);
    let last = plan.find("b@s=5000").unwrap();
    assert_eq!(plan.predecessors(last), [plan.find("a@s=5000").unwrap()]);
}

/// Where a request says something is no part of what it says.
#[test]
fn key_is_the_same_wherever_the_request_says_it() {
    let keys = |fields: &str| {
        let plan = plan(&format!(
            "version: 1\nshots: [{{id: a, model: modela-video-2-0-260128, prompt: x, {fields}}}]\n"
        ));
        key_of(&plan, "a")
    };
    let same = [
        "seconds: 5, seed: 7",
        "seconds: \"5\", metadata: {seed: 7}",
        "duration: 5, seed: 7",
        "metadata: {duration: 5, seed: 7}",
        "seconds: 5, seed: 7, return_last_frame: true",
    ];
    for fields in same {
        assert_eq!(keys(fields), keys(same[0]), "{fields}");
    }
    assert_eq!(keys("audio: true"), keys("generate_audio: true"));
    for fields in
        ["seconds: 6, seed: 7", "seconds: 5", "seconds: 5, seed: 7, watermark: true", "seconds: 7, seed: 5"]
    {
        assert_ne!(keys(fields), keys(same[0]), "{fields}");
    }
}

/// A description that sends a frame elsewhere pays for nothing again.
#[test]
fn key_is_the_same_under_a_description_that_places_frames_elsewhere() {
    let mut document = Contract::embedded().document().clone();
    let inputs = &mut document["components"]["schemas"]["VideoRequestB"]["x-inputs"];
    inputs["first_frame"] = serde_json::json!({ "at": "/input_reference", "accepts": ["url", "data_uri"] });
    let other = Contract::from_document(document).expect("a sound document");
    let text = "version: 1\ndefaults: {model: modelb-video-480p, prompt: x}\nshots: [{id: z}, {id: a, continues: z}]\n";
    let key = |contract: &Contract| {
        let plan = load(text.as_bytes(), "a.yaml", &InMemory::default(), &Options::default(), contract);
        key_of(&plan.expect("a plan"), "a")
    };
    assert_eq!(key(&other), key(Contract::embedded()));
}

/// Prompts name references by their numbers: their order is a part of what is meant, also where one of them is not known yet.
#[test]
fn key_has_the_order_of_references() {
    let key = |references: &str| {
        let text = format!(
            "version: 1\ndefaults: {{model: modelb-video-480p, prompt: x}}\nshots: [{{id: z}}, {{id: a, references: [{references}]}}]\n"
        );
        key_of(&plan(&text), "a")
    };
    let (frame, url) = ("{shot: z, frame: last}", "\"https://x.example/a.png\"");
    assert_ne!(key(&format!("{frame}, {url}")), key(&format!("{url}, {frame}")));
}
