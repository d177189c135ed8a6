//! Text and change records of `status`.

use std::collections::HashMap;
use std::time::Duration;

use scheduler::StatusKind;
use workflow::units::{Money, VideoDuration};

use super::record::{
    ActionNeeded, ActionReason, Retry, Run, RunLiveness, Shot, StatusCounts, StatusRecord, Totals,
};
use super::*;
use crate::report::stream::Amount;

const NOW: Timestamp = Timestamp(1_790_000_100_000);

/// So many milliseconds before [`NOW`].
fn before(millis: i64) -> Timestamp {
    Timestamp(NOW.0 - millis)
}

fn run(run: &str, state: RunLiveness, began: i64, ended: Option<i64>, shots: Option<StatusCounts>) -> Run {
    Run {
        run: run.to_owned(),
        workflow: "pier".to_owned(),
        service: "https://a.test".to_owned(),
        state,
        started_at: before(began),
        ended_at: ended.map(before),
        shots,
    }
}

fn shot(name: &str, state: StatusKind, since: i64) -> Shot {
    let is_in_flight = state == StatusKind::InFlight;
    Shot {
        run: "r2".to_owned(),
        shot: name.to_owned(),
        state,
        since: before(since),
        retry: (state == StatusKind::WaitingForRetry).then_some(Retry {
            number: 2,
            of: 3,
            not_before: NOW.after(Duration::from_secs(54)),
        }),
        attempt: None,
        task: is_in_flight.then(|| format!("task_{name}")),
        failure: (state == StatusKind::Failed).then(|| "the prompt was refused".to_owned()),
        after_run: None,
    }
}

fn action_needed(reason: ActionReason, shot: &str, task: Option<&str>, action: &str) -> ActionNeeded {
    ActionNeeded {
        reason,
        shot: shot.to_owned(),
        workflow: "pier".to_owned(),
        service: "https://a.test".to_owned(),
        since: before(3_700_000),
        attempt: Some("r1.3".to_owned()),
        task: task.map(str::to_owned),
        suggested_task: None,
        reserved: Some(Money::from_micros(250_000)),
        failure: None,
        action: action.to_owned(),
    }
}

fn snapshot() -> StatusSnapshot {
    let shots = vec![
        shot("sea", StatusKind::Done, 30_000),
        shot("sky\u{1b}[2J", StatusKind::Waiting, 60_000),
        shot("pier", StatusKind::InFlight, 58_000),
        shot("灯台", StatusKind::Failed, 5_000),
        shot("dock", StatusKind::WaitingForRetry, 6_000),
    ];
    let counts = shots.iter().map(|shot| shot.state).collect();
    StatusSnapshot {
        runs: vec![
            run("r2", RunLiveness::Alive, 62_000, None, Some(counts)),
            run("r1", RunLiveness::Died, 3_800_000, None, None),
            run("r0", RunLiveness::Ended, 9_000_000, Some(8_900_000), None),
        ],
        has_runs: true,
        asked: None,
        shots,
        action_needed: vec![
            action_needed(
                ActionReason::InFlight,
                "bay",
                Some("task_bay"),
                "adopted by `runner run pier.yaml`",
            ),
            action_needed(ActionReason::Indeterminate, "dune", None, "look at your account"),
        ],
        totals: Totals {
            reserved: Amount {
                cost: Money::from_micros(500_000),
                tasks: 3,
                duration: VideoDuration::from_secs(15),
            },
            spent: Amount { cost: Money::ZERO, tasks: 1, duration: VideoDuration::from_millis(5_040) },
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
    for seed in 0..5_000 {
        snapshot.shots.push(shot(&format!("harbor@seed={seed}"), StatusKind::Waiting, 1_000));
        snapshot.action_needed.push(action_needed(
            ActionReason::Indeterminate,
            "bay",
            None,
            "look at your account",
        ));
        snapshot.action_needed.push(action_needed(
            ActionReason::InFlight,
            "bay",
            Some("task"),
            "adopted by `runner run pier.yaml`",
        ));
    }
    for rows in [10, 23, 60] {
        let lines = text::lines(&snapshot, NOW, Some(rows));
        assert!(lines.len() <= rows, "{} lines in {rows} rows:\n{}", lines.len(), lines.join("\n"));
        let text_lines = lines.join("\n");
        assert!(text_lines.contains(" more"), "{text_lines}");
        assert!(text_lines.contains("total: "), "{text_lines}");
        assert!(
            text_lines.contains("5001 tasks are in flight at https://a.test, the longest for 1 h 1 min"),
            "{text_lines}"
        );
    }
    assert!(text::lines(&snapshot, NOW, None).len() < 100);
}

#[test]
fn watch_prints_only_changes() {
    let mut latest = HashMap::new();
    let mut snapshot = snapshot();
    assert_eq!(watch::changes(&mut latest, &snapshot).len(), 11);
    assert_eq!(watch::changes(&mut latest, &snapshot), []);
    snapshot.shots[2].state = StatusKind::Downloading;
    let new = watch::changes(&mut latest, &snapshot);
    assert!(matches!(new.as_slice(), [StatusRecord::Shot(shot)] if shot.shot == "pier"), "{new:?}");
    let text_lines = text::change(&new[0], NOW).unwrap();
    assert_eq!(text_lines, "pier: downloading, task task_pier");
    let line = watch::numbered(&new[0], NOW);
    assert_eq!(
        (&line["version"], &line["kind"], &line["state"]),
        (&3.into(), &"shot".into(), &"downloading".into())
    );
}

/// The members of all objects of a schema, besides the counts, which are named after the states.
fn members(schema: &serde_json::Value, out: &mut std::collections::BTreeSet<String>) {
    match schema {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|(name, _)| *name != "Counts") {
                if let (true, Some(properties)) = (name == "properties", value.as_object()) {
                    out.extend(properties.keys().cloned());
                }
                members(value, out);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| members(value, out)),
        _ => {}
    }
}

#[test]
fn document_lists_every_member() {
    let page = include_str!("../../../../../docs/events.md");
    let (_, page) = page.split_once("## `runner status [FILE]`").unwrap();
    let mut all = std::collections::BTreeSet::new();
    members(&schema(), &mut all);
    let missing: Vec<&String> = all.iter().filter(|name| !page.contains(&format!("`{name}`"))).collect();
    assert!(all.contains("retry") && missing.is_empty(), "docs/events.md lacks {missing:?}");
}
