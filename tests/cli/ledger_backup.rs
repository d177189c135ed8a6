//! A backup of the ledger from before some runs is put back: what these runs paid for is recorded again by `ledger adopt`, and by nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::project_state::{back_up, remove_ledger, restore, shots};
use crate::support::proxy::KEY;
use crate::support::scripted::{ScriptedService, response};
use crate::support::{Project, cli_snapshot};

fn workflow(of_one: &str, of_two: &str) -> String {
    format!(
        "version: 1\nname: two\ndefaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480 }}\nshots:\n  \
         - {{ id: one, prompt: a quiet sea{of_one} }}\n  - {{ id: two, prompt: a loud sea{of_two} }}\n"
    )
}

/// The tasks that count for the two shots.
fn tasks(project: &Project) -> Vec<String> {
    let run = project.runner(&["run", "two.yaml", "--format", "json"]).expect(0);
    let document: serde_json::Value = serde_json::from_str(&run.out).expect("a document");
    let shots = document["shots"].as_array().expect("shots").iter();
    shots.map(|shot| shot["task"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn rerun_after_the_backup_is_adopted_as_the_video_that_counts() {
    let service = ScriptedService::start(|_| None);
    let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    let backup = back_up(&project);
    project.runner(&["run", "two.yaml", "--rerun", "one"]).expect(0);
    project.runner(&["run", "two.yaml", "--rerun", "one"]).expect(0);
    let (posts, counting, videos) = (service.posts(), tasks(&project), shots(&project, "two"));
    restore(&project, &backup);
    // Before it submits anything, and although it would not.
    cli_snapshot!("plan_rerun_unknown", project.runner(&["plan", "two.yaml"]).expect(0));
    cli_snapshot!("run_rerun_unknown", project.runner(&["run", "two.yaml"]).expect(3));
    let adopted = project.runner(&["ledger", "adopt", "two.yaml", "--dry-run"]).expect(0);
    cli_snapshot!("adopt_rerun_dry_run", adopted);
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    assert_eq!((tasks(&project), shots(&project, "two")), (counting, videos));
    // A new rerun counts instead.
    project.runner(&["run", "two.yaml", "--rerun", "two", "--only", "two"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(service.posts(), posts + 1);
}

/// A video that was paid for again counts, not an earlier rerun that the ledger has lost.
#[test]
fn earlier_rerun_does_not_count_instead_of_a_later_video() {
    let service = ScriptedService::start(|_| None);
    let project = Project::new("two.yaml", &workflow("", "")).against(&service.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml", "--rerun", "one"]).expect(0);
    remove_ledger(&project);
    project.runner(&["run", "two.yaml", "--force"]).expect(0);
    let posts = service.posts();
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!(service.posts(), posts);
}

/// The key of a chained shot is known only once the shot before it is done, in the middle of a run.
#[test]
fn video_of_a_chained_shot_is_noticed_once_it_has_a_key() {
    let is_done = Arc::new(AtomicBool::new(false));
    let done = Arc::clone(&is_done);
    let service = ScriptedService::start(move |call| {
        let task = call.path.strip_prefix("/v1/videos/").filter(|_| !done.load(Ordering::Relaxed))?;
        Some(response(200, &[], format!(r#"{{"id":"{task}","object":"video","status":"in_progress"}}"#)))
    });
    let text = workflow(", timeout: 2s", ", continues: one");
    let project = Project::new("two.yaml", &text).against(&service.url, KEY);
    project.runner(&["run", "two.yaml"]).expect(3);
    // The next runs have as much time as they need.
    fs_err::write(project.file("two.yaml"), workflow("", ", continues: one")).expect("a writable folder");
    let backup = back_up(&project);
    is_done.store(true, Ordering::Relaxed);
    project.runner(&["run", "two.yaml"]).expect(0);
    let videos = shots(&project, "two");
    restore(&project, &backup);
    cli_snapshot!("plan_video_of_chained_shot_unknown", project.runner(&["plan", "two.yaml"]).expect(0));
    let stopped = project.runner(&["run", "two.yaml"]).expect(3);
    cli_snapshot!("run_video_of_chained_shot_unknown", stopped.sorted());
    assert_eq!(service.posts(), 2);
    // Every command says what the run has said.
    cli_snapshot!("status_video_of_chained_shot_unknown", project.runner(&["status", "two.yaml"]).expect(3));
    project.runner(&["ledger", "adopt", "two.yaml"]).expect(0);
    project.runner(&["run", "two.yaml"]).expect(0);
    assert_eq!((service.posts(), shots(&project, "two")), (2, videos));

    restore(&project, &backup);
    project.runner(&["run", "two.yaml", "--force"]).expect(0);
    assert_eq!(service.posts(), 3, "the user has decided");
}
