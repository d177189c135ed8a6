//! Conditions on the state of an attempt, as SQL: word for word as the partial indices have them, which serve no others.
//!
//! They are spelled out because SQLite makes a table for each list of more than two values, anew for each statement.

/// It holds its key: the condition of the index `attempts_live`.
macro_rules! holds_key {
    () => {
        "(state = 'intended' OR state = 'ambiguous' OR state = 'submitted' OR state = 'completed' OR state = 'given-up')"
    };
}

/// A task is out for it, or may be: the condition of the index `attempts_work`.
macro_rules! is_in_flight {
    () => {
        "(state = 'intended' OR state = 'ambiguous' OR state = 'submitted')"
    };
}

pub(super) use {holds_key, is_in_flight};

#[cfg(test)]
mod tests {
    use std::path::Path;

    use rusqlite::Connection;

    use super::super::schema;

    /// The plan's words, or the opcodes, of a statement whose parameters are all `x`.
    fn explained(what: &str, column: usize, statement: &str) -> Vec<String> {
        let mut ledger = Connection::open_in_memory().unwrap();
        schema::configure(&mut ledger, Path::new("ledger.db"), "off").unwrap();
        let mut explained = ledger.prepare(&format!("{what} {statement}")).unwrap();
        let parameters = vec!["x"; explained.parameter_count()];
        let rows = explained.query_map(rusqlite::params_from_iter(parameters), |row| row.get(column));
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn predicates_use_their_partial_index() {
        for (condition, index) in [
            (concat!("key = ?1 AND ", holds_key!()), "attempts_live"),
            (concat!("work = ?1 AND ", is_in_flight!()), "attempts_work"),
        ] {
            let plan =
                explained("EXPLAIN QUERY PLAN", 3, &format!("SELECT run FROM attempts WHERE {condition}"));
            assert!(plan.iter().any(|step| step.contains(index)), "{plan:?}");
        }
    }

    #[test]
    fn attempt_statements_create_no_ephemeral_table() {
        for statement in [
            "INSERT INTO attempts (id, run, node, key, model, seconds, digest, state, intended_at) VALUES (?1, ?1, ?1, ?1, ?1, 1, ?1, ?1, 1)",
            "UPDATE attempts SET state = ?2 WHERE id = ?1",
            concat!("SELECT seconds FROM attempts WHERE id = ?1 AND ", is_in_flight!()),
        ] {
            let opcodes = explained("EXPLAIN", 1, statement);
            assert!(
                opcodes.len() > 5 && !opcodes.iter().any(|opcode| opcode == "OpenEphemeral"),
                "{statement}"
            );
        }
    }
}
