//! Killed with SIGKILL on either side of everything that the ledger writes, and run again: the service sees each shot once.
//!
//! One project goes through all boundaries in turn, so that each finds it as the one before has left it. Between two runs, what only a person can
//! know is accounted for as that person would: the service has the task, or it has not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

use crate::killed::unclaimed_task;
use crate::storyboard::shots;
use crate::support::Project;
use crate::support::front::{Fate, Front, KEY};

const SHOTS: usize = 9;

fn workflow() -> String {
    let shots: Vec<String> = (1..=SHOTS)
        .map(|shot| format!("  - {{ id: s{shot}, prompt: the sea at {shot} o'clock }}\n"))
        .collect();
    let shots = shots.concat();
    let clips: Vec<String> = (1..=SHOTS).map(|shot| format!("s{shot}")).collect();
    format!(
        "version: 1\nname: clock\ndefaults: {{ model: modelb-video-480p, seconds: 1, size: 480x480 }}\nshots:\n{shots}film:\n  \
         output: clock.mp4\n  shots: [{}]\n",
        clips.join(", ")
    )
}

/// Boundaries in an order in which each is reached, and what becomes of the next POST there.
const BOUNDARIES: &[(&str, Fate)] = &[
    ("begin", Fate::Arrives),
    ("started", Fate::Arrives),
    ("looked", Fate::Arrives),
    ("prepared", Fate::Arrives),
    ("refused", Fate::TooMany),
    ("lost", Fate::IsLost),
    ("submitted", Fate::Arrives),
    ("answered", Fate::Arrives),
    ("downloaded", Fate::Arrives),
    ("joined", Fate::Arrives),
    ("end", Fate::Arrives),
];

/// Accounts for every submission whose answer was lost, and says how many there were.
fn account(project: &Project, front: &Front) -> usize {
    let listed = project.runner(&["resolve", "clock.yaml", "--format", "json"]);
    let listed: Value = serde_json::from_str(&listed.out).expect("a list");
    let open: Vec<String> = listed
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| row["attempt"].as_str().expect("an attempt").to_owned())
        .collect();
    for attempt in &open {
        let task = unclaimed_task(front, project);
        let answer = task.as_deref().map_or(vec!["--resubmit"], |task| vec!["--adopt", task]);
        for side in ["before", "after"] {
            // The first time it dies before it is on record, the second time just after.
            let arguments = [vec!["resolve", "clock.yaml", attempt], answer.clone()].concat();
            let ended = project.runner_killed_at(&format!("{side} resolved"), &arguments);
            assert_eq!(ended.code, None, "it is killed {side} resolved: {}", ended.told());
        }
    }
    open.len()
}

#[test]
fn a_kill_at_every_boundary_of_the_ledger_pays_for_each_shot_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // How many POSTs from now on meet something else than an answer, and what.
    let next = Arc::new(AtomicUsize::new(0));
    let told = Arc::clone(&next);
    let front = Front::start(folder.path().join("service"), move |_| match told.swap(0, Ordering::SeqCst) {
        1 => Fate::TooMany,
        2 => Fate::IsLost,
        _ => Fate::Arrives,
    });
    let project = Project::of("clock.yaml", &workflow()).against(&front.url, KEY);
    let mut accounted = 0;
    for (kind, fate) in BOUNDARIES {
        for side in ["before", "after"] {
            next.store(
                match fate {
                    Fate::Arrives => 0,
                    Fate::TooMany => 1,
                    Fate::IsLost => 2,
                },
                Ordering::SeqCst,
            );
            let at = format!("{side} {kind}");
            let ended = project.runner_killed_at(&at, &["run", "clock.yaml", "--jobs", "1"]);
            assert_eq!(ended.code, None, "it is killed {at}: {}", ended.told());
            accounted += account(&project, &front);
        }
    }
    let last = project.runner(&["run", "clock.yaml"]).expect(0);
    assert!(last.out.contains("nothing was submitted"), "all was made on the way: {}", last.out);
    assert_eq!((front.accepted().len(), shots(&project, "clock").len()), (SHOTS, SHOTS), "{}", last.told());
    assert!(accounted >= 4, "some kills fell between a POST and its answer: {accounted}");
}
