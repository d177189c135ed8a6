//! Which instance of a workflow each number of a key belongs to, and the renders that were asked for with `run --rerun`.
//!
//! A number is assigned with the lookup of its node, and checked again with each intent: of two runs that have assigned one number to two
//! shots, the second is told what the record has by now.

use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, OptionalExtension as _, Row, TransactionBehavior};
use scheduler::renders::{
    Asked, AssignedRender, Choice, NextRender, RecordedRenders, Renders, RendersOfRequest, Wishes, Work, ask,
    has_takes, is_instance_of, next_render,
};
use scheduler::{AskedRender, AttemptId, AttemptState, Event, RunId, Timestamp};
use workflow::AskedRenders;
use workflow::plan::{Node, NodeKey, Plan};

use super::attempt_state::{holds_key, is_replaced};
use super::derived_tables::Writer;
use super::sql::{Sql, column, rows};
use super::{AttemptRow, Ledger, LedgerError, LedgerReader};
use crate::failpoint::{self, Boundary};

/// The run id of events that record what a person asks for.
const ASKED_RUN: &str = "renders";

/// Work that is continued or reused: an attempt holds its key, or had its task given up.
macro_rules! is_work {
    () => {
        concat!("(", holds_key!(), " OR state = 'expired')")
    };
}

/// The same, once for each index.
const WORK: [&str; 2] = [holds_key!(), "state = 'expired'"];

/// The renders of a plan that are on record.
pub(super) fn of_plan(connection: &Connection, plan: &Plan) -> rusqlite::Result<Renders> {
    let mut requests: HashMap<NodeKey, RendersOfRequest> = HashMap::new();
    let mut statement = connection
        .prepare_cached("SELECT request, number, instance, render FROM renders WHERE workflow = ?1")?;
    let mut rows = statement.query([plan.name()])?;
    while let Some(row) = rows.next()? {
        let (request, instance) = (row.get::<_, String>(0)?, row.get::<_, String>(2)?);
        // Numbers of shots that are gone are free.
        if let Some(request) = NodeKey::parse(&request).filter(|_| is_instance_of(plan, &instance)) {
            let choice = Choice { render: row.get(3)?, number: row.get(1)? };
            requests.entry(request).or_default().assign(&instance, choice);
        }
    }
    let mut statement =
        connection.prepare_cached(concat!("SELECT key, state FROM attempts WHERE ", is_work!()))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(key) = NodeKey::parse(row.get_ref(0)?.as_str()?)
            && let Some(work) = Work::of(column(row, 1)?)
        {
            requests.entry(key.numbered(1)).or_default().add_work(key.number(), work);
        }
    }
    Ok(Renders::new(requests, wishes(connection, plan.name())?))
}

/// What is on record for a request (with number 1) and an instance of the plan.
pub(super) fn of_request(
    connection: &Connection,
    plan: &Plan,
    request: NodeKey,
    instance: &str,
) -> rusqlite::Result<RecordedRenders> {
    let text = request.to_string();
    let query = "SELECT instance, render, number FROM renders WHERE workflow = ?1 AND request = ?2";
    let mut assigned: Vec<AssignedRender> = rows(connection, query, (plan.name(), &text), |row| {
        Ok(AssignedRender { instance: row.get(0)?, render: row.get(1)?, number: row.get(2)? })
    })?;
    assigned.retain(|render| is_instance_of(plan, &render.instance));
    let request = RendersOfRequest::new(assigned, work_of(connection, request)?);
    Ok(RecordedRenders { request, wishes: wishes_of(connection, plan.name(), instance)? })
}

