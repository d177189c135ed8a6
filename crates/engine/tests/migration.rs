//! Ledgers of older formats: each migrates to the current one and loses nothing.
//!
//! The fixtures in `fixtures/every_event`, one for each older format, have every state of an attempt and every kind of event that programs of
//! their format wrote, and rows of what the format introduced.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

use std::path::Path;
use std::time::Duration;

use engine::Ledger;
use engine::ledger::{LedgerReader, PlanArguments};
use rusqlite::Connection;
use scheduler::budget::Amount;
use scheduler::{AttemptId, AttemptState, Event, EventKind, Resolution, RunId, RunProjection, TaskId};
use workflow::units::{Money, VideoDuration};

const LIGHTHOUSE: &str = include_str!("fixtures/format1.sql");
const RUN: &str = "20261101T080000-4d2-0007";
/// The body of an event; format 10 renamed one kind of existing work.
const BODY: &str = r#"replace(body, '"claimed-by-run"', '"claimed-by-other-run"')"#;

fn open(folder: &Path) -> Ledger {
    Ledger::open_without_sync(&folder.join("ledger.db"), folder).expect("a ledger that can be opened")
}

/// The formats before the present one, each with its fixture.
fn older_formats() -> Vec<(i64, String)> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(open(folder.path()));
    let fresh = Connection::open(folder.path().join("ledger.db")).expect("a database");
    let current: i64 = fresh.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a format");
    assert!(current > 1, "a format, not an empty file");
    (1..current).map(|format| (format, fixture(format))).collect()
}

/// The ledger of a format, as SQL.
fn fixture(format: i64) -> String {
    let path = format!("{}/tests/fixtures/every_event/format{format}.sql", env!("CARGO_MANIFEST_DIR"));
    let sql = fs_err::read_to_string(path).expect("each format before the present one has a fixture");
    assert!(
        sql.ends_with(&format!("PRAGMA user_version = {format};\n")),
        "the fixture is one of format {format}"
    );
    sql
}

/// A database with the statements of a fixture.
fn old(folder: &Path, fixture: &str) -> Connection {
    let connection = Connection::open(folder.join("ledger.db")).expect("a database");
    connection.execute_batch(fixture).expect("the old ledger");
    connection
}

/// Every table and index with its SQL, without comments, quotes and spaces, in which a migrated ledger and a new one differ.
fn shape(folder: &Path) -> Vec<(String, String)> {
    let connection = Connection::open(folder.join("ledger.db")).expect("a database");
    let mut statement = connection
        .prepare("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
        .expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    let bare = |sql: String| {
        let code: String = sql.lines().map(|line| line.split("--").next().unwrap_or_default()).collect();
        code.replace(|c: char| c.is_whitespace() || c == '"', "")
    };
    rows.map(|row| row.map(|(name, sql)| (name, bare(sql))).expect("a row")).collect()
}

/// A query's rows as text, one line each.
fn rows(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a statement");
    let columns = statement.column_count();
    let rows = statement.query_map([], |row| {
        (0..columns)
            .map(|column| row.get_ref(column).map(|value| format!("{value:?}")))
            .collect::<Result<Vec<_>, _>>()
    });
    rows.expect("rows").map(|row| row.expect("a row").join(" ")).collect()
}

/// The state of format 5 for one of an older format.
fn renamed_state(old: &str) -> AttemptState {
    match old {
        "intended" => AttemptState::Intended,
        "ambiguous" => AttemptState::Indeterminate,
        "submitted" => AttemptState::Submitted,
        "completed" => AttemptState::Completed,
        "failed" => AttemptState::Failed,
        "refused" => AttemptState::Refused,
        "expired" => AttemptState::Expired,
        "abandoned" => AttemptState::NotAccepted,
        "given-up" => AttemptState::Abandoned,
        state => panic!("no state: {state}"),
    }
}

#[test]
fn open_format_1_migrates_and_keeps_records() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(old(folder.path(), LIGHTHOUSE));
    for _ in 0..2 {
        let ledger = open(folder.path());
        let door = ledger.attempt_holding("k-door").expect("it can be read").expect("door is made");
        let made = door.artifact.expect("door has a video");
        assert_eq!((made.sha256.as_str(), made.modified_at), ("abcd", None));
        assert_eq!(door.service, "https://api.example.com");
        assert_eq!(
            ledger.attempt_holding("k-lamp").expect("it can be read").and_then(|row| row.task),
            Some(TaskId::from("task_2"))
        );
        assert!(ledger.attempt_holding("k-fog").expect("it can be read").is_none());
        assert_eq!(ledger.resolvable_attempts().expect("it can be read").len(), 1);
        assert_eq!(ledger.events(&RunId::from("old")).expect("old events can be read").len(), 3);
        assert_eq!(ledger.attempts_of_shot("lamp").expect("it can be read").len(), 1);
        let (reserved, spent) = ledger.spending().expect("it can be read");
        assert_eq!(
            reserved,
            Amount { cost: Money::ZERO, tasks: 2, duration: VideoDuration::from_millis(6_500) }
        );
        assert_eq!(spent, Amount { cost: Money::ZERO, tasks: 2, duration: VideoDuration::from_secs(8) });
    }
}

