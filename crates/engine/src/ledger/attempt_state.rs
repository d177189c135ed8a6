//! The SQL form of an attempt's state, and SQL conditions on it.
//!
//! The conditions are macros because a partial index serves only queries that repeat its condition word for word. They are chains of `OR`
//! because SQLite builds an ephemeral table for each `IN` list of more than two values, for each statement.

use rusqlite::types::{FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use scheduler::AttemptState;

use super::sql::{FromColumn, Sql};

impl ToSql for Sql<AttemptState> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.as_str().into())
    }
}

impl FromColumn for AttemptState {
    fn from_column(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        Self::parse(name).ok_or_else(|| FromSqlError::Other(format!("unknown attempt state `{name}`").into()))
    }
}

/// [`AttemptState::holds_key`] in SQL: the condition of the unique index `attempts_key`.
macro_rules! holds_key {
    () => {
        "(state = 'intended' OR state = 'indeterminate' OR state = 'submitted' OR state = 'completed' OR state = 'missing' OR state = 'abandoned')"
    };
}

/// [`AttemptState::is_in_flight`] in SQL: the condition of the index `attempts_in_flight`.
macro_rules! is_in_flight {
    () => {
        "(state = 'intended' OR state = 'indeterminate' OR state = 'submitted')"
    };
}

/// [`AttemptState::is_resolvable`] in SQL.
macro_rules! is_resolvable {
    () => {
        "(state = 'intended' OR state = 'indeterminate' OR state = 'abandoned')"
    };
}

/// [`AttemptState::has_open_task`] in SQL.
macro_rules! has_open_task {
    () => {
        "(state = 'submitted' OR state = 'missing' OR state = 'expired')"
    };
}

/// Whether the task of the attempt `a` was given up, and another attempt of the same key was accepted since, or holds the key.
// Its user needs `holds_key` in scope.
macro_rules! is_replaced {
    () => {
        concat!(
            "(a.state = 'expired' AND (
                EXISTS (SELECT 1 FROM attempts later WHERE later.key = a.key AND later.task IS NOT NULL AND later.rowid > a.rowid)
                OR EXISTS (SELECT 1 FROM attempts WHERE key = a.key AND ",
            holds_key!(),
            ")))"
        )
    };
}

/// The task that the response to the submission of the attempt `a` named; NULL once that is the task of an attempt.
macro_rules! suggested_task {
    () => {
        "CASE WHEN EXISTS (SELECT 1 FROM attempts owner WHERE owner.task = a.suggested_task AND owner.service = a.service)
         THEN NULL ELSE a.suggested_task END"
    };
}

pub(super) use {has_open_task, holds_key, is_in_flight, is_replaced, is_resolvable, suggested_task};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;

    use super::super::schema;
    use super::super::sql::{Sql, column};
    use super::AttemptState;

    fn empty_ledger() -> Connection {
        let mut ledger = Connection::open_in_memory().unwrap();
        schema::configure(&mut ledger, Path::new("ledger.db"), "off").unwrap();
        ledger
    }

    #[test]
    fn predicates_in_sql_equal_those_in_rust() {
        let ledger = empty_ledger();
        for state in AttemptState::ALL {
            for (condition, expected) in [
                (holds_key!(), state.holds_key()),
                (is_in_flight!(), state.is_in_flight()),
                (has_open_task!(), state.has_open_task()),
                (is_resolvable!(), state.is_resolvable()),
            ] {
                let sql = format!("SELECT {condition} FROM (SELECT ?1 AS state)");
                let holds: bool = ledger.query_row(&sql, [Sql(*state)], |row| row.get(0)).unwrap();
                assert_eq!(holds, expected, "{state:?}: {condition}");
            }
        }
    }

    #[test]
    fn table_accepts_every_state_and_no_other() {
        let ledger = empty_ledger();
        ledger
            .execute("INSERT INTO runs (id, workflow, service, started_at) VALUES ('r', 'w', 's', 1)", [])
            .unwrap();
        let insert = |state: &str| {
            ledger.execute(
                "INSERT INTO attempts (id, run, service, node, key, model, video_ms, digest, state, task, intended_at, key_parts)
                 VALUES (?1, 'r', 's', 'n', ?1, 'm', 1, 'd', ?1, ?1, 1, '[]')",
                [state],
            )
        };
        for state in AttemptState::ALL {
            insert(state.as_str()).unwrap();
            let read: AttemptState = ledger
                .query_row("SELECT state FROM attempts WHERE id = ?1", [Sql(*state)], |row| column(row, 0))
                .unwrap();
            assert_eq!(read, *state);
        }
        assert!(insert("ambiguous").is_err());
    }

    /// A column of `EXPLAIN` or `EXPLAIN QUERY PLAN` of a statement whose parameters are all `x`.
    fn explained(keyword: &str, column: usize, statement: &str) -> Vec<String> {
        let ledger = empty_ledger();
        let mut explained = ledger.prepare(&format!("{keyword} {statement}")).unwrap();
        let parameters = vec!["x"; explained.parameter_count()];
        let rows = explained.query_map(rusqlite::params_from_iter(parameters), |row| row.get(column));
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn predicates_use_their_partial_index() {
        for (condition, index) in [
            (concat!("key = ?1 AND ", holds_key!()), "attempts_key"),
            (concat!("service_independent_key = ?1 AND ", is_in_flight!()), "attempts_in_flight"),
        ] {
            let plan =
                explained("EXPLAIN QUERY PLAN", 3, &format!("SELECT run FROM attempts WHERE {condition}"));
            assert!(plan.iter().any(|step| step.contains(index)), "{plan:?}");
        }
    }
}
