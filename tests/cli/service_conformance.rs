//! Each description that comes with the program, against a service that checks and answers by it: a chain becomes a film, nothing is paid for twice,
//! and every answer means what the description says.

use contract::Contract;
use serde_json::Value;

use crate::support::proxy::{KEY, RecordedPost, RecordingProxy};
use crate::support::{Output, Project, cli_snapshot};

/// Prompts that the service withholds, and one whose answer it loses.
const FAULTS: &str = r#"{"faults": [
    {"fault": {"kind": "moderation", "of": "prompt"}, "prompt": "rude"},
    {"fault": {"kind": "moderation", "of": "output"}, "prompt": "gory"},
    {"fault": {"kind": "lose_response"}, "prompt": "lost", "times": 1}
]}"#;

/// A model of each, what else its shots need, and whether it fetches images.
const MODELS: [(&str, &str, bool); 8] = [
    ("ark", "doubao-seedance-2-0-260128, resolution: 480p", true),
    ("fal", "bytedance/seedance-2.0/text-to-video, resolution: 480p", true),
    ("minimax", "MiniMax-H3", true),
    ("new-api", "seedance-of-ours, resolution: 480p", true),
    ("openrouter", "bytedance/seedance-2.0, resolution: 480p", true),
    ("replicate", "bytedance/seedance-2.0, resolution: 480p", true),
    ("veo", "veo-3.1-generate-preview", false),
    ("xai", "grok-imagine-video, resolution: 480p", true),
];

/// A service of one description, and a project that names it.
struct World {
    proxy: RecordingProxy,
    project: Project,
}

impl World {
    fn new(api: &str, model: &str, shots: &str) -> Self {
        Self::behind(RecordingProxy::with_faults(FAULTS), api, model, shots, "")
    }

    /// The same behind a proxy of its own, with more in the entry of services.yaml.
    fn behind(proxy: RecordingProxy, api: &str, model: &str, shots: &str, entry: &str) -> Self {
        let defaults = format!("{{ model: {model}, seconds: 4, ratio: \"16:9\" }}");
        let workflow = format!("version: 1\nservice: team\ndefaults: {defaults}\nshots:\n{shots}");
        let project = Project::new("film.yaml", &workflow);
        let address = format!("base_url: \"{}/dialects/{api}\"", proxy.url);
        let services = format!("services:\n  team: {{ api: {api}, {address}, key: TEAM_KEY{entry} }}\n");
        fs_err::write(project.file("services.yaml"), services).expect("a writable folder");
        Self { proxy, project }
    }

    fn run(&self, key: &str, kill_at: Option<&str>) -> Output {
        let arguments = ["run", "film.yaml", "--trust-services", "--format", "ndjson"];
        let mut command = self.project.command(&arguments);
        command.env("TEAM_KEY", key).envs(kill_at.map(|boundary| ("RUNNER_TEST_KILL_AT", boundary)));
        Output::from_process(&command.output().expect("the program can be started"))
    }
}