/// Queries whose rows a migration leaves as they are: on a ledger of this format, and on one of the present format.
fn same_rows(format: i64, before: &Connection) -> Vec<(String, String)> {
    if format < 5 {
        return renamed_rows(format);
    }
    let tables = rows_of_text(before, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name");
    let queries = tables.into_iter().map(|table| {
        let columns = rows_of_text(before, &format!("SELECT name FROM pragma_table_info('{table}')"));
        let columns = columns.into_iter().map(|column| match (table.as_str(), column.as_str()) {
            ("events", "body") => BODY.to_owned(),
            _ => column,
        });
        let columns: Vec<String> = columns.collect();
        format!("SELECT {} FROM {table} ORDER BY rowid", columns.join(", "))
    });
    queries.map(|query| (query.clone(), query)).collect()
}

/// As [`same_rows`] before format 5, which renamed columns and tables.
fn renamed_rows(format: i64) -> Vec<(String, String)> {
    let same = |sql: &str| (sql.to_owned(), sql.to_owned());
    let renamed = |before: &str, after: &str| (before.to_owned(), after.to_owned());
    let attempts = "SELECT rowid, id, run, node, key, model, digest, task, intended_at, submitted_at, ended_at, failure FROM attempts ORDER BY rowid";
    let artifacts = "SELECT attempt, path, sha256, bytes, seconds, width, height, last_frame_url, expires_at FROM artifacts ORDER BY attempt";
    let mut queries = vec![
        same(attempts),
        same(artifacts),
        same("SELECT path, bytes, seconds, width, height, audio FROM films ORDER BY path"),
        same("SELECT id, workflow, service, started_at, ended_at FROM runs ORDER BY id"),
        renamed(
            "SELECT CAST(seconds * 1000 AS INTEGER) FROM attempts ORDER BY rowid",
            "SELECT video_ms FROM attempts ORDER BY rowid",
        ),
    ];
    if format >= 2 {
        queries.push(renamed(
            "SELECT parts FROM attempts ORDER BY rowid",
            "SELECT key_parts FROM attempts ORDER BY rowid",
        ));
    }
    if format >= 3 {
        queries.extend([
            renamed(
                "SELECT held, spent, work FROM attempts ORDER BY rowid",
                "SELECT reserved_cost, actual_cost, service_independent_key FROM attempts ORDER BY rowid",
            ),
            renamed(
                "SELECT changed_at FROM artifacts ORDER BY attempt",
                "SELECT modified_ns FROM artifacts ORDER BY attempt",
            ),
            same("SELECT * FROM totals"),
            renamed("SELECT * FROM salts", "SELECT * FROM forced_reruns"),
        ]);
    }
    queries
}

/// The rows of a query with one column of text.
fn rows_of_text(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(sql).expect("a statement");
    let rows = statement.query_map([], |row| row.get(0)).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

/// Attempts with their states.
fn states(connection: &Connection) -> Vec<(String, String)> {
    let mut statement =
        connection.prepare("SELECT id, state FROM attempts ORDER BY rowid").expect("a statement");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
    rows.map(|row| row.expect("a row")).collect()
}

#[test]
fn open_each_older_format_keeps_every_row() {
    for (format, fixture) in older_formats() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let before = old(folder.path(), &fixture);
        let queries = same_rows(format, &before);
        let rows_before: Vec<_> = queries.iter().map(|(sql, _)| rows(&before, sql)).collect();
        for ((sql, _), rows) in queries.iter().zip(&rows_before) {
            assert!(!rows.is_empty(), "the fixture of format {format} has rows in every table: {sql}");
        }
        let states_before = states(&before);
        let time = if format < 5 { "at" } else { "time" };
        let times = format!("SELECT run, {time}, node FROM events ORDER BY seq");
        let times_before = rows(&before, &times);
        drop(before);

        let ledger = open(folder.path());
        let after = Connection::open(folder.path().join("ledger.db")).expect("a database");
        for ((_, sql), rows_before) in queries.iter().zip(&rows_before) {
            assert_eq!(&rows(&after, sql), rows_before, "format {format}: {sql}");
        }
        let expected = states_before.into_iter().map(|(attempt, state)| {
            let state = if format < 5 { renamed_state(&state).as_str().to_owned() } else { state };
            (attempt, state)
        });
        assert_eq!(states(&after), expected.collect::<Vec<_>>(), "format {format}");
        let times_after = rows(&after, "SELECT run, time, node FROM events ORDER BY seq");
        // Expired tasks were no events before format 5: they are appended.
        let appended = times_after.len() - times_before.len();
        assert_eq!(times_after[..times_before.len()], times_before[..], "format {format}");
        assert_eq!(appended, if format < 5 { 2 } else { 0 }, "format {format}");
        let claims = "SELECT COUNT(*) FROM events WHERE body LIKE '%\"claimed-by-run\"%'";
        assert_eq!(rows(&after, claims), ["Integer(0)"], "format {format}: it has its present name");
        let (reserved, spent) = ledger.spending().expect("it can be read");
        assert!(reserved.tasks > 0 && spent.tasks > 0);

        let fresh = tempfile::tempdir().expect("a temporary folder");
        drop(open(fresh.path()));
        assert_eq!(
            shape(folder.path()),
            shape(fresh.path()),
            "a migrated ledger and a new one do not differ"
        );
    }
}

#[test]
fn open_format_5_adds_service_and_account() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(old(folder.path(), &fixture(5)));
    drop(open(folder.path()));
    let after = Connection::open(folder.path().join("ledger.db")).expect("a database");
    assert_eq!(
        rows(
            &after,
            "SELECT COUNT(*) FROM attempts a JOIN runs r ON r.id = a.run WHERE a.service <> r.service"
        ),
        ["Integer(0)"]
    );
    assert_eq!(rows(&after, "SELECT DISTINCT account FROM runs"), ["Null"], "it was not recorded");
}

