//! The states of an attempt, their stored form, and SQL conditions on them.
//!
//! The conditions are macros because a partial index serves only queries that repeat its condition word for word. They are chains of `OR`
//! because SQLite builds an ephemeral table for each `IN` list of more than two values, for each statement.

use std::fmt;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use serde::{Serialize, Serializer};

/// Defines [`AttemptState`]: one variant per state, with its stored name.
macro_rules! attempt_states {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// The state of an attempt.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AttemptState {
            $($(#[$doc])* $name,)*
        }

        impl AttemptState {
            /// Every state.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The stored name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

attempt_states! {
    /// The intent is durable. Only the run that wrote it knows whether the POST was sent.
    Intended = "intended",
    /// The POST was sent and no usable response came: accepted or not.
    Indeterminate = "indeterminate",
    /// The service accepted it; its task is in flight, or finished and not downloaded.
    Submitted = "submitted",
    /// Its video was downloaded.
    Completed = "completed",
    /// The service failed its task.
    Failed = "failed",
    /// The service refused it.
    Refused = "refused",
    /// Its task is gone from the service, and the shot's `retry` paid for another one.
    Expired = "expired",
    /// The service does not know its task, which is paid for. Runs ask again; only a person decides to pay again.
    Missing = "missing",
    /// It was indeterminate and found not to be accepted.
    NotAccepted = "not-accepted",
    /// It was indeterminate, and a person decided that it cannot be found out. Its reservation counts as spent.
    Abandoned = "abandoned",
}

impl AttemptState {
    /// Whether the attempt keeps its key from being submitted again: the condition of the unique index `attempts_key`.
    #[must_use]
    pub const fn holds_key(self) -> bool {
        match self {
            Self::Intended
            | Self::Indeterminate
            | Self::Submitted
            | Self::Completed
            | Self::Missing
            | Self::Abandoned => true,
            Self::Failed | Self::Refused | Self::Expired | Self::NotAccepted => false,
        }
    }

    /// Whether a task is or may be in flight, for which the budget is reserved: the condition of the index `attempts_in_flight`.
    #[must_use]
    pub const fn is_in_flight(self) -> bool {
        match self {
            Self::Intended | Self::Indeterminate | Self::Submitted => true,
            Self::Completed
            | Self::Failed
            | Self::Refused
            | Self::Expired
            | Self::Missing
            | Self::NotAccepted
            | Self::Abandoned => false,
        }
    }

    /// Whether the attempt has a task that is paid for and whose video was not downloaded, or is gone.
    #[must_use]
    pub const fn has_open_task(self) -> bool {
        match self {
            Self::Submitted | Self::Missing => true,
            Self::Intended
            | Self::Indeterminate
            | Self::Completed
            | Self::Failed
            | Self::Refused
            | Self::Expired
            | Self::NotAccepted
            | Self::Abandoned => false,
        }
    }

    /// Whether `runner resolve` can resolve the attempt.
    #[must_use]
    pub const fn is_resolvable(self) -> bool {
        match self {
            Self::Intended | Self::Indeterminate | Self::Abandoned => true,
            Self::Submitted
            | Self::Completed
            | Self::Failed
            | Self::Refused
            | Self::Expired
            | Self::Missing
            | Self::NotAccepted => false,
        }
    }
}

impl fmt::Display for AttemptState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for AttemptState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl ToSql for AttemptState {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for AttemptState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let text = value.as_str()?;
        let state = Self::ALL.iter().find(|state| state.as_str() == text);
        state.copied().ok_or_else(|| FromSqlError::Other(format!("unknown attempt state `{text}`").into()))
    }
}

/// [`AttemptState::holds_key`] in SQL.
macro_rules! holds_key {
    () => {
        "(state = 'intended' OR state = 'indeterminate' OR state = 'submitted' OR state = 'completed' OR state = 'missing' OR state = 'abandoned')"
    };
}

/// [`AttemptState::is_in_flight`] in SQL.
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
        "(state = 'submitted' OR state = 'missing')"
    };
}

pub(super) use {has_open_task, holds_key, is_in_flight, is_resolvable};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;

    use super::super::schema;
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
                let found: bool = ledger.query_row(&sql, [state], |row| row.get(0)).unwrap();
                assert_eq!(found, expected, "{state:?}: {condition}");
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
                "INSERT INTO attempts (id, run, service, node, key, model, video_ms, digest, state, task, intended_at)
                 VALUES (?1, 'r', 's', 'n', ?1, 'm', 1, 'd', ?1, ?1, 1)",
                [state],
            )
        };
        for state in AttemptState::ALL {
            insert(state.as_str()).unwrap();
            let read: AttemptState = ledger
                .query_row("SELECT state FROM attempts WHERE id = ?1", [state], |row| row.get(0))
                .unwrap();
            assert_eq!(read, *state);
        }
        assert!(insert("ambiguous").is_err());
    }

    /// A column of `EXPLAIN` or `EXPLAIN QUERY PLAN` of a statement whose parameters are all `x`.
    fn explained(what: &str, column: usize, statement: &str) -> Vec<String> {
        let ledger = empty_ledger();
        let mut explained = ledger.prepare(&format!("{what} {statement}")).unwrap();
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

    #[test]
    fn attempt_statements_create_no_ephemeral_table() {
        for statement in [
            "INSERT INTO attempts (id, run, service, node, key, model, video_ms, digest, state, intended_at) VALUES (?1, ?1, (SELECT service FROM runs WHERE id = ?1), ?1, ?1, ?1, 1, ?1, ?1, 1)",
            "UPDATE attempts SET state = ?2 WHERE id = ?1",
            concat!("SELECT video_ms FROM attempts WHERE id = ?1 AND ", is_in_flight!()),
        ] {
            let opcodes = explained("EXPLAIN", 1, statement);
            assert!(
                opcodes.len() > 5 && !opcodes.iter().any(|opcode| opcode == "OpenEphemeral"),
                "{statement}"
            );
        }
    }
}
