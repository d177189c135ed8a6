//! Tasks that the service does not know any more: they are paid for, so they are asked about again and never submitted again unasked.

use crate::support::program::Output;
use crate::support::project_state::shots;
use crate::support::proxy::{KEY, OTHER_KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot, inline_snapshot};

const TWO: &str = "version: 1\nname: two\ndefaults: { model: modelb-video-480p, seconds: 1, size: 480x480 }\nshots:\n  \
    - { id: one, prompt: a quiet sea }\n  - { id: two, prompt: a loud sea }\n";

/// The command that a run has printed.
fn printed_command(output: &Output) -> Vec<String> {
    let command = output.err.lines().find_map(|line| line.split_once(": runner ")).expect("a command").1;
    command.split(' ').map(str::to_owned).collect()
}

#[test]
fn removed_videos_of_forgotten_tasks_are_not_paid_for_again_unasked() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    fs_err::remove_dir_all(project.file("out")).expect("the videos can be removed");
    fs_err::remove_dir_all(project.file(".runner/artifacts")).expect("the store can be removed");

    proxy.forget_tasks(410);
    let planned = project.runner(&["plan", "two.yaml"]).expect(0);
    inline_snapshot!(planned.notes(), @"
    one: its file is missing or modified; it will be downloaded again
    two: its file is missing or modified; it will be downloaded again

    nothing to submit
    not submitted: adopt 2
    ");
    let output = project.runner(&["run", "two.yaml"]).expect(3);
    let command = printed_command(&output);
    cli_snapshot!("run_tasks_missing", output.sorted());
    assert_eq!(proxy.posts().len(), 2, "what plan says is what is paid");

    // It stays on record, also for tasks that are unknown instead of expired.
    proxy.forget_tasks(404);
    let planned = project.runner(&["plan", "two.yaml"]).expect(0);
    cli_snapshot!("plan_tasks_missing", planned);
    project.runner(&["run", "two.yaml"]).expect(3);
    assert_eq!(proxy.posts().len(), 2);

    // It answers again.
    proxy.forget_tasks(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (2, 2));

    // The printed command is the decision to pay again.
    let arguments: Vec<&str> = command.iter().map(String::as_str).collect();
    assert_eq!(arguments, ["run", "two.yaml", "--rerun", "one", "two"]);
    project.runner(&arguments).expect(0);
    assert_eq!(proxy.posts().len(), 4);
}

#[test]
fn unknown_task_is_missing_after_a_while_and_adopted_when_it_answers() {
    let proxy = RecordingProxy::faithful();
    let text = TWO.replace("a quiet sea", "a quiet sea, retry: {attempts: 3, on: [expired]}");
    let project = Project::new("two.yaml", &text).against(&proxy.url, KEY);
    proxy.forget_tasks(404);
    let output = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_tasks_unknown", output.sorted());
    assert_eq!(proxy.posts().len(), 2);
    proxy.forget_tasks(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (2, 2));
}

#[test]
fn task_of_another_account_is_reported_and_adopted_by_its_own() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let killed = project.runner_killed_at("after submitted", &["run", "two.yaml", "--jobs", "1"]);
    assert_eq!(killed.code, None, "{}", killed.transcript());

    let project = project.against(&proxy.url, OTHER_KEY);
    cli_snapshot!("plan_other_account", project.runner(&["plan", "two.yaml"]).expect(0));
    let output = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_other_account", output.sorted());
    assert_eq!(proxy.posts().len(), 2, "the other shot only");
    for file in ["ledger.db", "ledger.db-wal"] {
        let bytes = fs_err::read(project.file(".runner").join(file)).unwrap_or_default();
        for key in [KEY, OTHER_KEY] {
            assert!(!bytes.windows(key.len()).any(|window| window == key.as_bytes()), "{file} holds a key");
        }
    }

    let project = project.against(&proxy.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (2, 2));
}

/// A new key of the same account: the service shows it a task that was submitted with the other one, and the next one that is gone is missing, not
/// another account's.
#[test]
fn key_that_the_service_shows_a_task_to_is_one_of_the_same_account() {
    let proxy = RecordingProxy::faithful();
    let project = Project::new("two.yaml", TWO).against(&proxy.url, KEY);
    let in_flight = |shot: &str| {
        let killed = project.runner_killed_at("before polled", &["run", "two.yaml", "--only", shot]);
        assert_eq!(killed.code, None, "{}", killed.transcript());
    };
    in_flight("one");
    in_flight("two");
    let project = project.against(&proxy.url, OTHER_KEY);
    proxy.join_accounts();
    project.runner(&["run", "two.yaml", "--only", "one"]).expect(0);
    let planned = project.runner(&["plan", "two.yaml"]).expect(0);
    assert!(!planned.out.contains("another API key"), "{}", planned.transcript());
    proxy.forget_tasks(410);
    let output = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_task_of_same_account_missing", output.sorted());
    proxy.forget_tasks(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "two").len()), (2, 2));
}
