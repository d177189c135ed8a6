//! Migration of stored events from version 1 to version 2, which has the names of [`scheduler::Event`] and its members as they are.
//!
//! Nothing is lost: an event that cannot be converted keeps its body and its version, and readers skip it.

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::{Map, Value, json};

type Object = Map<String, Value>;

/// Rewrites every event of version 1, and adds the event that version 1 lacked for tasks that are gone from the service.
pub(super) fn to_version_2(connection: &Connection) -> rusqlite::Result<()> {
    let mut select = connection
        .prepare("SELECT seq, body FROM events WHERE version = 1 AND seq > ?1 ORDER BY seq LIMIT 1000")?;
    let mut update = connection.prepare("UPDATE events SET version = 2, body = ?2 WHERE seq = ?1")?;
    let mut last = i64::MIN;
    loop {
        let rows = select
            .query_map([last], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        for (seq, body) in &rows {
            if let Some(body) = event(body) {
                update.execute((seq, body))?;
            }
            last = *seq;
        }
        if rows.is_empty() {
            return add_expired(connection);
        }
    }
}

/// Version 1 recorded an expired task in its attempt only. Each is appended as an event, where nothing happened to its node afterwards.
fn add_expired(connection: &Connection) -> rusqlite::Result<()> {
    let expired = connection
        .prepare("SELECT id, run, node, COALESCE(ended_at, intended_at) FROM attempts WHERE state = 'expired' ORDER BY rowid")?
        .query_map([], |row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, i64>(3)?,
            ))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    for (attempt, run, node, time) in expired {
        // The attempt of an earlier run may have been adopted by a later one, in which it expired.
        let last: Option<(String, String)> = connection
            .query_row(
                "SELECT run, body FROM events WHERE node = ?1 AND version = 2 AND run <> 'resolve' AND time <= ?2
                 ORDER BY seq DESC LIMIT 1",
                (&node, time),
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .optional()?;
        let Some((last_run, body)) = last else { continue };
        let Ok(body) = serde_json::from_str::<Value>(&body) else { continue };
        if body["attempt"] != json!(attempt) {
            continue;
        }
        let followed: bool = connection.query_row(
            "SELECT EXISTS (SELECT 1 FROM events WHERE node = ?1 AND run = ?2 AND time > ?3)",
            (&node, &last_run, time),
            |row| row.get(0),
        )?;
        if followed {
            continue;
        }
        let body = json!({ "event": "task-expired", "node": body["node"], "attempt": attempt });
        connection.execute(
            "INSERT INTO events (run, time, node, version, body) VALUES (?1, ?2, ?3, 2, ?4)",
            (if last_run.is_empty() { &run } else { &last_run }, time, &node, body.to_string()),
        )?;
    }
    Ok(())
}

/// The body of version 2.
fn event(body: &str) -> Option<String> {
    let Value::Object(mut event) = serde_json::from_str(body).ok()? else { return None };
    let kind = event.get("event")?.as_str()?.to_owned();
    let new_kind = match kind.as_str() {
        "scoped" => "run-configured",
        "looked" => "lookup-done",
        "capped" => "budget-exceeded",
        "taken" => "claim-conflict",
        "unprepared" => "prepare-failed",
        "lost" => "indeterminate",
        "answered" => "polled",
        "not-downloaded" => "download-failed",
        "joined" => "film-joined",
        "not-joined" => "join-failed",
        "woke" => "timer-fired",
        same @ ("started" | "prepared" | "submitted" | "refused" | "downloaded" | "interrupted"
        | "resolved") => same,
        _ => return None,
    };
    match kind.as_str() {
        "looked" | "taken" => {
            rename(&mut event, "prior", "existing");
            existing_work(event.get_mut("existing")?.as_object_mut()?)?;
        }
        "prepared" => {
            rename(&mut event, "work", "service_independent_key");
            rename(&mut event, "held", "reservation");
            rename(&mut event, "anew", "forced_rerun");
        }
        "capped" => rename(&mut event, "cap", "limit"),
        "refused" => {
            let kind = event.get_mut("refusal")?.get_mut("kind")?;
            *kind = json!(match kind.as_str()? {
                "later" => "throttled",
                "again" => "retryable",
                "request" => "invalid-request",
                "service" => "service-unusable",
                _ => return None,
            });
        }
        "answered" => {
            rename(&mut event, "answer", "result");
            poll_result(event.get_mut("result")?.as_object_mut()?)?;
        }
        "downloaded" => rename(&mut event, "spent", "cost"),
        "not-downloaded" => rename(&mut event, "kept", "partial_bytes"),
        "joined" | "not-joined" => rename(&mut event, "at", "index"),
        "resolved" => resolved(&mut event)?,
        _ => {}
    }
    failures(&mut event);
    *event.get_mut("event")? = json!(new_kind);
    Some(Value::Object(event).to_string())
}

fn existing_work(existing: &mut Object) -> Option<()> {
    rename(existing, "prior", "kind");
    let kind = existing.get_mut("kind")?;
    let new_kind = match kind.as_str()? {
        "nothing" => "none",
        "made" => "completed",
        "out" => "in-flight",
        "unanswered" => "indeterminate",
        "given-up" => "abandoned",
        "at-other" => "other-service",
        "busy" => "claimed-by-run",
        _ => return None,
    };
    *kind = json!(new_kind);
    rename(existing, "at", "intended_at");
    Some(())
}

fn poll_result(result: &mut Object) -> Option<()> {
    rename(result, "answer", "kind");
    let kind = result.get_mut("kind")?;
    let new_kind = match kind.as_str()? {
        "missing" => "not-found",
        "later" => "throttled",
        "unusable" => "unauthorized",
        same @ ("running" | "completed" | "failed" | "unreachable") => same,
        _ => return None,
    };
    *kind = json!(new_kind);
    Some(())
}

/// Version 1 stored the state that a resolution led to.
fn resolved(event: &mut Object) -> Option<()> {
    let (state, task) = (event.shift_remove("state")?, event.shift_remove("task"));
    let resolution = match state.as_str()? {
        "submitted" => json!({ "kind": "accepted", "task": task? }),
        "abandoned" => json!({ "kind": "not-accepted" }),
        "given-up" => json!({ "kind": "abandoned" }),
        _ => return None,
    };
    event.insert("resolution".to_owned(), resolution);
    Some(())
}

/// Renames the kind of failure `given-up`, wherever a failure is.
fn failures(object: &mut Object) {
    for (name, value) in object {
        if let Value::Object(inner) = value {
            if name == "failure" && inner.get("kind").is_some_and(|kind| kind == "given-up") {
                inner.insert("kind".to_owned(), json!("abandoned"));
            }
            failures(inner);
        }
    }
}

fn rename(object: &mut Object, from: &str, to: &str) {
    *object = std::mem::take(object)
        .into_iter()
        .map(|(name, value)| if name == from { (to.to_owned(), value) } else { (name, value) })
        .collect();
}