#[test]
fn open_format_6_finds_suggested_tasks() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(old(folder.path(), &fixture(6)));
    let ledger = open(folder.path());
    assert_eq!(suggested_tasks(&ledger), [("s14".to_owned(), TaskId::from("task = 14"))]);
    let run = RunId::from("20261102T080000-4d2-0008");
    let events = ledger.events(&run).expect("it can be read");
    assert!(
        matches!(&events[..], [(_, Event::Indeterminate { suggested_task: None, .. })]),
        "an event of the older format: {events:?}"
    );
}

/// The indeterminate submissions whose response named a task.
fn suggested_tasks(ledger: &Ledger) -> Vec<(String, TaskId)> {
    let rows = ledger.resolvable_attempts().expect("it can be read").into_iter();
    rows.filter_map(|row| Some((row.node, row.suggested_task?))).collect()
}

/// What each format introduced is used after the migration as before.
#[test]
fn open_format_11_keeps_what_formats_introduced() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(old(folder.path(), &fixture(11)));
    let ledger = open(folder.path());
    let suggested = [("s14", "task = 14"), ("s16", "task_44")];
    assert_eq!(suggested_tasks(&ledger), suggested.map(|(shot, task)| (shot.to_owned(), TaskId::from(task))));
    // The account of the latest runs is known to be that of the earlier ones.
    let service = "https://api.example.com";
    assert_eq!(ledger.other_accounts(service, "ffffeeee").expect("it can be read"), []);
    assert_eq!(ledger.other_accounts(service, "01234567").expect("it can be read").len(), 2);
    let arguments = PlanArguments {
        file: "lighthouse.yaml".to_owned(),
        salt: Some("second".to_owned()),
        params: vec![("look".to_owned(), "noir".to_owned())],
        param_files: vec!["night.yaml".to_owned()],
        axes: vec![("lens".to_owned(), "35mm,50mm".to_owned())],
    };
    let after = Connection::open(folder.path().join("ledger.db")).expect("a database");
    let recorded = "SELECT arguments FROM runs WHERE id = '20261104T080000-4d2-0010'";
    let recorded = rows_of_text(&after, recorded);
    let recorded: PlanArguments = serde_json::from_str(&recorded[0]).expect("arguments");
    assert_eq!(recorded, arguments);
    let aliases = "SELECT alias FROM service_aliases WHERE service = 'https://api.example.com'";
    assert_eq!(rows_of_text(&after, aliases), ["https://API.example.com/v1/"]);
    // A task that was replaced has the key of its shot until its video is recorded.
    let holder = ledger.attempt_holding(&format!("{:064x}", 19)).expect("it can be read").expect("a holder");
    let id = AttemptId("20261107T080000-4d2-0013.0".to_owned());
    let replaced = ledger.attempt(&id).expect("it can be read").expect("the first attempt");
    assert_eq!((holder.task, &holder.key), (Some(TaskId::from("task_20")), &replaced.key));
    assert_eq!((replaced.state, replaced.replaced_key), (AttemptState::Expired, None));
}