/// The numbers of a request (with number 1) under which there is work.
fn work_of(connection: &Connection, request: NodeKey) -> rusqlite::Result<Vec<(u32, Work)>> {
    // `#` and a number follow the digits, and `$` is the next character.
    let (from, to) = (request.to_string(), format!("{request}$"));
    let mut work = Vec::new();
    for condition in WORK {
        let query = format!("SELECT key, state FROM attempts WHERE key >= ?1 AND key < ?2 AND {condition}");
        let mut statement = connection.prepare_cached(&query)?;
        let mut rows = statement.query((&from, &to))?;
        while let Some(row) = rows.next()? {
            if let Some(key) = NodeKey::parse(row.get_ref(0)?.as_str()?) {
                work.extend(Work::of(column(row, 1)?).map(|work| (key.number(), work)));
            }
        }
    }
    Ok(work)
}

/// The same of an instance alone, which costs as much as it has renders: enough to see that a node is still the same render.
pub(super) fn of_instance(
    connection: &Connection,
    workflow: &str,
    request: NodeKey,
    instance: &str,
) -> rusqlite::Result<RecordedRenders> {
    let query = "SELECT render, number FROM renders WHERE workflow = ?1 AND instance = ?2 AND request = ?3";
    let own: Vec<Choice> = rows(connection, query, (workflow, instance, request.to_string()), |row| {
        Ok(Choice { render: row.get(0)?, number: row.get(1)? })
    })?;
    let mut renders = RendersOfRequest::default();
    for choice in own {
        let key = request.numbered(choice.number).to_string();
        for condition in WORK {
            let query = format!("SELECT state FROM attempts WHERE key = ?1 AND {condition}");
            let states: Vec<AttemptState> = rows(connection, &query, [&key], |row| column(row, 0))?;
            for work in states.into_iter().filter_map(Work::of) {
                renders.add_work(choice.number, work);
            }
        }
        renders.assign(instance, choice);
    }
    Ok(RecordedRenders { request: renders, wishes: wishes_of(connection, workflow, instance)? })
}

fn wishes(connection: &Connection, workflow: &str) -> rusqlite::Result<HashMap<String, Wishes>> {
    let mut wishes: HashMap<String, Wishes> = HashMap::new();
    let mut statement = connection.prepare_cached(
        "SELECT render, state, asked_at, instance FROM wishes WHERE workflow = ?1 AND state <> 'withdrawn'",
    )?;
    let mut rows = statement.query([workflow])?;
    while let Some(row) = rows.next()? {
        add_wish(wishes.entry(row.get(3)?).or_default(), row)?;
    }
    Ok(wishes)
}

fn wishes_of(connection: &Connection, workflow: &str, instance: &str) -> rusqlite::Result<Wishes> {
    let mut wishes = Wishes::default();
    let mut statement = connection.prepare_cached(
        "SELECT render, state, asked_at FROM wishes WHERE workflow = ?1 AND instance = ?2 AND state <> 'withdrawn'",
    )?;
    let mut rows = statement.query((workflow, instance))?;
    while let Some(row) = rows.next()? {
        add_wish(&mut wishes, row)?;
    }
    Ok(wishes)
}

fn add_wish(wishes: &mut Wishes, row: &Row<'_>) -> rusqlite::Result<()> {
    match row.get_ref(1)?.as_str()? {
        // Of several the latest: the others, for which it was asked all the same, are for later runs.
        "open" => wishes.open = wishes.open.max(Some(row.get(0)?)),
        "done" => _ = wishes.done.insert(row.get(0)?),
        _ => {}
    }
    wishes.highest = wishes.highest.max(Some(row.get(0)?));
    wishes.asked_at = wishes.asked_at.max(Some(column(row, 2)?));
    Ok(())
}

/// The next render of an instance ([`next_render`]), under whatever key.
fn next_of(
    connection: &Connection,
    workflow: &str,
    instance: &str,
    has_takes: bool,
) -> rusqlite::Result<NextRender> {
    let mut requests: HashMap<NodeKey, RendersOfRequest> = HashMap::new();
    let mut statement = connection.prepare_cached(
        "SELECT request, number, render FROM renders WHERE workflow = ?1 AND instance = ?2",
    )?;
    let mut rows = statement.query((workflow, instance))?;
    while let Some(row) = rows.next()? {
        let Some(request) = NodeKey::parse(row.get_ref(0)?.as_str()?) else { continue };
        let choice = Choice { render: row.get(2)?, number: row.get(1)? };
        requests.entry(request).or_default().assign(instance, choice);
    }
    for (request, of_request) in &mut requests {
        for (number, work) in work_of(connection, *request)? {
            of_request.add_work(number, work);
        }
    }
    Ok(next_render(requests.values(), instance, has_takes))
}

