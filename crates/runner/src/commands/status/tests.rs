//! The texts and changes of `status`.

use std::collections::HashMap;

use scheduler::history::Stands;

use super::record::{Counts, Open, Outstanding, Record, Run, RunLiveness, Shot, Totals};
use super::*;
use crate::report::stream::Amount;

const NOW: Timestamp = Timestamp(1_790_000_100_000);

fn run(run: &str, state: RunLiveness, began: i64, ended: Option<i64>, shots: Option<Counts>) -> Run {
    Run {
        run: run.to_owned(),
        workflow: "pier".to_owned(),
        service: "https://a.test".to_owned(),
        state,
        started_at: NOW.0 - began,
        ended_at: ended.map(|ago| NOW.0 - ago),
        shots,
    }
}

fn shot(name: &str, state: Stands, since: i64) -> Shot {
    let is_out = state == Stands::Out;
    Shot {
        run: "r2".to_owned(),
        shot: name.to_owned(),
        state,
        since: NOW.0 - since,
        attempt: None,
        task: is_out.then(|| format!("task_{name}")),
        typical_ms: is_out.then_some(40_000),
        trouble: (state == Stands::Failed).then(|| "the prompt was refused".to_owned()),
    }
}

fn open(what: Open, shot: &str, task: Option<&str>, remedy: &str) -> Outstanding {
    Outstanding {
        what,
        shot: shot.to_owned(),
        workflow: "pier".to_owned(),
        service: "https://a.test".to_owned(),
        since: NOW.0 - 3_700_000,
        attempt: Some("r1.3".to_owned()),
        task: task.map(str::to_owned),
        held: Some(250_000),
        typical_ms: None,
        trouble: None,
        remedy: remedy.to_owned(),
    }
}

fn snapshot() -> Snapshot {
    let counts = Counts { done: 1, out: 1, waiting: 1, failed: 1, ..Counts::default() };
    Snapshot {
        runs: vec![
            run("r2", RunLiveness::Alive, 62_000, None, Some(counts)),
            run("r1", RunLiveness::Died, 3_800_000, None, None),
            run("r0", RunLiveness::Ended, 9_000_000, Some(8_900_000), None),
        ],
        shots: vec![
            shot("sea", Stands::Done, 30_000),
            shot("sky\u{1b}[2J", Stands::Waiting, 60_000),
            shot("pier", Stands::Out, 58_000),
            shot("灯台", Stands::Failed, 5_000),
        ],
        outstanding: vec![
            open(Open::Out, "bay", Some("task_bay"), "adopted by `runner run pier.yaml`"),
            open(Open::Unaccounted, "dune", None, "look at your account"),
        ],
        totals: Totals {
            held: Amount { cost: 500_000, tasks: 3, video_ms: 15_000 },
            spent: Amount { cost: 0, tasks: 1, video_ms: 5_040 },
        },
    }
}

#[test]
fn status_text_of_every_state() {
    insta::assert_snapshot!(text::lines(&snapshot(), NOW, None).join("\n"));
}

#[test]
fn status_text_is_truncated_to_the_terminal() {
    let mut snapshot = snapshot();
    for at in 0..5_000 {
        snapshot.shots.push(shot(&format!("harbor@seed={at}"), Stands::Waiting, 1_000));
        snapshot.outstanding.push(open(Open::Unaccounted, "bay", None, "look at your account"));
        snapshot.outstanding.push(open(Open::Out, "bay", Some("task"), "adopted by the next run"));
    }
    for rows in [10, 23, 60] {
        let lines = text::lines(&snapshot, NOW, Some(rows));
        assert!(lines.len() <= rows, "{} lines in {rows} rows:\n{}", lines.len(), lines.join("\n"));
        let told = lines.join("\n");
        assert!(told.contains(" more"), "{told}");
        assert!(told.contains("in all: held for"), "{told}");
        assert!(told.contains("5001 tasks are out at https://a.test, the longest for 1 h 1 min"), "{told}");
    }
    assert!(text::lines(&snapshot, NOW, None).len() < 100);
}

#[test]
fn watch_prints_only_changes() {
    let mut known = HashMap::new();
    let mut snapshot = snapshot();
    assert_eq!(watch::changes(&mut known, &snapshot).len(), 10);
    assert_eq!(watch::changes(&mut known, &snapshot), []);
    snapshot.shots[2].state = Stands::Downloading;
    let new = watch::changes(&mut known, &snapshot);
    assert!(matches!(new.as_slice(), [Record::Shot(shot)] if shot.shot == "pier"), "{new:?}");
    let told = text::change(&new[0], NOW).unwrap();
    assert_eq!(told, "pier: downloading, task task_pier");
    let line = watch::numbered(&new[0], NOW);
    assert_eq!(
        (&line["version"], &line["kind"], &line["state"]),
        (&1.into(), &"shot".into(), &"downloading".into())
    );
}