fn chain_becomes_a_film_whatever_is_killed(api: &str, model: &str) {
    let shots = format!(
        "  - {{ id: pier, prompt: a pier in rain }}\n  - {{ id: sea, continues: pier, prompt: the sea wakes, model: {} }}
film: {{ output: film.mp4 }}\n",
        of_images(model)
    );
    let world = World::new(api, model, &shots);
    let refused = world.run("sk-of-nobody-0123456789", None);
    assert_eq!(outcome(&refused, "pier"), "failed unauthorized", "{api}: {}", refused.transcript());
    for boundary in ["after submitted", "before downloaded"] {
        let killed = world.run(KEY, Some(boundary));
        assert_eq!(killed.code, None, "{api}: {}", killed.transcript());
    }
    let done = world.run(KEY, None);
    assert_eq!(done.code, Some(0), "{api}: {}", done.transcript());
    assert!(!done.out.contains(r#""status":"unknown""#), "{api}: {}", done.out);
    assert!(world.project.file("out/film/film.mp4").is_file(), "{api}");
    world.run(KEY, None);
    assert_eq!(world.proxy.accepted().len(), 2, "{api}");
}

fn answers_mean_what_they_say(api: &str, model: &str, fetches: bool) {
    let mut shots = "  - { id: rude, prompt: a rude word, retry: 3 }
  - { id: gory, prompt: a gory end, retry: 3 }
  - { id: lost, prompt: a lost letter, retry: 3 }\n"
        .to_owned();
    let mut expected = vec![
        ("rude", "failed input-moderated"),
        ("gory", "failed input-moderated"),
        ("lost", "indeterminate"),
    ];
    if fetches {
        // Not there for whoever is elsewhere.
        let image = "first_frame: \"http://127.0.0.1:9/blank.png\"";
        let blank =
            format!("id: blank, prompt: a blank wall, {image}, retry: 3, model: {}", of_images(model));
        shots = format!("{shots}  - {{ {blank} }}\n");
        expected.push(("blank", "failed invalid"));
    }
    let world = World::new(api, model, &shots);
    let run = world.run(KEY, None);
    for (shot, meaning) in &expected {
        assert_eq!(outcome(&run, shot), *meaning, "{api}: {}", run.transcript());
    }
    assert_eq!(world.proxy.posts().len(), expected.len(), "{api}: {}", run.transcript());
    world.run(KEY, None);
    let lost = |post: &RecordedPost| String::from_utf8_lossy(&post.body).contains("lost");
    assert_eq!(world.proxy.posts().into_iter().filter(lost).count(), 1, "{api}");
}

/// Where the service gives a mark back, a submission whose answer is lost is found, and paid for once.
#[test]
fn lost_answer_is_found_in_the_list_of_tasks() {
    let shots = "  - { id: found, prompt: a lost letter }\n  - { id: other, prompt: another letter }\n";
    let model = "doubao-seedance-2-0-260128, resolution: 480p";
    let world = World::behind(RecordingProxy::losing_first("lost"), "ark", model, shots, ", echo: true");
    let run = world.run(KEY, None);
    assert_eq!(run.code, Some(0), "{}", run.transcript());
    assert_eq!((world.proxy.posts().len(), world.proxy.accepted().len()), (2, 2), "{}", run.transcript());
    // Without a mark it is held.
    let held = World::behind(RecordingProxy::losing_first("lost"), "ark", model, shots, "").run(KEY, None);
    assert_eq!(outcome(&held, "found"), "indeterminate", "{}", held.transcript());
    let model = "grok-imagine-video, resolution: 480p";
    let wrong = World::behind(RecordingProxy::faithful(), "xai", model, shots, ", echo: true");
    let refused = wrong.project.runner(&["check", "film.yaml"]).expect(2);
    assert!(refused.err.contains("gives nothing back by which a submission is found"), "{}", refused.err);
}

/// A task is cancelled where nothing but that comes of it, and is not asked for again by itself.
#[test]
fn task_is_cancelled_while_it_is_queued() {
    let shots = "  - { id: wrong, prompt: a wrong turn }\n";
    let model = "doubao-seedance-2-0-260128, resolution: 480p";
    let world = World::behind(RecordingProxy::faithful(), "ark", model, shots, "");
    world.proxy.hold_tasks(true);
    assert_eq!(world.run(KEY, Some("after submitted")).code, None);
    let cancel = |shot: &str| {
        let arguments = ["resolve", "film.yaml", shot, "--cancel", "--trust-services"];
        world.project.runner_with(("TEAM_KEY", KEY), &arguments)
    };
    cli_snapshot!("resolve_cancelled", cancel("wrong").expect(0));
    cli_snapshot!("resolve_cancelled_before", cancel("wrong").expect(0));
    let run = world.run(KEY, None);
    assert_eq!(outcome(&run, "wrong"), "failed task", "{}", run.transcript());
    assert_eq!(world.proxy.posts().len(), 1);
    cancel("wrong").expect(2);

    let world = World::behind(RecordingProxy::faithful(), "ark", model, shots, "");
    assert_eq!(world.run(KEY, Some("after submitted")).code, None);
    let late = || {
        let arguments = ["resolve", "film.yaml", "--all", "--cancel", "--trust-services"];
        world.project.runner_with(("TEAM_KEY", KEY), &arguments).expect(1)
    };
    assert!((0..200).any(|_| late().out.contains("is completed")));
    cli_snapshot!("resolve_cancelled_late", late());
    assert_eq!(world.run(KEY, None).code, Some(0));
    assert_eq!(world.proxy.posts().len(), 1);
}

/// The model that takes images: some services have one of its own for that.
fn of_images(model: &str) -> String {
    let id = model.split(',').next().unwrap_or_default();
    id.replace("text-to-video", "image-to-video")
}

/// How a shot ended, and for what reason.
fn outcome(run: &Output, shot: &str) -> String {
    let events = run.out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ended = events.into_iter().find(|event| event["kind"] == "shot-finished" && event["shot"] == shot);
    let outcome = ended.map_or(Value::Null, |event| event["outcome"].clone());
    let words =
        [&outcome["outcome"], &outcome["failure"]["kind"]].map(|word| word.as_str().unwrap_or_default());
    words.join(" ").trim_end().to_owned()
}

#[test]
fn every_shipped_service_is_held_to_its_description() {
    let tested: Vec<&str> = MODELS.iter().map(|(api, ..)| *api).collect();
    // The built-in one is what all other tests are about.
    let untested: Vec<&str> = Contract::shipped_names().filter(|api| !tested.contains(api)).collect();
    assert_eq!(untested, ["videos-v1"]);
    std::thread::scope(|scope| {
        for (api, model, fetches) in MODELS {
            scope.spawn(move || chain_becomes_a_film_whatever_is_killed(api, model));
            scope.spawn(move || answers_mean_what_they_say(api, model, fetches));
        }
    });
}