/// Assigns the number of a key to a node's instance. A number that another run has assigned since this one began stays with its instance: the
/// intent will tell.
pub(super) fn assign(
    connection: &Connection,
    run: &RunId,
    node: &Node,
    key: NodeKey,
    render: u32,
) -> rusqlite::Result<()> {
    // A run that began before another render was asked for takes the number for its own; what was submitted under it stays what it is.
    let has_work = connection
        .prepare_cached(concat!("SELECT 1 FROM attempts WHERE key = ?1 AND ", holds_key!()))?
        .exists([key.to_string()])?;
    connection
        .prepare_cached(
            "INSERT INTO renders (workflow, request, number, instance, render, seq)
             SELECT workflow, ?2, ?3, ?4, ?5, (SELECT COALESCE(MAX(seq), 0) FROM events) FROM runs WHERE id = ?1
             ON CONFLICT (workflow, request, number) DO UPDATE SET instance = excluded.instance, render = excluded.render, seq = excluded.seq
             WHERE (renders.instance = excluded.instance AND renders.render <> excluded.render AND NOT ?6)
                 OR (renders.instance <> excluded.instance AND renders.seq < (SELECT MIN(seq) FROM events WHERE run = ?1))",
        )?
        .execute((
            run.as_str(),
            key.numbered(1).to_string(),
            key.number(),
            node.name_without_take(),
            render,
            has_work,
        ))?;
    Ok(())
}

/// A render of an instance that has work.
#[derive(Debug, Clone)]
pub struct RecordedRender {
    /// The number in the list of renders of its instance.
    pub render: u32,
    pub key: NodeKey,
    /// Whether it was asked for with `run --rerun`.
    pub is_asked: bool,
    /// The attempt that holds its key.
    pub row: AttemptRow,
}

/// How a wish is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WishEnd {
    /// Its render has a video.
    Done,
    /// Its render has failed for good, or is lost, unless it comes back.
    Failed,
}

/// Closes the wish that an attempt is for, if it is for one.
pub(super) fn close_wish(connection: &Connection, attempt: &AttemptId, end: WishEnd) -> rusqlite::Result<()> {
    let key: Option<String> = connection
        .prepare_cached(
            "SELECT key FROM attempts WHERE id = ?1 AND EXISTS (SELECT 1 FROM wishes WHERE state IN ('open', 'failed'))",
        )?
        .query_row([attempt.as_str()], |row| row.get(0))
        .optional()?;
    let Some(key) = key.and_then(|key| NodeKey::parse(&key)) else { return Ok(()) };
    let state = match end {
        WishEnd::Done => "done",
        WishEnd::Failed => "failed",
    };
    connection
        .prepare_cached(
            "UPDATE wishes SET state = ?3 WHERE state IN ('open', 'failed') AND EXISTS (SELECT 1 FROM renders r
             WHERE r.workflow = wishes.workflow AND r.request = ?1 AND r.number = ?2 AND r.instance = wishes.instance AND r.render = wishes.render)",
        )?
        .execute((key.numbered(1).to_string(), key.number(), state))?;
    Ok(())
}

/// Records what is asked for, and that what is `continued` belongs to that.
pub(super) fn record_asked(
    connection: &Connection,
    workflow: &str,
    renders: &[AskedRender],
    continued: &[AskedRender],
    time: Timestamp,
) -> rusqlite::Result<()> {
    for AskedRender { instance, render } in renders {
        connection
            .prepare_cached(
                "INSERT OR REPLACE INTO wishes (workflow, instance, render, asked_at, state) VALUES (?1, ?2, ?3, ?4, 'open')",
            )?
            .execute((workflow, instance, render, Sql(time)))?;
    }
    for AskedRender { instance, render } in continued {
        connection
            .prepare_cached(
                "UPDATE wishes SET asked_at = ?4 WHERE workflow = ?1 AND instance = ?2 AND render = ?3",
            )?
            .execute((workflow, instance, render, Sql(time)))?;
    }
    Ok(())
}