/// What an earlier version called a service becomes its identity. A task that was recorded under both names stays under both.
#[test]
fn open_format_6_gives_rows_the_identity_of_their_service() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let before = old(folder.path(), &fixture(6));
    before
        .execute_batch(
            "INSERT INTO runs (id, workflow, service, started_at) VALUES ('older', 'lighthouse', 'https://API.example.com/v1/', 1);
             INSERT INTO attempts (id, run, service, node, key, model, video_ms, digest, state, task, intended_at) VALUES
                ('older.1', 'older', 'https://API.example.com/v1/', 'a', 'k1', 'm', 1, 'd', 'submitted', 'task_2', 1),
                ('older.2', 'older', 'https://API.example.com/v1/', 'b', 'k2', 'm', 1, 'd', 'submitted', 'task_new', 1);",
        )
        .expect("rows");
    drop(before);
    drop(open(folder.path()));
    let after = Connection::open(folder.path().join("ledger.db")).expect("a database");
    let text = |sql: &str| rows(&after, sql).join(", ").replace("Text(", "").replace(')', "");
    let identity = format!("{:?}", b"https://api.example.com");
    let alias = format!("{:?}", b"https://API.example.com/v1/");
    assert_eq!(text("SELECT alias, service FROM service_aliases"), format!("{alias} {identity}"));
    assert_eq!(text("SELECT service FROM runs WHERE id = 'older'"), identity);
    let of_attempts = text("SELECT service FROM attempts WHERE run = 'older' ORDER BY id");
    assert_eq!(of_attempts, format!("{alias}, {identity}"));
}

/// What identified a service until format 12 and is written otherwise now. Its keys of that time are found under the earlier name.
#[test]
fn open_format_12_gives_rows_the_present_identity_of_their_service() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    drop(open(folder.path()));
    let before = Connection::open(folder.path().join("ledger.db")).expect("a database");
    let (mapped, escaped, alias) =
        ("http://[::ffff:7f00:1]:8080", "https://example.com/g%61te%c3%a9", "https://API.example.com/v1/");
    before
        .execute_batch(&format!(
            "PRAGMA user_version = 12;
             DROP TABLE redeliveries;
             ALTER TABLE artifacts DROP COLUMN first_sha256;
             INSERT INTO runs (id, workflow, service, started_at) VALUES
                ('one', 'w', '{mapped}', 1), ('two', 'w', '{escaped}', 1), ('three', 'w', 'https://example.com/v1', 1),
                ('four', 'w', 'embedded', 1);
             INSERT INTO service_aliases (alias, service) VALUES ('older', '{mapped}'), ('{alias}', 'https://api.example.com');
             INSERT INTO linked_accounts (service, account, same_as, task, time) VALUES ('{mapped}', 'a', 'b', 't', 1);
             INSERT INTO attempts (id, run, service, node, key, model, video_ms, digest, state, task, intended_at) VALUES
                ('one.1', 'one', '{mapped}', 'a', 'k1', 'm', 1, 'd', 'submitted', 'task_1', 1),
                ('one.2', 'one', '{alias}', 'b', 'k2', 'm', 1, 'd', 'submitted', 'task_1', 1);"
        ))
        .expect("rows");
    drop(before);
    drop(open(folder.path()));
    let after = Connection::open(folder.path().join("ledger.db")).expect("a database");
    let texts = |sql: &str| -> Vec<String> {
        let mut statement = after.prepare(sql).expect("a statement");
        let texts = statement.query_map([], |row| row.get(0)).expect("rows");
        texts.map(|text| text.expect("a text")).collect()
    };
    let loopback = "http://127.0.0.1:8080";
    assert_eq!(
        texts("SELECT service FROM runs ORDER BY rowid"),
        [loopback, "https://example.com/gate%C3%A9", "https://example.com/v1", "embedded"]
    );
    assert_eq!(texts("SELECT service FROM attempts ORDER BY id"), [loopback, alias], "an alias stays one");
    assert_eq!(texts("SELECT service FROM linked_accounts"), [loopback]);
    assert_eq!(
        texts("SELECT alias FROM service_aliases WHERE service = 'http://127.0.0.1:8080' ORDER BY alias"),
        [mapped, "older"]
    );
}

