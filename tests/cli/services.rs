//! Services of `services.yaml`: where shots are sent, with which key, and what stays known of them.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::project_state::remove_ledger;
use crate::support::proxy::{KEY, OTHER_KEY, RecordingProxy};
use crate::support::{Output, Project, cli_snapshot};

const CHAIN: &str = "version: 1
service: team
defaults: { model: modela-video-2-0-260128, seconds: 4, ratio: \"16:9\" }
shots:
  - { id: pier, prompt: a pier in rain }
  - { id: sea, continues: pier, prompt: the sea wakes }
film: { output: film.mp4 }
";

/// A project whose `services.yaml` has the service `team` at an address.
fn project(workflow: &str, url: &str, entry: &str) -> Project {
    let project = Project::new("film.yaml", workflow);
    configure(&project, url, entry);
    project
}

fn configure(project: &Project, url: &str, entry: &str) {
    let text = format!("services:\n  team: {{ base_url: \"{url}\", key: TEAM_KEY, {entry} }}\n");
    fs_err::write(project.file("services.yaml"), text).expect("a writable folder");
}

fn runner(project: &Project, arguments: &[&str]) -> Output {
    project.runner_with(("TEAM_KEY", KEY), arguments)
}

#[test]
fn name_is_the_identity_whatever_the_address() {
    let proxy = RecordingProxy::faithful();
    let project = project(CHAIN, &proxy.url, "api: videos-v1");
    runner(&project, &["services", "trust", "team"]).expect(0);
    runner(&project, &["run", "film.yaml"]).expect(0);
    assert_eq!(proxy.posts().len(), 2);
    // The same service, at an address that was never written before, and with a key that was issued since.
    configure(&project, &proxy.url.replace("127.0.0.1", "localhost"), "api: videos-v1");
    let again = runner(&project, &["run", "film.yaml", "--trust-services"]).expect(0);
    assert!(again.out.contains("nothing was submitted"), "{}", again.transcript());
    let renewed = project.runner_with(("TEAM_KEY", OTHER_KEY), &["run", "film.yaml", "--trust-services"]);
    assert!(renewed.expect(0).out.contains("nothing was submitted"));
    assert_eq!(proxy.posts().len(), 2);
}

/// A chain in the dialect of a gateway, through the transport that only its description teaches.
#[test]
fn described_service_renders_a_chain() {
    let proxy = RecordingProxy::faithful();
    let workflow = CHAIN
        .replace("modela-video-2-0-260128", "modelb-video-720p")
        .replace(", ratio: \"16:9\"", ", size: 1280x720");
    let project = project(&workflow, &format!("{}/v1", proxy.url), "api: new-api");
    runner(&project, &["run", "film.yaml", "--trust-services"]).expect(0);
    let again = runner(&project, &["run", "film.yaml", "--trust-services"]).expect(0);
    assert!(again.out.contains("nothing was submitted"), "{}", again.transcript());
    let posts = proxy.posts();
    assert_eq!(posts.len(), 2);
}

/// A chain that goes on at another service, and a shot that is free: each is sent where it belongs, with the key of that, and paid for once.
#[test]
fn film_of_several_services() {
    let (one, two) = (RecordingProxy::faithful(), RecordingProxy::faithful());
    let workflow = "version: 1
service: one
defaults: { model: modela-video-2-0-260128, seconds: 4, ratio: \"16:9\", resolution: 480p }
shots:
  - { id: pier, prompt: a pier in rain }
  - { id: sea, service: two, continues: pier, prompt: the sea wakes }
  - { id: end, continues: sea, prompt: the end }
  - { id: sketch, service: rehearsal, prompt: a sketch }
film: { output: film.mp4 }
";
    let project = Project::new("film.yaml", workflow);
    let text = format!(
        "services:\n  one: {{ api: videos-v1, base_url: \"{}\", key: ONE_KEY, prices: one.yaml }}\n  \
         two: {{ api: videos-v1, base_url: \"{}\", key: TWO_KEY, limits: {{ jobs: 1 }} }}\n",
        one.url, two.url
    );
    fs_err::write(project.file("services.yaml"), text).expect("a writable folder");
    let prices = |currency: &str, per_task: &str| {
        format!(
            "version: 1\ncurrency: {currency}\nas_of: 2026-01-31\nsource: the price page\nprices:\n  - {{ model: modela-video-2-0-260128, per_task: {per_task} }}\n"
        )
    };
    // Yuan are added up in dollars.
    fs_err::write(project.file("one.yaml"), prices("CNY", "8.00")).expect("a writable folder");
    fs_err::write(project.file("prices.yaml"), prices("USD", "0.10")).expect("a writable folder");
    let runner = |arguments: &[&str]| {
        let mut command = project.command(arguments);
        command.envs([("ONE_KEY", KEY), ("TWO_KEY", OTHER_KEY)]);
        Output::from_process(&command.output().expect("the program can be started"))
    };
    cli_snapshot!("services_of_a_film_without_a_rate", runner(&["plan", "film.yaml"]).expect(2));
    let exchange = "exchange: { currency: USD, rate: 0.125 }\n";
    fs_err::write(project.file("one.yaml"), prices("CNY", "8.00") + exchange).expect("a writable folder");
    cli_snapshot!("services_of_a_film_planned", runner(&["plan", "film.yaml"]).expect(0));
    let run = ["run", "film.yaml", "--trust-services", "--max-cost", "2.10"];
    let killed = {
        let mut command = project.command(&["run", "film.yaml", "--trust-services", "--only", "pier"]);
        command
            .envs([("ONE_KEY", KEY), ("TWO_KEY", OTHER_KEY)])
            .env("RUNNER_TEST_KILL_AT", "after submitted");
        Output::from_process(&command.output().expect("the program can be started"))
    };
    assert_eq!(killed.code, None, "{}", killed.transcript());
    runner(&run).expect(0);
    assert!(runner(&run).expect(0).out.contains("nothing was submitted"));
    let bodies = |proxy: &RecordingProxy| -> Vec<Value> {
        proxy.posts().iter().map(|post| serde_json::from_slice(&post.body).expect("JSON")).collect()
    };
    let prompts = |proxy: &RecordingProxy| -> Vec<String> {
        bodies(proxy).iter().map(|body| body["prompt"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(prompts(&one), ["a pier in rain", "the end"]);
    assert_eq!(prompts(&two), ["the sea wakes"]);
    // The frame is sent as data: the other service need not be let in where the first one keeps its files.
    let frame = |proxy: &RecordingProxy, post: usize| bodies(proxy)[post].to_string();
    assert!(frame(&two, 0).contains("data:image/"));
    assert!(frame(&one, 1).contains("data:image/"));
}

/// A wrong key at one service ends the shots of that one, and the next run begins with them.
#[test]
fn service_that_cannot_be_used_ends_its_own_shots_only() {
    let (one, two) = (RecordingProxy::faithful(), RecordingProxy::faithful());
    let workflow = "version: 1
service: one
defaults: { model: modela-video-2-0-260128, seconds: 4, ratio: \"16:9\", resolution: 480p }
shots:
  - { id: gull, service: two, prompt: a gull }
  - { id: pier, prompt: a pier in rain }
  - { id: sea, continues: pier, prompt: the sea wakes }
film: { output: film.mp4 }
";
    let project = Project::new("film.yaml", workflow);
    let entry = |name: &str, proxy: &RecordingProxy, key: &str| {
        format!("  {name}: {{ api: videos-v1, base_url: \"{}\", key: {key} }}\n", proxy.url)
    };
    let text = format!("services:\n{}{}", entry("one", &one, "ONE_KEY"), entry("two", &two, "TWO_KEY"));
    fs_err::write(project.file("services.yaml"), text).expect("a writable folder");
    let run = |two_key: &str| {
        let mut command = project.command(&["run", "film.yaml", "--trust-services"]);
        command.envs([("ONE_KEY", KEY), ("TWO_KEY", two_key)]);
        Output::from_process(&command.output().expect("the program can be started"))
    };
    let output = run("sk-wrong-9876543210").expect(5);
    cli_snapshot!("services_one_unusable", output.sorted());
    assert_eq!((one.posts().len(), two.posts().len()), (2, 1));
    run(OTHER_KEY).expect(0);
    assert_eq!((one.posts().len(), two.posts().len()), (2, 2));
}

/// What was paid for at an address, or under another name, is not paid for again once the service has a name: neither what is done nor what is in
/// flight, nor the shots that go on from it.
#[test]
fn work_of_a_service_that_is_renamed_stays_known() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("film.yaml", &CHAIN.replace("service: team\n", "")).against(&proxy.url, KEY);
    let killed = project.runner_killed_at("after submitted", &["run", "film.yaml", "--only", "pier"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    // Its own address says enough.
    fs_err::write(project.file("film.yaml"), CHAIN).expect("a writable folder");
    configure(&project, &proxy.url, "api: videos-v1");
    runner(&project, &["run", "film.yaml", "--trust-services"]).expect(0);
    assert_eq!(proxy.posts().len(), 2);
    let rename = |entry: &str| {
        fs_err::write(project.file("film.yaml"), CHAIN.replace("team", "house")).expect("a writable folder");
        let text = format!(
            "services:\n  house: {{ api: videos-v1, key: TEAM_KEY, base_url: \"{}\"{entry} }}\n",
            proxy.url
        );
        fs_err::write(project.file("services.yaml"), text).expect("a writable folder");
    };
    rename("");
    cli_snapshot!("services_renamed", runner(&project, &["run", "film.yaml", "--trust-services"]).expect(3));
    rename(", also: team");
    let again = runner(&project, &["run", "film.yaml", "--trust-services"]).expect(0);
    assert!(again.out.contains("nothing was submitted"), "{}", again.transcript());
    assert_eq!(proxy.posts().len(), 2);
    // Asked for at the service as it is called now, it is one more.
    runner(&project, &["run", "film.yaml", "--trust-services", "--rerun", "sea"]).expect(0);
    assert_eq!(proxy.posts().len(), 3);
    // The record is lost, and the videos describe themselves.
    remove_ledger(&project);
    runner(&project, &["run", "film.yaml", "--trust-services"]).expect(3);
    runner(&project, &["ledger", "adopt", "film.yaml"]).expect(0);
    let again = runner(&project, &["run", "film.yaml", "--trust-services"]).expect(0);
    assert!(again.out.contains("nothing was submitted"), "{}", again.transcript());
    // What was paid for at its own address stays known.
    rename("");
    runner(&project, &["run", "film.yaml", "--trust-services", "--force"]).expect(0);
    assert_eq!(proxy.posts().len(), 4);
}

/// Each shot keeps its service and its model; nobody has a key, and nothing leaves this machine.
#[test]
fn film_of_several_services_is_rehearsed() {
    let workflow = "version: 1
service: ark
defaults: { model: doubao-seedance-2-0-260128, seconds: 4, ratio: \"16:9\", resolution: 480p }
shots:
  - { id: pier, prompt: a pier in rain }
  - { id: sea, service: xai, model: grok-imagine-video, continues: pier, prompt: the sea wakes }
film: { output: film.mp4 }
";
    let project = Project::new("film.yaml", workflow);
    let prices = "version: 1\ncurrency: USD\nas_of: 2026-01-31\nsource: the price page\nprices:
  - { model: doubao-seedance-2-0-260128, per_task: 0.50 }\n  - { model: grok-imagine-video, per_task: 0.20 }\n";
    fs_err::write(project.file("prices.yaml"), prices).expect("a writable folder");
    let run = ["run", "film.yaml", "--rehearse", "--max-cost", "0"];
    cli_snapshot!("services_rehearsed_plan", project.runner(&["plan", "film.yaml", "--rehearse"]).expect(0));
    let killed = project.runner_killed_at("after submitted", &run);
    assert_eq!(killed.code, None, "{}", killed.transcript());
    project.runner(&run).expect(0);
    cli_snapshot!("services_rehearsed", project.runner(&run).expect(0));
    // The real ones know nothing of it.
    let real = project.runner(&["plan", "film.yaml"]).expect(0);
    assert!(real.out.contains("to submit: 2 tasks"), "{}", real.transcript());
}

/// A model that no file knows takes a line.
#[test]
fn model_that_is_like_another_is_sent_by_its_own_name() {
    let project = project(
        &CHAIN.replace("modela-video-2-0-260128", "ours"),
        "http://127.0.0.1:9",
        "api: videos-v1, models: { ours: { like: modela-video-2-0-260128 } }",
    );
    let planned = runner(&project, &["plan", "film.yaml", "--requests"]).expect(0);
    assert!(planned.out.contains(r#""model":"ours""#), "{}", planned.out);
    let unlike = project.file("services.yaml");
    let text = fs_err::read_to_string(&unlike).expect("a file").replace("like: modela", "like: model");
    fs_err::write(unlike, text).expect("a writable folder");
    cli_snapshot!("services_model_like_none", runner(&project, &["plan", "film.yaml"]).expect(2));
}

#[test]
fn key_goes_only_where_somebody_has_confirmed() {
    let proxy = RecordingProxy::faithful();
    let project = project(CHAIN, &proxy.url, "api: videos-v1");
    let refused = runner(&project, &["run", "film.yaml"]).expect(2);
    cli_snapshot!("services_not_confirmed", refused);
    assert_eq!(proxy.posts().len(), 0);
    runner(&project, &["services", "trust", "team"]).expect(0);
    // Another address is another question.
    configure(&project, "https://elsewhere.example.com", "api: videos-v1");
    runner(&project, &["run", "film.yaml"]).expect(2);
    // Whoever only looks sends nothing.
    runner(&project, &["plan", "film.yaml"]).expect(0);
    cli_snapshot!(
        "services_without_key",
        project.runner(&["run", "film.yaml", "--trust-services"]).expect(2)
    );
}

#[test]
fn service_of_a_shot_precedes_those_of_group_and_file() {
    let workflow = "version: 1
service: ark
defaults: { seconds: 5, ratio: \"16:9\" }
groups: { storm: { defaults: { service: rehearsal, model: modela-video-2-0-260128 } } }
shots:
  - { id: file, model: doubao-seedance-2-0-260128, prompt: a }
  - { id: group, group: storm, prompt: b }
  - { id: shot, group: storm, service: xai, model: grok-imagine-video, prompt: c }
  - { id: none, service: null, model: modela-video-2-0-260128, prompt: d }
";
    let project = Project::new("film.yaml", workflow);
    let planned = project.runner(&["plan", "film.yaml", "--requests"]).expect(0);
    insta::assert_snapshot!("services_of_shots", planned.out);
    // Each key that is missing is named before anything is submitted.
    cli_snapshot!("services_several", project.runner(&["run", "film.yaml"]).expect(2));
    let named = project.runner(&["plan", "film.yaml", "--service", "rehearsal"]).expect(2);
    assert!(named.err.contains("there is no model `doubao-seedance-2-0-260128`"), "{}", named.err);
}

#[test]
fn lists_of_services_that_are_wrong_are_explained() {
    let project = Project::new("film.yaml", CHAIN);
    let text = "services:
  team: { api: new-api, key: TEAM_KEY }
  bare: { api: new-api, base_url: gateway.example.com/v1, key: BARE_KEY }
  open: { api: ark, base_url: http://gateway.example.com, key: sk-0123456789abcdef0123 }
  typo: { api: arc }
  file: { api: own.yaml, key: OWN_KEY }
  rehearsal: { api: ark }
  end: { api: ark, base_url: https://gateway.example.com/api/v3/contents/generations/tasks }
  few: { api: ark, limits: { jobs: 0, job: 1 } }
  self: { base_url: https://gateway.example.com, key: SELF_KEY }
";
    fs_err::write(project.file("services.yaml"), text).expect("a writable folder");
    fs_err::write(project.file("own.yaml"), "openapi: 3.1.0\n").expect("a writable folder");
    cli_snapshot!("services_wrong", project.runner(&["check", "film.yaml"]).expect(2));
}

#[test]
fn shipped_services_say_where_they_are_and_what_has_their_keys() {
    let project = Project::new("film.yaml", CHAIN);
    let listed = project.runner(&["services", "list", "--format", "json"]).expect(0);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("JSON");
    let listed = listed["services"].as_array().expect("a list").iter();
    let keys: BTreeSet<&str> = listed.filter_map(|service| service["key"].as_str()).collect();
    assert!(keys.contains("ARK_API_KEY") && keys.contains("GEMINI_API_KEY"), "{keys:?}");
}

/// The film that was paid for stays in its place, and whoever looks at the rehearsal is told so.
#[test]
fn rehearsal_of_a_paid_film_has_a_folder_of_its_own() {
    let proxy = RecordingProxy::faithful();
    let project = project(CHAIN, &proxy.url, "api: videos-v1");
    let of_folder = |name: &str| fs_err::read(project.file(name)).ok();
    // Before anything is paid for, a rehearsal is the film.
    project.runner(&["run", "film.yaml", "--rehearse"]).expect(0);
    let rehearsed = of_folder("out/film/film.mp4").expect("a film");
    runner(&project, &["run", "film.yaml", "--trust-services"]).expect(0);
    let paid = of_folder("out/film/film.mp4").expect("a film");
    assert_ne!(paid, rehearsed);
    project.runner(&["view", "film.yaml", "--no-open"]).expect(0);
    let page = of_folder("out/film/manifest.json");
    cli_snapshot!("rehearsal_of_paid", project.runner(&["run", "film.yaml", "--rehearse"]).expect(0));
    let ends = ["plan film.yaml", "view film.yaml --no-open", "report film.yaml", "export film.yaml --srt"];
    for end in ends {
        let arguments: Vec<&str> = end.split(' ').chain(["--rehearse"]).collect();
        let output = project.runner(&arguments);
        assert!(output.err.contains("this is a rehearsal, in out/film/rehearsal"), "{}", output.transcript());
    }
    assert_eq!(of_folder("out/film/film.mp4"), Some(paid));
    assert_eq!(of_folder("out/film/manifest.json"), page);
    assert!(of_folder("out/film/rehearsal/film.mp4").is_some());
    assert!(of_folder("out/film/rehearsal/index.html").is_some());
    // A forgotten variable.
    let addressed = Project::new("pier.yaml", &CHAIN.replace("service: team\n", "")).against(&proxy.url, KEY);
    addressed.runner(&["run", "pier.yaml"]).expect(0);
    let forgotten = addressed.runner_with(("RUNNER_BASE_URL", ""), &["report", "pier.yaml"]);
    assert!(forgotten.expect(0).err.contains("or set RUNNER_BASE_URL"));
    let looked = project.runner(&["report", "film.yaml"]).expect(0);
    assert!(!looked.err.contains("rehearsal"), "{}", looked.transcript());
}