pub(super) fn record_withdrawn(
    connection: &Connection,
    workflow: &str,
    renders: &[AskedRender],
) -> rusqlite::Result<()> {
    for AskedRender { instance, render } in renders {
        connection
            .prepare_cached(
                "UPDATE wishes SET state = 'withdrawn' WHERE workflow = ?1 AND instance = ?2 AND render = ?3 AND state = 'open'",
            )?
            .execute((workflow, instance, render))?;
    }
    Ok(())
}

/// The key under which the video of an attempt is recorded: its own; or that of one more render, where its task was given up and another attempt
/// holds its key by now.
pub(super) fn key_of_video(
    connection: &Connection,
    attempt: &AttemptId,
) -> rusqlite::Result<Option<NodeKey>> {
    let key: String = connection
        .prepare_cached("SELECT key FROM attempts WHERE id = ?1")?
        .query_row([attempt.as_str()], |row| row.get(0))?;
    let Some(key) = NodeKey::parse(&key) else { return Ok(None) };
    if is_key_taken(connection, attempt)? { unused_key(connection, key).map(Some) } else { Ok(Some(key)) }
}

/// The lowest number of a request without work and without an owner in any workflow.
fn unused_key(connection: &Connection, key: NodeKey) -> rusqlite::Result<NodeKey> {
    let request = key.numbered(1);
    let work = work_of(connection, request)?;
    let query = "SELECT number FROM renders WHERE request = ?1";
    let assigned: Vec<u32> = rows(connection, query, [request.to_string()], |row| row.get(0))?;
    let is_used = |number: &u32| work.iter().any(|(used, _)| used == number) || assigned.contains(number);
    Ok(request.numbered((1..=u32::MAX).find(|number| !is_used(number)).unwrap_or(u32::MAX)))
}

/// Gives an attempt, whose task was given up and replaced, a number of its own: it is one more render of its shot.
pub(super) fn separate(connection: &Connection, run: &RunId, attempt: &AttemptId) -> rusqlite::Result<()> {
    let (node, workflow, key): (String, String, String) = connection
        .prepare_cached(
            "SELECT a.node, r.workflow, a.key FROM attempts a JOIN runs r ON r.id = a.run WHERE a.id = ?1",
        )?
        .query_row([attempt.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let Some(key) = NodeKey::parse(&key) else { return Ok(()) };
    let instance = node.split_once('#').map_or(node.as_str(), |(name, _)| name);
    let key = unused_key(connection, key)?;
    let (NextRender::New(render) | NextRender::Lost(render)) =
        next_of(connection, &workflow, instance, false)?;
    connection
        .prepare_cached("UPDATE attempts SET key = ?2 WHERE id = ?1")?
        .execute((attempt.as_str(), key.to_string()))?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO renders (workflow, request, number, instance, render, seq)
             VALUES (?1, ?2, ?3, ?4, ?5, (SELECT COALESCE(MIN(seq), 0) FROM events WHERE run = ?6))",
        )?
        .execute((workflow, key.numbered(1).to_string(), key.number(), instance, render, run.as_str()))?;
    Ok(())
}

/// Whether another attempt holds the key of this one, whose task has ended.
pub(super) fn is_key_taken(connection: &Connection, attempt: &AttemptId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(concat!(
            "SELECT 1 FROM attempts a WHERE a.id = ?1 AND NOT ",
            holds_key!(),
            " AND EXISTS (SELECT 1 FROM attempts WHERE key = a.key AND ",
            holds_key!(),
            ")"
        ))?
        .exists([attempt.as_str()])
}

/// Whether another task was accepted in place of the task of an attempt, whatever became of that.
pub(super) fn is_replaced(connection: &Connection, attempt: &AttemptId) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(concat!("SELECT 1 FROM attempts a WHERE a.id = ?1 AND ", is_replaced!()))?
        .exists([attempt.as_str()])
}