/// The key of a shot that continues a video was made of the file of that time. An earlier version paid again once the video had other bytes: where
/// a key was made of them, they count.
#[test]
fn open_format_13_finds_the_file_that_keys_were_made_of() {
    let first = |change: &str| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let before = old(folder.path(), &fixture(13));
        before.execute_batch(change).expect("a change");
        drop(before);
        drop(open(folder.path()));
        let after = Connection::open(folder.path().join("ledger.db")).expect("a database");
        rows_of_text(&after, "SELECT first_sha256 FROM artifacts WHERE first_sha256 IS NOT NULL")
    };
    assert_eq!(first(""), ["sha-s1"]);
    let both =
        "UPDATE attempts SET key_parts = '[\"first-frame-of:sha256:sha-s1-again\"]' WHERE node = 's17'";
    assert_eq!(first(both), [""; 0]);
    assert_eq!(first("UPDATE attempts SET key_parts = '[]'"), [""; 0], "nothing continues it");
    let unreadable =
        "INSERT INTO events (run, time, node, version, body) VALUES ('r', 1, 's1', 2, '{broken')";
    assert_eq!(first(unreadable), ["sha-s1"]);
}

#[test]
fn open_each_older_format_keeps_events_readable() {
    for (format, fixture) in older_formats() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let before = old(folder.path(), &fixture);
        let count: i64 = before
            .query_row("SELECT COUNT(*) FROM events WHERE run = ?1", [RUN], |row| row.get(0))
            .expect("a count");
        drop(before);
        let ledger = open(folder.path());
        let file = folder.path().join("ledger.db");
        let after = Connection::open(&file).expect("a database");
        assert_eq!(rows(&after, "SELECT DISTINCT version FROM events"), ["Integer(2)"], "format {format}");
        let bodies: Vec<String> = after
            .prepare("SELECT run || ' ' || time || ' ' || COALESCE(node, '-') || ' ' || body FROM events ORDER BY seq")
            .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
            .expect("bodies");
        insta::assert_snapshot!(format!("migrated_events_of_format_{format}"), bodies.join("\n"));

        // Each of them is an event, and stored again it has the same body.
        let events = ledger.events(&RunId::from(RUN)).expect("every event can be read");
        let expired: Vec<&AttemptId> = events
            .iter()
            .filter_map(|(_, event)| match event {
                Event::TaskExpired { attempt, .. } => Some(attempt),
                _ => None,
            })
            .collect();
        let id = |number: u32| AttemptId(format!("{RUN}.{number}"));
        assert_eq!(expired, [&id(6), &id(10)], "format {format}");
        // They were no events before format 5.
        let appended = if format < 5 { expired.len() as i64 } else { 0 };
        assert_eq!(events.len() as i64, count + appended, "format {format}");
        let runs = rows_of_text(&after, "SELECT DISTINCT run FROM events ORDER BY run");
        let of_runs = runs.iter().flat_map(|run| {
            let bodies = bodies.iter().filter(move |body| body.starts_with(&format!("{run} ")));
            let events = ledger.events(&RunId::from(run.as_str())).expect("every event can be read");
            assert_eq!(bodies.clone().count(), events.len(), "format {format}: every event of {run}");
            bodies.zip(events)
        });
        for (body, (_, event)) in of_runs {
            let stored = serde_json::to_value(event).expect("an event can be stored");
            let body = body.split_once(" {").map(|(_, body)| format!("{{{body}")).expect("a body");
            let body: serde_json::Value = serde_json::from_str(&body).expect("JSON");
            assert!(contains(&stored, &body), "format {format}: {body} is read as {stored}");
        }
        let resolved = ledger.events(&RunId::from("resolve")).expect("every resolution can be read");
        let resolutions: Vec<&Resolution> = resolved
            .iter()
            .filter_map(|(_, event)| match event {
                Event::Resolved { resolution, .. } => Some(resolution),
                _ => None,
            })
            .collect();
        assert_eq!(resolutions.len(), resolved.len());
        assert!(resolutions.contains(&&Resolution::Accepted { task: TaskId::from("task_9") }));
        assert!(resolutions.contains(&&Resolution::NotAccepted));
        assert_eq!(resolutions.contains(&&Resolution::Abandoned), format >= 3);

        let kinds: Vec<EventKind> = events.iter().map(|(_, event)| event.kind()).collect();
        for kind in EventKind::ALL {
            let is_newer = match kind {
                EventKind::RunConfigured | EventKind::BudgetExceeded => format < 3,
                EventKind::Reconciled | EventKind::Resolved | EventKind::QuotaReported => true,
                _ => false,
            };
            assert_eq!(kinds.contains(kind), !is_newer, "format {format}: {kind}");
        }

        let reader = LedgerReader::open(&file).expect("it can be read").expect("it is there");
        let mut projection = RunProjection::default();
        reader
            .events(&RunId::from(RUN), scheduler::Seq(0))
            .expect("events")
            .into_iter()
            .for_each(|event| projection.on_event(event));
        assert_eq!(projection.shots().count(), 14, "format {format}: every shot has a status");
        let open = match format {
            1..=5 => 7,
            6 => 9,
            7..=10 => 11,
            11 | 13 => 13,
            _ => 12,
        };
        assert_eq!(reader.open_attempts().expect("attempts").len(), open, "format {format}");
        let durations = ledger.task_durations("https://api.example.com").expect("durations");
        let took: Vec<Duration> = durations.into_iter().map(|(_, took)| took).collect();
        // Without the service's own timestamps, from the submission at 3 s to the poll at 8 s.
        let mut expected = vec![Duration::from_secs(5); 2];
        if format >= 7 {
            expected.push(Duration::from_millis(4));
        }
        assert_eq!(took, expected, "format {format}");
        assert_eq!(
            ledger.submission_times("https://api.example.com", 3).expect("times").len(),
            3,
            "format {format}"
        );
        let last = ledger
            .last_run("lighthouse", Path::new("lighthouse.yaml"))
            .expect("it can be read")
            .expect("a run");
        let latest = "SELECT id FROM runs ORDER BY started_at DESC LIMIT 1";
        assert_eq!(rows_of_text(&after, latest), [last.run.as_str()], "format {format}");
        let key = |number: u32| format!("{number:064x}");
        let holding_keys: Vec<u32> = (0..13)
            .filter(|number| ledger.attempt_holding(&key(*number)).is_ok_and(|row| row.is_some()))
            .collect();
        let expected = if format < 3 { vec![0, 1, 2, 3, 9, 12] } else { vec![0, 1, 2, 3, 8, 9, 12] };
        assert_eq!(holding_keys, expected, "format {format}");
        assert_eq!(ledger.salts().expect("salts").len(), usize::from(format >= 3), "format {format}");
    }
}

/// Whether `all` has every member of `part` with the same value.
fn contains(all: &serde_json::Value, part: &serde_json::Value) -> bool {
    match (all, part) {
        (serde_json::Value::Object(all), serde_json::Value::Object(part)) => {
            part.iter().all(|(name, value)| {
                // `null` and absent are the same to a reader.
                all.get(name).map_or(value.is_null(), |member| contains(member, value))
            })
        }
        _ => all == part,
    }
}
