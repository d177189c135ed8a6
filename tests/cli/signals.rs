//! SIGINT and SIGTERM: the first ends a run gracefully, the second at once; the next run adopts the tasks in flight.

use crate::support::project_state::shots;
use crate::support::proxy::{KEY, RecordingProxy};
use crate::support::{Project, cli_snapshot};

const THREE: &str = "version: 1
name: three
defaults: {model: modelb-video-480p, seconds: 1, size: 480x480}
shots:
  - {id: one, prompt: the sea}
  - {id: two, prompt: a dune}
  - {id: three, prompt: a plain}
";

#[test]
fn sigterm_detaches_tasks_like_an_interrupt() {
    let proxy = RecordingProxy::faithful();
    proxy.hold_tasks(true);
    let project = Project::new("three.yaml", THREE).against(&proxy.url, KEY);
    let mut command = project.command(&["run", "three.yaml", "--jobs", "2"]);
    // Twice, as GNU `timeout` sends it.
    let mut are_submitted = || project.logged("submitted as task") == 2;
    let output =
        project.runner_signalled(&mut command, &mut [("TERM", &mut are_submitted), ("TERM", &mut || true)]);
    let output = output.expect(130);
    cli_snapshot!("run_sigterm", output.sorted());
    proxy.hold_tasks(false);
    let last = project.runner(&["run", "three.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "three").len()), (3, 3), "{}", last.transcript());
    cli_snapshot!("run_adopts_tasks", last.sorted());
}

#[test]
fn second_interrupt_exits_at_once_and_reports_tasks_in_flight() {
    let proxy = RecordingProxy::faithful();
    proxy.hold_files(true);
    let project = Project::new("three.yaml", THREE).against(&proxy.url, KEY);
    let mut command = project.command(&["run", "three.yaml", "--shutdown-grace", "600"]);
    // The second one after the message that answers the first.
    let mut are_fetched = || proxy.gets("/files/") == 3;
    let mut has_taken_note = || project.logged("interrupted: ") == 1;
    let signals: &mut [(&str, &mut dyn FnMut() -> bool)] =
        &mut [("INT", &mut are_fetched), ("INT", &mut has_taken_note)];
    let output = project.runner_signalled(&mut command, signals);
    let output = output.expect(130);
    cli_snapshot!("run_second_interrupt", output.sorted());
    proxy.hold_files(false);
    let last = project.runner(&["run", "three.yaml"]).expect(0);
    assert_eq!((proxy.posts().len(), shots(&project, "three").len()), (3, 3), "{}", last.transcript());
}

#[test]
fn second_interrupt_during_submission_leaves_it_indeterminate() {
    let proxy = RecordingProxy::with_faults(r#"{"faults": [{"fault": {"kind": "never_respond"}}]}"#);
    let text = THREE.replace("  - {id: two, prompt: a dune}\n  - {id: three, prompt: a plain}\n", "");
    let project = Project::new("three.yaml", &text).against(&proxy.url, KEY);
    let mut command = project.command(&["run", "three.yaml"]);
    let mut is_sent = || proxy.posts().len() == 1;
    let mut has_taken_note = || project.logged("interrupted: ") == 1;
    let output =
        project.runner_signalled(&mut command, &mut [("INT", &mut is_sent), ("INT", &mut has_taken_note)]);
    let output = output.expect(130);
    cli_snapshot!("run_second_interrupt_during_submission", output);
    let run = project.runner(&["run", "three.yaml"]).expect(3);
    cli_snapshot!("run_still_indeterminate", run);
    assert_eq!(proxy.posts().len(), 1, "it is not submitted again");
}