/// What was asked for, by workflow and instance.
fn asked(connection: &Connection) -> rusqlite::Result<BTreeMap<String, BTreeMap<String, AskedRenders>>> {
    let query = "SELECT DISTINCT workflow FROM wishes";
    let workflows: Vec<String> = rows(connection, query, [], |row| row.get(0))?;
    workflows
        .into_iter()
        .map(|workflow| {
            let of_workflow = wishes(connection, &workflow)?.into_iter();
            let of_workflow = of_workflow.map(|(instance, wishes)| (instance, wishes.asked())).collect();
            Ok((workflow, of_workflow))
        })
        .collect()
}

impl Ledger {
    /// Asks for one more render of each of these instances of a plan, unless one is asked for already; with `asks_for_another`, one more all the
    /// same. What was asked for of shots that are gone from the plan is withdrawn.
    ///
    /// # Errors
    /// When the ledger cannot be written. Nothing is asked for then.
    pub fn ask_for_renders(
        &self,
        plan: &Plan,
        instances: &[String],
        asks_for_another: bool,
        time: Timestamp,
    ) -> Result<(), LedgerError> {
        self.change_wishes(plan.name(), time, |connection| {
            let recorded = wishes(connection, plan.name())?;
            let next: HashMap<&str, NextRender> = instances
                .iter()
                .map(|instance| {
                    let has_takes = has_takes(plan, instance);
                    Ok((instance.as_str(), next_of(connection, plan.name(), instance, has_takes)?))
                })
                .collect::<rusqlite::Result<_>>()?;
            let asked = ask(&recorded, instances, |instance| next[instance], asks_for_another);
            let gone = recorded.iter().filter(|(instance, _)| !is_instance_of(plan, instance));
            let gone = gone.filter_map(|(instance, wishes)| {
                Some(AskedRender { instance: instance.clone(), render: wishes.open? })
            });
            Ok((asked, gone.collect()))
        })
        .map(drop)
    }

    /// Withdraws what was asked for of these instances and is not done. Returns their names.
    ///
    /// # Errors
    /// When the ledger cannot be written.
    pub fn withdraw_renders(
        &self,
        workflow: &str,
        instances: &[String],
        time: Timestamp,
    ) -> Result<Vec<String>, LedgerError> {
        let withdrawn = self.change_wishes(workflow, time, |connection| {
            let recorded = wishes(connection, workflow)?;
            let open = instances.iter().filter_map(|instance| {
                Some(AskedRender { instance: instance.clone(), render: recorded.get(instance)?.open? })
            });
            Ok((Asked::default(), open.collect()))
        })?;
        Ok(withdrawn.into_iter().map(|asked| asked.instance).collect())
    }

    /// Stores what a change asks for and what it withdraws, and returns the latter.
    fn change_wishes(
        &self,
        workflow: &str,
        time: Timestamp,
        change: impl FnOnce(&Connection) -> rusqlite::Result<(Asked, Vec<AskedRender>)>,
    ) -> Result<Vec<AskedRender>, LedgerError> {
        let mut connection = self.connection();
        let wrap = |error| self.sqlite(error);
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(wrap)?;
        let (asked, withdrawn) = change(&transaction).map_err(wrap)?;
        let workflow = workflow.to_owned();
        let mut events = Vec::new();
        if asked != Asked::default() {
            let Asked { new, continued } = asked;
            events.push(Event::RendersAsked { workflow: workflow.clone(), renders: new, continued });
        }
        if !withdrawn.is_empty() {
            events.push(Event::RendersWithdrawn { workflow, renders: withdrawn.clone() });
        }
        if events.is_empty() {
            return Ok(withdrawn);
        }
        for event in &events {
            failpoint::hit(Boundary::Before, event.kind().as_str());
        }
        let run = RunId::from(ASKED_RUN);
        let mut writer = Writer::new(self, &transaction, &run, time);
        for event in &events {
            writer.update_tables(event, None).map_err(wrap)?;
            writer.store(None, event, time).map_err(wrap)?;
        }
        writer.finish().map_err(wrap)?;
        transaction.commit().map_err(wrap)?;
        for event in &events {
            failpoint::hit(Boundary::After, event.kind().as_str());
        }
        Ok(withdrawn)
    }

    /// The key under which the video of an attempt is recorded: its own, or that of one more render of its shot.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn key_of_video(&self, row: &AttemptRow) -> Result<Option<NodeKey>, LedgerError> {
        key_of_video(&self.connection(), &row.attempt).map_err(|error| self.sqlite(error))
    }

    /// The renders of an instance, by their numbers; of one number, as after an edit, the oldest request first.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn renders_of(&self, workflow: &str, instance: &str) -> Result<Vec<RecordedRender>, LedgerError> {
        let query = "SELECT r.request, r.number, r.render, EXISTS (SELECT 1 FROM wishes w WHERE w.workflow = r.workflow
                         AND w.instance = r.instance AND w.render = r.render AND w.state <> 'withdrawn')
                     FROM renders r WHERE workflow = ?1 AND instance = ?2 ORDER BY r.render, r.seq";
        let rows: Vec<(String, u32, u32, bool)> = self.rows(query, (workflow, instance), |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })?;
        let mut renders = Vec::new();
        for (request, number, render, is_asked) in rows {
            let Some(key) = NodeKey::parse(&request).map(|request| request.numbered(number)) else {
                continue;
            };
            let row = self.with_snapshot(|ledger| ledger.attempt_to_continue(&key.to_string()))?;
            if let Some(row) = row {
                renders.push(RecordedRender { render, key, is_asked, row });
            }
        }
        Ok(renders)
    }

    /// The renders of each instance of a workflow that has several.
    pub(crate) fn several_renders(
        &self,
        workflow: &str,
    ) -> Result<HashMap<String, Vec<RecordedRender>>, LedgerError> {
        let query = "SELECT instance FROM renders WHERE workflow = ?1 GROUP BY instance HAVING COUNT(*) > 1";
        let instances: Vec<String> = self.rows(query, [workflow], |row| row.get(0))?;
        let renders = |instance: String| Ok((instance.clone(), self.renders_of(workflow, &instance)?));
        instances.into_iter().map(renders).collect()
    }

    /// The number of a key in the list of renders of its instance, and whether it is asked for with `run --rerun`.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub(crate) fn render_of(&self, workflow: &str, key: NodeKey) -> Result<(u32, bool), LedgerError> {
        let connection = self.connection();
        let read = || {
            connection
                .prepare_cached(
                    "SELECT render, EXISTS (SELECT 1 FROM wishes w WHERE w.workflow = r.workflow AND w.instance = r.instance AND w.render = r.render
                         AND w.state <> 'withdrawn')
                     FROM renders r WHERE workflow = ?1 AND request = ?2 AND number = ?3",
                )?
                .query_row((workflow, key.numbered(1).to_string(), key.number()), |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })
                .optional()
        };
        Ok(read().map_err(|error| self.sqlite(error))?.unwrap_or((1, false)))
    }

    /// What was asked for, by workflow and instance, as the compiler needs it.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn asked_renders(&self) -> Result<BTreeMap<String, BTreeMap<String, AskedRenders>>, LedgerError> {
        asked(&self.connection()).map_err(|error| self.sqlite(error))
    }
}

impl LedgerReader {
    /// As [`Ledger::asked_renders`].
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn asked_renders(&self) -> Result<BTreeMap<String, BTreeMap<String, AskedRenders>>, LedgerError> {
        asked(&self.connection).map_err(|error| self.sqlite(error))
    }
}
